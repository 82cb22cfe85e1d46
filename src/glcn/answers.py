"""Answers on paper: the label of each row, how sure it is, and what else it might be."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glcn.escaping import csv_line, visible, visible_json
from glcn.whole_files import written_aside

STDOUT = "-"


class Answered(NamedTuple):
    """How many rows were answered, and how many of them left open."""

    rows: int
    doubtful: int


def write_answers(
    target: str | Path,
    blocks: Iterable[tuple[Sequence[str] | NDArray[Any], ArrayLike]],
    classes: Sequence[Any] | NDArray[Any],
    *,
    abstain: float | None = None,
    format: str = "csv",  # noqa: A002
) -> Answered:
    """Write a line for each row to a file, which appears whole or not at all, or to standard output ("-").

    Parameters
    ----------
    target
        A path, or "-".
    blocks
        Names of rows and their (b, c) class probabilities, block by block: one is held at a time.
    classes
        Name of each class, in the order of the probabilities.
    abstain
        Rows whose label is less probable than this have an empty label (null in JSON).
    format
        ``"csv"`` or ``"json"``.
    """
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {tuple(_FORMATS)}, got {format!r}")
    if abstain is not None and not 0 <= abstain <= 1:
        raise ValueError(f"abstain must be a probability from 0 to 1, got {abstain}")
    lines = _lines(blocks, classes, abstain)
    if str(target) == STDOUT:
        return _FORMATS[format](lines, terminal_safe(sys.stdout))
    with written_aside(Path(target)) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        return _FORMATS[format](lines, file.write)


def terminal_safe(file: TextIO) -> Callable[[str], Any]:
    """Return a function that writes lines; on a terminal, what it would obey is written out instead."""
    if not file.isatty():
        return file.write
    return lambda text: file.write("\n".join(visible(line) for line in text.split("\n")))


class _Line(NamedTuple):
    row: str
    label: str | None
    probability: float
    second_choice: str
    second_probability: float


def _lines(blocks: Any, classes: Any, abstain: float | None) -> Iterator[_Line]:
    titles = [str(title) for title in classes]
    for names, shares in blocks:
        probabilities = np.asarray(shares, dtype=np.float64)
        if probabilities.shape != (len(names), len(titles)):
            raise ValueError(
                f"there are {len(names)} rows and {len(titles)} classes, but probabilities of shape "
                f"{probabilities.shape}"
            )
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
        top = np.take_along_axis(probabilities, best, axis=1).tolist()
        for name, (first, second), (share, second_share) in zip(names, best.tolist(), top, strict=True):
            label = None if abstain is not None and share < abstain else titles[first]
            yield _Line(str(name), label, share, titles[second], second_share)


def _write_csv(lines: Iterable[_Line], write: Callable[[str], Any]) -> Answered:
    write(csv_line(_Line._fields))
    rows = doubtful = 0
    for name, label, share, second, second_share in lines:
        write(csv_line([name, "" if label is None else label, f"{share:.6f}", second, f"{second_share:.6f}"]))
        rows, doubtful = rows + 1, doubtful + (label is None)
    return Answered(rows, doubtful)


def _write_json(lines: Iterable[_Line], write: Callable[[str], Any]) -> Answered:
    """Write a list with an object a line."""
    rows = doubtful = 0
    for line in lines:
        rounded = line._replace(
            probability=round(line.probability, 6), second_probability=round(line.second_probability, 6)
        )
        write(("[\n" if rows == 0 else ",\n") + visible_json(rounded._asdict()))
        rows, doubtful = rows + 1, doubtful + (line.label is None)
    write("\n]\n" if rows else "[]\n")
    return Answered(rows, doubtful)


_FORMATS = {"csv": _write_csv, "json": _write_json}
