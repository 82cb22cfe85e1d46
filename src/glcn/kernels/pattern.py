"""The stored entries of a sparse matrix: CSR without values."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Chunks of rows with about this many entries are the unit of parallel work and of every partial sum. They depend on
# the pattern alone, which is why the number of threads never changes a bit of a result.
ENTRIES_PER_CHUNK = 8192


class PatternArrays(NamedTuple):
    """NumPy views of a pattern, as the numba kernels take them."""

    chunks: NDArray[np.int64]  # (chunks + 1,) first row of each chunk
    indptr: NDArray[np.int32]  # (rows + 1,)
    indices: NDArray[np.int32]  # (E,)
    reverse: NDArray[np.int32]  # (E,) or empty where the pattern is not symmetric


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which entries are stored, in CSR order; row = the node that receives.

    A square pattern is symmetric and carries ``reverse``: entry e = (i, j) has its mirror image (j, i) at
    ``reverse[e]``, which turns every scatter of a backward pass into a gather. A pattern without ``reverse`` serves
    forward passes only; its row i is row ``first_row`` + i of the table that ``indices`` point into.
    """

    indptr: Tensor  # (rows + 1,) int32, or int64 where there are more entries than that
    indices: Tensor  # (E,) int32
    reverse: Tensor | None = None  # (E,) int32
    table_size: int | None = None  # rows of that table; None: as many as the pattern has
    first_row: int = 0

    @property
    def num_rows(self) -> int:
        """Number of receiving nodes."""
        return self.indptr.numel() - 1

    @property
    def num_edges(self) -> int:
        """Number of stored entries, self-loops included."""
        return self.indices.numel()

    @property
    def num_columns(self) -> int:
        """Number of nodes that may send."""
        return self.num_rows if self.table_size is None else self.table_size

    @cached_property
    def rows(self) -> Tensor:
        """Row of each entry in the table, (E,) int64."""
        counts = self.indptr.diff().long()
        rows = torch.arange(self.first_row, self.first_row + self.num_rows, device=counts.device)
        return rows.repeat_interleave(counts)

    @cached_property
    def columns(self) -> Tensor:
        """Column of each entry, (E,) int64."""
        return self.indices.long()

    @cached_property
    def arrays(self) -> PatternArrays:
        """The pattern as NumPy arrays that share its memory (CPU only)."""
        indptr = self.indptr.numpy()
        reverse = np.empty(0, np.int32) if self.reverse is None else self.reverse.numpy()
        return PatternArrays(chunk_bounds(indptr), indptr, self.indices.numpy(), reverse)

    @property
    def both_ways(self) -> PatternArrays:
        """The arrays for a backward pass, which needs the mirror image of each entry."""
        if self.reverse is None:
            raise ValueError("a graph without reverse edges (new rows attached to old ones) has no backward pass")
        return self.arrays

    def only(self, kept: Tensor) -> "Pattern":
        """Return the pattern of the entries that are ``kept``, (E,) bool, which has to keep mirror images together."""
        stops = torch.cat([kept.new_zeros(1, dtype=self.indptr.dtype), kept.cumsum(0, dtype=self.indptr.dtype)])
        indptr = stops.index_select(0, self.indptr.long())
        reverse = None
        if self.reverse is not None:
            reverse = stops[:-1].index_select(0, self.reverse[kept].long()).to(self.reverse.dtype)
        return replace(self, indptr=indptr, indices=self.indices[kept], reverse=reverse)

    def to(self, device: torch.device | str) -> "Pattern":
        """Return the pattern on another device."""
        if self.indptr.device == torch.device(device):
            return self
        reverse = None if self.reverse is None else self.reverse.to(device)
        return replace(self, indptr=self.indptr.to(device), indices=self.indices.to(device), reverse=reverse)


def chunk_bounds(indptr: NDArray[np.int32]) -> NDArray[np.int64]:
    """Cut rows into chunks of about ``ENTRIES_PER_CHUNK`` stored entries."""
    return bounds(indptr, max(1, int(indptr[-1]) // ENTRIES_PER_CHUNK))


def bounds(indptr: NDArray[np.int32], chunks: int) -> NDArray[np.int64]:
    """Cut rows into so many chunks, or fewer, with about as many stored entries each."""
    targets = np.linspace(0, int(indptr[-1]), chunks + 1)[1:-1]
    inner = np.searchsorted(indptr, targets)
    return np.unique(np.concatenate(([0], inner, [len(indptr) - 1]))).astype(np.int64)
