"""Numba kernels with hand-written gradients, each with a plain PyTorch reference that also serves other devices."""

from glcn.kernels.all_pairs import AllPairs
from glcn.kernels.attention import attention, propagate_heads
from glcn.kernels.dropout import dropout
from glcn.kernels.edge_distances import EdgeDistances, edge_distances
from glcn.kernels.graph_terms import GraphTerms, graph_terms
from glcn.kernels.parallel import VECTOR
from glcn.kernels.pattern import Pattern
from glcn.kernels.propagate import propagate
from glcn.kernels.row_softmax import row_softmax
from glcn.kernels.sparse_features import Features, SparseFeatures, feature_products
from glcn.kernels.spread import spread

__all__ = [
    "VECTOR",
    "AllPairs",
    "EdgeDistances",
    "Features",
    "GraphTerms",
    "Pattern",
    "SparseFeatures",
    "attention",
    "dropout",
    "edge_distances",
    "feature_products",
    "graph_terms",
    "propagate",
    "propagate_heads",
    "row_softmax",
    "spread",
]
