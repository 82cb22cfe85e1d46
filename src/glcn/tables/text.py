"""Delimited text to columns of text, with an error for every way in which a file can be none."""

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SEPARATORS = (",", ";", "\t", "|")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_OTHER_FILES = {b"PK\x03\x04": "a spreadsheet or zip archive", b"\x1f\x8b": "a gzip archive", b"PAR1": "a Parquet file"}


class Lines(NamedTuple):
    """The lines of a file, cut into cells, with their numbers."""

    separator: str
    cells: list[list[str]]
    numbers: list[int]


class TextTable(NamedTuple):
    """A table as it was written: nothing but text."""

    columns: dict[str, NDArray[Any]]  # (n,) of str each, in the order of the file
    notes: list[str]


def text_table(content: bytes, name: str, expected: str = ",") -> TextTable:
    """Read a table whose first line names its columns; ``expected`` is the separator that its ending promises."""
    separator, lines, numbers = split_lines(content, name, expected)
    titles = _titles(lines[0], name)
    notes = [] if separator == expected else [f"Cells are separated by {_NAMES[separator]}."]
    rows = []
    for cells, number in zip(lines[1:], numbers[1:], strict=True):
        if len(cells) != len(titles):
            raise ValueError(
                f"line {number} of {name} has {len(cells)} cells and its first line has {len(titles)}; "
                "correct it, or put cells that hold the separator in quotation marks"
            )
        rows.append(cells)
    filled = [cells for cells in rows if any(cell.strip() for cell in cells)]
    if not filled:
        raise ValueError(f"{name} has no rows below its header; add some")
    if len(filled) < len(rows):
        notes.append(f"{len(rows) - len(filled)} lines without any value were skipped.")
    columns = {
        title: np.array(cells, dtype=object) for title, cells in zip(titles, zip(*filled, strict=True), strict=True)
    }
    if separator != "," and _with_decimal_points(columns):
        notes.append("Commas in numbers were read as decimal points.")
    return TextTable(columns, notes)


def split_lines(content: bytes, name: str, expected: str = ",") -> Lines:
    """Cut a file into lines and cells; empty lines are left out."""
    text = decoded(content, name)
    separator = _separator(text, expected)
    cells, numbers = [], []
    for number, line in _read(text, separator, name):
        cells.append(line)
        numbers.append(number)
    if not cells:
        raise ValueError(f"{name} is empty; it must have a line of column names and a line for each row")
    return Lines(separator, cells, numbers)


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file, or say why it has none."""
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    for start, what in _OTHER_FILES.items():
        if content.startswith(start):
            raise ValueError(f"{name} is {what}, whatever its name says; save it as CSV, or give it its right ending")
    if b"\0" in content and not utf16:
        raise ValueError(f"{name} holds binary data and no text; save the table as CSV in UTF-8")
    try:
        return content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{name} is not in UTF-8 (line {line}); save it so, for example as 'CSV UTF-8' in a spreadsheet"
        ) from error


def _separator(text: str, expected: str) -> str:
    """Choose the separator that the first line has most of; where there is none, the expected one."""
    first = next((line for line in io.StringIO(text, newline=None) if line.strip()), "")
    if expected == "\t" and expected in first:
        return expected
    outside = "".join(first.split('"')[::2])  # what stands in quotation marks separates nothing
    return max((expected, *SEPARATORS), key=outside.count)


def _read(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            line = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field larger" in str(error):
                what = f"a cell of more than {csv.field_size_limit()} characters; shorten it, or close a quotation mark"
            else:
                what = (
                    'a quotation mark that is not closed, or not followed by the separator; write "" for one in a cell'
                )
            raise ValueError(f"line {start} of {name} has {what}") from error
        if line:
            yield start, line


def _titles(line: list[str], name: str) -> list[str]:
    titles = [unicodedata.normalize("NFC", title.strip()) for title in line]
    titles = [title or f"column {place}" for place, title in enumerate(titles, 1)]
    refuse_repeated(titles, name)
    return titles


def refuse_repeated(titles: list[str], name: str) -> None:
    """Refuse a table in which a name does not tell which column is meant."""
    title, number = Counter(titles).most_common(1)[0]
    if number > 1:
        raise ValueError(f"{name} has {number} columns named {title!r}; rename all but one")


def _with_decimal_points(columns: dict[str, NDArray[Any]]) -> bool:
    """Write numbers such as 3,5 with a point, in columns that hold nothing else; returns whether there were any."""
    changed = False
    for title, cells in columns.items():
        if any("," in cell for cell in cells) and all(_is_decimal(cell) for cell in cells if cell.strip()):
            columns[title] = np.array([cell.replace(",", ".") for cell in cells], dtype=object)
            changed = True
    return changed


def _is_decimal(cell: str) -> bool:
    whole, _, part = cell.strip().lstrip("+-").partition(",")
    return whole.isdecimal() and (part.isdecimal() or "," not in cell)
