"""What is trained on what: by it a checkpoint is not taken for another's."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.estimator.validation import LabelledRows
from glcn.graph import Prior
from glcn.store import Store

_OF_NO_MATTER = ("verbose", "work_dir", "device")  # to what is learned
_AT_ONCE = 1 << 22  # values


class Subject(NamedTuple):
    """What a network is trained on; a graph that was found from X is not told from it."""

    X: Any  # (n, p) array, maybe a file mapped into memory, or scipy CSR
    codes: NDArray[np.int64]
    rows: LabelledRows
    given: Any = None  # the CandidateGraph, the word or the Store that ``fit`` was given, if any
    prior: Prior | None = None


def purpose(settings: Mapping[str, Any], subject: Subject) -> str:
    """Return a fingerprint of settings, features, graph, prior and labels."""
    told = {name: value for name, value in settings.items() if name not in _OF_NO_MATTER}
    outside = None if subject.prior is None else subject.prior.outside
    words = [told, subject.X.shape, outside, _named(subject.given)]
    digest = hashlib.blake2b(json.dumps(words, sort_keys=True, default=str).encode(), digest_size=16)
    for array in _arrays(subject):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        for part in _parts(array):
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _named(given: Any) -> str | None:
    """Return what tells a graph from others by a word."""
    return given.fingerprint if isinstance(given, Store) else given if isinstance(given, str) else None


def _arrays(subject: Subject) -> Iterator[NDArray[Any]]:
    X, given, prior = subject.X, subject.given, subject.prior
    yield from (subject.codes, subject.rows.train, subject.rows.validation)
    if isinstance(given, Store):
        return  # its fingerprint tells rows and edges
    yield from (X.indptr, X.indices, X.data) if sparse.issparse(X) else (X,)
    tensors = [] if prior is None else [prior.values]
    if given is not None and not isinstance(given, str):
        tensors += [part for part in (given.pattern.indptr, given.pattern.indices, given.weights) if part is not None]
    yield from (tensor.cpu().numpy() for tensor in tensors)


def _parts(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Go through an array, some rows at a time."""
    rows = max(1, _AT_ONCE * len(array) // max(1, array.size))
    return (array[start : start + rows] for start in range(0, len(array), rows))
