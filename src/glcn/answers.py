"""Answers on paper: the label of each row, how sure it is, and what else it might be."""

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glcn.datasets.files import written_aside

STDOUT = "-"
COLUMNS = ("row", "label", "probability", "second_choice", "second_probability")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(cell: Any) -> str:
    """Return a cell that no spreadsheet runs as a formula: an apostrophe goes before one that could be."""
    text = str(cell)
    if not text.startswith(_FORMULA) or _is_number(text):
        return text
    return f"'{text}"


def write_answers(
    target: str | Path,
    ids: Sequence[str] | NDArray[Any],
    labels: Sequence[Any] | NDArray[Any],
    probabilities: ArrayLike,
    classes: Sequence[Any] | NDArray[Any],
    *,
    abstain: float | None = None,
    format: str = "csv",  # noqa: A002
) -> int:
    """Write a line for each row to a file, which appears whole or not at all, or to standard output ("-").

    Parameters
    ----------
    target
        A path, or "-".
    ids, labels
        Name and predicted label of each row.
    probabilities
        (n, c) class probabilities, in the order of ``classes``.
    abstain
        Rows whose label is less probable than this have an empty label (null in JSON).
    format
        ``"csv"`` or ``"json"``.

    Returns
    -------
    int
        How many rows were left open by ``abstain``.
    """
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {tuple(_FORMATS)}, got {format!r}")
    if abstain is not None and not 0 <= abstain <= 1:
        raise ValueError(f"abstain must be a probability from 0 to 1, got {abstain}")
    rows, doubtful = _rows(ids, labels, np.asarray(probabilities, dtype=np.float64), classes, abstain)
    text = _FORMATS[format](rows)
    if str(target) == STDOUT:
        sys.stdout.write(text)
    else:
        with written_aside(Path(target)) as aside:
            aside.write_text(text, encoding="utf-8", newline="")
    return doubtful


def _rows(
    ids: Any, labels: Any, probabilities: NDArray[np.float64], classes: Any, abstain: float | None
) -> tuple[list[dict[str, Any]], int]:
    if probabilities.shape != (len(ids), len(classes)) or len(labels) != len(ids):
        raise ValueError(
            f"there are {len(ids)} rows, {len(labels)} labels and {len(classes)} classes, but probabilities of shape "
            f"{probabilities.shape}"
        )
    order = np.argsort(-probabilities, axis=1, kind="stable")
    rows, doubtful = [], 0
    for name, label, shares, (first, second, *_) in zip(ids, labels, probabilities, order, strict=True):
        open_ = abstain is not None and bool(shares[first] < abstain)
        doubtful += open_
        values = (str(name), None if open_ else str(label), shares[first], str(classes[second]), shares[second])
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows, doubtful


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        name, label, share, second, second_share = row.values()
        cells = (harmless(name), "" if label is None else harmless(label), f"{share:.6f}")
        writer.writerow([*cells, harmless(second), f"{second_share:.6f}"])
    return text.getvalue()


def _json(rows: list[dict[str, Any]]) -> str:
    rounded = [
        {key: round(float(value), 6) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]
    return json.dumps(rounded, ensure_ascii=False, indent=1) + "\n"


_FORMATS = {"csv": _csv, "json": _json}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text == text.strip()
