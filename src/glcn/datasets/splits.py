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
    """Draw ``per_class`` training rows of each class, then validation and test rows (None: all others) at random."""
    # RandomState, because its stream is frozen: a newer NumPy must not change what a seed means.
    random = np.random.RandomState(seed)
    smallest = int(np.bincount(y).min())
    if per_class > smallest:
        raise ValueError(f"{per_class} labels a class were asked for, but the smallest class has {smallest} rows")
    train = np.concatenate([random.permutation(np.flatnonzero(y == label))[:per_class] for label in np.unique(y)])
    rest = random.permutation(np.setdiff1d(np.arange(len(y)), train))
    end = len(rest) if num_test is None else num_validation + num_test
    if num_validation >= len(rest) or end > len(rest):
        raise ValueError(f"only {len(rest)} rows are left for validation and test; ask for fewer labels")
    return Split(np.sort(train), np.sort(rest[:num_validation]), np.sort(rest[num_validation:end]))
