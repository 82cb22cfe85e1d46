"""What may be done to features before learning, by name."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import StandardScaler, normalize

from glcn.tables.scaling import DESCRIPTIONS


def _none(X: Any) -> Any:
    return X


def _rows(X: Any) -> Any:
    return normalize(X, norm="l1")


def _unit(X: Any) -> Any:
    return normalize(X, norm="l2")


def _range(X: Any) -> Any:
    largest = float(abs(X).max())
    return X / np.float32(largest) if largest > 0 else X


def _standard(X: Any) -> Any:
    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)


_STEPS: dict[str, Callable[[Any], Any]] = {
    "none": _none,
    "rows": _rows,
    "unit": _unit,
    "range": _range,
    "standard": _standard,
}
_COMPONENTS = re.compile(r"pca(\d+)")


def prepare_features(X: Any, name: str) -> tuple[Any, str]:
    """Return the prepared features, as 32-bit floats, and a sentence that says what was done. No label is looked at.

    Features that come in 64 bits are prepared in 64 bits: a column of large numbers keeps its differences.

    ``name`` is a step or several of them joined by "+", for example ``"range+pca64"``.
    """
    X = X if X.dtype == np.float64 else X.astype(np.float32)
    said = []
    for step in name.split("+"):
        function, description = _step(step)
        X = function(X)
        said.append(description)
    with np.errstate(over="ignore"):  # said below
        X = X.astype(np.float32, copy=False)
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise ValueError("the features hold empty or infinite values, or some beyond 32-bit floats; fill or scale them")
    return (sparse.csr_array(X) if sparse.issparse(X) else X), f"{name}: {', then '.join(said)}"


def _step(name: str) -> tuple[Callable[[Any], Any], str]:
    components = _COMPONENTS.fullmatch(name)
    if components:
        number = int(components[1])
        return lambda X: _principal(X, number), f"the first {number} principal components (a sparse X is not centred)"
    if name not in _STEPS:
        raise ValueError(f"prepare must be one of {(*_STEPS, 'pcaN')} or several joined by '+', got {name!r}")
    return _STEPS[name], DESCRIPTIONS[name]


def _principal(X: Any, number: int) -> Any:
    if not 1 <= number <= min(X.shape):
        raise ValueError(f"pca{number} needs a number from 1 to {min(X.shape)} for features of shape {X.shape}")
    # A sparse X is not centred: that would make it dense.
    method = TruncatedSVD(number, random_state=0) if sparse.issparse(X) else PCA(number, random_state=0)
    return method.fit_transform(X)
