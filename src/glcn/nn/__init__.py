"""The paper's equations as PyTorch modules."""

from glcn.nn.glcn import GLCN, GLCNOutput
from glcn.nn.graph_learning import GraphLearning, LearnedGraph
from glcn.nn.loss import GLCNLoss, LossTerms
from glcn.nn.variants import VARIANTS, Variant

__all__ = ["GLCN", "VARIANTS", "GLCNLoss", "GLCNOutput", "GraphLearning", "LearnedGraph", "LossTerms", "Variant"]
