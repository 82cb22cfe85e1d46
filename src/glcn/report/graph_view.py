"""The health of the learned graph, in words and for pictures."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.estimator import GLCNClassifier
from glcn.nn import LearnedGraph

BINS = 20


def graph_view(clf: GLCNClassifier) -> dict[str, Any]:
    """Return what the page says and draws of the graph."""
    report = clf.graph_report_
    moved = moved_shares(clf)
    return {
        **{name: _rounded(value) for name, value in asdict(report).items()},
        "collapsed": report.collapsed,
        "same_label_fell": report.same_label_fell,
        "words": report.describe(),
        "moved": None if moved is None else np.histogram(moved, BINS, (0, max(float(moved.max()), 1e-3)))[0].tolist(),
        "largest_moved": None if moved is None else _rounded(float(moved.max())),
        "neighbor_recall": _rounded(clf.neighbor_recall_),
    }


def moved_shares(clf: GLCNClassifier) -> NDArray[np.float64] | None:
    """Return how much of its weight each row moved away from uniform, ½ Σ_j |S_ij − (D⁻¹A)_ij|; None for all pairs."""
    graph = clf._known.graph
    if not isinstance(graph, LearnedGraph):
        return None
    indptr = graph.pattern.indptr.numpy().astype(np.int64)
    S = graph.values.numpy().astype(np.float64)
    given = np.ones(len(S)) if clf._given_weights is None else clf._given_weights.numpy().astype(np.float64)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    uniform = given / np.bincount(rows, given)[rows]
    moved: NDArray[np.float64] = np.bincount(rows, np.abs(S - uniform), minlength=len(indptr) - 1) / 2
    return moved


def _rounded(value: Any) -> Any:
    return round(value, 5) if isinstance(value, float) else value
