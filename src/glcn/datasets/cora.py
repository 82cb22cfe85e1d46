"""Cora as the LINQS group published it: 2708 papers, the words in them, and who cites whom."""

from importlib.resources import files
from typing import Any

import numpy as np
from scipy import sparse

from glcn.datasets.dataset import Dataset
from glcn.datasets.prepare import prepare_features
from glcn.datasets.splits import Split, per_class_split

SUBJECTS = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)
_RELEASED = Split(np.arange(140), np.arange(200, 500), np.arange(500, 1500))
_DESCRIPTIONS = {
    "released": "the split of the code released with the GLCN paper: rows in LINQS file order, 0–139 to fit "
    "(unbalanced: 41/8/21/28/17/11/14 a class), 200–499 for validation, 500–1499 for test; not the Planetoid split",
    "random": "20 rows a class to fit, then 500 for validation and 1000 for test, drawn by seed {seed}",
}


def load_cora(split: str | None, labels: int | None, seed: int, prepare: str | None) -> Dataset:
    """Load the bundled Cora in LINQS order."""
    split = split or "released"
    if labels is not None:
        raise ValueError("cora has fixed numbers of labels (140); leave labels= out")
    if split not in _DESCRIPTIONS:
        raise ValueError(f"split must be one of {tuple(_DESCRIPTIONS)} for cora, got {split!r}")
    words, y, graph = _read()
    rows = _RELEASED if split == "released" else per_class_split(y, 20, 500, 1000, seed)
    X, preparation = prepare_features(words, prepare or "rows")
    description = _DESCRIPTIONS[split].format(seed=seed)
    return Dataset("cora", X, y, graph, *rows, SUBJECTS, split, description, preparation)


def _read() -> tuple[Any, Any, Any]:
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
    return words, y, graph
