"""A table of anything to a matrix of numbers, the same way every time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.tables.cells import as_numbers, is_missing, plain_cells
from glcn.tables.columns import (
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
    column_from_dict,
    column_to_dict,
    counted,
)
from glcn.tables.guess import CATEGORICAL, DATE, LEFT_OUT, NUMERIC, Guess, guess_kind
from glcn.tables.notes import Notes, listed
from glcn.tables.reading import named_columns
from glcn.tables.scaling import Scaling

VERSION = 1
_OVERRIDES = {"--numeric": NUMERIC, "--categorical": CATEGORICAL, "--drop": LEFT_OUT}


class Encoded(NamedTuple):
    """Features, and what is to be said of them."""

    X: Any  # (n, p) float32 array, or scipy CSR where the table was sparse
    notes: list[str]


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """Turns a table into numbers as it was learned from the training table; see :meth:`fit`.

    Its state is plain: ``TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))`` does the same on any
    machine.
    """

    columns: tuple[Column, ...]  # none for a sparse matrix
    scaling: Scaling
    kept: NDArray[np.int64] | None = None  # columns of a sparse matrix that have any entry
    width: int | None = None  # number of columns where these have no names
    label: str | None = None
    id_column: str | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def fit(
        cls,
        content: Any,
        *,
        numeric: Iterable[str] = (),
        categorical: Iterable[str] = (),
        drop: Iterable[str] = (),
        label: str | None = None,
        id_column: str | None = None,
        prepare: str = "standard",
    ) -> "TableEncoder":
        """Learn from a training table; no label is looked at.

        Numbers are brought to mean 0 and variance 1; a missing or infinite one becomes the median, and a column says
        where any was missing. Texts and truth values get a column of 0 and 1 for each value, a missing one among
        them; a value that training did not have is 0 in all of them. Dates become days. Columns that are constant,
        empty, count the rows, or differ in nearly every row as names do, are left out. ``notes`` says all of it.

        Parameters
        ----------
        content
            Named columns (a dict of arrays, or a pandas DataFrame), or a matrix of numbers, dense or scipy.sparse.
        numeric, categorical, drop
            Columns that are to be so, whatever they look like.
        label, id_column
            Columns that are no features.
        prepare
            ``"standard"``, or another preparation of :func:`glcn.datasets.load`.
        """
        if sparse.issparse(content):
            return cls._fit_sparse(content, prepare)
        wanted = {"--numeric": tuple(numeric), "--categorical": tuple(categorical), "--drop": tuple(drop)}
        width = None if isinstance(content, Mapping) or hasattr(content, "columns") else np.shape(content)[1]
        table = _features(_named(content), (label, id_column))
        kinds = _overrides(wanted, table)
        columns: list[Column] = []
        notes, oddities = Notes(), Notes()
        for name, column in table.items():
            cells = plain_cells(column)
            guess = kinds.get(name) or (guess_kind(cells) if width is None else _in_matrix(cells))
            learned = _learned(name, cells, guess, notes, oddities)
            if learned is not None:
                columns.append(learned)
        raw = _raw(columns, table, len(next(iter(table.values())))).X  # learning has said what there is to say
        said = [*notes.sentences(), *oddities.sentences()]
        if raw.shape[1] == 0:
            raise ValueError(
                f"no column is left to learn from: {' '.join(said)} Keep one by --numeric COLUMN or "
                "--categorical COLUMN, or add columns"
            )
        values = np.array([flag for column in columns for flag in column.scaled])
        scaling = Scaling.learn(raw, prepare, values)
        return cls(tuple(columns), scaling, None, width, label, id_column, tuple(said))

    @classmethod
    def _fit_sparse(cls, X: Any, prepare: str) -> "TableEncoder":
        X = _finite_csr(X)
        kept = np.unique(X.indices).astype(np.int64)
        if len(kept) == 0:
            raise ValueError("the sparse matrix has no entry; nothing can be learned from it")
        notes = [f"{X.shape[1]} sparse columns, which are scaled but not centred."]
        if len(kept) < X.shape[1]:
            notes.append(f"{X.shape[1] - len(kept)} of them have no entry and are left out.")
        raw = sparse.csr_array(X[:, kept])
        return cls((), Scaling.learn(raw, prepare), kept, X.shape[1], notes=tuple(notes))

    def raw(self, content: Any) -> Encoded:
        """Return the encoded columns before they are scaled, in 64 bits."""
        if self.kept is not None:
            if content.shape[1:] != (self.width,):
                raise ValueError(f"the rows have shape {content.shape}, but training had {self.width} columns")
            return Encoded(sparse.csr_array(_finite_csr(content)[:, self.kept]), [])
        if self.width is not None and (isinstance(content, Mapping) or np.shape(content)[1:] != (self.width,)):
            got = "named columns" if isinstance(content, Mapping) else f"shape {np.shape(content)}"
            raise ValueError(f"training had a matrix of {self.width} columns, the new rows have {got}")
        if self.width is None and not (isinstance(content, Mapping) or hasattr(content, "columns")):
            raise ValueError("training had a table with named columns; the new rows must have these, too")
        content = content.toarray() if sparse.issparse(content) else content
        table = _named(content)
        lacking = [column.name for column in self.columns if column.name not in table]
        if lacking:
            raise ValueError(
                f"the table lacks the column{'s' * (len(lacking) > 1)} {listed(lacking)} of training; "
                f"it has {listed(list(table))}"
            )
        raw, notes = _raw(list(self.columns), table, len(next(iter(table.values()))))
        return Encoded(raw, notes)

    def scaled(self, raw: Any) -> Any:
        """Scale what :meth:`raw` returned."""
        X = self.scaling.apply(raw)
        values = X.data if sparse.issparse(X) else X
        if not np.isfinite(values).all():
            what = listed(sorted(self._too_large(X))) or "some columns"
            raise ValueError(
                f"{what} hold values beyond 32-bit floats (3.4e38), or far beyond those of training; correct or empty "
                "these cells, or scale them"
            )
        return X

    def encode(self, content: Any) -> Encoded:
        """Return the features of any table with the columns of training, and what is to be said of them."""
        raw, notes = self.raw(content)
        return Encoded(self.scaled(raw), notes)

    def transform(self, content: Any) -> Any:
        """Return the features only."""
        return self.encode(content).X

    @property
    def titles(self) -> list[str]:
        """The name of each encoded column, before principal components."""
        return [title for column in self.columns for title in column.titles]

    def describe(self) -> str:
        """Say in a line how features are made."""
        return self.scaling.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the whole state in plain values, for JSON."""
        return {
            "version": VERSION,
            "columns": [column_to_dict(column) for column in self.columns],
            "kept": None if self.kept is None else self.kept.tolist(),
            "width": self.width,
            "label": self.label,
            "id_column": self.id_column,
            "prepare": self.scaling.name,
            "steps": self.scaling.states,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> "TableEncoder":
        """Return the encoder that :meth:`to_dict` wrote."""
        if state.get("version") != VERSION:
            raise ValueError(
                f"the table encoder is of version {state.get('version')!r} and this glcn reads {VERSION}; "
                "fit again, or use the glcn that wrote it"
            )
        kept = state["kept"]
        return cls(
            tuple(column_from_dict(column) for column in state["columns"]),
            Scaling(state["prepare"], state["steps"]),
            None if kept is None else np.array(kept, np.int64),
            state["width"],
            state["label"],
            state["id_column"],
            tuple(state["notes"]),
        )

    def _too_large(self, X: Any) -> set[str]:
        """Return the columns with values that are not finite, where the columns of X still are those of the table."""
        if sparse.issparse(X) or X.shape[1] != len(self.titles):
            return set()
        names = [column.name for column in self.columns for _ in column.titles]
        return {names[place] for place in np.flatnonzero(~np.isfinite(X).all(axis=0))}


def _named(content: Any) -> dict[str, NDArray[Any]]:
    """Return columns by name; those of a matrix are numbered from 0."""
    if isinstance(content, Mapping) or hasattr(content, "columns"):
        return named_columns(content)
    matrix = np.asarray(content)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(f"a matrix of numbers is needed, got shape {matrix.shape} and dtype {matrix.dtype}")
    matrix = matrix.astype(np.float64)
    return {str(place): matrix[:, place] for place in range(matrix.shape[1])}


def _features(table: dict[str, NDArray[Any]], others: tuple[str | None, ...]) -> dict[str, NDArray[Any]]:
    features = {name: column for name, column in table.items() if name not in others}
    if not features:
        raise ValueError("the table has no columns besides the labels and names of the rows; add some to learn from")
    return features


def _overrides(wanted: Mapping[str, tuple[str, ...]], table: Mapping[str, Any]) -> dict[str, Guess]:
    kinds: dict[str, Guess] = {}
    for option, names in wanted.items():
        for name in names:
            if name not in table:
                raise ValueError(f"{option} {name}: there is no such column; there are {listed(list(table), 10)}")
            if name in kinds:
                raise ValueError(f"{name} is asked to be {kinds[name].kind} and {_OVERRIDES[option]}; choose one")
            kinds[name] = Guess(_OVERRIDES[option], f"{_OVERRIDES[option]}, as asked")
    return kinds


def _in_matrix(cells: NDArray[Any]) -> Guess:
    """Say what a matrix's column is: numbers, unless it tells nothing."""
    there = cells[np.isfinite(cells)]
    if len(there) == 0 or (len(there) == len(cells) and bool((there == there[0]).all())):
        return Guess(LEFT_OUT, "empty or the same in every row; left out")
    return Guess(NUMERIC, "numbers")


def _learned(name: str, cells: NDArray[Any], guess: Guess, notes: Notes, oddities: Notes) -> Column | None:
    """Learn a column of the guessed kind; None where it tells nothing."""
    if guess.kind == LEFT_OUT:
        notes.add(name, guess.why)
        return None
    missing = is_missing(cells)
    if guess.kind == CATEGORICAL:
        notes.add(name, guess.why)
        if missing.any():
            oddities.add(name, f"{counted(missing)} without a value; that is a value of its own")
        return CategoricalColumn.learn(name, cells, oddities)
    if guess.kind == NUMERIC and np.isnan(as_numbers(cells)).all():
        raise ValueError(f"--numeric {name}: none of its cells is a number; leave the option out, or use --categorical")
    heard = Notes()
    column = (
        DateColumn.learn(name, cells, guess.form) if guess.kind == DATE else NumericColumn.learn(name, cells, heard)
    )
    if not column.titles:
        notes.add(name, "the same in every row; left out")
        return None
    notes.add(name, guess.why)
    oddities.extend(heard)
    if missing.any():
        oddities.add(name, f"{counted(missing)} without a value, filled with the median and marked in a column")
    return column


def _raw(columns: list[Column], table: Mapping[str, NDArray[Any]], num_rows: int) -> Encoded:
    notes = Notes()
    parts = [column.encode(plain_cells(table[column.name]), notes) for column in columns]
    return Encoded(np.column_stack(parts) if parts else np.empty((num_rows, 0)), notes.sentences())


def _finite_csr(X: Any) -> Any:
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.eliminate_zeros()
    if not np.isfinite(X.data).all():
        raise ValueError("the sparse matrix has missing or infinite entries; remove them or fill them in")
    return X
