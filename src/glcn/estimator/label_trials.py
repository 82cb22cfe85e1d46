"""Which weights of a given graph are better, told by its labels before anything is learned."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from glcn.estimator.edge_trust import EdgeTrust
from glcn.estimator.validation import LabelledRows
from glcn.graph import CandidateGraph
from glcn.kernels import propagate
from glcn.nn.edge_scorer import degrees, symmetrically_normalized
from glcn.nn.plus import ENOUGH_ROWS, surely_best

AMOUNT = 0.3  # the weight of an added edge in the trial, about what training makes of it
HEARD = 0.9  # the share of a row's answer that comes from its neighbours
ROUNDS = 50
FOLDS = 5
RANDOM_EDGES = 0.2  # their share from which on trust is worth a trial: some edges of any graph look like random pairs


def is_worth_adding(wider: CandidateGraph, codes: NDArray[np.int64], rows: LabelledRows) -> bool:
    """Return whether the added edges of a graph, of weight 0, help; they stay where the labels can not tell.

    Training can still leave them with little weight.
    """
    given = wider.given_weights()
    return finds_more(wider, given, torch.where(given > 0, given, AMOUNT), codes, rows) is not False


def is_worth_weighing(graph: CandidateGraph, trust: EdgeTrust, codes: NDArray[np.int64], rows: LabelledRows) -> bool:
    """Return whether it helps to weigh each edge by its trust; edges stay as given where labels can not tell."""
    given = graph.given_weights()
    looks_random = trust.random_share >= RANDOM_EDGES
    return looks_random and finds_more(graph, given, given * trust.values, codes, rows) is True


def can_tell(rows: LabelledRows) -> bool:
    """Return whether there are labels enough for a trial."""
    return max(map(len, rows)) >= ENOUGH_ROWS


def finds_more(
    graph: CandidateGraph, usual: Tensor, other: Tensor, codes: NDArray[np.int64], rows: LabelledRows
) -> bool | None:
    """Return whether labels spread by the ``other`` weights (E,) find those of other rows better than by the usual.

    They have to be better by more than the standard error of the difference. The labels of validation rows are looked
    for, or, where these are few, those of each fifth of the fitted rows from the others. Fewer than 30 rows can not
    tell: None.
    """
    if not can_tell(rows):
        return None
    trials = [(rows.train, rows.validation)] if len(rows.validation) >= ENOUGH_ROWS else folds_of(rows.train)
    targets = torch.from_numpy(codes)
    misses = {
        is_other: torch.cat([_misses(graph, W, targets, *map(torch.from_numpy, trial)) for trial in trials])
        for is_other, W in ((False, usual), (True, other))
    }
    return surely_best(misses, usual=False)


def folds_of(rows: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return each fifth of some rows, with the others before it."""
    folds = [rows[start::FOLDS] for start in range(FOLDS)]
    return [(np.setdiff1d(rows, fold), fold) for fold in folds]


def _misses(graph: CandidateGraph, W: Tensor, targets: Tensor, known: Tensor, sought: Tensor) -> Tensor:
    """Return 1 for each of the ``sought`` rows whose label is not found from the ``known`` ones, else 0."""
    most, found = spread_labels(graph, W, targets, known)[sought].max(dim=1)
    return ((found != targets[sought]) | (most == 0)).float()


def spread_labels(graph: CandidateGraph, W: Tensor, targets: Tensor, known: Tensor) -> Tensor:
    """Spread the labels of the ``known`` rows by the weights W (E,); a row is found to be what it has most of, (n, c).

    One that no label reaches has nothing of any.
    """
    S = symmetrically_normalized(W, degrees(W, graph.pattern), graph.pattern)
    classes = one_hot(targets[known], int(targets.max()) + 1).float()
    first = torch.zeros(graph.num_nodes, classes.shape[1])
    first[known] = classes / classes.sum(dim=0).clamp_min(1)  # all classes begin with as much
    F = first
    for _ in range(ROUNDS):
        F = torch.lerp(first, propagate(S, F, graph.pattern), HEARD)
    return F
