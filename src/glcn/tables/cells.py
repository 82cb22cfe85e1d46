"""The cells of a column in one of three plain forms: numbers, dates, or texts."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "nat", "?"})  # in lower case
ISO = "ISO 8601"
DATE_FORMATS = {  # name: how strptime writes it; the first that fits all cells is taken
    ISO: "",
    "year/month/day": "%Y/%m/%d",
    "day.month.year": "%d.%m.%Y",
    "day/month/year": "%d/%m/%Y",
    "month/day/year": "%m/%d/%Y",
}
_DAY = 86_400.0


def plain_cells(column: NDArray[Any]) -> NDArray[Any]:
    """Return float64 numbers (missing: NaN), dates as datetime64, or objects that are str or None (missing)."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind == "M":
        return column
    return np.array([_text(cell) for cell in column], dtype=object)


def as_texts(cells: NDArray[Any]) -> NDArray[Any]:
    """Write plain cells as texts, whole numbers without a point; None is missing."""
    if cells.dtype.kind == "O":
        return cells
    if cells.dtype.kind == "M":
        return np.array([None if np.isnat(cell) else str(cell) for cell in cells], dtype=object)
    texts = [None if value != value else repr(float(value)).removesuffix(".0") for value in cells]
    return np.array(texts, dtype=object)


def as_numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Read plain cells as numbers; NaN where a cell is missing or no number."""
    if cells.dtype.kind == "f":
        return cells
    if cells.dtype.kind == "M":
        return as_days(cells, ISO)
    return np.array([_number(cell) for cell in cells], dtype=np.float64)


def as_days(cells: NDArray[Any], form: str) -> NDArray[np.float64]:
    """Read plain cells as days since 1970; NaN where a cell is missing or no date of that form."""
    if cells.dtype.kind == "M":
        days = cells.astype("datetime64[us]").astype(np.float64) / (_DAY * 1e6)
        return np.where(np.isnat(cells), np.nan, days)
    if cells.dtype.kind == "f":
        return np.full(len(cells), np.nan)
    return np.array([_days(cell, form) for cell in cells], dtype=np.float64)


def is_missing(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which plain cells hold nothing."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells))
    if cells.dtype.kind == "M":
        return np.asarray(np.isnat(cells))
    return np.fromiter((cell is None for cell in cells), bool, len(cells))


def _text(cell: Any) -> str | None:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, float | np.floating):
        cell = repr(float(cell)).removesuffix(".0")
    text = str(cell).strip()
    return None if text.lower() in MISSING else text


def _number(cell: str | None) -> float:
    if cell is None or "_" in cell:  # Python reads 1_000, nobody else does
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _days(cell: str | None, form: str) -> float:
    if cell is None or not cell[:1].isdigit() or (form == ISO and "-" not in cell):
        return float("nan")
    try:
        moment = datetime.fromisoformat(cell) if form == ISO else datetime.strptime(cell, DATE_FORMATS[form])
    except ValueError:
        return float("nan")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / _DAY
