"""The sizes of the races: real data where it is found, generated rows of the same size elsewhere."""

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from glcn.datasets import MissingDataError, load
from glcn.datasets.folder import locate
from glcn.datasets.images import read_arrays
from glcn.graph import CandidateGraph, nearest_neighbors


class Case(NamedTuple):
    """Features, a graph and labels."""

    title: str
    X: Any  # (n, p) scipy CSR or array, float32
    graph: CandidateGraph
    y: torch.Tensor
    rows: torch.Tensor  # whose labels count


class Size(NamedTuple):
    """What stands in for a dataset that is not there."""

    rows: int
    columns: int
    density: float
    edges: int
    classes: int


SIZES = {
    "cora": Size(2708, 1433, 0.0127, 5278, 7),
    "pubmed": Size(19717, 500, 0.1, 44324, 3),
    "tiny": Size(200, 100, 0.1, 800, 4),  # to compile on
    "mnist-10k": Size(10_000, 784, 1.0, 70_000, 10),
}
NEIGHBORS = {"mnist-10k": 10, "mnist-70k": 20}


@cache
def case(name: str) -> Case:
    """Return the case of that name."""
    try:
        if name == "tiny":
            return _generated(name)
        return _citation(name) if name in ("cora", "pubmed") else _mnist(name)
    except MissingDataError:
        return _generated(name)


def _citation(name: str) -> Case:
    try:
        data = load(name, split="public")
    except MissingDataError:
        if name != "cora":
            raise
        data = load("cora", split="released")  # bundled
    X = sparse.csr_array(data.X, dtype=np.float32)
    return Case(name, X, CandidateGraph.from_scipy(data.graph), torch.tensor(data.y), torch.tensor(data.train))


def _mnist(name: str) -> Case:
    if name == "mnist-10k":
        data = load("mnist", labels=1000)
        X, y = np.asarray(data.X, dtype=np.float32), data.y
    else:
        (path,) = locate("mnist", "mnist/mnist.npz")
        arrays = read_arrays(path)
        X = np.concatenate([arrays["x_train"], arrays["x_test"]]).reshape(70_000, -1).astype(np.float32) / 255
        y = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.int64)
    return _near(name, X, y, NEIGHBORS[name])


def _near(name: str, X: NDArray[np.float32], y: NDArray[np.int64], k: int) -> Case:
    return Case(f"{name}, k = {k}", X, _nearest(name, X, k), torch.tensor(y), torch.arange(0, len(y), 10))


def _nearest(name: str, X: NDArray[np.float32], k: int) -> CandidateGraph:
    """Join rows with their nearest; kept for the processes of this run, which all need the same."""
    kept = Path(os.environ["GLCN_BENCH"]) / f"{name}-{k}.npy"
    if not kept.exists():
        np.save(kept, nearest_neighbors(X, k))
    return CandidateGraph.from_neighbors(np.load(kept))


def _generated(name: str) -> Case:
    random = np.random.default_rng(0)
    if name == "mnist-70k":
        return clustered(70_000, NEIGHBORS[name])
    size = SIZES[name]
    X = sparse.random_array((size.rows, size.columns), density=size.density, rng=random, dtype=np.float32)
    ends = random.integers(size.rows, size=(2, size.edges))
    y = random.integers(size.classes, size=size.rows)
    features = X.toarray() if size.density == 1 else sparse.csr_array(X)
    graph = CandidateGraph.from_edge_index(np.hstack([ends, ends[::-1]]), size.rows)
    return Case(f"{name} (generated)", features, graph, torch.from_numpy(y), torch.arange(0, size.rows, 10))


def clustered(rows: int, k: int, columns: int = 64) -> Case:
    """Return generated rows in ten overlapping clusters, joined with their k nearest: for curves over sizes."""
    random = np.random.default_rng(0)
    y = random.integers(10, size=rows)
    X = (random.normal(size=(10, columns))[y] + random.normal(size=(rows, columns))).astype(np.float32)
    return _near(f"{rows:,} generated rows", X, y, k)
