"""An opened store."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.graph import CellIndex, StoredGraph
from glcn.graph.coarse import Cells
from glcn.store.format import REMEDY, StoreError, check_content, open_array, read_description, seal, stored_arrays
from glcn.store.labels import Label

PART = 1 << 22  # numbers that are looked at together when a store is opened


@dataclass(frozen=True, eq=False)
class Store:
    """Rows, labels and their graph of nearest neighbours, all on disk and read where they are needed."""

    path: Path
    X: NDArray[np.float32] = field(repr=False)  # (n, p)
    y: NDArray[np.int32] | None = field(repr=False)  # (n,) codes of classes, −1 where unlabelled
    classes: tuple[Label, ...]
    graph: StoredGraph = field(repr=False)
    index: CellIndex = field(repr=False)
    n_neighbors: int
    metric: str
    recall: float  # share of the true nearest neighbours that are edges, on a sample of rows
    num_labelled: int
    num_bytes: int  # on disk
    fingerprint: str  # hash of all that is in it

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def num_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @classmethod
    def open(cls, path: str | Path, verify: bool = False) -> "Store":
        """Open a store that :func:`build_store` wrote; ``verify`` reads all of it and compares checksums."""
        folder = Path(path)
        content = read_description(folder)
        try:
            expected = {name: content["arrays"][name] for name in stored_arrays(content["classes"] is not None)}
            facts = {name: content[name] for name in ("n_neighbors", "metric", "recall", "labelled")}
        except (KeyError, TypeError) as error:
            raise StoreError(f"the description of {folder} lacks {error}; {REMEDY}") from error
        arrays = {name: open_array(folder, name, each) for name, each in expected.items()}
        _check_shapes(folder, arrays)
        _check_entries(folder, arrays)
        if verify:
            for name, each in expected.items():
                check_content(folder, name, each)
        cells = Cells(*(arrays[name] for name in ("X", "scale", "centroids", "cell_indptr", "cell_rows")))
        return cls(
            path=folder,
            X=arrays["X"],
            y=arrays.get("y"),
            classes=tuple(content["classes"] or ()),
            graph=StoredGraph(arrays["indptr"], arrays["indices"]),
            index=CellIndex(cells, arrays["neighbors"], facts["metric"], facts["recall"]),
            n_neighbors=facts["n_neighbors"],
            metric=facts["metric"],
            recall=facts["recall"],
            num_labelled=facts["labelled"],
            num_bytes=sum(each["bytes"] for each in expected.values()),
            fingerprint=seal(content)[:16],
        )


def _check_shapes(folder: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not belong together."""
    rows = arrays["X"].shape[0]
    counts = {name: len(arrays[name]) for name in ("scale", "cell_rows", "neighbors", "y") if name in arrays}
    together = all(count == rows for count in counts.values()) and len(arrays["indptr"]) == rows + 1
    ends = all(
        arrays[indptr][0] == 0 and arrays[indptr][-1] == len(arrays[entries])
        for indptr, entries in (("indptr", "indices"), ("cell_indptr", "cell_rows"))
    )
    if not together or not ends:
        raise StoreError(f"the arrays in {folder} do not belong together; {REMEDY}")


def _check_entries(folder: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse numbers of rows that there are not: kernels would read elsewhere in memory."""
    rows = arrays["X"].shape[0]
    for name in ("indices", "neighbors", "cell_rows"):
        if any(part.min() < 0 or part.max() >= rows for part in _parts(arrays[name].ravel())):
            raise StoreError(f"{name} in {folder} names rows that there are not; {REMEDY}")
    for name in ("indptr", "cell_indptr"):
        if any((part[1:] < part[:-1]).any() for part in _parts(arrays[name], overlap=1)):
            raise StoreError(f"{name} in {folder} does not rise; {REMEDY}")


def _parts(values: NDArray[Any], overlap: int = 0) -> Iterator[NDArray[Any]]:
    """Go through an array on disk, some of it at a time."""
    for start in range(0, len(values), PART):
        yield values[start : start + PART + overlap]
