r"""How far each edge of a given graph can be believed, told by what tells edges from random pairs.

Let a share π of the edges join rows at random, and the others be meant. What can be seen of a pair, z, is seen r(z)
times as often of an edge as of a random pair:

.. math::
    r(z) = \frac{p(z \mid \mathrm{edge})}{p(z \mid \mathrm{pair})}
         = π + (1 - π) \frac{p(z \mid \mathrm{meant})}{p(z \mid \mathrm{pair})}

So r is π where no edge is meant, and an edge is meant with probability 1 − π / r(z).
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import Tensor

from glcn.graph import CandidateGraph
from glcn.kernels.closed_paths import closed_paths, volumes

LEAST_TRUST = 0.05  # so that no edge is lost
FEWEST_EDGES = 500  # from which odds can be learned
MOST_SAMPLED = 100_000  # edges that they are learned from, and twice as many pairs
LOWEST_QUANTILE = 0.1  # of r among random pairs: taken for its least value, π
MOST_WORK = 2e10  # steps over edges up to which paths are counted: a minute or two
NUMBERS_AT_ONCE = 1 << 22  # of the features of pairs that are compared


class EdgeTrust(NamedTuple):
    """How likely edges are meant, and how many are not."""

    values: Tensor  # (E,) in the order of the graph's edges; 1 for self-loops
    mean: float  # over the edges between different nodes
    random_share: float  # π


def edge_trust(graph: CandidateGraph, X: Any, metric: str, seed: int) -> EdgeTrust | None:
    """Return how likely each edge of ``graph`` is meant; None where that can not be told.

    It can not of a graph with too few edges, with too many to walk on, or with candidates that were not given. Pairs
    are told apart by how near their rows of ``X`` are and by what else leads from one node to the other, whatever the
    weights on the way, since edges that are meant close triangles and random ones do not. Trees of gradient boosting
    learn the odds r, which may only rise with each of these.
    """
    i, j = graph.pattern.rows.numpy().astype(np.int64), graph.pattern.columns.numpy().astype(np.int64)
    half = np.flatnonzero(i < j)
    if len(half) < FEWEST_EDGES or not graph.is_given[half].all():
        return None
    random = np.random.default_rng(seed)
    joined = np.unique([i[half], j[half]])  # what no edge can show would be taken for what random ones show
    pairs = joined[random.integers(len(joined), size=(2, 2 * min(len(half), MOST_SAMPLED)))]
    pairs = pairs[:, pairs[0] != pairs[1]]
    volume = volumes(graph.pattern)
    if sum(np.minimum(volume[a], volume[b]).sum() for a, b in ((i[half], j[half]), pairs)) > MOST_WORK:
        return None
    of_edges = _evidence(graph, X, metric, i[half], j[half])
    of_pairs = _evidence(graph, X, metric, *pairs)
    sample = random.choice(len(half), min(len(half), MOST_SAMPLED), replace=False)
    odds = _odds_of(of_edges[sample], of_pairs, seed)
    π = float(np.quantile(odds(of_pairs), LOWEST_QUANTILE))
    found = np.clip(1 - π / odds(of_edges), LEAST_TRUST, 1)
    trust = torch.ones(graph.num_edges)
    trust[half] = torch.from_numpy(found).float()
    trust = torch.minimum(trust, trust[graph.pattern.reverse])  # of both directions
    return EdgeTrust(trust, float(found.mean()), π)


def _evidence(
    graph: CandidateGraph, X: Any, metric: str, i: NDArray[np.int64], j: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what is known of each pair, (pairs, 4); the more of each, the likelier it is an edge that is meant."""
    from sklearn.metrics.pairwise import PAIRED_DISTANCES, paired_euclidean_distances

    distances = PAIRED_DISTANCES.get(metric, paired_euclidean_distances)  # of pairs, few metrics are known
    step = max(1, NUMBERS_AT_ONCE // X.shape[1])
    parts = [slice(start, start + step) for start in range(0, len(i), step)]
    distance = np.concatenate([np.atleast_1d(distances(X[i[part]], X[j[part]])) for part in parts])
    return np.column_stack([-distance, *closed_paths(graph.pattern, i, j)])


def _odds_of(edges: NDArray[np.float64], pairs: NDArray[np.float64], seed: int) -> Any:
    """Learn r, how much more frequent edges are than random pairs, as a function of what is known of a pair."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(
        max_depth=3,
        max_iter=60,
        min_samples_leaf=50,
        monotonic_cst=[1] * edges.shape[1],
        early_stopping=False,
        random_state=seed,
    )
    is_edge = np.repeat([1, 0], [len(edges), len(pairs)])
    weight = np.repeat([1 / len(edges), 1 / len(pairs)], [len(edges), len(pairs)]) * len(edges)  # each kind as heavy
    with threadpool_limits(torch.get_num_threads()):
        trees.fit(np.concatenate([edges, pairs]), is_edge, sample_weight=weight)
    return lambda evidence: np.exp(trees.decision_function(evidence))
