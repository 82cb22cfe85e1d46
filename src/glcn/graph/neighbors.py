"""Exact nearest neighbours."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

AUTO = "auto"
MOSTLY_ZERO = 0.5  # share of zeros from which on features are counts of what is there, not places


def neighbor_index(X: Any, metric: str = "euclidean") -> Any:
    """Index rows so that the nearest ones to any row can be asked for; see :func:`suitable_metric` for "auto"."""
    return NearestNeighbors(metric=suitable_metric(X) if metric == AUTO else metric).fit(X)


def suitable_metric(X: Any) -> str:
    """Return "cosine" for features that are mostly zero and never negative, as counts of words are, else "euclidean".

    Such rows differ in length by how much there is of them, not by what they are about.
    """
    values = X.data if sparse.issparse(X) else np.asarray(X)
    zeros = 1 - np.count_nonzero(values) / max(np.prod(X.shape), 1)
    return "cosine" if zeros >= MOSTLY_ZERO and values.min(initial=0) >= 0 else "euclidean"


def nearest_neighbors(X: Any, k: int, metric: str = "euclidean") -> NDArray[np.int64]:
    """Return the k nearest other rows of each row, (n, k); twins of a row count, the row itself does not."""
    check_neighbor_count(k, X.shape[0])
    neighbors: NDArray[np.int64] = neighbor_index(X, metric).kneighbors(n_neighbors=k, return_distance=False)
    return neighbors


def check_neighbor_count(k: int, num_rows: int) -> None:
    """Refuse a number of neighbours that the rows can not give."""
    if k < 1:
        raise ValueError(f"n_neighbors must be at least 1, got {k}")
    if k >= num_rows:
        raise ValueError(
            f"n_neighbors must be below the number of rows ({num_rows}), got {k}; "
            "pass a smaller n_neighbors or your own graph="
        )
