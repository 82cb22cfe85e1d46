"""The methods that the paper compares with, and two without any graph, behind the face of GLCNClassifier."""

from glcn.baselines.convolutions import GATClassifier, GCNClassifier
from glcn.baselines.deepwalk import DeepWalk
from glcn.baselines.label_propagation import LabelPropagation
from glcn.baselines.manifold import ManifoldRegularization
from glcn.baselines.without_graph import LogisticClassifier, PerceptronClassifier

__all__ = [
    "DeepWalk",
    "GATClassifier",
    "GCNClassifier",
    "LabelPropagation",
    "LogisticClassifier",
    "ManifoldRegularization",
    "PerceptronClassifier",
]
