"""A dataset with its split: what every experiment starts from."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.datasets.prepare import prepare_features
from glcn.datasets.splits import Split
from glcn.tables import TableEncoder

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels, an optional graph, and one split of the rows."""

    name: str
    X: Any = field(repr=False)  # (n, p) array, or scipy CSR where most entries are zero
    y: NDArray[np.int64] = field(repr=False)  # (n,) class of every row, −1 where it is not known
    graph: Any = field(repr=False)  # scipy CSR (n, n) without self-loops, or None
    train: NDArray[np.int64] = field(repr=False)
    validation: NDArray[np.int64] = field(repr=False)
    test: NDArray[np.int64] = field(repr=False)
    class_names: tuple[str, ...]
    split: str
    split_description: str
    features: str  # what the features are, and what they are not
    preparation: str  # what was done to them
    fingerprint: str  # hash of data, split and preparation: results under the same one belong to the same task
    ids: NDArray[np.str_] | None = field(default=None, repr=False)  # names of the rows; None: their numbers
    encoder: TableEncoder | None = field(default=None, repr=False)  # makes such features of other tables
    notes: tuple[str, ...] = field(default=(), repr=False)  # what was guessed about a user's file, in sentences
    pictures: Callable[[], NDArray[np.uint8]] | None = field(default=None, repr=False)  # (n, h, w) or (n, h, w, 3)

    @cached_property
    def visible_labels(self) -> NDArray[np.int64]:
        """Labels as a classifier may see them: training and validation rows, −1 elsewhere."""
        labels = np.full(len(self.y), UNKNOWN, np.int64)
        seen = np.concatenate([self.train, self.validation])
        labels[seen] = self.y[seen]
        return labels


@dataclass(frozen=True, eq=False)
class Source:
    """A dataset as it was read, before features are prepared and rows divided."""

    name: str
    X: Any = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    graph: Any = field(repr=False)
    class_names: tuple[str, ...]
    features: str
    prepare: str  # the preparation that suits these features

    def divided(
        self,
        rows: Split,
        split: str,
        description: str,
        prepare: str | None,
        ids: NDArray[np.str_] | None = None,
        *,
        prepared: tuple[Any, str] | None = None,
    ) -> Dataset:
        """Return the dataset with prepared features and the given split; its labels and rows can not be written to.

        ``prepared`` holds features that were prepared elsewhere, and how.
        """
        n = len(self.y)
        if self.X.shape[0] != n or (self.graph is not None and self.graph.shape != (n, n)):
            shape = None if self.graph is None else self.graph.shape
            raise ValueError(
                f"{self.name} has {n} labels, features of shape {self.X.shape} and a graph of shape {shape}"
            )
        rows = Split(*(_frozen(part) for part in rows))
        X, preparation = prepared or prepare_features(self.X, prepare or self.prepare)
        return Dataset(
            self.name,
            X,
            _frozen(self.y),
            self.graph,
            *rows,
            self.class_names,
            split,
            description,
            self.features,
            preparation,
            self._fingerprint(rows, preparation),
            ids,
        )

    def _fingerprint(self, rows: Split, preparation: str) -> str:
        # The features as they were read are hashed, because prepared ones differ in their last bits between machines.
        digest = hashlib.sha256("\n".join([preparation, *self.class_names]).encode())
        for part in (self.X, self.graph):
            digest.update(b"none" if part is None else str(part.shape).encode())
            for array in _arrays(part):
                digest.update(_portable(array))
        for array in (self.y, *rows):
            digest.update(_portable(array))
        return digest.hexdigest()[:16]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that can not be written to, so that a dataset stays what its fingerprint says."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


def _arrays(part: Any) -> list[NDArray[Any]]:
    if part is None:
        return []
    if sparse.issparse(part):
        part = part.sorted_indices()
        return [part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data]
    return [part]


def _portable(array: NDArray[Any]) -> bytes:
    """Return the same bytes on every machine: shape, type and little-endian values."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return f"{array.shape}{array.dtype.kind}{array.dtype.itemsize}".encode() + little.tobytes()
