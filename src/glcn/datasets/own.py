"""Users' own data as a dataset: arrays, .npz files, tables, edge lists."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from glcn.datasets.dataset import UNKNOWN, Dataset, Source
from glcn.datasets.images import read_arrays
from glcn.datasets.splits import Split
from glcn.graph import CandidateGraph

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
TABLES = (*_SEPARATORS, ".parquet")
KINDS = (*TABLES, ".npz")


def from_arrays(
    X: Any, y: ArrayLike, *, graph: Any = None, ids: ArrayLike | None = None, name: str = "own", prepare: str = "none"
) -> Dataset:
    """Make a dataset of arrays: labelled rows are for fitting, all others are to be predicted.

    Labels are of any type; None, NaN and empty text say that a row has none, and so does −1 among integers.
    """
    labels = [_as_text(label) for label in np.asarray(y, dtype=object).ravel()]
    if all(label is None or label.lstrip("-").isdigit() for label in labels):
        labels = [None if label == str(UNKNOWN) else label for label in labels]
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != len(labels):
        raise ValueError(f"X must have one row for each of the {len(labels)} labels, got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, got dtype {X.dtype}")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise ValueError("X has empty or infinite cells; fill or drop them")
    if graph is not None:
        graph = CandidateGraph.coerce(graph, len(labels)).to_scipy()
        graph.setdiag(0)
        graph.eliminate_zeros()
    names = sorted({label for label in labels if label is not None}, key=_natural_order)
    if len(names) < 2:
        raise ValueError(f"at least two classes must have a label, got {len(names)}; leave unlabelled rows empty")
    number = {label: code for code, label in enumerate(names)}
    codes = np.array([UNKNOWN if label is None else number[label] for label in labels], np.int64)
    labelled, nothing = np.flatnonzero(codes != UNKNOWN), np.empty(0, np.int64)
    source = Source(name, X, codes, graph, tuple(names), "the columns as given", prepare)
    description = f"{len(labelled)} labelled rows to fit, {len(codes) - len(labelled)} others to predict"
    rows = Split(labelled, nothing, nothing)
    return source.divided(rows, "own", description, None, None if ids is None else np.asarray(ids).astype(str))


def read_own(
    path: Path,
    *,
    label: str | None = None,
    id_column: str | None = None,
    edges: Path | None = None,
    prepare: str = "none",
) -> Dataset:
    """Read a user's file.

    Parameters
    ----------
    path
        A table (.csv, .tsv, .parquet) with a header and numeric columns, or an .npz file with arrays ``X`` and ``y``.
    label
        The table's column of labels; an empty cell is a row without one.
    id_column
        The table's column that names the rows; left out, rows are numbered from 0.
    edges
        A .csv or .tsv file with two row names an edge, and optionally a weight.
    prepare
        See :func:`glcn.datasets.load`.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty")
    kind = path.suffix.lower()
    if kind == ".npz":
        X, y, ids = _read_npz(path)
    elif kind in TABLES:
        X, y, ids = _read_table(path, label, id_column)
    else:
        raise ValueError(f"can not read {path.name}: its ending must be one of {', '.join(KINDS)}")
    graph = None if edges is None else read_edges(edges, ids)
    return from_arrays(X, y, graph=graph, ids=ids, name=path.stem, prepare=prepare)


def read_edges(path: Path, ids: NDArray[np.str_]) -> Any:
    """Read an edge list as a symmetric CSR array over the rows named by ``ids``.

    A first line of titles is skipped; an edge that is listed more than once, in either direction, has its largest
    weight.
    """
    table = _read_csv(path, header=None, dtype=str, keep_default_na=False)
    if table.shape[1] not in (2, 3):
        raise ValueError(
            f"{path.name} must have two columns of row names and at most one of weights, got {table.shape[1]}"
        )
    row_of = {name: row for row, name in enumerate(ids)}
    if not {table.iat[0, 0], table.iat[0, 1]} & set(row_of) and len(table) > 1:
        table = table.iloc[1:]  # titles: neither of them is a row
    ends = [table[column].map(row_of) for column in (0, 1)]
    unknown = sorted(set(table[0][ends[0].isna()]) | set(table[1][ends[1].isna()]), key=str)
    if unknown:
        raise ValueError(
            f"{path.name} names {len(unknown)} rows that are not in the table, such as {str(unknown[0])!r}"
        )
    weights = np.ones(len(table), np.float32)
    if table.shape[1] == 3:
        weights = _pandas().to_numeric(table[2], errors="coerce").to_numpy(np.float32)
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError(f"the weights in {path.name} must be finite numbers of zero or more")
    rows, columns = (end.to_numpy(np.int64) for end in ends)
    pairs = _pandas().DataFrame(
        {"low": np.minimum(rows, columns), "high": np.maximum(rows, columns), "weight": weights}
    )
    heaviest = pairs[pairs["low"] != pairs["high"]].groupby(["low", "high"], as_index=False)["weight"].max()
    low, high = (heaviest[end].to_numpy(np.int64) for end in ("low", "high"))
    both = (np.concatenate([low, high]), np.concatenate([high, low]))
    weight = heaviest["weight"].to_numpy(np.float32)
    return sparse.csr_array((np.concatenate([weight, weight]), both), shape=(len(ids), len(ids)))


def _read_npz(path: Path) -> tuple[Any, Any, NDArray[np.str_]]:
    arrays = read_arrays(path)
    X = arrays.get("X", arrays.get("x"))
    if X is None or X.ndim == 0 or "y" not in arrays:
        raise ValueError(f"{path.name} must hold arrays X and y, got {', '.join(arrays) or 'nothing'}")
    return X.reshape(len(X), -1), arrays["y"], np.arange(len(X)).astype(str)


def _read_table(path: Path, label: str | None, id_column: str | None) -> tuple[Any, Any, NDArray[np.str_]]:
    pandas = _pandas()
    if label is None:
        raise ValueError(f"say which column of {path.name} holds the labels (--label NAME)")
    kind = path.suffix.lower()
    table = pandas.read_parquet(path) if kind == ".parquet" else _read_csv(path, index_col=False)
    for column in (label, id_column):
        if column is not None and column not in table.columns:
            known = ", ".join(str(name) for name in table.columns[:10])
            raise ValueError(f"{path.name} has no column {column!r}; it has {known}")
    if len(table) == 0:
        raise ValueError(f"{path.name} has no rows below its header")
    if kind != ".parquet":  # as they are written: "None" may be a class, and "01" a name
        for column in {label, id_column} - {None}:
            texts = _read_csv(path, index_col=False, usecols=[column], dtype=str, keep_default_na=False)
            table[column] = texts[column]
    ids = np.arange(len(table)).astype(str) if id_column is None else table[id_column].astype(str).to_numpy(str)
    if len(np.unique(ids)) < len(ids):
        raise ValueError(f"the column {id_column!r} of {path.name} names some rows twice")
    features = table.drop(columns=[column for column in (label, id_column) if column is not None])
    words = [str(name) for name, kind in features.dtypes.items() if not pandas.api.types.is_numeric_dtype(kind)]
    if words:
        raise ValueError(f"the columns {', '.join(words[:5])} of {path.name} are not numeric; encode or drop them")
    holes = [str(name) for name in features.columns[features.isna().any()]]
    if holes:
        raise ValueError(f"the columns {', '.join(holes[:5])} of {path.name} have empty cells; fill or drop them")
    if features.shape[1] == 0:
        raise ValueError(f"{path.name} has no columns besides the labels")
    return features.to_numpy(np.float64), table[label].to_numpy(object), ids


def _as_text(label: Any) -> str | None:
    """Return a label as text, or None where there is none."""
    if label is None or type(label).__name__ == "NAType" or label != label:
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


def _read_csv(path: Path, **options: Any) -> Any:
    try:
        return _pandas().read_csv(path, sep=_SEPARATORS.get(path.suffix.lower(), ","), encoding="utf-8-sig", **options)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not in UTF-8; save it so") from error
    except ValueError as error:  # pandas' own errors are of this kind
        raise ValueError(f"{path.name} can not be read as a table: {error}") from error


def _pandas() -> Any:
    import pandas as pd  # here, because it takes half a second and only tables need it

    return pd
