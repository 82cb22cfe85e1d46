"""What is done to all columns together: learned from the training rows, repeated on any others."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

DESCRIPTIONS = {
    "none": "features as they are",
    "rows": "each row divided by its sum of absolute values",
    "unit": "each row divided by its length",
    "range": "divided by the largest absolute value",
    "standard": "each column scaled to unit variance, and to mean zero where X is dense",
}
LARGEST_STATE = 5_000_000  # numbers that a file of settings may reasonably hold
_COMPONENTS = re.compile(r"pca(\d+)")
_CONSTANT = 1e-14  # a spread that is a smaller part of the largest value is rounding

State = dict[str, Any]


class Scaling:
    """Steps joined by "+", such as ``"standard"``, ``"unit"`` or ``"range+pca64"``, with what they learned."""

    def __init__(self, name: str, states: Sequence[State]) -> None:
        self.name = name
        self.states = list(states)

    @classmethod
    def learn(cls, X: Any, name: str, values: NDArray[np.bool_] | None = None) -> "Scaling":
        """Learn the steps one after the other from (n, p) float64 features.

        Where ``standard`` comes first, it is for the columns in the mask ``values`` only: marks stay 0 and 1.
        """
        states = []
        for place, step in enumerate(name.split("+")):
            state = {"step": step} | _learner(step)(X, values if place == 0 else None)
            X = _applied(X, state)
            states.append(state)
        return cls(name, states)

    def apply(self, X: Any) -> Any:
        """Return scaled rows as 32-bit floats."""
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for what is not finite
            for state in self.states:
                X = _applied(X, state)
            return X.astype(np.float32)

    def describe(self) -> str:
        """Say what is done."""
        return f"{self.name}: {', then '.join(_describe(state['step']) for state in self.states)}"


def _learner(step: str) -> Callable[[Any, NDArray[np.bool_] | None], State]:
    components = _COMPONENTS.fullmatch(step)
    if components:
        return lambda X, _: _learn_principal(X, int(components[1]))
    if step not in DESCRIPTIONS:
        raise ValueError(f"prepare must be one of {(*DESCRIPTIONS, 'pcaN')} or several joined by '+', got {step!r}")
    return {"range": _learn_range, "standard": _learn_standard}.get(step, lambda *_: {})


def _learn_range(X: Any, _: Any) -> State:
    largest = float(abs(X).max())
    return {"largest": largest if largest > 0 else 1.0}


def _learn_standard(X: Any, values: NDArray[np.bool_] | None) -> State:
    """Find means and spreads, the latter by parts of the largest value, so that no square overflows."""
    if sparse.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
        unit = np.where(largest > 0, largest, 1.0)
        parts = X.multiply(1 / unit).tocsc()
        mean = np.asarray(parts.mean(axis=0)).ravel()
        square = np.asarray(parts.power(2).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        return {"mean": None, "spread": _usable(spread, unit).tolist()}
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    parts = X / unit
    mean, spread = parts.mean(axis=0) * unit, _usable(parts.std(axis=0), unit)
    if values is not None:
        mean, spread = np.where(values, mean, 0.0), np.where(values, spread, 1.0)
    return {"mean": mean.tolist(), "spread": spread.tolist()}


def _usable(spread: NDArray[np.float64], unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave columns as they are whose spread is rounding, or so small that one can not divide by it."""
    return np.where((spread > _CONSTANT) & (spread * unit >= np.finfo(np.float64).tiny), spread * unit, 1.0)


def _learn_principal(X: Any, number: int) -> State:
    if not 1 <= number <= min(X.shape):
        raise ValueError(f"pca{number} needs a number from 1 to {min(X.shape)} for features of shape {X.shape}")
    if number * X.shape[1] > LARGEST_STATE:
        raise ValueError(
            f"pca{number} of {X.shape[1]} columns is too large to be kept for new rows; ask for fewer components"
        )
    # A sparse X is not centred: that would make it dense.
    method = TruncatedSVD(number, random_state=0) if sparse.issparse(X) else PCA(number, random_state=0)
    method.fit(X)
    mean = None if sparse.issparse(X) else method.mean_.tolist()
    return {"mean": mean, "components": method.components_.tolist()}


def _applied(X: Any, state: State) -> Any:
    step = state["step"]
    if step == "rows":
        return normalize(X, norm="l1")
    if step == "unit":
        return normalize(X, norm="l2")
    if step == "range":
        return X / state["largest"]
    if step == "standard":
        spread = np.array(state["spread"])
        if sparse.issparse(X):
            return sparse.csr_array(X.multiply(1 / spread))
        if state["mean"] is None:
            return X / spread
        return 2 * ((X / 2 - np.array(state["mean"]) / 2) / spread)  # halves of great numbers have a difference
    if "components" in state:
        centred = X if state["mean"] is None else X - np.array(state["mean"])
        return centred @ np.array(state["components"]).T
    return X


def _describe(step: str) -> str:
    components = _COMPONENTS.fullmatch(step)
    if components:
        return f"the first {components[1]} principal components (a sparse X is not centred)"
    return DESCRIPTIONS[step]
