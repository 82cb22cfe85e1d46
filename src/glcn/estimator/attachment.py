"""Edges from rows never seen in training to the rows of the training set."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from glcn.graph import NeighborIndex
from glcn.kernels import Pattern

EDGES_PER_SEARCH = 4_000_000  # many, because rows that are near each other share what the search looks up
EDGES_PER_BATCH = 250_000


class Attachment(NamedTuple):
    """A batch of new rows and what it is joined with; the arguments of ``GLCN.attach``."""

    rows: slice
    support: Tensor  # (s,) known rows that appear
    pattern: Pattern
    weights: Tensor | None


def nearest_edges(index: NeighborIndex, X: Any, k: int) -> Any:
    """Join each new row with its k nearest known rows, with weight 1; all of them need no search."""
    b = X.shape[0]
    neighbors = index.nearest(X, k) if k < index.num_rows else np.tile(np.arange(index.num_rows), (b, 1))
    return sparse.csr_array(
        (np.ones(b * k, np.float32), neighbors.ravel(), np.arange(0, b * k + 1, k)), (b, index.num_rows)
    )


def given_edges(edges: Any, num_new: int, num_known: int) -> Any:
    """Read the caller's edges: a (new, known) sparse matrix, or (2, E) pairs (new row, known row)."""
    if not sparse.issparse(edges):
        pairs = np.asarray(edges)
        if pairs.ndim != 2 or pairs.shape[0] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
            raise ValueError("edges must be a sparse matrix (new, known) or integer pairs of shape (2, E)")
        if pairs.shape == (num_new, num_known) and set(np.unique(pairs)) <= {0, 1}:
            raise ValueError("edges looks like a dense matrix of 0 and 1; pass it as scipy.sparse")
        new, known = pairs.astype(np.int64)
        for name, ends, count in (("new", new, num_new), ("training", known, num_known)):
            if ends.size and (ends.min() < 0 or ends.max() >= count):
                raise ValueError(f"edges name {name} rows {ends.min()} to {ends.max()}, but there are {count}")
        edges = sparse.csr_array((np.ones(len(new)), (new, known)), shape=(num_new, num_known))
        edges.data[:] = 1.0
    edges = sparse.csr_array(edges, dtype=np.float32, copy=True)
    if edges.shape != (num_new, num_known):
        raise ValueError(f"edges must have shape {(num_new, num_known)} (new rows, training rows), got {edges.shape}")
    if not np.isfinite(edges.data).all() or (edges.data < 0).any():
        raise ValueError("edges must have finite weights of zero or more")
    edges.sum_duplicates()
    edges.eliminate_zeros()
    return edges


def nearest_in_batches(index: NeighborIndex, X: Any, k: int) -> Iterator[tuple[slice, Any]]:
    """Join new rows with their k nearest known ones, and give batches of rows with their edges."""
    for block in batches(X.shape[0], k, EDGES_PER_SEARCH):
        edges = nearest_edges(index, X[block], k)
        for part in batches(edges.shape[0], k, EDGES_PER_BATCH):
            yield slice(block.start + part.start, block.start + part.stop), edges[part]


def given_in_batches(edges: Any) -> Iterator[tuple[slice, Any]]:
    """Give batches of rows with their edges, (b, known)."""
    for part in batches(edges.shape[0], int(np.diff(edges.indptr).max(initial=0)), EDGES_PER_BATCH):
        yield part, edges[part]


def batches(num_rows: int, edges_per_row: int, most_edges: int) -> Iterator[slice]:
    """Cut new rows so that a batch has a bounded number of edges."""
    size = max(1, most_edges // max(1, edges_per_row))
    for start in range(0, num_rows, size):
        yield slice(start, min(start + size, num_rows))


def attachment(rows: slice, edges: Any) -> Attachment:
    """Turn the (b, known) edges of a batch into a pattern on the table [new rows; supporting known rows]."""
    b = edges.shape[0]
    support, local = np.unique(edges.indices, return_inverse=True)
    table = sparse.csr_array((edges.data, local, edges.indptr), shape=(b, len(support)))
    loops = sparse.eye_array(b, dtype=np.float32)
    joined = sparse.hstack([loops, table], format="csr")  # a sum of both would lose weights of 0
    joined.sort_indices()
    weights: NDArray[np.float32] = joined.data
    return Attachment(
        rows,
        torch.from_numpy(support.astype(np.int64)),
        Pattern(
            torch.from_numpy(joined.indptr.astype(np.int32)),
            torch.from_numpy(joined.indices.astype(np.int32)),
            table_size=joined.shape[1],
        ),
        None if (weights == 1).all() else torch.from_numpy(weights),
    )
