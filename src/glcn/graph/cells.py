"""Nearest neighbours of rows that stay on disk, in bounded memory."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from glcn.graph.coarse import (
    Cells,
    empty_lists,
    find_centroids,
    groups_of,
    nearest_centroids,
    row_ranges,
    row_scale,
    without_extremes,
)
from glcn.graph.neighbors import SAMPLE_SEED, SAMPLED_ROWS, check_neighbor_count
from glcn.kernels.cell_search import NOBODY, Lists

METRICS = ("euclidean", "cosine")
ROUNDS = 2  # in which lists are improved by the neighbours of neighbours
ROUNDS_FOR_NEW = 2  # the same for rows that are not in the index
RECALLED = 1e-4  # share by which a neighbour may be farther than the true one and count as true


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Rows by cell, and the nearest others of each: a :class:`~glcn.graph.NeighborIndex` of arrays on disk.

    A search asks the cells around a row, and then the neighbours of those found. It is the same for the same rows,
    whatever the number of threads.
    """

    cells: Cells = field(repr=False)
    neighbors: NDArray[np.int32] = field(repr=False)  # (n, k), by distance
    metric: str = "euclidean"
    recall: float = 1.0

    @property
    def num_rows(self) -> int:
        """Number of rows in the index."""
        return len(self.cells.X)

    @classmethod
    def build(cls, X: Any, k: int, metric: str = "euclidean") -> "CellIndex":
        """Index the rows of an (n, p) float32 array, which may be on disk, and list the k nearest others of each.

        The lists themselves are in memory here; :func:`glcn.store.build_store` keeps them on disk.
        """
        check_metric(metric)
        check_neighbor_count(k, len(X))
        scale = np.concatenate([row_scale(X[block], metric) for block in row_ranges(*X.shape)])
        centroids = find_centroids(X, scale)
        cell = [nearest_centroids(X[block], scale[block], centroids) for block in row_ranges(*X.shape)]
        groups = groups_of(np.concatenate(cell), len(centroids))
        cells = Cells(X, scale, *without_extremes(centroids, groups), groups.rows)
        lists, spare = empty_lists(len(X), k), empty_lists(len(X), k)
        cells.search(0, cells.count, lists)
        for _ in range(ROUNDS):
            cells.refine(0, cells.count, lists, spare)
            lists, spare = spare, lists
        fill_short_lists(cells, lists)
        return cls(cells, lists.rows, metric, measured_recall(cells, lists))

    def among(self, k: int) -> NDArray[np.int64]:
        """See :class:`~glcn.graph.NeighborIndex`; k is at most the number that was searched for."""
        check_neighbor_count(k, self.num_rows)
        listed = self.neighbors.shape[1]
        if k > listed:
            raise ValueError(
                f"the index lists {listed} neighbours of each row, got k={k}; build it with n_neighbors={k}"
            )
        return np.asarray(self.neighbors[:, :k], np.int64)

    def nearest(self, X: Any, k: int) -> NDArray[np.int64]:
        """See :class:`~glcn.graph.NeighborIndex`."""
        if not 1 <= k <= self.num_rows:
            raise ValueError(f"k must be from 1 to the number of rows ({self.num_rows}), got {k}")
        X = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, np.float32)
        columns = self.cells.X.shape[1]
        if X.ndim != 2 or X.shape[1] != columns:
            raise ValueError(f"new rows must have the {columns} features of the index, got shape {X.shape}")
        scale = row_scale(X, self.metric)
        lists = self.cells.nearest(X, scale, self.neighbors, max(k, self.neighbors.shape[1]), ROUNDS_FOR_NEW)
        found = lists.rows[:, :k].astype(np.int64)
        short = np.flatnonzero((found == NOBODY).any(axis=1))
        if len(short):
            found[short], _ = exact_neighbors(self.cells, X[short] * scale[short, None], k)
        return found


def check_metric(metric: str) -> None:
    """Refuse what the search can not compare rows by."""
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS}, got {metric!r}")


def fill_short_lists(cells: Cells, lists: Lists) -> None:
    """Search exactly for rows around which there were too few others."""
    n, k = lists.rows.shape
    for block in row_ranges(n, k):
        for i in block.start + np.flatnonzero((lists.rows[block] == NOBODY).any(axis=1)):
            rows, distances = exact_neighbors(cells, _scaled(cells, np.array([i])), k + 1)
            others = rows[0] != i
            lists.rows[i], lists.distances[i] = rows[0, others][:k], distances[0, others][:k] ** 2


def measured_recall(cells: Cells, lists: Lists) -> float:
    """Share of the true nearest neighbours that are listed, for a sample of the rows."""
    n, k = lists.rows.shape
    rows = np.sort(np.random.default_rng(SAMPLE_SEED).choice(n, min(SAMPLED_ROWS, n), replace=False))
    found, true = exact_neighbors(cells, _scaled(cells, rows), k + 1)
    own = found == rows[:, None]
    true[own] = -1.0  # the row itself, where it is found, is not the last of its neighbours
    limit = np.sort(true, axis=1)[:, -1:] * (1 + RECALLED) + 1e-6  # any of several that are as far counts
    return float((np.sqrt(lists.distances[rows]) <= limit).mean())


def exact_neighbors(cells: Cells, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the k nearest rows to scaled ones, and their distances, by comparing with all rows in blocks."""
    rows, distances = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0))
    for block in row_ranges(*cells.X.shape):
        values = _scaled(cells, block)
        search = NearestNeighbors(algorithm="brute").fit(values)
        far, near = search.kneighbors(queries, n_neighbors=min(k, len(values)))
        rows, distances = np.hstack([rows, near + block.start]), np.hstack([distances, far])
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        rows, distances = np.take_along_axis(rows, order, axis=1), np.take_along_axis(distances, order, axis=1)
    return rows, distances


def _scaled(cells: Cells, rows: Any) -> NDArray[np.float32]:
    return np.asarray(cells.X[rows] * cells.scale[rows][:, None])
