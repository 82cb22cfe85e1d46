"""Whether the fitted labels are a sample of all rows, and how the classes divide the rows where they are none."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.estimator.label_trials import folds_of, spread_labels
from glcn.estimator.validation import LabelledRows
from glcn.graph import CandidateGraph
from glcn.nn.plus import ENOUGH_ROWS

SURELY = 1e-3  # the probability of so great a difference between samples below which they are none
FEWEST_EXPECTED = 5  # finds of a class for Pearson's χ²; rarer classes are counted together
FOUND_RIGHT = 10  # rows of each class that count as found beside the labelled ones: few labels mislead
ROUNDS = 200  # of expectation and maximisation

Counts = NDArray[np.float64]


def are_even(counts: NDArray[np.integer]) -> bool:
    """Return whether as many labels of each class were chosen, so that nothing can be concluded from their number."""
    return bool(counts.max() - counts.min() <= 1)


def shares_beyond_labels(
    graph: CandidateGraph, codes: NDArray[np.int64], rows: LabelledRows, *, validation_named: bool
) -> Counts | None:
    """Return the shares of the classes among all rows, (c,), where the fitted labels are surely no sample; else None.

    Some classes were labelled more readily than others then. Validation rows that somebody named, 30 at least and not
    as many of each class, whose labels surely differ from the fitted ones, are taken for a sample: they are counted.
    Where they do not differ, or nobody named them, they may be no more of a sample than the fitted rows. So labels are
    spread from four fifths of the labelled rows, and what they find on the other fifth is compared with what they find
    on rows without a label. However badly they find it, on a sample they find the same.
    """
    num_classes = int(codes.max()) + 1
    fitted = np.bincount(codes[rows.train], minlength=num_classes)
    if are_even(fitted):
        return None
    held = np.bincount(codes[rows.validation], minlength=num_classes)
    validation_tells = len(rows.validation) >= ENOUGH_ROWS and not are_even(held)
    if validation_named and validation_tells and _differ(fitted, held):
        return _shares_of(held + 1)
    labelled = np.sort(np.concatenate(rows) if validation_tells or not validation_named else rows.train)
    others = np.setdiff1d(np.arange(len(codes)), np.concatenate(rows))
    if len(labelled) < ENOUGH_ROWS or not len(others):
        return None
    finds = _found_on(graph, codes, labelled, others)
    if not _differ(finds.on_labelled.sum(axis=0), finds.on_others):
        return None
    return _shares_of(fitted + held + len(others) * _shares_behind(finds))


def _shares_of(counts: NDArray[np.number]) -> Counts:
    shares: Counts = counts / counts.sum()
    return shares


class _Finds(NamedTuple):
    on_labelled: Counts  # (c, c) by true class and by class found
    on_others: Counts  # (c,)


def _found_on(
    graph: CandidateGraph, codes: NDArray[np.int64], labelled: NDArray[np.int64], others: NDArray[np.int64]
) -> _Finds:
    """Count the classes that are found on labelled rows that were held out, and, as a mean of the trials, on others."""
    num_classes = int(codes.max()) + 1
    targets, W = torch.from_numpy(codes), graph.given_weights()
    on_labelled, on_others = np.zeros((num_classes, num_classes)), np.zeros(num_classes)
    trials = folds_of(labelled)
    for known, held in trials:
        most, found = (part.numpy() for part in spread_labels(graph, W, targets, torch.from_numpy(known)).max(dim=1))
        is_found = most > 0
        held, elsewhere = held[is_found[held]], others[is_found[others]]
        np.add.at(on_labelled, (codes[held], found[held]), 1)
        on_others += np.bincount(found[elsewhere], minlength=num_classes) / len(trials)
    return _Finds(on_labelled, on_others)


def _shares_behind(finds: _Finds) -> Counts:
    """Return the likeliest shares of the classes among rows without a label, (c,), by expectation and maximisation.

    One of class k is found to be of class l as often as a labelled row is.
    """
    num_classes = len(finds.on_others)
    found_as = finds.on_labelled + FOUND_RIGHT * np.eye(num_classes)
    found_as /= found_as.sum(axis=1, keepdims=True)
    found = finds.on_others / finds.on_others.sum()
    shares: Counts = np.full(num_classes, 1 / num_classes)
    for _ in range(ROUNDS):
        shares = shares * (found_as @ (found / np.maximum(shares @ found_as, np.finfo(float).tiny)))
    return shares


def _differ(first: NDArray[np.number], second: NDArray[np.number]) -> bool:
    """Return whether two counts of the classes are surely from rows of different kinds (Pearson's χ²)."""
    from scipy.stats import chi2_contingency

    table = np.stack([first, second]).astype(float)
    if not table.sum(axis=1).all():
        return False
    expected = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = expected < FEWEST_EXPECTED
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return table.shape[1] > 1 and bool(chi2_contingency(table, correction=False).pvalue < SURELY)
