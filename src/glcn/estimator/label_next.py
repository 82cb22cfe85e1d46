"""Which rows to label next: those that are in doubt and that many others hear from."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.estimator.explaining import check_rows

if TYPE_CHECKING:
    from glcn.estimator.classifier import GLCNClassifier

HOPS = 2  # within which a row that is labelled speaks for others


class LabelNext(NamedTuple):
    """A row whose label would help, and why."""

    row: int
    score: float  # uncertainty × reach, less what rows before it in the list have in common with it
    uncertainty: float  # entropy of its probabilities, 1 where all classes are as likely
    reach: float  # Σ_j S_ji, how much others hear from it; 1 is the mean of a graph without self-loops


def label_next(clf: "GLCNClassifier", count: int, among: Any = None) -> list[LabelNext]:
    """Choose ``count`` unlabelled rows one by one: the greatest u_i r_i Π_c (1 − s_ci) / (1 + Σ_c p_i·p_c).

    u is the entropy and r the reach; c are the rows chosen before. s_ci is how much of what row i hears within two hops
    comes from row c, as a share of what c itself hears of c: a twin of a chosen row is not asked for, too. The
    divisor, of class probabilities p, spreads the list over the classes; without it, ten labels of two or three classes
    can make the next fit worse than ten at random.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    S = sparse.csr_array(clf.graph_, dtype=np.float64)
    others = sparse.csr_array(S - sparse.diags_array(S.diagonal()))
    reach = np.asarray(others.sum(axis=0)).ravel()
    uncertainty = entropy(clf.label_distributions_)
    free = clf._codes < 0
    if among is not None:
        asked_for = np.zeros(len(free), bool)
        asked_for[check_rows(among, len(free))] = True
        free &= asked_for
    score = np.where(free, uncertainty * reach, -1.0)
    columns = sparse.csc_array(S)
    p = clf.label_distributions_.astype(np.float64)
    chosen, asked = [], np.zeros(p.shape[1])
    for _ in range(min(count, int(free.sum()))):
        spread = np.where(score < 0, score, score / (1 + p @ asked))
        row = int(spread.argmax())
        chosen.append(LabelNext(row, float(spread[row]), float(uncertainty[row]), float(reach[row])))
        asked += p[row]
        score = np.where(score < 0, score, score * (1 - _heard_from(row, S, columns)))
        score[row] = -1.0
    return chosen


def entropy(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """Return the entropy of each row as a share of the largest possible, log c."""
    p = np.clip(probabilities.astype(np.float64), 1e-12, 1)
    shares: NDArray[np.float64] = -(p * np.log(p)).sum(axis=1) / np.log(p.shape[1])
    return shares


def _heard_from(row: int, S: Any, columns: Any) -> NDArray[np.float64]:
    """Return how much of ``row`` every row hears within some hops, as a share of what the row hears of itself."""
    heard = np.zeros(S.shape[0])
    heard[row] = 1.0
    step = columns[:, [row]].toarray().ravel()
    for hop in range(HOPS):
        heard += step
        step = S @ step if hop + 1 < HOPS else step
    shares: NDArray[np.float64] = np.minimum(heard / heard[row], 1)
    return shares
