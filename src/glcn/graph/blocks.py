"""A graph by blocks of rows, for passes that hold a part of it at a time."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from glcn.graph.candidate import CandidateGraph
from glcn.kernels import Pattern

EDGES_PER_BLOCK = 1 << 21


class RowBlock(NamedTuple):
    """Some rows that follow each other, and the edges on which they receive."""

    rows: slice
    edges: slice
    pattern: Pattern  # from these rows to all rows
    weights: Tensor | None

    @property
    def is_loop(self) -> Tensor:
        """Which edges are self-loops, (E,) bool."""
        return self.pattern.rows == self.pattern.columns


def row_blocks(graph: CandidateGraph, edges_per_block: int = EDGES_PER_BLOCK) -> Iterator[RowBlock]:
    """Go through a graph, at most about ``edges_per_block`` edges at a time."""
    n = graph.num_nodes
    indptr = graph.pattern.indptr.numpy()
    first = 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + edges_per_block, side="right")) - 1)
        edges = slice(int(indptr[first]), int(indptr[last]))
        pointers = torch.from_numpy((indptr[first : last + 1] - indptr[first]).astype(np.int32))
        pattern = Pattern(pointers, graph.pattern.indices[edges], table_size=n, first_row=first)
        yield RowBlock(slice(first, last), edges, pattern, None if graph.weights is None else graph.weights[edges])
        first = last
