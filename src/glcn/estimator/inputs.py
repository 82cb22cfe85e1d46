"""From what users pass to ``fit`` to what the network takes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import compute_class_weight
from torch import Tensor

from glcn.graph import CandidateGraph, CompleteGraph, Prior
from glcn.kernels import Features, SparseFeatures
from glcn.store import Store

_BLOCK = 1 << 22  # values
SPARSE_BELOW = 0.25  # share of stored entries under which sparse products beat dense ones


def as_features(X: Any, *, compact: bool) -> Features:
    """Turn validated features into CSR where most entries are zero and ``compact`` allows it, else into a tensor."""
    if compact and sparse.issparse(X) and mostly_zero(X):
        return SparseFeatures.from_scipy(X)
    return torch.from_numpy(np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float32, order="C"))


def training_features(X: Any, *, compact: bool, device: str) -> Features:
    """Turn validated features into what is multiplied in every epoch: on the CPU, dense ones that are mostly zero too.

    Converting them takes as long as some epochs save, which is why ``as_features`` leaves them dense.
    """
    if compact and mostly_zero(X) and not sparse.issparse(X) and choose_device(device).type == "cpu":
        X = sparse.csr_array(X)
    return as_features(X, compact=compact)


def mostly_zero(X: Any) -> bool:
    """Whether products with features are quicker without their zeros."""
    entries = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return bool(entries < SPARSE_BELOW * X.shape[0] * X.shape[1])


@dataclass(frozen=True, eq=False)
class RowsOnDemand:
    """Features that are read, scaled and converted when some of the rows are asked for, never all of them."""

    X: Any  # (n, p) array, maybe a file mapped into memory, or scipy CSR
    scale: Any  # a RowScale
    compact: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.X.shape[0], self.X.shape[1]

    def __getitem__(self, rows: Any) -> Features:
        """Return some rows, by a slice or their numbers."""
        rows = rows.numpy() if isinstance(rows, Tensor) else rows
        return as_features(self.scale(self.X[rows]), compact=self.compact)


def mean_row_length(X: Any) -> float:
    """Return the root of the mean squared length of the rows, or 1 where all are zero."""
    values = (X.data if sparse.issparse(X) else X).ravel()
    parts = (values[start : start + _BLOCK].astype(np.float64) for start in range(0, len(values), _BLOCK))
    length = float(np.sqrt(sum(np.square(part).sum() for part in parts) / X.shape[0]))
    return length if length > 0 else 1.0


def is_given(graph: Any) -> bool:
    """Whether a graph tells what features do not: one of their nearest neighbours does not."""
    found = isinstance(graph, Store) or (isinstance(graph, CandidateGraph) and graph.of_neighbors)
    return graph is not None and not found


def prior_on(candidates: CandidateGraph | CompleteGraph, graph: Any, prior: Any, prior_weight: float) -> Prior | None:
    """Read the matrix A of the β term: ``prior``, else ``graph`` as it was given; None where β is 0."""
    if prior_weight == 0:
        if prior is not None:
            raise ValueError("prior= has no effect while prior_weight is 0; set prior_weight, or leave prior= out")
        return None
    if isinstance(candidates, CompleteGraph):
        raise ValueError(
            "prior_weight needs stored edges, and of so many rows all pairs are not stored; leave "
            "prior_weight at 0, or pass another graph="
        )
    if prior is not None:
        return Prior.on(candidates, prior)
    if graph is None:
        raise ValueError("prior_weight needs a graph to stay near to: pass prior= or graph= to fit")
    if sparse.issparse(graph) or np.shape(graph) == (candidates.num_nodes, candidates.num_nodes):
        return Prior.on(candidates, graph)
    without_loops = candidates.to_scipy()  # the candidates' self-loops are ours, not the caller's
    without_loops.setdiag(0)
    return Prior.on(candidates, without_loops)


def class_weights(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int64]) -> Tensor | None:
    """Return the weight of each class in the cross-entropy, (c,), or None where all weigh the same."""
    if class_weight is None:
        return None
    weight = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(f"class_weight must hold finite numbers of zero or more, not all zero, got {weight}")
    return torch.from_numpy(weight.astype(np.float32))


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is the first CUDA device if there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device {name!r} can not be used here ({error}); try 'auto' or 'cpu'") from error
