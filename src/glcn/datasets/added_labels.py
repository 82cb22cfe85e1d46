"""Labels that somebody adds to a dataset from a file: one row and its label a line."""

import hashlib
from collections.abc import Container
from dataclasses import replace
from pathlib import Path

import numpy as np

from glcn.datasets.dataset import UNKNOWN, Dataset
from glcn.escaping import original
from glcn.tables import find_column, read_table
from glcn.tables.cells import MISSING
from glcn.tables.notes import listed

ROW, LABEL = "row", "label"


def add_labels(dataset: Dataset, path: Path, *, new_classes: bool) -> Dataset:
    """Return the dataset with the labels of a CSV file with the columns ``row`` and ``label``.

    A row is meant by its name, or by its number where rows have none. It is fitted from then on, and no longer a row
    of the final score. A label that differs from one that was known takes its place; a row without a label in the
    file stays as it is.

    Parameters
    ----------
    new_classes
        Whether the file may name classes that the dataset does not have yet.
    """
    told = {row: _plain(label, dataset.class_names) for row, label in _read(path, dataset.class_names).items()}
    places = _places(dataset, list(told), path)
    names = _class_names(dataset, list(told.values()), path, new_classes=new_classes)
    y = dataset.y.copy()
    rows = np.array(places, np.int64)
    codes = np.array([names.index(label) for label in told.values()], np.int64)
    known = dataset.visible_labels[rows]
    corrected = int(((known != UNKNOWN) & (known != codes)).sum())
    y[rows] = codes
    train = np.union1d(dataset.train, np.setdiff1d(rows, dataset.validation))
    test = np.setdiff1d(dataset.test, rows)
    for part in (y, train, test):
        part.setflags(write=False)
    digest = hashlib.sha256("\n".join([dataset.fingerprint, *names]).encode() + rows.tobytes() + codes.tobytes())
    return replace(
        dataset,
        y=y,
        train=train,
        test=test,
        class_names=names,
        split=dataset.split if dataset.split.endswith("+added") else f"{dataset.split}+added",
        split_description=f"{dataset.split_description}; {len(rows)} labels of {path.name} added",
        fingerprint=digest.hexdigest()[:16],
        notes=(*dataset.notes, *_notes(dataset, path, len(rows), corrected, names)),
    )


def _read(path: Path, classes: Container[str]) -> dict[str, str]:
    """Return the label of each row that is named; an empty one is no label, nor is NA where it is no class."""
    table = read_table(path)
    rows, labels = (table.content[find_column(table, name, "--add-labels")] for name in (ROW, LABEL))
    told: dict[str, str] = {}
    for row, label in zip((str(row).strip() for row in rows), (str(label).strip() for label in labels), strict=True):
        if label.lower() in MISSING and label not in classes:
            continue
        if told.setdefault(row, label) != label:
            raise ValueError(f"{path.name} gives row {row!r} two labels, {told[row]!r} and {label!r}; keep one")
    if not told:
        raise ValueError(f"{path.name} holds no label; write a row and its label in each line")
    return told


def _places(dataset: Dataset, wanted: list[str], path: Path) -> list[int]:
    n = len(dataset.y)
    names = map(str, range(n)) if dataset.ids is None else dataset.ids.tolist()
    number = {name: place for place, name in enumerate(names)}
    found = [number.get(_plain(row, number)) for row in wanted]
    unknown = [row for row, place in zip(wanted, found, strict=True) if place is None]
    if unknown:
        example = f"0 to {n - 1}" if dataset.ids is None else f"such as {str(dataset.ids[0])!r}"
        raise ValueError(f"{path.name} names rows that are not there: {listed(unknown)}; there are rows {example}")
    return [place for place in found if place is not None]


def _class_names(dataset: Dataset, wanted: list[str], path: Path, *, new_classes: bool) -> tuple[str, ...]:
    """Return the names of all classes, new ones last."""
    new = [label for label in dict.fromkeys(wanted) if label not in dataset.class_names]
    if new and not new_classes:
        raise ValueError(
            f"{path.name} has labels that are no class of {dataset.name}: {listed(new)}; its classes are "
            f"{listed(list(dataset.class_names), 10)}"
        )
    return (*dataset.class_names, *new)


def _notes(dataset: Dataset, path: Path, count: int, corrected: int, names: tuple[str, ...]) -> list[str]:
    notes = [f"{count} label{'s' * (count != 1)} of {path.name} added."]
    if corrected:
        notes.append(f"{corrected} of them differ from a label that was known, and take its place.")
    new = list(names[len(dataset.class_names) :])
    if new:
        notes.append(f"New class{'es' * (len(new) > 1)}: {listed(new)}.")
    return notes


def _plain(cell: str, known: Container[str]) -> str:
    """Return a cell without the apostrophe that our files put before what a spreadsheet would run."""
    return cell if cell in known else original(cell)
