"""Users' own data as a dataset: arrays and files."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from glcn.datasets.dataset import UNKNOWN, Dataset, Source
from glcn.datasets.own_labels import Labels, label_notes, read_label_values, refuse_targets, without_missing
from glcn.datasets.splits import Split
from glcn.graph import CandidateGraph
from glcn.tables import Table, TableEncoder, find_column, read_edges, read_labels, read_table, row_names
from glcn.tables.notes import listed


def from_arrays(
    X: Any, y: ArrayLike, *, graph: Any = None, ids: ArrayLike | None = None, name: str = "own", prepare: str = "none"
) -> Dataset:
    """Make a dataset of arrays: labelled rows are for fitting, all others are to be predicted.

    Labels are of any type; None, NaN and empty text say that a row has none, and so does −1 among integers.
    """
    n = len(np.asarray(y, dtype=object).ravel())
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != n:
        raise ValueError(f"X must have one row for each of the {n} labels, got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, got dtype {X.dtype}")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise ValueError("X has empty or infinite cells; fill or drop them")
    if graph is not None:
        graph = CandidateGraph.coerce(graph, n).to_scipy()
        graph.setdiag(0)
        graph.eliminate_zeros()
    return _dataset(name, X, read_label_values(y), graph, ids, prepare=prepare)


def read_own(
    path: str | Path,
    *,
    label: str | None = None,
    id_column: str | None = None,
    labels_file: Path | None = None,
    edges: Path | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    drop: Iterable[str] = (),
    keep_labels: Iterable[str] = (),
    prepare: str = "none",
) -> Dataset:
    """Read a user's file; the dataset's ``encoder`` turns other tables into the same features.

    Parameters
    ----------
    path
        A table (.csv, .tsv, .parquet) with named columns; "-" for CSV from standard input; an .npz file with arrays
        ``X`` and ``y``, or of ``scipy.sparse.save_npz``; or an .npy file of numbers.
    label
        The table's column of labels; an empty cell, NA, NaN, null and their like are rows without one.
    id_column
        The table's column that names the rows; left out, rows are numbered from 0.
    labels_file
        Labels in a file of their own, for X without any: .npy, or text with a label a line.
    edges
        A .csv or .tsv file with two row names an edge and optionally a weight, or a .graphml file.
    numeric, categorical, drop
        Columns that are to be read so; see :meth:`glcn.tables.TableEncoder.fit`.
    keep_labels
        Words such as NA or none that are classes here.
    prepare
        See :func:`glcn.datasets.load`.
    """
    table = read_table(path)
    label = None if label is None else find_column(table, label, "--label")
    id_column = None if id_column is None else find_column(table, id_column, "--id")
    y, where = _labels(table, label, labels_file)
    ids = np.arange(table.num_rows).astype(str) if id_column is None else row_names(table, id_column)
    y, missing_notes = without_missing(y, keep_labels)
    labels = read_label_values(y, " ".join(missing_notes))
    refuse_targets(labels, where)
    encoder = TableEncoder.fit(
        table.content,
        numeric=numeric,
        categorical=categorical,
        drop=drop,
        label=label,
        id_column=id_column,
        prepare=prepare,
    )
    notes = [*table.notes, *encoder.notes, *missing_notes, *label_notes(labels, y)]
    graph = None
    if edges is not None:
        graph, edge_notes = read_edges(edges, ids, named=id_column is not None)
        notes += edge_notes
    raw = encoder.raw(table.content).X
    made = (encoder.scaled(raw), encoder.describe())
    dataset = _dataset(table.name, raw, labels, graph, ids, prepared=made)
    return replace(dataset, encoder=encoder, notes=tuple(notes))


def _dataset(
    name: str,
    X: Any,
    labels: Labels,
    graph: Any,
    ids: ArrayLike | None,
    *,
    prepare: str = "none",
    prepared: tuple[Any, str] | None = None,
) -> Dataset:
    labelled, nothing = np.flatnonzero(labels.codes != UNKNOWN), np.empty(0, np.int64)
    source = Source(name, X, labels.codes, graph, labels.names, "the columns as given", prepare)
    description = f"{len(labelled)} labelled rows to fit, {len(labels.codes) - len(labelled)} others to predict"
    names = None if ids is None else np.asarray(ids).astype(str)
    return source.divided(Split(labelled, nothing, nothing), "own", description, None, names, prepared=prepared)


def _labels(table: Table, label: str | None, file: Path | None) -> tuple[NDArray[Any], str]:
    """Find the labels, and a name for where they are."""
    if file is not None:
        if label is not None:
            raise ValueError("--label and --labels-file both say where the labels are; choose one")
        y = read_labels(file)
        if len(y) != table.num_rows:
            raise ValueError(
                f"{file.name} has {len(y)} labels, and {table.source} has {table.num_rows} rows; write one label a "
                "line, and an empty line for a row without one"
            )
        return y, file.name
    if label is not None:
        return table.content[label], f"the column {label!r} of {table.source}"
    if table.labels is not None:
        if len(table.labels) != table.num_rows:
            raise ValueError(f"y in {table.source} has {len(table.labels)} labels, and X has {table.num_rows} rows")
        return table.labels, f"y in {table.source}"
    if isinstance(table.content, dict):
        titles = listed(list(table.content), 10)
        raise ValueError(f"say which column of {table.source} holds the labels (--label NAME); it has {titles}")
    raise ValueError(f"{table.source} holds no labels; give them by --labels-file FILE, one a line")
