"""Seeded random splits, the same on every platform."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Split(NamedTuple):
    """Disjoint rows for fitting, for early stopping and choices, and for the final score."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def per_class_split(
    y: NDArray[np.int64], per_class: int, num_validation: int, num_test: int | None, seed: int
) -> Split:
    """Draw ``per_class`` training rows of each class, then validation and test rows (None: all others) at random.

    Rows with a negative label belong to no part.
    """
    random = frozen_random(seed)
    known = np.flatnonzero(y >= 0)
    smallest = int(np.bincount(y[known]).min())
    if per_class > smallest:
        raise ValueError(f"{per_class} labels a class were asked for, but the smallest class has {smallest} rows")
    train = np.concatenate(
        [random.permutation(np.flatnonzero(y == label))[:per_class] for label in np.unique(y[known])]
    )
    rest = random.permutation(np.setdiff1d(known, train))
    return _parts(train, rest, num_validation, num_test)


def plain_split(num_rows: int, num_train: int, num_validation: int, seed: int) -> Split:
    """Draw training and validation rows at random, whatever their class; the rest is for test."""
    if num_train < 1:
        raise ValueError(f"labels must be at least 1, got {num_train}")
    order = frozen_random(seed).permutation(num_rows)
    return _parts(order[:num_train], order[num_train:], num_validation, None)


def frozen_random(seed: int) -> np.random.RandomState:
    """Return a generator whose stream is frozen: a newer NumPy must not change what a seed means."""
    return np.random.RandomState(seed)


def _parts(train: NDArray[np.int64], rest: NDArray[np.int64], num_validation: int, num_test: int | None) -> Split:
    end = len(rest) if num_test is None else num_validation + num_test
    if num_validation >= len(rest) or end > len(rest):
        raise ValueError(f"only {len(rest)} rows are left for validation and test; ask for fewer labels")
    parts = (train, rest[:num_validation], rest[num_validation:end])
    return Split(*(np.sort(part).astype(np.int64) for part in parts))
