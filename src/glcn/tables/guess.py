"""What kind of column this is, where nobody says so."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.tables.cells import DATE_FORMATS, ISO, as_days, as_numbers, as_texts, is_missing

NUMERIC, CATEGORICAL, DATE, LEFT_OUT = "numeric", "categorical", "date", "left out"
MOST_CATEGORIES = 100  # values of a column that get a column of their own
_NEARLY_ALL = 0.9
_LONG = 30  # mean length of a text that is a sentence and no name
_FEW_ROWS = 10  # below this, rows that count up may do so by chance


class Guess(NamedTuple):
    """A kind, and the reason in words."""

    kind: str
    why: str
    form: str = ISO  # of dates


def guess_kind(cells: NDArray[Any]) -> Guess:
    """Guess from the plain cells of the training table."""
    there = cells[~is_missing(cells)]
    if len(there) == 0:
        return Guess(LEFT_OUT, "empty; left out")
    if len(there) == len(cells) and len(set(as_texts(cells))) == 1:
        return Guess(LEFT_OUT, "the same in every row; left out")
    if there.dtype.kind == "M":
        return Guess(DATE, "dates, as days")
    values = as_numbers(there)
    share = float((~np.isnan(values)).mean())
    if share == 1:
        if _counts_rows(cells):
            return Guess(LEFT_OUT, "counts the rows; left out")
        return Guess(NUMERIC, "numbers")
    if share >= _NEARLY_ALL and len(np.unique(values)) > 10:
        return Guess(NUMERIC, "numbers")
    return _date(there) or _text(there)


def _counts_rows(cells: NDArray[Any]) -> bool:
    numbers = as_numbers(cells)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no count
        return len(numbers) >= _FEW_ROWS and bool((np.diff(numbers) == 1).all())


def _date(there: NDArray[Any]) -> Guess | None:
    for form in DATE_FORMATS:
        if not np.isnan(as_days(there[:1], form)).any() and not np.isnan(as_days(there, form)).any():
            return Guess(DATE, f"dates ({form}), as days", form)
    return None


def _text(there: NDArray[Any]) -> Guess:
    distinct = len(set(there))
    most = len(there) / 2 if distinct > MOST_CATEGORIES else _NEARLY_ALL * len(there)
    if distinct > most and distinct > 2:
        return Guess(LEFT_OUT, "different in most rows, as names and remarks are; left out")
    length = float(np.mean([len(text) for text in there]))
    if distinct > len(there) / 2 and length > _LONG:
        return Guess(LEFT_OUT, "free text; left out")
    return Guess(CATEGORICAL, "texts, one column for each value")
