"""A dataset in numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.dataset import Dataset
from glcn.graph import CandidateGraph

NEIGHBORS = 10


@dataclass(frozen=True)
class Summary:
    """What `glcn data show` tells of a dataset."""

    name: str
    rows: int
    features: int
    classes: int
    edges: int | None  # of the given graph, each once; None without one
    homophily: float  # share of edges that join rows of one class, in the given graph or among nearest neighbours
    train: int
    validation: int
    test: int
    split: str
    fingerprint: str


def summarise(dataset: Dataset) -> Summary:
    """Count rows, edges and parts. Homophily looks at all labels: it describes, and must not choose anything."""
    graph = dataset.graph
    if graph is None:
        graph = CandidateGraph.knn(dataset.X, NEIGHBORS).to_scipy()
    return Summary(
        dataset.name,
        dataset.X.shape[0],
        dataset.X.shape[1],
        len(dataset.class_names),
        None if dataset.graph is None else dataset.graph.nnz // 2,
        homophily(graph, dataset.y),
        len(dataset.train),
        len(dataset.validation),
        len(dataset.test),
        dataset.split,
        dataset.fingerprint,
    )


def homophily(graph: Any, y: NDArray[np.int64]) -> float:
    """Return the share of edges, self-loops aside, whose ends have the same known class; NaN without any."""
    rows, columns = graph.nonzero()
    known = (rows != columns) & (y[rows] >= 0) & (y[columns] >= 0)
    if not known.any():
        return float("nan")
    return float((y[rows[known]] == y[columns[known]]).mean())
