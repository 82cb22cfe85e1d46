"""Rows by the cell of space that they are in: where to look for neighbours without looking at all rows."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from glcn.kernels import parallel
from glcn.kernels.cell_search import Centres, Groups, Lists, Rows, refine_lists, search_cells

SEED = 0
ROWS_PER_CELL = 1000
MOST_CELLS = 4096
SAMPLED_PER_CELL = 64  # rows on which the centres are found
SAMPLE_BYTES = 128 << 20  # that the sample has at most
LARGEST_CELL = 8 * ROWS_PER_CELL  # a larger one is cut, so that no query is compared with too many rows
NEAR_CELLS = 64  # cells around its own among which a query chooses
PROBES = 8  # cells that it asks
BLOCK_BYTES = 16 << 20  # of features that are looked at at a time
ROWS_PER_TASK = 1024  # whose lists one thread refines at a time


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of features, usually on disk, and the cell of each: k-means centres of a sample, nearest centre."""

    X: NDArray[np.float32]  # (n, p)
    scale: NDArray[np.float32]  # (n,) see row_scale
    centroids: NDArray[np.float32]  # (cells, p)
    indptr: NDArray[np.int64]  # (cells + 1,)
    rows: NDArray[np.int32]  # (n,) by cell

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.centroids)

    def search(self, first: int, last: int, lists: Lists) -> None:
        """Fill the lists of the rows in the cells from ``first`` to before ``last``, from the cells around."""
        self._search(self.data, self.groups, np.arange(first, last + 1), True, lists)

    def refine(self, first: int, last: int, lists: Lists, better: Lists) -> None:
        """Fill better lists of the rows in these cells: the nearest among those listed and those that they list."""
        order = _frozen(self.rows[self.indptr[first] : self.indptr[last]])
        self._refine(order, self.data, _frozen(lists.rows), True, lists, better)

    def nearest(
        self, X: NDArray[np.float32], scale: NDArray[np.float32], graph: Any, length: int, rounds: int
    ) -> Lists:
        """Return the ``length`` nearest rows to new ones: from the cells around, then along the lists ``graph``."""
        lists = empty_lists(len(X), length)
        queries = Rows(_frozen(X), _frozen(scale))
        asking = groups_of(nearest_centroids(X, scale, self.centroids), self.count)
        self._search(queries, asking, np.arange(self.count + 1), False, lists)
        for _ in range(rounds):
            found, lists = lists, empty_lists(len(X), length)
            self._refine(_frozen(np.arange(len(X), dtype=np.int32)), queries, _frozen(graph), False, found, lists)
        return lists

    @cached_property
    def data(self) -> Rows:
        """The rows as the kernels take them."""
        return Rows(_frozen(self.X), _frozen(self.scale))

    @cached_property
    def groups(self) -> Groups:
        """The rows by cell as the kernels take them."""
        return Groups(_frozen(self.indptr), _frozen(self.rows))

    @cached_property
    def centres(self) -> Centres:
        """The centres, and the nearest cells to each, itself first also where others have the same centre."""
        width = min(NEAR_CELLS, self.count)
        with threadpool_limits(1):
            search = NearestNeighbors(algorithm="brute").fit(self.centroids)
            near = search.kneighbors(self.centroids, n_neighbors=width, return_distance=False)
        own = np.arange(self.count)[:, None]
        others = np.take_along_axis(near, np.argsort(near == own, axis=1, kind="stable")[:, : width - 1], axis=1)
        return Centres(_frozen(self.centroids), _frozen(np.hstack([own, others]).astype(np.int32)))

    def _search(self, queries: Rows, asking: Groups, chunks: NDArray[np.int64], itself: bool, lists: Lists) -> None:
        asked = int(asking.indptr[chunks[-1]] - asking.indptr[chunks[0]])
        work = asked * PROBES * ROWS_PER_CELL * self.X.shape[1]
        parallel.run(
            search_cells, chunks, work, queries, asking, self.data, self.groups, self.centres, PROBES, itself, lists
        )

    def _refine(
        self, order: NDArray[np.int32], queries: Rows, graph: Any, itself: bool, lists: Lists, better: Lists
    ) -> None:
        work = len(order) * lists.rows.shape[1] * graph.shape[1] * self.X.shape[1]
        chunks = parallel.even_chunks(len(order), ROWS_PER_TASK)
        parallel.run(refine_lists, chunks, work, order, queries, self.data, graph, itself, lists, better)


def empty_lists(count: int, length: int) -> Lists:
    """Return lists in memory that are to be filled."""
    return Lists(np.empty((count, length), np.int32), np.empty((count, length), np.float32))


def row_scale(X: Any, metric: str) -> NDArray[np.float32]:
    """Return the factors by which rows are compared: 1, or 1/‖x‖ for the cosine; 0 for a row of zeros.

    Scaled rows have the distances ‖s_i·x_i − s_j·x_j‖² = 2·(1 − cos), so one search serves both metrics.
    """
    if metric == "euclidean":
        return np.ones(len(X), np.float32)
    norm = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return np.asarray(np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0), np.float32)


def find_centroids(X: NDArray[np.float32], scale: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the centres of about n/1000 cells, (cells, p), by k-means on a sample of the rows."""
    n, p = X.shape
    cells = int(np.clip(n // ROWS_PER_CELL, 1, MOST_CELLS))
    size = min(n, SAMPLED_PER_CELL * cells, max(cells, SAMPLE_BYTES // (4 * p)))
    chosen = np.sort(np.random.default_rng(SEED).choice(n, size, replace=False))
    sample = X[chosen] * scale[chosen, None]
    if cells == 1:
        return np.asarray(sample.mean(axis=0, keepdims=True), np.float32)
    means = MiniBatchKMeans(
        cells, random_state=SEED, batch_size=4096, n_init=1, max_iter=10, init_size=min(size, 3 * cells)
    )
    with threadpool_limits(1), warnings.catch_warnings():  # sums would depend on the number of threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer different rows than cells: some stay empty
        return np.asarray(means.fit(sample).cluster_centers_, np.float32)


def nearest_centroids(
    X: NDArray[np.float32], scale: NDArray[np.float32], centroids: NDArray[np.float32]
) -> NDArray[np.int32]:
    """Return the cell of each row, (b,)."""
    if len(X) == 0:
        return np.empty(0, np.int32)
    with threadpool_limits(1):  # which of two equally near ones comes first would depend on the number of threads
        found = pairwise_distances_argmin(np.asarray(X) * scale[:, None], centroids)
    return np.asarray(found, np.int32)


def groups_of(cell: NDArray[np.int32], count: int) -> Groups:
    """List rows by cell, in the order of their numbers."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=count))]).astype(np.int64)
    return Groups(_frozen(indptr), _frozen(np.argsort(cell, kind="stable").astype(np.int32)))


def without_extremes(centroids: NDArray[np.float32], groups: Groups) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return centres and ``indptr`` without empty cells, large ones being cut into some with the same centre."""
    sizes = np.diff(groups.indptr)
    pieces = -(-sizes // LARGEST_CELL)
    ends = [
        start + size * np.arange(1, count + 1) // max(count, 1)
        for start, size, count in zip(groups.indptr[:-1], sizes, pieces, strict=True)
    ]
    return np.repeat(centroids, pieces, axis=0), np.concatenate([[0], *ends]).astype(np.int64)


def row_ranges(num_rows: int, num_columns: int) -> Iterator[slice]:
    """Cut rows into blocks of some megabytes."""
    size = max(1, BLOCK_BYTES // (4 * max(num_columns, 1)))
    return (slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size))


def _frozen(array: Any) -> Any:
    """Return a plain read-only view, so that arrays in memory and on disk share one compiled kernel."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
