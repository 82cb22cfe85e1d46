"""What may be done to features before learning, by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler, normalize


def _rows(X: Any) -> Any:
    return normalize(X, norm="l1")


def _range(X: Any) -> Any:
    largest = float(abs(X).max())
    return X / np.float32(largest) if largest > 0 else X


def _standard(X: Any) -> Any:
    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)


_PREPARATIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "none": (lambda X: X, "features as they are"),
    "rows": (_rows, "each row divided by its sum of absolute values"),
    "range": (_range, "divided by the largest absolute value"),
    "standard": (_standard, "each column scaled to unit variance, and to mean zero where X is dense"),
}


def prepare_features(X: Any, name: str) -> tuple[Any, str]:
    """Return the prepared features and a sentence that says what was done. No label is looked at."""
    if name not in _PREPARATIONS:
        raise ValueError(f"prepare must be one of {tuple(_PREPARATIONS)}, got {name!r}")
    function, description = _PREPARATIONS[name]
    prepared = function(X)
    return (sparse.csr_array(prepared) if sparse.issparse(prepared) else prepared), f"{name}: {description}"
