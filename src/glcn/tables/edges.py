"""Edges from files: between the rows of a table, and from new rows to those of training."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from glcn.tables.graphml import read_graphml
from glcn.tables.notes import listed
from glcn.tables.reading import existing
from glcn.tables.text import split_lines

KINDS = (".csv", ".tsv", ".tab", ".graphml")


class Graph(NamedTuple):
    """Edges, and what is to be said of them."""

    adjacency: Any  # scipy CSR: (n, n) symmetric without self-loops, or (new rows, training rows)
    notes: list[str]


class EdgeList(NamedTuple):
    """Edges as they were written."""

    sources: list[str]
    targets: list[str]
    weights: NDArray[np.float64]
    places: list[str]  # where each was written, for errors


def read_edges(path: Path, ids: NDArray[np.str_], *, named: bool = True) -> Graph:
    """Read edges between the rows named by ``ids`` from .csv, .tsv or .graphml.

    A file of text has two row names a line and maybe a weight; a first line of titles is skipped. Direction is not
    kept; an edge that is listed more than once has its largest weight; self-loops are left out, because every row has
    one anyway. ``named`` says whether a column of the table names the rows, for the errors.
    """
    known = {name: row for row, name in enumerate(ids.tolist())}
    edges, notes = _read(path, known, known)
    hint = "" if named else "; rows are numbered from 0: name the column of their names by --id"
    ends = _rows([*edges.sources, *edges.targets], known, path, "the table", hint)
    rows, columns = ends[: len(edges.sources)], ends[len(edges.sources) :]
    loops = rows == columns
    if loops.any():
        notes.append(f"{int(loops.sum())} edges of a row with itself were left out.")
    low, high, weights = np.minimum(rows, columns)[~loops], np.maximum(rows, columns)[~loops], edges.weights[~loops]
    half, repeated = _heaviest(low, high, weights, (len(ids), len(ids)))
    if half.nnz == 0:
        raise ValueError(f"{path.name} has no edge between two rows; add some, or leave --graph out")
    if repeated:
        notes.append(f"{repeated} edges were listed more than once, in either direction; the largest weight counts.")
    A = sparse.csr_array(half + half.T)
    return Graph(A, notes + _shape(A))


def read_new_edges(path: Path, new_ids: NDArray[np.str_], known_ids: NDArray[np.str_]) -> Graph:
    """Read edges of new rows: a new row, a training row and maybe a weight in each line."""
    new = {name: row for row, name in enumerate(new_ids.tolist())}
    known = {name: row for row, name in enumerate(known_ids.tolist())}
    edges, notes = _read(path, new, known)
    if not set(edges.sources) & set(new) and set(edges.targets) & set(new):
        raise ValueError(f"{path.name} must name the new row first and the training row second in each line; swap them")
    rows = _rows(edges.sources, new, path, "the new table")
    columns = _rows(edges.targets, known, path, "the training table")
    A, repeated = _heaviest(rows, columns, edges.weights, (len(new_ids), len(known_ids)))
    if repeated:
        notes.append(f"{repeated} edges were listed more than once; the largest weight counts.")
    alone = int((np.diff(A.indptr) == 0).sum())
    if alone:
        notes.append(f"{alone} new rows have no edge and are classified by their own features.")
    return Graph(A, notes)


def _shape(A: Any) -> list[str]:
    """Say what may surprise: rows without edges, and parts that do not hear of each other."""
    notes = []
    alone = int((np.diff(A.indptr) == 0).sum())
    if alone:
        notes.append(f"{alone} rows have no edge and learn from their own features only.")
    parts = connected_components(A, directed=False)[0] - alone
    if parts > 1:
        notes.append(f"The other edges fall into {parts} parts." if alone else f"The graph falls into {parts} parts.")
    return notes


def _read(path: Path, first: dict[str, int], second: dict[str, int]) -> tuple[EdgeList, list[str]]:
    """Read a file of edges, and say where its first line was taken for titles."""
    existing(path)
    kind = path.suffix.lower()
    if kind == ".graphml":
        return _checked(EdgeList(*read_graphml(path)), path), []
    if kind not in KINDS:
        raise ValueError(f"can not read edges from {path.name}: its ending must be one of {', '.join(KINDS)}")
    _, lines, numbers = split_lines(path.read_bytes(), path.name, "," if kind == ".csv" else "\t")
    lines = [[cell.strip() for cell in line] for line in lines]
    width = len(lines[0])
    if width not in (2, 3):
        raise ValueError(
            f"{path.name} must have two columns of row names and at most one of weights, got {width}; remove the others"
        )
    for line, number in zip(lines, numbers, strict=True):
        if len(line) != width:
            raise ValueError(f"line {number} of {path.name} has {len(line)} cells and its first {width}; correct it")
    notes = []
    if len(lines) > 1 and _are_titles(lines[0], first, second):
        notes.append(f"The first line of {path.name} ({', '.join(lines[0])}) was taken for titles.")
        lines, numbers = lines[1:], numbers[1:]
    weights = np.array([_weight(line[2]) for line in lines]) if width == 3 else np.ones(len(lines))
    places = [f"line {number}" for number in numbers]
    return _checked(EdgeList([line[0] for line in lines], [line[1] for line in lines], weights, places), path), notes


def _are_titles(line: list[str], first: dict[str, int], second: dict[str, int]) -> bool:
    """Titles name no rows, are no numbers among numbered rows, and have no weight."""
    if line[0] in first or line[1] in second or (len(line) == 3 and not np.isnan(_weight(line[2]))):
        return False
    numbered = all(name.isdecimal() for name in list(second)[:10])
    return not (numbered and any(cell.lstrip("-").isdecimal() for cell in line[:2]))


def _checked(edges: EdgeList, path: Path) -> EdgeList:
    with np.errstate(over="ignore"):
        wrong = np.flatnonzero(~np.isfinite(edges.weights.astype(np.float32)))
    if len(wrong):
        raise ValueError(
            f"the weight in {edges.places[wrong[0]]} of {path.name} is no finite number; correct it, or remove the "
            "column of weights"
        )
    negative = np.flatnonzero(edges.weights < 0)
    if len(negative):
        raise ValueError(
            f"the weight in {edges.places[negative[0]]} of {path.name} is negative; a weight says how likely an edge "
            "is: shift or drop these"
        )
    return edges


def _rows(names: list[str], known: dict[str, int], path: Path, where: str, hint: str = "") -> NDArray[np.int64]:
    unknown = list(dict.fromkeys(name for name in names if name not in known))
    if unknown:
        rows = "1 row that is" if len(unknown) == 1 else f"{len(unknown)} rows that are"
        raise ValueError(
            f"{path.name} names {rows} not in {where}, such as {listed([repr(name) for name in unknown[:2]])}; "
            f"remove these edges, or add the rows{hint}"
        )
    return np.array([known[name] for name in names], dtype=np.int64)


def _heaviest(
    rows: NDArray[np.int64], columns: NDArray[np.int64], weights: NDArray[np.float64], shape: tuple[int, int]
) -> tuple[Any, int]:
    """Return the largest weight of each pair as CSR, and how many entries were not needed."""
    order = np.lexsort((-weights, columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    first = np.ones(len(rows), bool)
    first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    there = first & (weights > 0)
    A = sparse.csr_array((weights[there].astype(np.float32), (rows[there], columns[there])), shape=shape)
    A.eliminate_zeros()  # weights that 32 bits can not tell from zero
    return A, int((~first).sum())


def _weight(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")
