"""Whether nearest rows are worth adding to a given graph, told by its labels before anything is learned."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from glcn.estimator.validation import LabelledRows
from glcn.graph import CandidateGraph
from glcn.kernels import propagate
from glcn.nn.edge_scorer import degrees, symmetrically_normalized
from glcn.nn.plus import ENOUGH_ROWS, surely_best

AMOUNT = 0.3  # the weight of an added edge in the trial, about what training makes of it
HEARD = 0.9  # the share of a row's answer that comes from its neighbours
ROUNDS = 50
FOLDS = 5


def is_worth_adding(wider: CandidateGraph, codes: NDArray[np.int64], rows: LabelledRows) -> bool:
    """Return whether labels spread over a graph find those of other rows better by its added edges, of weight 0.

    They have to be better by more than the standard error of the difference. The labels of validation rows are looked
    for, or, where these are few, those of each fifth of the fitted rows from the others. Fewer than 30 rows can not
    tell, and then they are added: training can still leave them with little weight.
    """
    if max(map(len, rows)) < ENOUGH_ROWS:
        return True
    if len(rows.validation) >= ENOUGH_ROWS:
        trials = [(rows.train, rows.validation)]
    else:
        folds = [rows.train[start::FOLDS] for start in range(FOLDS)]
        trials = [(np.setdiff1d(rows.train, fold), fold) for fold in folds]
    targets = torch.from_numpy(codes)
    misses = {
        added: torch.cat([_misses(wider, AMOUNT * added, targets, *map(torch.from_numpy, trial)) for trial in trials])
        for added in (False, True)
    }
    return surely_best(misses, usual=False)


def _misses(graph: CandidateGraph, amount: float, targets: Tensor, known: Tensor, sought: Tensor) -> Tensor:
    """Return 1 for each of the ``sought`` rows whose label is not found from the ``known`` ones, else 0."""
    given = torch.ones(graph.num_edges) if graph.weights is None else graph.weights
    W = torch.where(given > 0, given, amount)
    S = symmetrically_normalized(W, degrees(W, graph.pattern), graph.pattern)
    classes = one_hot(targets[known], int(targets.max()) + 1).float()
    first = torch.zeros(graph.num_nodes, classes.shape[1])
    first[known] = classes / classes.sum(dim=0).clamp_min(1)  # all classes begin with as much
    F = first
    for _ in range(ROUNDS):
        F = torch.lerp(first, propagate(S, F, graph.pattern), HEARD)
    most, found = F[sought].max(dim=1)
    return ((found != targets[sought]) | (most == 0)).float()
