"""Cora as the LINQS group published it: 2708 papers, the words in them, and who cites whom."""

from importlib.resources import files

import numpy as np
from scipy import sparse

from glcn.datasets.dataset import Source
from glcn.datasets.splits import Split

SUBJECTS = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)
RELEASED = Split(np.arange(140), np.arange(200, 500), np.arange(500, 1500))


def read_bundled_cora() -> Source:
    """Read the copy that comes with the package, rows in the order of the LINQS file."""
    path = files("glcn.datasets") / "bundled" / "cora.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        indptr, indices = archive["indptr"].astype(np.int32), archive["indices"].astype(np.int32)
        cited, citing = archive["citations"].astype(np.int32)
        y = archive["subject"].astype(np.int64)
    n = len(y)
    words = sparse.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(n, 1433))
    directed = sparse.csr_array((np.ones(len(cited), np.float32), (citing, cited)), shape=(n, n))
    graph = sparse.csr_array(directed.maximum(directed.T))
    graph.data[:] = 1.0  # 151 pairs of papers cite each other
    return Source("cora", words, y, graph, SUBJECTS, "1433 words of a paper, present or not", "rows")
