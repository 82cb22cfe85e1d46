"""Labels as users write them: which rows have one, which classes there are, and whether they are classes at all."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.dataset import UNKNOWN
from glcn.tables.cells import MISSING
from glcn.tables.notes import listed

_FEW = 10  # labels, below which nothing is told from their variety


class Labels(NamedTuple):
    """Class numbers, and what they stand for."""

    codes: NDArray[np.int64]  # (n,), −1 where a row has no label
    names: tuple[str, ...]


def read_label_values(y: Any, said: str = "") -> Labels:
    """Give each class a number; None, NaN and empty text say that a row has no label, and so does −1 among integers.

    ``said`` is what was found out before, for the error.
    """
    labels = [_as_text(label) for label in np.asarray(y, dtype=object).ravel()]
    if _are_integers(labels):
        labels = [None if label == str(UNKNOWN) else label for label in labels]
    names = sorted({label for label in labels if label is not None}, key=_natural_order)
    if len(names) < 2:
        got = f"one ({names[0]!r})" if names else "none"
        raise ValueError(
            f"at least two classes must have a label, got {got}; leave the cells of unlabelled rows empty"
            + (f" ({said})" if said else "")
        )
    number = {label: code for code, label in enumerate(names)}
    return Labels(np.array([UNKNOWN if label is None else number[label] for label in labels], np.int64), tuple(names))


def without_missing(y: Any, kept: Iterable[str] = ()) -> tuple[NDArray[Any], list[str]]:
    """Take words such as NA for no label, as in any other column of a file, and say so; ``kept`` are classes."""
    values, classes = np.array(y, dtype=object).ravel(), set(kept)
    words = [label.strip() if isinstance(label, str) else "" for label in values]
    if unknown := sorted(classes - set(words)):
        raise ValueError(f"--keep-label {unknown[0]}: no row has this label; leave the option out")
    missing = np.array([word.lower() in MISSING and word not in classes for word in words], dtype=bool)
    found = Counter(word for word, lost in zip(words, missing, strict=True) if lost and word)
    values[missing & (np.array(words, dtype=object) != "")] = None
    return values, [
        f"{number} label{'s' * (number > 1)} {word} read as none; --keep-label {word} makes it a class."
        for word, number in sorted(found.items())
    ]


def refuse_targets(labels: Labels, where: str) -> None:
    """Refuse what is no class: a column filled with values that hardly ever repeat, as ids and measurements do."""
    labelled = int((labels.codes != UNKNOWN).sum())
    filled = labelled > len(labels.codes) / 2
    measured = any(_is_fraction(name) for name in labels.names)
    if labelled >= _FEW and len(labels.names) > labelled / 2 and (filled or measured):
        raise ValueError(
            f"{where} has {len(labels.names)} different values in {labelled} labelled rows, as an id or a measurement "
            "has; glcn predicts classes: name another column, or put these values into a few classes"
        )


def label_notes(labels: Labels, y: Any) -> list[str]:
    """Say what may be a slip of the pen."""
    notes = []
    counts = np.bincount(labels.codes[labels.codes != UNKNOWN], minlength=len(labels.names))
    single = [name for name, count in zip(labels.names, counts, strict=True) if count == 1]
    if single:
        which = "Class" if len(single) == 1 else "Each of the classes"
        notes.append(f"{which} {listed(single)} has one labelled row only.")
    folded = Counter(name.casefold() for name in labels.names)
    alike = [name for name in labels.names if folded[name.casefold()] > 1]
    if alike:
        notes.append(f"The classes {listed(alike)} differ in upper and lower case only.")
    notes += _number_notes(labels.names)
    written = {str(label).strip() for label in np.asarray(y, dtype=object).ravel()}
    if str(UNKNOWN) in written and str(UNKNOWN) not in labels.names:
        notes.append("The label -1 was read as none.")
    return notes


def _number_notes(names: tuple[str, ...]) -> list[str]:
    """Say where classes are the same number in two spellings, and where only some are numbers."""
    numbers = {name: value for name in names if (value := _number(name)) is not None}
    spellings = Counter(numbers.values())
    notes = []
    if same := [name for name, value in numbers.items() if spellings[value] > 1]:
        notes.append(f"The classes {listed(same)} are the same number written differently, and count as different.")
    if 0 < len(numbers) < len(names):
        words = [name for name in names if name not in numbers]
        notes.append(f"Some classes are numbers ({listed(list(numbers))}) and others words ({listed(words)}).")
    return notes


def _number(name: str) -> float | None:
    try:
        value = float(name)
    except ValueError:
        return None
    return None if value != value or "_" in name else value


def _are_integers(labels: list[str | None]) -> bool:
    return all(label is None or label.lstrip("-").isdigit() for label in labels)


def _is_fraction(name: str) -> bool:
    value = _number(name)
    return value is not None and not value.is_integer()


def _as_text(label: Any) -> str | None:
    """Return a label as text, or None where there is none."""
    if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:
        return None
    if isinstance(label, bytes):
        label = label.decode(errors="replace")
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    text = str(label).strip()
    return None if text == "" or (isinstance(label, int | np.integer) and label == UNKNOWN) else text


def _natural_order(label: str) -> tuple[int, float, str]:
    """Sort numbers by size and before words."""
    try:
        return (0, float(label), label)
    except ValueError:
        return (1, 0.0, label)
