"""Why rows were labelled as they were, for all rows at once: what `glcn explain` says, packed for a page."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.estimator import GLCNClassifier
from glcn.report.packing import packed, shares, signed_shares
from glcn.report.progress import Report

ALL_EXPLAINED = 10_000  # rows up to which the network is asked again about each
SOME_EXPLAINED = 2_000  # else those about which it is least sure
_TOGETHER = 512


class Evidence(NamedTuple):
    """The neighbours of every row, and what came through them where the network was asked again."""

    neighbors: NDArray[np.int64]  # (n, k), −1 where there is none; the most telling first
    weights: NDArray[np.float64]  # (n, k)
    through: NDArray[np.float64]  # (n, k), 0 where it was not asked
    own: NDArray[np.float64]  # (n,) what the row hears from itself
    asked: NDArray[np.bool_]  # (n,)
    label: NDArray[np.int64]  # (n,) the answer then, without the row's own label
    probability: NDArray[np.float64]
    label_alone: NDArray[np.int64]  # the answer without any neighbour
    probability_alone: NDArray[np.float64]  # of ``label`` then

    def packed(self) -> dict[str, Any]:
        """Return it as the page reads it."""
        return {
            "per_row": self.neighbors.shape[1],
            "neighbors": packed(self.neighbors, "i4"),
            "weights": shares(self.weights),
            "through": signed_shares(self.through),
            "own": shares(self.own),
            "asked": packed(self.asked, "u1"),
            "label": packed(self.label, "i2"),
            "probability": shares(self.probability),
            "label_alone": packed(self.label_alone, "i2"),
            "probability_alone": shares(self.probability_alone),
        }


def evidence(clf: GLCNClassifier, first: list[int], progress: Report) -> Evidence:
    """Gather the evidence of all rows; where there are many, ``first`` and the least sure ones are asked again."""
    n = len(clf.transduction_)
    found = _by_weight(clf, 10 if n <= ALL_EXPLAINED else 5)
    doubtful = clf.label_distributions_.max(axis=1).argsort(kind="stable").tolist()
    wanted = doubtful if n <= ALL_EXPLAINED else list(dict.fromkeys([*first, *doubtful[:SOME_EXPLAINED]]))
    place = {label: code for code, label in enumerate(clf.classes_.tolist())}
    for start in range(0, len(wanted), _TOGETHER):
        progress("explanations", start, len(wanted))
        for why in clf.explain(wanted[start : start + _TOGETHER], top=found.neighbors.shape[1]):
            _enter(found, why, place)
    progress("explanations", len(wanted), len(wanted))
    return found


def _enter(found: Evidence, why: Any, place: dict[Any, int]) -> None:
    row, count = why.row, len(why.neighbors)
    found.neighbors[row, :count] = [each.row for each in why.neighbors]
    found.weights[row, :count] = [each.weight for each in why.neighbors]
    found.through[row, :count] = [each.probability_through for each in why.neighbors]
    found.own[row], found.asked[row] = why.own_weight, True
    found.label[row], found.probability[row] = place[why.label], why.probability
    found.label_alone[row], found.probability_alone[row] = place[why.label_alone], why.probability_alone


def _by_weight(clf: GLCNClassifier, most: int) -> Evidence:
    """Return the neighbours of every row with the greatest weights, before anything is asked."""
    S = sparse.coo_array(clf.graph_)
    rows, columns, values = S.coords[0], S.coords[1], S.data.astype(np.float64)
    n, others = S.shape[0], rows != columns
    own: NDArray[np.float64] = np.bincount(rows[~others], values[~others], minlength=n).astype(np.float64)
    rows, columns, values = rows[others], columns[others], values[others]
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = rank < most
    neighbors, weights = np.full((n, most), -1, np.int64), np.zeros((n, most))
    neighbors[rows[kept], rank[kept]] = columns[kept]
    weights[rows[kept], rank[kept]] = values[kept]
    blank = np.zeros(n)
    return Evidence(
        neighbors,
        weights,
        np.zeros((n, most)),
        own,
        np.zeros(n, bool),
        np.zeros(n, np.int64),
        blank.copy(),
        np.zeros(n, np.int64),
        blank.copy(),
    )
