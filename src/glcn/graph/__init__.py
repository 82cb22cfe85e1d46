"""Graphs: the candidates on which a graph is learned, nearest neighbours, and priors."""

from glcn.graph.candidate import LARGEST_STORED, CandidateGraph
from glcn.graph.cells import CellIndex
from glcn.graph.complete import CompleteGraph
from glcn.graph.neighbors import (
    NeighborIndex,
    check_neighbor_count,
    nearest_neighbors,
    neighbor_index,
    suitable_metric,
)
from glcn.graph.prior import Prior
from glcn.graph.stored import StoredGraph

__all__ = [
    "LARGEST_STORED",
    "CandidateGraph",
    "CellIndex",
    "CompleteGraph",
    "NeighborIndex",
    "Prior",
    "StoredGraph",
    "check_neighbor_count",
    "nearest_neighbors",
    "neighbor_index",
    "suitable_metric",
]
