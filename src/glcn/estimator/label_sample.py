"""Whether the fitted labels are a sample of all rows, so that classes have the same shares in both."""

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.estimator.label_trials import folds_of, spread_labels
from glcn.estimator.validation import LabelledRows
from glcn.graph import CandidateGraph
from glcn.nn.plus import ENOUGH_ROWS

SURELY = 1e-3  # the probability of so great a difference between samples below which they are none


def is_a_sample(graph: CandidateGraph, codes: NDArray[np.int64], rows: LabelledRows, *, validation_named: bool) -> bool:
    """Return False where the fitted labels are surely no sample of the rows: some classes were labelled more readily.

    Validation rows that somebody named, 30 at least, are taken for a sample: their labels are counted and compared.
    Without such rows, labels are spread from four fifths of the labelled rows, and what they find on the other fifth is
    compared with what they find on rows without a label. However badly they find it, on a sample they find the same.
    """
    counts = np.bincount(codes[rows.train])
    if counts.max() - counts.min() <= 1:
        return True  # as many of each class were chosen; nothing is concluded from them
    if validation_named and len(rows.validation) >= ENOUGH_ROWS:
        return not _differ(_counts(codes[rows.train], codes), _counts(codes[rows.validation], codes))
    labelled = np.sort(np.concatenate(rows))
    others = np.setdiff1d(np.arange(len(codes)), labelled)
    if len(labelled) < ENOUGH_ROWS or not len(others):
        return True
    return not _differ(*_found_on(graph, codes, labelled, others))


def _found_on(
    graph: CandidateGraph, codes: NDArray[np.int64], labelled: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each class is found on labelled rows that were held out, and on other rows."""
    targets, W = torch.from_numpy(codes), graph.given_weights()
    on_labelled: list[NDArray[np.int64]] = []
    on_others: list[NDArray[np.int64]] = []
    for known, held in folds_of(labelled):
        most, found = spread_labels(graph, W, targets, torch.from_numpy(known)).max(dim=1)
        classes = np.where(most.numpy() > 0, found.numpy(), -1)
        on_labelled.append(classes[held])
        on_others.append(classes[others])
    first, second = _counts(np.concatenate(on_labelled), codes), _counts(np.concatenate(on_others), codes)
    return first, second // len(on_others)  # each of them was found by as many trials


def _counts(found: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(found[found >= 0], minlength=int(codes.max()) + 1)


def _differ(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Return whether two counts of the classes are surely from rows of different kinds (Pearson's χ²)."""
    from scipy.stats import chi2_contingency

    table = np.stack([first, second])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return False
    return bool(chi2_contingency(table).pvalue < SURELY)
