"""A graph of nearest neighbours whose arrays are on disk."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from glcn.graph.candidate import CandidateGraph, symmetric_pattern
from glcn.kernels import Pattern, parallel
from glcn.kernels.mutual_edges import count_edges, fill_edges, sort_rows

ROWS_PER_TASK = 4096

Allocate = Callable[[str, tuple[int, ...], Any], NDArray[Any]]  # name, shape and dtype of an array to be filled


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """A symmetric pattern with self-loops in CSR form, columns sorted: a ``CandidateGraph`` that need not be in memory.

    It has no weights and no index of reverse edges, which :meth:`to_candidate` adds.
    """

    indptr: NDArray[np.int64] = field(repr=False)  # (n + 1,)
    indices: NDArray[np.int32] = field(repr=False)  # (E,)
    of_neighbors: bool = True

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of stored edges: both directions and the self-loops."""
        return len(self.indices)

    @classmethod
    def from_neighbors(cls, neighbors: NDArray[Any], allocate: Allocate | None = None) -> "StoredGraph":
        """Join each row with those in its list, (n, k), and keep an edge that either end chose.

        A list names other rows, each once. ``allocate`` makes the arrays ``indptr`` and ``indices``, on disk where
        they are large; besides them 8 bytes a row are needed.
        """
        create = allocate or _in_memory
        n = len(neighbors)
        indptr = create("indptr", (n + 1,), np.int64)
        indptr[0] = 0
        cursor = np.empty(n, np.int64)
        count_edges(neighbors, cursor)
        np.cumsum(cursor, out=indptr[1:])
        cursor[:] = indptr[:-1]
        indices = create("indices", (int(indptr[-1]),), np.int32)
        fill_edges(neighbors, cursor, indices)
        work = 100 * len(indices)  # comparisons and moves
        parallel.run(sort_rows, parallel.even_chunks(n, ROWS_PER_TASK), work, indptr, indices)
        return cls(indptr, indices)

    def mapped(self) -> CandidateGraph:
        """Return the graph without reading it: for samples of it, and for passes that need no gradient."""
        pattern = Pattern(torch.from_numpy(self.indptr), torch.from_numpy(self.indices))
        return CandidateGraph(pattern, of_neighbors=self.of_neighbors)

    def to_candidate(self) -> CandidateGraph:
        """Load the graph into memory, with the index of reverse edges."""
        ones = np.ones(self.num_edges, np.int8)
        indices, indptr = np.array(self.indices), np.array(self.indptr)
        A = sparse.csr_array((ones, indices, indptr), shape=(self.num_nodes, self.num_nodes))
        return CandidateGraph(symmetric_pattern(A), of_neighbors=self.of_neighbors)


def _in_memory(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    del name
    return np.empty(shape, dtype)
