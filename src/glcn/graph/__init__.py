"""Graphs: the candidates on which a graph is learned, nearest neighbours, and priors."""

from glcn.graph.candidate import CandidateGraph
from glcn.graph.neighbors import (
    NeighborIndex,
    check_neighbor_count,
    nearest_neighbors,
    neighbor_index,
    suitable_metric,
)
from glcn.graph.prior import Prior

__all__ = [
    "CandidateGraph",
    "NeighborIndex",
    "Prior",
    "check_neighbor_count",
    "nearest_neighbors",
    "neighbor_index",
    "suitable_metric",
]
