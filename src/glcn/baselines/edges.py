"""Weighted edges as matrices, for the methods that need no network."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.graph import CandidateGraph


def without_loops(graph: CandidateGraph) -> Any:
    """Return the weights between different rows, (n, n) CSR in float64."""
    W = sparse.csr_array(graph.to_scipy(), dtype=np.float64)
    W.setdiag(0)
    W.eliminate_zeros()
    W.sort_indices()
    return W


def squared_lengths(X: Any, edges: Any, other: Any = None) -> NDArray[np.float64]:
    """Return ‖x_i − z_j‖² of each stored edge (i, j) in CSR order; z are the rows of ``other``, else of X itself."""
    Z = X if other is None else other
    rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    lengths = np.empty(edges.nnz)
    for start in range(0, edges.nnz, 100_000):  # bounded memory: one block of differences at a time
        block = slice(start, start + 100_000)
        difference = X[rows[block]] - Z[edges.indices[block]]
        squares = difference.multiply(difference) if sparse.issparse(difference) else difference**2
        lengths[block] = np.asarray(squares.sum(axis=1)).ravel()
    return lengths


def laplacian(W: Any) -> Any:
    """Return D − W."""
    return sparse.csr_array(sparse.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


def normalized_laplacian(W: Any) -> Any:
    """Return D^-½ (D − W) D^-½, with zero rows where a row has no edge."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    scale = sparse.diags_array(1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)))
    return sparse.csr_array(scale @ laplacian(W) @ scale)


def rows_to_one(F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale non-negative rows to sum to 1; a row of zeros becomes uniform."""
    total = F.sum(axis=1, keepdims=True)
    return np.where(total > 0, F / np.where(total > 0, total, 1.0), 1.0 / F.shape[1])
