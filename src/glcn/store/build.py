"""From a file of features to a store, in bounded memory and in parts that need not be done twice."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from glcn.graph import StoredGraph, check_neighbor_count
from glcn.graph.cells import METRICS, ROUNDS, fill_short_lists, measured_recall
from glcn.graph.coarse import (
    NEAR_CELLS,
    PROBES,
    ROWS_PER_CELL,
    Cells,
    find_centroids,
    groups_of,
    nearest_centroids,
    row_ranges,
    row_scale,
    without_extremes,
)
from glcn.graph.neighbors import AUTO, MOSTLY_ZERO
from glcn.kernels.cell_search import Lists
from glcn.store.arrays import StoredArray, arrays_in
from glcn.store.checks import check_space, check_target, features_of, identity
from glcn.store.format import PARTIAL, SCHEMA, describe_array, stored_arrays, write_description
from glcn.store.labels import array_blocks, label_blocks, write_codes
from glcn.store.store import Store
from glcn.store.workplace import Workplace

CELLS_AT_A_TIME = 32  # whose rows are searched for, or whose lists are refined, before that is noted
STAGES = ("features", "cells", "search", "refine", "graph", "checks")

Report = Callable[[str, int, int], None]  # one of STAGES, how much of it is done, and how much there is


def build_store(
    features: str | Path,
    out: str | Path,
    *,
    labels: str | Path | None = None,
    n_neighbors: int = 15,
    metric: str = "auto",
    progress: Report | None = None,
) -> Store:
    """Build a store: the rows as float32, their labels, and the graph of their nearest neighbours.

    Nothing is ever in memory as a whole but a few numbers a row. A build that was broken off, even killed, goes on
    where it was when it is called again in the same way, and ends with the same bytes.

    Parameters
    ----------
    features
        An .npy file of (n, p) numbers, or an .npz file with such an array ``X`` (or only one) and perhaps labels ``y``.
    out
        The folder to write; until it is whole its name ends in ``.partial``.
    labels
        A file of labels: .npy, or .csv or .txt with one a line; −1 among numbers, NaN and empty text say that a row
        has none.
    n_neighbors
        Neighbours of a row; an edge is kept that either end chose.
    metric
        "euclidean", "cosine", or "auto": the cosine for features that are mostly zero and never negative.
    progress
        Called as ``progress(stage, done, total)``.
    """
    features, out = Path(features), Path(out)
    labels = None if labels is None else Path(labels)
    arrays = arrays_in(features)
    X = features_of(arrays, features)
    y = arrays.get("y") if features.suffix.lower() == ".npz" and labels is None else None
    check_neighbor_count(n_neighbors, X.shape[0])
    if metric not in (AUTO, *METRICS):
        raise ValueError(f"metric must be one of {(AUTO, *METRICS)}, got {metric!r}")
    if labels is not None:
        label_blocks(labels)
    aside = out.with_name(out.name + PARTIAL)
    check_target(out)
    check_space(aside, X.shape, n_neighbors)
    request = {
        "schema": SCHEMA,
        "features": identity(features),
        "labels": None if labels is None else identity(labels),
        "n_neighbors": n_neighbors,
        "metric": metric,
        "search": [ROWS_PER_CELL, NEAR_CELLS, PROBES, ROUNDS],  # another release may choose them differently
    }
    with Workplace.at(aside, request) as place:
        build = _Build(place, X.shape[0], X.shape[1], n_neighbors, progress or _silently)
        try:
            build.copy_features(X)
            build.code_labels(y, labels)
        except ValueError:  # another file will be needed
            place.abandon()
            raise
        build.choose_metric(metric)
        cells = build.make_cells()
        build.search(cells)
        build.refine(cells)
        build.join()
        build.check(cells)
        place.become(out)
    return Store.open(out)


class _Build:
    """The stages of a build, in their order."""

    def __init__(self, place: Workplace, rows: int, columns: int, n_neighbors: int, report: Report) -> None:
        self.place = place
        self.rows = rows
        self.columns = columns
        self.n_neighbors = n_neighbors
        self.report = report

    def copy_features(self, source: StoredArray) -> None:
        """Write the rows as float32, and refuse such as are no numbers; count zeros on the way."""
        place, stage = self.place, "features"
        X = place.array("X", (self.rows, self.columns), np.float32, stage=stage)
        zeros, lowest = place.facts.get("zeros", 0), place.facts.get("lowest", 0.0)
        start = place.done.get(stage, 0)
        size = next(row_ranges(self.rows, self.columns)).stop
        for first, values in source.blocks(size, start):
            with np.errstate(over="ignore"):
                block = values.astype(np.float32)
            bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
            if len(bad):
                raise ValueError(
                    f"row {first + bad[0]} of {source.name} has an empty (NaN), infinite or too large value; "
                    "fill or drop such rows"
                )
            last = first + len(block)
            X[first:last] = block
            zeros += int(block.size - np.count_nonzero(block))
            lowest = min(lowest, float(block.min(initial=0)))
            place.note(stage, last, zeros=zeros, lowest=lowest)
            self.report("features", last, self.rows)

    def code_labels(self, array: StoredArray | None, path: Path | None) -> None:
        """Write the classes of the rows, where there are labels."""
        if (array is None and path is None) or self.place.is_done("labels"):
            return
        codes = self.place.array("y", (self.rows,), np.int32, stage="labels")
        blocks, name = (label_blocks(path), path.name) if path is not None else (array_blocks(array), array.name)  # type: ignore[arg-type, union-attr]
        classes = write_codes(blocks, codes, name)
        labelled = sum(int((codes[block] >= 0).sum()) for block in row_ranges(self.rows, 1))
        self.place.note("labels", classes=classes, labelled=labelled)

    def choose_metric(self, metric: str) -> None:
        """Decide what "auto" means, as :func:`glcn.graph.suitable_metric` does for rows in memory."""
        facts = self.place.facts
        if metric == AUTO:
            mostly_zero = facts["zeros"] >= MOSTLY_ZERO * self.rows * self.columns
            metric = "cosine" if mostly_zero and facts["lowest"] >= 0 else "euclidean"
        self.place.note("metric", metric=metric)

    def make_cells(self) -> Cells:
        """Find the centres, and list the rows by the nearest one."""
        place = self.place
        X = place.array("X", stage="features")
        scale = place.array("scale", (self.rows,), np.float32, stage="scale")
        blocks = [0, *(block.stop for block in row_ranges(self.rows, self.columns))]
        for first, last in place.steps("scale", blocks):
            scale[first:last] = row_scale(X[first:last], place.facts["metric"])
        if not place.is_done("centres"):
            found = find_centroids(X, scale)
            place.array("found_centroids", found.shape, np.float32, stage="centres")[:] = found
            place.note("centres")
        if not place.is_done("cells"):
            centres = place.array("found_centroids", stage="centres")
            cell = place.array("cell", (self.rows,), np.int32, stage="assignment")
            for first, last in place.steps("assignment", blocks):
                cell[first:last] = nearest_centroids(X[first:last], scale[first:last], centres)
                self.report("cells", last, self.rows)
            groups = groups_of(cell, len(centres))
            centroids, indptr = without_extremes(centres, groups)
            for name, values in (("centroids", centroids), ("cell_indptr", indptr), ("cell_rows", groups.rows)):
                place.array(name, values.shape, values.dtype, stage="cells")[...] = values
            place.note("cells")
        names = ("centroids", "cell_indptr", "cell_rows")
        return Cells(X, scale, *(place.array(name, stage="cells") for name in names))

    def search(self, cells: Cells) -> None:
        """Find neighbours in the cells around each row."""
        if self.place.is_done("short"):
            return
        lists = self._lists(0)
        for first, last in self.place.steps("search-0", _some_cells(cells)):
            cells.search(first, last, lists)
            self.report("search", last, cells.count)

    def refine(self, cells: Cells) -> None:
        """Find nearer ones among the neighbours of neighbours, round by round from one set of lists to the other."""
        if self.place.is_done("short"):
            return
        for number in range(1, ROUNDS + 1):
            lists, better = self._lists(number - 1), self._lists(number)
            for first, last in self.place.steps(f"search-{number}", _some_cells(cells)):
                cells.refine(first, last, lists, better)
                self.report("refine", (number - 1) * cells.count + last, ROUNDS * cells.count)
        fill_short_lists(cells, self._lists(ROUNDS))
        self.place.note("short")

    def join(self) -> None:
        """Make the graph: an edge that either end chose."""
        self.report("graph", 0, 1)
        if not self.place.is_done("graph"):
            neighbors = self._lists(ROUNDS).rows
            StoredGraph.from_neighbors(neighbors, partial(self.place.array, stage="graph"))
            self.place.note("graph")
        self.report("graph", 1, 1)

    def check(self, cells: Cells) -> None:
        """Measure the recall, remove what is of no more use, and describe the rest."""
        place = self.place
        if not place.is_done("recall"):
            place.note("recall", recall=measured_recall(cells, self._lists(ROUNDS)))
        place.remove("found_centroids", "cell", "distances", "neighbors-spare", "distances-spare")
        facts = place.facts
        arrays = {}
        names = stored_arrays("classes" in facts)
        for count, name in enumerate(names, 1):
            arrays[name] = describe_array(place.folder, name)
            self.report("checks", count, len(names))
        write_description(
            place.folder,
            {
                "rows": self.rows,
                "features": self.columns,
                "labelled": facts.get("labelled", 0),
                "classes": facts.get("classes"),
                "metric": facts["metric"],
                "n_neighbors": self.n_neighbors,
                "recall": facts["recall"],
                "arrays": arrays,
            },
        )

    def _lists(self, round_number: int) -> Lists:
        """Return the lists that a round fills; the last round fills those that are kept."""
        ending = "" if (ROUNDS - round_number) % 2 == 0 else "-spare"
        stage = f"search-{round_number % 2}"  # the first that fills them
        shape = (self.rows, self.n_neighbors)
        return Lists(
            self.place.array(f"neighbors{ending}", shape, np.int32, stage=stage),
            self.place.array(f"distances{ending}", shape, np.float32, stage=stage),
        )


def _some_cells(cells: Cells) -> list[int]:
    return [*range(0, cells.count, CELLS_AT_A_TIME), cells.count]


def _silently(stage: str, done: int, total: int) -> None:
    del stage, done, total
