"""From a given graph to candidates: its edges, as far as they can be believed, and nearest rows where these help."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glcn.estimator.edge_trust import EdgeTrust, edge_trust
from glcn.estimator.label_trials import can_tell, is_worth_adding, is_worth_weighing
from glcn.estimator.validation import LabelledRows
from glcn.estimator.variants import AUTO, Auto
from glcn.graph import CandidateGraph, NeighborIndex
from glcn.kernels.stopwatch import stage


class Candidates(NamedTuple):
    """The edges that a graph is learned on, and how they came about."""

    graph: CandidateGraph  # its weights are those of the given edges times the trust in them, 0 on added ones
    given_weights: Tensor | None  # (E,) of the same edges before trust; None where every one is 1
    added: int = 0  # nearest rows that each row was joined with
    trust: EdgeTrust | None = None  # None: edges are taken as they are


class Wish(NamedTuple):
    """What the caller wants to be done to a given graph; ``"auto"`` asks its labels."""

    added_neighbors: int
    surely_added: bool
    edge_trust: bool | Auto


def improved(
    given: CandidateGraph,
    X: Any,
    index: NeighborIndex,
    codes: NDArray[np.int64],
    rows: LabelledRows,
    wish: Wish,
    *,
    metric: str,
    seed: int,
) -> Candidates:
    """Weigh the edges of a graph by the trust in them and add nearest rows of ``X``, where that is wanted or helps."""
    found = Candidates(given, given.weights)
    if wish.edge_trust is True or (wish.edge_trust == AUTO and can_tell(rows)):
        with stage("trust in edges"):
            trust = edge_trust(given, X, metric, seed)
        if trust is not None and (wish.edge_trust is True or is_worth_weighing(given, trust, codes, rows)):
            found = Candidates(given.times(trust.values), given.given_weights(), trust=trust)
    if wish.added_neighbors:
        with stage("neighbour search"):
            neighbors = index.among(wish.added_neighbors)
        wider = found.graph.with_candidates(neighbors)
        if wish.surely_added or is_worth_adding(wider, codes, rows):
            as_given = wider if found.trust is None else given.with_candidates(neighbors)
            found = Candidates(wider, as_given.weights, wish.added_neighbors, found.trust)
    return found
