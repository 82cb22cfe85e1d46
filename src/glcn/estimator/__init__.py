"""The scikit-learn face: fit, predict, and what was learned."""

from glcn.estimator.classifier import GLCNClassifier
from glcn.estimator.explaining import Explanation, NeighborEvidence
from glcn.estimator.graph_report import GraphReport
from glcn.estimator.label_next import LabelNext

__all__ = ["Explanation", "GLCNClassifier", "GraphReport", "LabelNext", "NeighborEvidence"]
