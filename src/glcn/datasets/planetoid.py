"""Cora, Citeseer and Pubmed in the files of Planetoid (Yang, Cohen and Salakhutdinov 2016)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.datasets.catalogue import CATALOGUE
from glcn.datasets.checksum import check_file
from glcn.datasets.dataset import UNKNOWN, Source
from glcn.datasets.folder import locate
from glcn.datasets.safe_pickle import unpickle_arrays
from glcn.datasets.splits import Split

NUM_VALIDATION = 500
PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
_FEATURES = {
    "cora": "1433 words of a paper, present or not",
    "citeseer": "3703 words of a paper, present or not; 15 papers have neither words nor a label",
    "pubmed": "500 words of a paper, weighted by TF-IDF",
}


def planetoid_files(name: str) -> list[str]:
    """Return the paths of a dataset's files inside the data folder."""
    return [f"planetoid/ind.{name}.{part}" for part in PARTS]


def read_planetoid(name: str) -> tuple[Source, Split]:
    """Read one of the three and its public split.

    Rows of ``allx`` come first; those of ``tx`` stand where ``test.index`` says. Where that list has gaps (Citeseer),
    the rows in them have no features and no label, and belong to no part of any split.
    """
    files = dict(zip(PARTS, locate(name, *planetoid_files(name)), strict=True))
    for path in files.values():
        check_file(path, CATALOGUE[name].files[f"planetoid/{path.name}"].sha256)
    parts = {
        part: unpickle_arrays(path.read_bytes(), path.name) for part, path in files.items() if part != "test.index"
    }
    test_index = np.loadtxt(files["test.index"], dtype=np.int64)
    first, n = parts["allx"].shape[0], int(test_index.max()) + 1

    X = sparse.lil_array((n, parts["allx"].shape[1]), dtype=np.float32)
    X[:first] = parts["allx"]
    X[test_index] = parts["tx"]
    y = np.full(n, UNKNOWN, np.int64)
    y[:first] = _classes(parts["ally"])
    y[test_index] = _classes(parts["ty"])
    num_train = parts["x"].shape[0]
    split = Split(np.arange(num_train), np.arange(num_train, num_train + NUM_VALIDATION), np.sort(test_index))
    graph = _adjacency(parts["graph"], n)
    names = CATALOGUE[name].class_names
    return Source(name, sparse.csr_array(X), y, graph, names, _FEATURES[name], "rows"), split


def _classes(one_hot: NDArray[Any]) -> NDArray[np.int64]:
    """Read labels written as rows with a single 1; a row of zeros is unknown."""
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNKNOWN).astype(np.int64)


def _adjacency(neighbours: dict[int, list[int]], n: int) -> Any:
    rows = np.repeat(np.fromiter(neighbours, np.int64), [len(ends) for ends in neighbours.values()])
    columns = np.concatenate([np.asarray(ends, np.int64) for ends in neighbours.values()])
    distinct = rows != columns
    rows, columns = rows[distinct], columns[distinct]
    ends = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
    graph = sparse.csr_array((np.ones(2 * len(rows), np.float32), ends), shape=(n, n))
    graph.sum_duplicates()
    graph.data[:] = 1.0
    return graph
