"""A dataset with its split: what every experiment starts from."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels, an optional graph, and one split of the rows."""

    name: str
    X: Any = field(repr=False)  # (n, p) array, or scipy CSR where most entries are zero
    y: NDArray[np.int64] = field(repr=False)  # (n,) class of every row
    graph: Any = field(repr=False)  # scipy CSR (n, n) without self-loops, or None
    train: NDArray[np.int64] = field(repr=False)
    validation: NDArray[np.int64] = field(repr=False)
    test: NDArray[np.int64] = field(repr=False)
    class_names: tuple[str, ...]
    split: str
    split_description: str
    preparation: str  # what was done to the features

    @cached_property
    def fingerprint(self) -> str:
        """Hash of data and split: two results belong to the same task when it is the same."""
        digest = hashlib.sha256()
        for part in (self.X, self.graph):
            arrays = [part] if not sparse.issparse(part) else [part.indptr, part.indices, part.data]
            for array in arrays:
                digest.update(b"-" if array is None else _portable(array))
        for array in (self.y, self.train, self.validation, self.test):
            digest.update(_portable(array))
        return digest.hexdigest()[:16]

    @cached_property
    def visible_labels(self) -> NDArray[np.int64]:
        """Labels as a classifier may see them: training and validation rows, −1 elsewhere."""
        labels = np.full(len(self.y), -1, np.int64)
        seen = np.concatenate([self.train, self.validation])
        labels[seen] = self.y[seen]
        return labels


def _portable(array: NDArray[Any]) -> bytes:
    """Return the same bytes on every machine: little-endian, 64-bit integers or 32-bit floats."""
    kind = "<f4" if array.dtype.kind == "f" else "<i8"
    return str(array.shape).encode() + np.ascontiguousarray(array, dtype=kind).tobytes()
