"""The columns in which a row stands out, by what they count in the distance of the learned graph."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.report.packing import packed
from glcn.runs import Run

PER_ROW, PER_ROW_OF_MANY = 6, 3
MANY = 20_000  # rows
_BLOCK = 1_000  # rows at a time


def telling_columns(run: Run) -> dict[str, Any]:
    """Return for each row the columns f with the greatest w_f |x_f − mean_f| / spread_f, and the values there.

    Values are as in the user's table where they were only brought to one scale; else as the network sees them.
    """
    X = run.clf._rows.X
    weights = run.clf.feature_weights()
    if sparse.issparse(X):
        # Of a row of words only those that it has are told; X is not centred.
        mean = np.zeros(X.shape[1])
        spread = np.sqrt(np.maximum(_mean(X.multiply(X)) - _mean(X) ** 2, 0))
    else:
        mean, spread = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    per_unit = weights / np.where(spread > 0, spread, 1)
    columns, values = _strongest(X, mean, per_unit, min(PER_ROW if X.shape[0] <= MANY else PER_ROW_OF_MANY, X.shape[1]))
    restored = _in_own_units(run, columns, values)
    used, places = np.unique(columns, return_inverse=True)
    titles = run.feature_titles
    return {
        "per_row": columns.shape[1],
        "names": [titles[column] for column in used.tolist()],
        "weights": [round(float(weight), 5) for weight in weights[used]],
        "columns": packed(places.reshape(columns.shape), "i4" if len(used) > 60_000 else "u2"),
        "values": packed(values if restored is None else restored, "f4"),
        "own_units": restored is not None,
    }


def _strongest(
    X: Any, mean: NDArray[np.float64], per_unit: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    columns, values = np.zeros((X.shape[0], most), np.int64), np.zeros((X.shape[0], most))
    for start in range(0, X.shape[0], _BLOCK):
        block = X[start : start + _BLOCK]
        block = block.toarray() if sparse.issparse(block) else block
        telling = np.abs(block - mean) * per_unit
        best = np.argsort(-telling, axis=1, kind="stable")[:, :most]
        columns[start : start + len(block)] = best
        values[start : start + len(block)] = np.take_along_axis(block, best, axis=1)
    return columns, values


def _in_own_units(run: Run, columns: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Undo the scaling of a user's table; None where it can not be undone column by column."""
    if run.encoder is None or len(run.encoder.scaling.states) != 1:
        return None
    state = run.encoder.scaling.states[0]
    if state["step"] == "none":
        return values
    if state["step"] == "range":
        return values * float(state["largest"])
    if state["step"] != "standard":
        return None
    mean = 0.0 if state["mean"] is None else np.array(state["mean"])[columns]
    own: NDArray[np.float64] = values * np.array(state["spread"])[columns] + mean
    return own


def _mean(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
