"""How a column becomes numbers: learned once from the training table, repeated on any other."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glcn.tables.cells import as_days, as_numbers, as_texts, is_missing
from glcn.tables.guess import MOST_CATEGORIES
from glcn.tables.notes import Notes


@dataclass(frozen=True)
class _ValueColumn:
    """One column of values, and one that marks those which are missing; each where it tells rows apart."""

    name: str
    median: float
    valued: bool  # whether values differ
    marked: bool  # whether any was missing in training

    @property
    def titles(self) -> tuple[str, ...]:
        """The name of each column that comes out."""
        return (self.name,) * self.valued + (f"{self.name} is missing",) * self.marked

    @property
    def scaled(self) -> tuple[bool, ...]:
        """Which of them are values, to be brought to one scale; marks stay 0 and 1."""
        return (True,) * self.valued + (False,) * self.marked

    def _encoded(self, values: NDArray[np.float64], notes: Notes) -> NDArray[np.float64]:
        missing = np.isnan(values)
        if missing.any() and not self.marked:
            notes.add(self.name, f"{counted(missing)} without a value, which the training table had not: median taken")
        parts = [np.where(missing, self.median, values)] * self.valued + [missing.astype(np.float64)] * self.marked
        return np.column_stack(parts) if parts else np.empty((len(values), 0))


@dataclass(frozen=True)
class NumericColumn(_ValueColumn):
    """Numbers; a missing or infinite one becomes the median, and is marked."""

    kind: ClassVar[str] = "numeric"

    @classmethod
    def learn(cls, name: str, cells: NDArray[Any], notes: Notes) -> "NumericColumn":
        """Find the median and what varies."""
        values = _finite(name, cells, as_numbers(cells), notes)
        return cls(name, *_learned(values))

    def encode(self, cells: NDArray[Any], notes: Notes) -> NDArray[np.float64]:
        """Return (n, width) numbers."""
        return self._encoded(_finite(self.name, cells, as_numbers(cells), notes), notes)


@dataclass(frozen=True)
class DateColumn(_ValueColumn):
    """Dates as days since 1970; a missing one as in numbers."""

    form: str  # a name in ``DATE_FORMATS``
    kind: ClassVar[str] = "date"

    @classmethod
    def learn(cls, name: str, cells: NDArray[Any], form: str) -> "DateColumn":
        """Find the median and what varies."""
        return cls(name, *_learned(as_days(cells, form)), form)

    def encode(self, cells: NDArray[Any], notes: Notes) -> NDArray[np.float64]:
        """Return (n, width) numbers."""
        days = as_days(cells, self.form)
        odd = np.isnan(days) & ~is_missing(cells)
        if odd.any():
            notes.add(self.name, f"{counted(odd)} hold no date ({self.form}) and count as missing")
        return self._encoded(days, notes)


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of 0 and 1 for each value; a missing value is one of them where training had any."""

    name: str
    categories: tuple[str, ...]
    marked: bool
    kind: ClassVar[str] = "categorical"

    @classmethod
    def learn(cls, name: str, cells: NDArray[Any], notes: Notes) -> "CategoricalColumn":
        """Find the values; of very many, the most frequent."""
        texts = as_texts(cells)
        missing = is_missing(texts)
        found, counts = np.unique(texts[~missing].astype(str), return_counts=True)
        if len(found) > MOST_CATEGORIES:
            notes.add(name, f"more than {MOST_CATEGORIES} values; only the most frequent have a column")
            found = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
        return cls(name, tuple(found.tolist()), bool(missing.any()))

    def encode(self, cells: NDArray[Any], notes: Notes) -> NDArray[np.float64]:
        """Return (n, width) of 0 and 1; a value that training did not have is 0 everywhere."""
        texts = as_texts(cells)
        place = {text: number for number, text in enumerate(self.categories)}
        if self.marked:
            place |= {None: len(self.categories)}  # type: ignore[dict-item]
        codes = np.array([place.get(text, -1) for text in texts], dtype=np.int64)
        encoded = np.zeros((len(texts), len(self.titles)))
        known = np.flatnonzero(codes >= 0)
        encoded[known, codes[known]] = 1.0
        unseen = {text for text, code in zip(texts, codes, strict=True) if code < 0 and text is not None}
        if unseen and len(self.categories) < MOST_CATEGORIES:
            notes.add(self.name, f"values that the training table has not, such as {min(unseen)!r}, have no column")
        if not self.marked and (lost := is_missing(texts)).any():
            notes.add(
                self.name, f"{counted(lost)} without a value, which the training table had not: 0 in every column"
            )
        return encoded

    @property
    def titles(self) -> tuple[str, ...]:
        """The name of each column that comes out."""
        values = tuple(f"{self.name} = {category}" for category in self.categories)
        return values + (f"{self.name} is missing",) * self.marked

    @property
    def scaled(self) -> tuple[bool, ...]:
        """None is: 0 and 1 weigh about as much as a number of variance 1."""
        return (False,) * len(self.titles)


Column = NumericColumn | DateColumn | CategoricalColumn
_KINDS: dict[str, type[Column]] = {each.kind: each for each in (NumericColumn, DateColumn, CategoricalColumn)}


def column_to_dict(column: Column) -> dict[str, Any]:
    """Return plain values that JSON can hold."""
    return {"kind": column.kind} | asdict(column)


def column_from_dict(state: dict[str, Any]) -> Column:
    """Return the column that :func:`column_to_dict` wrote."""
    values = dict(state)
    kind = values.pop("kind")
    if kind not in _KINDS:
        raise ValueError(f"there is no kind of column {kind!r}; it must be one of {tuple(_KINDS)}")
    if "categories" in values:
        values["categories"] = tuple(values["categories"])
    return _KINDS[kind](**values)


def counted(mask: NDArray[np.bool_]) -> str:
    """Say how many rows a mask holds."""
    number = int(mask.sum())
    return "1 row" if number == 1 else f"{number} rows"


def _finite(name: str, cells: NDArray[Any], values: NDArray[np.float64], notes: Notes) -> NDArray[np.float64]:
    """Take infinities for missing, because no scale has a place for them, and say so."""
    infinite = np.isinf(values)
    if infinite.any():
        notes.add(name, f"infinite in {counted(infinite)}, which count as missing")
    odd = np.flatnonzero(np.isnan(values) & ~is_missing(cells))
    if len(odd):
        example = str(as_texts(cells)[odd[0]])
        what = f"{len(odd)} cells are no numbers" if len(odd) > 1 else "1 cell is no number"
        notes.add(name, f"{what} ({_short(example)!r}) and count{'s' * (len(odd) == 1)} as missing")
    return np.where(infinite, np.nan, values)


def _learned(values: NDArray[np.float64]) -> tuple[float, bool, bool]:
    """Return the median, whether values differ, and whether any is missing."""
    missing = np.isnan(values)
    there = values[~missing]
    if len(there) == 0:
        return 0.0, False, False
    ordered = np.sort(there)
    median = float(ordered[(len(ordered) - 1) // 2])  # one of the values: a mean of two could overflow
    return median, bool(ordered[0] != ordered[-1]), bool(missing.any())


def _short(text: str, length: int = 30) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
