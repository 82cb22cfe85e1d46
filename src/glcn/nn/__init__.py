"""The paper's equations as PyTorch modules, and what goes past them."""

from glcn.nn.blocks import (
    Workspace,
    answer_in_blocks,
    blend_in_blocks,
    glcn_in_blocks,
    known_in_files,
    plus_in_blocks,
    row_slices,
)
from glcn.nn.edge_scorer import EdgeScorer, EdgeWeights, LinkLogOdds
from glcn.nn.glcn import GLCN, GLCNOutput
from glcn.nn.graph_learning import GraphLearning, LearnedGraph
from glcn.nn.loss import GLCNLoss, LossTerms
from glcn.nn.plus import NORMALIZATIONS, GLCNPlus, PlusOutput, View
from glcn.nn.plus_loss import PlusLoss, PlusTerms, Taught, link_loss
from glcn.nn.variants import VARIANTS, Variant

__all__ = [
    "GLCN",
    "NORMALIZATIONS",
    "VARIANTS",
    "EdgeScorer",
    "EdgeWeights",
    "GLCNLoss",
    "GLCNOutput",
    "GLCNPlus",
    "GraphLearning",
    "LearnedGraph",
    "LinkLogOdds",
    "LossTerms",
    "PlusLoss",
    "PlusOutput",
    "PlusTerms",
    "Taught",
    "Variant",
    "View",
    "Workspace",
    "answer_in_blocks",
    "blend_in_blocks",
    "glcn_in_blocks",
    "known_in_files",
    "link_loss",
    "plus_in_blocks",
    "row_slices",
]
