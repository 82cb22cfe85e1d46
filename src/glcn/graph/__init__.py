"""Graphs: the candidates on which a graph is learned, nearest neighbours, and priors."""

from glcn.graph.blocks import RowBlock, row_blocks
from glcn.graph.candidate import LARGEST_STORED, CandidateGraph, symmetric_pattern, widened
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
from glcn.graph.sampling import Neighborhood, NeighborSampler
from glcn.graph.stored import StoredGraph

__all__ = [
    "LARGEST_STORED",
    "CandidateGraph",
    "CellIndex",
    "CompleteGraph",
    "NeighborIndex",
    "NeighborSampler",
    "Neighborhood",
    "Prior",
    "RowBlock",
    "StoredGraph",
    "check_neighbor_count",
    "nearest_neighbors",
    "neighbor_index",
    "row_blocks",
    "suitable_metric",
    "symmetric_pattern",
    "widened",
]
