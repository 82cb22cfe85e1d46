"""Labels from a file, as codes of classes."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.store.arrays import StoredArray, arrays_in

UNKNOWN = -1
BLOCK = 1 << 16  # labels that are looked at at a time
TEXTS = (".csv", ".txt")

Label = int | str


def label_blocks(path: Path) -> Iterator[list[Label | None]]:
    """Read labels, None where there is none, from .npy, .csv or .txt (one a line)."""
    if path.suffix.lower() not in (*TEXTS, ".npy"):
        raise ValueError(f"can not read labels from {path.name}: its ending must be .npy, .csv or .txt")
    if path.suffix.lower() == ".npy":
        return array_blocks(arrays_in(path)["X"])
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return _text_blocks(path)


def array_blocks(array: StoredArray) -> Iterator[list[Label | None]]:
    """Read labels from an array of integers, of text, or of whole numbers and NaN."""
    if len(array.shape) != 1 or array.dtype.kind not in "biufUS":
        raise ValueError(
            f"{array.name} must hold one number or text a row, got shape {array.shape} and dtype {array.dtype}"
        )
    for _, block in array.blocks(BLOCK):
        yield [_label(value, array.name) for value in block.tolist()]


def write_codes(blocks: Iterable[list[Label | None]], codes: NDArray[np.int32], name: str) -> list[Label]:
    """Write the class of each row into ``codes``, −1 where there is none, and return the classes in order."""
    number: dict[Label, int] = {}
    count = 0
    for block in blocks:
        if count + len(block) <= len(codes):
            codes[count : count + len(block)] = [
                UNKNOWN if label is None else number.setdefault(label, len(number)) for label in block
            ]
        count += len(block)
    if count != len(codes):
        header = "; it may have a header, which must go" if count == len(codes) + 1 else ""
        raise ValueError(f"{name} has {count} labels, but there are {len(codes)} rows{header}")
    names: dict[Label, Label] = {label: label for label in number}
    if number and all(isinstance(label, str) and label.lstrip("-").isdecimal() for label in number):
        names = {label: int(label) for label in number}
    classes = sorted({name for name in names.values() if name != UNKNOWN}, key=lambda label: (str(type(label)), label))
    place = {label: code for code, label in enumerate(classes)} | {UNKNOWN: UNKNOWN}
    final = np.array([place[names[label]] for label in number] + [UNKNOWN], np.int32)  # the last is for −1
    for start in range(0, len(codes), BLOCK):
        codes[start : start + BLOCK] = final[codes[start : start + BLOCK]]
    return classes


def _text_blocks(path: Path) -> Iterator[list[Label | None]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file) if path.suffix.lower() == ".csv" else ([line] for line in file)
            block: list[Label | None] = []
            for number, cells in enumerate(lines, 1):
                if len(cells) > 1:
                    raise ValueError(f"{path.name} must have one label a line, got {len(cells)} cells in line {number}")
                block.append(cells[0].strip() or None if cells else None)
                if len(block) == BLOCK:
                    yield block
                    block = []
            yield block
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not in UTF-8; save it so") from error


def _label(value: Any, name: str) -> Label | None:
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        return value.strip() or None
    if value != value or value == UNKNOWN:
        return None
    if value != int(value):
        raise ValueError(f"{name} has the label {value}; labels are classes, so whole numbers or text")
    return int(value)
