"""Why a row was classified as it was: the neighbours that decided, and what they weigh."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from glcn.estimator.attachment import given_in_batches
from glcn.nn import GLCN, LearnedGraph

if TYPE_CHECKING:
    from glcn.estimator.classifier import GLCNClassifier

MOST_NEIGHBORS = 30  # of a row that are left out one by one
TOGETHER = 64  # rows that the network is asked about at a time


class NeighborEvidence(NamedTuple):
    """What one neighbour did to the answer."""

    row: int  # its number among the rows of ``fit``
    weight: float  # S_ij, its share of what the row hears
    label: Any  # its known label, or None
    predicted: Any  # its predicted label
    probability_through: float  # by how much the probability of the answer falls without it; below 0 if it rises


@dataclass(frozen=True)
class Explanation:
    """Why a row was classified as it was.

    Every figure comes from leaving edges out and asking the network again, while the other rows stay as they are. The
    row's own label, where it has one, is not looked at.
    """

    row: int
    label: Any  # the answer
    probability: float
    probabilities: dict[Any, float]
    own_weight: float  # what the row hears from itself
    neighbors: tuple[NeighborEvidence, ...]  # those whose loss would change the answer most come first
    label_alone: Any  # the answer without any neighbour
    probability_alone: float  # of ``label`` then
    label_without_strongest: Any
    probability_without_strongest: float  # of ``label`` then

    def describe(self, names: Any = str) -> str:
        """Return some sentences for people; ``names`` turns a row's number into its name."""
        words = [f"{names(self.row)} is {self.label!s} with probability {self.probability:.1%}."]
        if not self.neighbors:
            return " ".join([*words, "It has no neighbours: its own features decided."])
        strongest = self.neighbors[0]
        known = "labelled" if strongest.label is not None else "itself predicted as"
        label = strongest.predicted if strongest.label is None else strongest.label
        words.append(
            f"Most of it came through {names(strongest.row)} ({known} {label!s}): without that one it would be "
            f"{self.label_without_strongest!s}, and {self.label!s} would have {self.probability_without_strongest:.1%}."
        )
        words.append(
            f"By its own features alone it would be {self.label_alone!s} ({self.label!s} with "
            f"{self.probability_alone:.1%})."
        )
        return " ".join(words)


def _explain_together(clf: "GLCNClassifier", rows: list[int], top: int) -> list[Explanation]:
    """Explain some rows of ``fit`` by their ``top`` most telling neighbours; the network is asked once for all."""
    heard = [_heard(clf, row) for row in rows]
    edges = [_left_out(clf, row, each) for row, each in zip(rows, heard, strict=True)]
    copies = [each.shape[0] for each in edges]
    joined = given_in_batches(sparse.vstack(edges, format="csr"))
    asked = clf._probabilities(clf._rows.X[np.repeat(rows, copies)], joined)
    answers = np.split(asked, np.cumsum(copies)[:-1])
    return [_explanation(clf, *found, top) for found in zip(rows, heard, answers, strict=True)]


def _explanation(
    clf: "GLCNClassifier", row: int, heard: "_Heard", probabilities: NDArray[np.float32], top: int
) -> Explanation:
    """Read an explanation off the answers for the row as it is, without any neighbour, and without each in turn."""
    neighbors, shares, own, _ = heard
    order = heard.strongest
    full, alone, without = probabilities[0], probabilities[1], probabilities[2:]
    best = int(full.argmax())
    falls = full[best] - without[:, best]
    ranking = np.argsort(-falls, kind="stable")
    known = [None if code < 0 else clf.classes_[code] for code in clf._codes[neighbors[order]]]
    found = [
        NeighborEvidence(
            int(neighbors[order[place]]),
            float(shares[order[place]]),
            known[place],
            clf.transduction_[neighbors[order[place]]],
            float(falls[place]),
        )
        for place in ranking
    ]
    strongest = without[ranking[0]] if len(ranking) else full
    return Explanation(
        row=row,
        label=clf.classes_[best],
        probability=float(full[best]),
        probabilities=dict(zip(clf.classes_.tolist(), full.tolist(), strict=True)),
        own_weight=own,
        neighbors=tuple(found[:top]),
        label_alone=clf.classes_[int(alone.argmax())],
        probability_alone=float(alone[best]),
        label_without_strongest=clf.classes_[int(strongest.argmax())],
        probability_without_strongest=float(strongest[best]),
    )


def feature_weights(clf: "GLCNClassifier") -> NDArray[np.float64]:
    """Return how much each feature counts in the distance by which the graph is learned, (p,); they sum to 1.

    It is Σ_k |P_fk a_k|, by how far the score moves at most with that feature, times the feature's own spread.
    """
    layer = clf.model_.graph_learning if isinstance(clf.model_, GLCN) else clf.model_.scorer
    attention = layer.attention.detach().double().abs()
    per_unit = attention if layer.projection is None else layer.projection.detach().double().abs() @ attention
    X = clf._rows.X
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0))
    else:
        spread = X.std(axis=0)
    weights = per_unit.numpy() * spread
    total = weights.sum()
    shares: NDArray[np.float64] = weights / total if total > 0 else weights
    return shares


class _Heard(NamedTuple):
    neighbors: NDArray[np.int64]
    shares: NDArray[np.float64]  # what the row hears from each
    own: float  # and from itself
    given: NDArray[np.float32] | None  # weights that S is learned from; None: all pairs

    @property
    def strongest(self) -> NDArray[np.int64]:
        """Places of the neighbours that are left out one by one."""
        return np.argsort(-self.shares, kind="stable")[:MOST_NEIGHBORS]


def _heard(clf: "GLCNClassifier", row: int) -> _Heard:
    """Return whom a row hears."""
    graph = clf._known.graph
    if isinstance(graph, LearnedGraph):
        start, stop = graph.pattern.indptr[row : row + 2].tolist()
        columns, values = graph.pattern.indices[start:stop].numpy().astype(np.int64), graph.values[start:stop].numpy()
        weights = clf._edge_weights
        given = np.ones(stop - start, np.float32) if weights is None else weights[start:stop].numpy()
    else:
        strongest = clf.graph_[[row]].tocoo()
        columns, values, given = strongest.col.astype(np.int64), strongest.data, None
    others = columns != row
    own = float(values[~others].sum())
    return _Heard(columns[others], values[others].astype(np.float64), own, None if given is None else given[others])


def _left_out(clf: "GLCNClassifier", row: int, heard: _Heard) -> Any:
    """Return edges of the row as it is, of one without any, and of one without each of the strongest in turn."""
    n = clf._rows.num_rows
    neighbors, _, _, given = heard
    absent = neighbors[heard.strongest]
    columns = np.delete(np.arange(n), row) if given is None else neighbors
    weights = np.ones(n - 1, np.float32) if given is None else given
    keep = np.ones((2 + len(absent), len(columns)), bool)
    keep[1] = False
    keep[np.arange(len(absent)) + 2, np.searchsorted(columns, absent)] = False
    indptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    copies = np.broadcast_to(columns, keep.shape)[keep], np.broadcast_to(weights, keep.shape)[keep]
    return sparse.csr_array((copies[1], copies[0], indptr), shape=(len(keep), n))


def check_rows(rows: Any, num_rows: int) -> list[int]:
    """Read the numbers of rows that somebody asks about."""
    wanted = np.atleast_1d(np.asarray(rows))
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
        raise ValueError(f"rows must be whole numbers, got {rows!r}")
    outside = wanted[(wanted < 0) | (wanted >= num_rows)]
    if len(outside):
        raise ValueError(f"there are rows 0 to {num_rows - 1}, got {outside[0]}")
    return [int(row) for row in wanted]


@torch.no_grad()
def explained(clf: "GLCNClassifier", rows: Any, top: int) -> list[Explanation]:
    """Explain some rows of ``fit``."""
    wanted = check_rows(rows, clf._rows.num_rows)
    together = TOGETHER if isinstance(clf._known.graph, LearnedGraph) else 1  # of all pairs, each row has n edges
    blocks = [wanted[start : start + together] for start in range(0, len(wanted), together)]
    return [found for block in blocks for found in _explain_together(clf, block, top)]
