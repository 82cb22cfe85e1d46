"""A user's file of rows, whatever its format."""

import difflib
import io
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.tables.arrays import is_sparse_file, read_array, read_arrays, read_sparse
from glcn.tables.notes import listed
from glcn.tables.text import decoded, refuse_repeated, text_table

STDIN = "-"
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
KINDS = (*_SEPARATORS, ".parquet", ".npz", ".npy")


class Table(NamedTuple):
    """Rows as they were read.

    ``content`` is a dict of named columns for tables, and a matrix, dense or scipy CSR, for files of arrays.
    """

    name: str
    source: str  # the file's name, for errors
    content: Any
    labels: NDArray[Any] | None  # the array y beside X in an .npz file
    notes: list[str]

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.content.values()))) if isinstance(self.content, dict) else self.content.shape[0]


def read_table(source: str | Path, *, mapped: bool = False) -> Table:
    """Read a table (.csv, .tsv, .parquet), arrays (.npz, .npy) or CSV from standard input ("-").

    Where ``mapped`` says so, an .npy file stays on disk and its rows are read as they are asked for.
    """
    if str(source) == STDIN:
        columns, notes = text_table(sys.stdin.buffer.read(), "standard input")
        return Table("stdin", "standard input", columns, None, notes)
    path = existing(Path(source))
    kind = path.suffix.lower()
    if kind in _SEPARATORS:
        columns, notes = text_table(path.read_bytes(), path.name, _SEPARATORS[kind])
        return Table(path.stem, path.name, columns, None, notes)
    if kind == ".parquet":
        return Table(path.stem, path.name, _read_parquet(path), None, [])
    if kind in (".npz", ".npy"):
        X, y = _read_matrix(path, mapped)
        return Table(path.stem, path.name, X, y, [])
    raise ValueError(f"can not read {path.name}: its ending must be one of {', '.join(KINDS)}")


def read_labels(path: Path) -> NDArray[Any]:
    """Read a label for each row: an .npy file of one dimension, or text with a label a line and nothing else.

    An empty line of a text file is a row without a label.
    """
    existing(path)
    if path.suffix.lower() == ".npy":
        return read_array(path).ravel()
    lines = io.StringIO(decoded(path.read_bytes(), path.name), newline=None)
    return np.array([line.strip().strip('"') for line in lines], dtype=object)


def find_column(table: Table, name: str, option: str) -> str:
    """Return the name of a column as the table writes it; ``option`` is how it was asked for."""
    if not isinstance(table.content, dict):
        remedy = "give labels by --labels-file FILE" if option == "--label" else "its rows are numbered from 0"
        raise ValueError(f"{table.source} has no named columns, so {option} can not be used; {remedy}")
    wanted = unicodedata.normalize("NFC", name.strip())
    if wanted in table.content:
        return wanted
    near = difflib.get_close_matches(wanted.casefold(), [title.casefold() for title in table.content], 1)
    meant = [title for title in table.content if [title.casefold()] == near]
    hint = f"; did you mean {meant[0]!r}?" if meant else " (its first line must name the columns)"
    raise ValueError(f"{table.source} has no column {name!r}; it has {listed(list(table.content), 10)}{hint}")


def row_names(table: Table, column: str, otherwise: str = "leave --id out") -> NDArray[np.str_]:
    """Return the names of the rows by the column that holds them; each must be there once.

    ``otherwise`` says how to do without.
    """
    column = find_column(table, column, "--id")
    names = ["" if name is None or name != name else str(name).strip() for name in table.content[column]]
    if "" in names:
        raise ValueError(
            f"the column {column!r} of {table.source} is empty in row {names.index('')} (counted from 0); name each "
            f"row, or {otherwise} to number them"
        )
    name, number = Counter(names).most_common(1)[0]
    if number > 1:
        raise ValueError(
            f"the column {column!r} of {table.source} names some rows twice, such as {name!r}; name each row once, or "
            f"{otherwise} to number them"
        )
    return np.array(names, dtype=str)


def existing(path: Path) -> Path:
    """Return the path of a file that has content."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty; name a file that holds something")
    return path


def _read_parquet(path: Path) -> dict[str, NDArray[Any]]:
    import pandas as pd  # here, because it takes half a second and only Parquet needs it

    with _parquet_errors(path):
        import pyarrow.parquet as pq

        titles = pq.read_schema(path).names
    refuse_repeated(titles, path.name)
    with _parquet_errors(path):
        frame = pd.read_parquet(path)
        if isinstance(frame.index, pd.MultiIndex) or frame.index.name is not None:
            frame = frame.reset_index()
        columns = {str(title): _array(frame[title]) for title in frame}
    return named_columns(columns, path.name)


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'glcn[parquet]'") from error
    except MemoryError:
        raise
    except Exception as error:  # damaged files raise errors of many kinds, and some of pyarrow's own
        what = str(error).partition("\n")[0]
        raise ValueError(f"{path.name} can not be read as a Parquet file ({what}); write it anew") from error


def named_columns(frame: Any, name: str = "the table") -> dict[str, NDArray[Any]]:
    """Return the columns of a pandas DataFrame, or of a dict of arrays, by name."""
    titles = [str(title) for title in frame]
    if not titles:
        raise ValueError(f"{name} has no columns; add some")
    refuse_repeated(titles, name)
    columns = {title: _array(frame[key]) for title, key in zip(titles, list(frame), strict=True)}
    if len(next(iter(columns.values()))) == 0:
        raise ValueError(f"{name} has no rows; add some")
    return columns


def _array(column: Any) -> NDArray[Any]:
    """Return numbers and dates in NumPy's types, and all else as objects."""
    kind = getattr(column, "dtype", None)
    if isinstance(kind, np.dtype) or not hasattr(column, "to_numpy"):
        return np.asarray(column)
    if getattr(kind, "kind", "O") in "iuf":  # pandas' own numbers, which may be missing
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    if getattr(kind, "kind", "O") == "M":
        return np.asarray(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    return np.asarray(column.to_numpy(object))


def _read_matrix(path: Path, mapped: bool) -> tuple[Any, NDArray[Any] | None]:
    """Read X, and y where it lies beside it."""
    X: Any = None
    y = None
    if path.suffix.lower() == ".npy":
        X = read_array(path, mapped=mapped)
    elif is_sparse_file(path):
        X = read_sparse(path)
    else:
        arrays = read_arrays(path)
        X, y = arrays.get("X", arrays.get("x")), arrays.get("y")
        if X is None:
            raise ValueError(
                f"{path.name} must hold arrays X and y, got {', '.join(arrays) or 'nothing'}; "
                "write it by np.savez(file, X=X, y=y)"
            )
    if X.ndim < 2 or X.shape[0] == 0:
        raise ValueError(f"X in {path.name} must have a row for each thing to classify, got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X in {path.name} must hold numbers, got dtype {X.dtype}; encode the texts, or use a table")
    if y is not None and y.ndim != 1 and y.size != len(y):
        raise ValueError(
            f"y in {path.name} must have one label a row, got shape {y.shape}; turn columns of 0 and 1 into labels by "
            "y.argmax(axis=1)"
        )
    return (X if X.ndim == 2 else X.reshape(len(X), -1)), y
