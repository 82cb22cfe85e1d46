"""Nearest neighbours: exact where that takes seconds, else by pynndescent."""

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

AUTO = "auto"
MOSTLY_ZERO = 0.5  # share of zeros from which on features are counts of what is there, not places

EXACT_ROWS = 20_000  # up to which the search is always exact
EXACT_WORK = 2e11  # multiplications up to which it is, too: some ten seconds
BLOCK_MEGABYTES = 64  # of distances that an exact search holds at a time
LEAST_LISTED = 30  # neighbours of a row that an approximate search keeps while it looks for better ones
SAMPLED_ROWS = 500  # on which it is compared with the exact one
SAMPLE_SEED = 0


class NeighborIndex(Protocol):
    """Rows among which the nearest ones can be asked for."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    @property
    def recall(self) -> float:
        """Share of the true nearest neighbours that a search finds, as far as it is known; 1 for an exact one."""

    def among(self, k: int) -> NDArray[np.int64]:
        """Return the k nearest other rows of each row, (n, k); twins of a row count, the row itself does not."""

    def nearest(self, X: Any, k: int) -> NDArray[np.int64]:
        """Return the k rows nearest to each row of ``X``, (b, k)."""


def neighbor_index(X: Any, metric: str = "euclidean") -> NeighborIndex:
    """Index rows so that the nearest ones to any row can be asked for; see :func:`suitable_metric` for "auto"."""
    metric = suitable_metric(X) if metric == AUTO else metric
    return ExactIndex(X, metric) if _is_quick(X) or not _is_known(metric) else ApproximateIndex(X, metric)


def suitable_metric(X: Any) -> str:
    """Return "cosine" for features that are mostly zero and never negative, as counts of words are, else "euclidean".

    Such rows differ in length by how much there is of them, not by what they are about.
    """
    values = X.data if sparse.issparse(X) else np.asarray(X)
    zeros = 1 - np.count_nonzero(values) / max(np.prod(X.shape), 1)
    return "cosine" if zeros >= MOSTLY_ZERO and values.min(initial=0) >= 0 else "euclidean"


def nearest_neighbors(X: Any, k: int, metric: str = "euclidean") -> NDArray[np.int64]:
    """Return the k nearest other rows of each row, (n, k); twins of a row count, the row itself does not."""
    return neighbor_index(X, metric).among(k)


def check_neighbor_count(k: int, num_rows: int) -> None:
    """Refuse a number of neighbours that the rows can not give."""
    if k < 1:
        raise ValueError(f"n_neighbors must be at least 1, got {k}")
    if k >= num_rows:
        raise ValueError(
            f"n_neighbors must be below the number of rows ({num_rows}), got {k}; "
            "pass a smaller n_neighbors or your own graph="
        )


class ExactIndex:
    """Compares every row with every other, in blocks (scikit-learn)."""

    recall = 1.0

    def __init__(self, X: Any, metric: str) -> None:
        self.num_rows = X.shape[0]
        self._search = NearestNeighbors(metric=metric).fit(X)

    def among(self, k: int) -> NDArray[np.int64]:
        """See :class:`NeighborIndex`."""
        check_neighbor_count(k, self.num_rows)
        return self._neighbors(None, k)

    def nearest(self, X: Any, k: int) -> NDArray[np.int64]:
        """See :class:`NeighborIndex`."""
        return self._neighbors(X, k)

    def _neighbors(self, X: Any, k: int) -> NDArray[np.int64]:
        with config_context(working_memory=BLOCK_MEGABYTES):
            return self._search.kneighbors(X, n_neighbors=k, return_distance=False)  # type: ignore[no-any-return]


class ApproximateIndex:
    """Neighbours of neighbours, again and again (pynndescent); the same for the same rows, whatever the seed of a fit.

    It is built when it is first asked. Lists are as long as the first question wants them, 30 at least.
    """

    def __init__(self, X: Any, metric: str) -> None:
        self.num_rows = X.shape[0]
        self.metric = metric
        self._X = sparse.csr_matrix(X, dtype=np.float32) if sparse.issparse(X) else np.asarray(X, dtype=np.float32)
        self._listed = LEAST_LISTED

    def among(self, k: int) -> NDArray[np.int64]:
        """See :class:`NeighborIndex`."""
        check_neighbor_count(k, self.num_rows)
        self._list_at_least(k + 1)
        indices, distances = self._search.neighbor_graph
        neighbors, _ = _without_self(np.arange(self.num_rows), indices, distances, k)
        short = np.flatnonzero((neighbors < 0).any(axis=1))
        if len(short):  # lists that could not be filled
            neighbors[short], _ = self._exactly(short, k)
        return neighbors

    def nearest(self, X: Any, k: int) -> NDArray[np.int64]:
        """See :class:`NeighborIndex`."""
        X = sparse.csr_matrix(X, dtype=np.float32) if sparse.issparse(X) else np.asarray(X, dtype=np.float32)
        neighbors, _ = self._search.query(X, k=k)
        return np.asarray(neighbors, np.int64)

    @cached_property
    def recall(self) -> float:
        """Share of the true nearest neighbours, as many as are listed, that were found for a sample of the rows."""
        k = min(self._listed, self.num_rows) - 1
        rows = np.random.default_rng(SAMPLE_SEED).choice(self.num_rows, min(SAMPLED_ROWS, self.num_rows), replace=False)
        indices, distances = self._search.neighbor_graph
        _, found = _without_self(rows, indices[rows], distances[rows], k)
        _, true = self._exactly(rows, k)
        limit = true[:, -1:] * (1 + 1e-4) + 1e-6  # any of several that are as far counts
        return float((found <= limit).mean())

    @cached_property
    def _search(self) -> Any:
        from pynndescent import NNDescent

        return NNDescent(
            self._X,
            metric=self.metric,
            n_neighbors=min(self._listed, self.num_rows),
            random_state=SAMPLE_SEED,
            low_memory=True,
            compressed=False,
        )

    def _list_at_least(self, count: int) -> None:
        if count > self._listed:
            self._listed = count
            for name in ("_search", "recall"):
                self.__dict__.pop(name, None)

    def _exactly(self, rows: NDArray[np.int64], k: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
        search = NearestNeighbors(metric=self.metric, algorithm="brute").fit(self._X)
        distances, neighbors = search.kneighbors(self._X[rows], n_neighbors=k + 1)
        return _without_self(rows, neighbors, distances, k)


def _is_quick(X: Any) -> bool:
    """Whether comparing all rows with all others takes seconds."""
    n = X.shape[0]
    entries = X.nnz if sparse.issparse(X) else X.size
    return bool(n <= EXACT_ROWS or n * entries <= EXACT_WORK)


def _is_known(metric: str) -> bool:
    from pynndescent.distances import named_distances

    return metric in named_distances


def _without_self(
    rows: NDArray[np.int64], neighbors: NDArray[Any], distances: NDArray[Any], k: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Strike each row from its own list, sorted by distance, and keep the first k of the others."""
    order = np.argsort(neighbors == rows[:, None], axis=1, kind="stable")[:, :k]
    return (
        np.take_along_axis(neighbors, order, axis=1).astype(np.int64),
        np.take_along_axis(distances, order, axis=1),
    )
