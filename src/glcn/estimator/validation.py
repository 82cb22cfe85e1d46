"""Which labelled rows are fitted and which decide when to stop."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST_LABELS = 5  # below this many labels in any class, nothing is held out


class LabelledRows(NamedTuple):
    """Labelled rows in their two roles."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]


def divide(codes: NDArray[np.int64], validation: Any, fraction: float, random: np.random.Generator) -> LabelledRows:
    """Divide the labelled rows (code ≥ 0): by the caller's ``validation`` rows, else by a stratified draw."""
    if validation is not None:
        return _by_caller(codes, validation)
    if not 0 <= fraction < 1:
        raise ValueError(f"validation_fraction must lie in [0, 1), got {fraction}")
    labelled = np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[labelled])
    if fraction == 0 or counts.min() < FEWEST_LABELS:
        return LabelledRows(labelled, np.empty(0, np.int64))
    held = np.concatenate(
        [
            random.permutation(np.flatnonzero(codes == code))[: min(count - 1, max(1, round(fraction * count)))]
            for code, count in enumerate(counts)
        ]
    )
    return LabelledRows(np.setdiff1d(labelled, held), np.sort(held))


def _by_caller(codes: NDArray[np.int64], validation: Any) -> LabelledRows:
    rows = np.asarray(validation)
    if rows.ndim != 1:
        raise ValueError(f"validation must be a mask or a list of row numbers, got shape {rows.shape}")
    if rows.dtype == bool:
        if len(rows) != len(codes):
            raise ValueError(f"the validation mask has {len(rows)} entries but X has {len(codes)} rows")
        rows = np.flatnonzero(rows)
    elif rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"validation must be a boolean mask or integer row numbers, got dtype {rows.dtype}")
    elif len(rows) == len(codes) and set(np.unique(rows)) <= {0, 1}:
        raise ValueError("validation looks like a mask of 0 and 1; pass validation.astype(bool)")
    rows = np.unique(rows.astype(np.int64))
    if rows.size and (rows[0] < 0 or rows[-1] >= len(codes)):
        raise ValueError(f"validation names rows {rows[0]} to {rows[-1]}, but X has {len(codes)} rows")
    if (codes[rows] < 0).any():
        raise ValueError(f"validation names {(codes[rows] < 0).sum()} rows without a label; name labelled rows only")
    train = np.setdiff1d(np.flatnonzero(codes >= 0), rows)
    unfitted = np.setdiff1d(codes[rows], codes[train])
    if unfitted.size:
        raise ValueError(
            f"{unfitted.size} of the classes have labels among the validation rows only, so nothing could be fitted "
            "for them; leave at least one label of each class outside of validation"
        )
    return LabelledRows(train, rows)
