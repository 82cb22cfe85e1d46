"""Datasets by name."""

from collections.abc import Callable

from glcn.datasets.cora import load_cora
from glcn.datasets.dataset import Dataset
from glcn.datasets.digits import load_digits

_LOADERS: dict[str, Callable[[str | None, int | None, int, str | None], Dataset]] = {
    "cora": load_cora,
    "digits": load_digits,
}
NAMES = tuple(_LOADERS)


def load(
    name: str, *, split: str | None = None, labels: int | None = None, seed: int = 0, prepare: str | None = None
) -> Dataset:
    """Load a dataset with one of its splits.

    Parameters
    ----------
    name
        ``"cora"`` (bundled, in LINQS order) or ``"digits"`` (scikit-learn's).
    split
        Cora: ``"released"`` (default) or ``"random"``. Digits: ``"random"``.
    labels
        Number of labelled rows in all, where the dataset leaves a choice (digits: 100 by default).
    seed
        Seed of a random split.
    prepare
        What is done to the features: ``"none"``, ``"rows"``, ``"range"`` or ``"standard"``; left out, what suits the
        dataset. The dataset records it.
    """
    if name not in _LOADERS:
        raise ValueError(f"there is no dataset {name!r}; choose one of {NAMES}")
    return _LOADERS[name](split, labels, seed, prepare)
