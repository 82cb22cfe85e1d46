"""The variant ``plus`` with its graph replaced, and nothing else: what a sceptic would compare it with."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.preprocessing import normalize
from torch import Tensor

from glcn.estimator import GLCNClassifier
from glcn.estimator.building import LINK_STEPS, Parts, Plan, build_plus
from glcn.graph import CandidateGraph
from glcn.kernels import Features, Pattern, SparseFeatures, edge_distances
from glcn.nn import EdgeScorer, EdgeWeights, GLCNPlus, PlusLoss, PlusOutput
from glcn.nn.edge_scorer import row_normalized

SPARSITY = 1.0  # γ of the paper's graph loss, which its text does not name
LEAST_ALIKE = 0.01  # so that no edge is lost


class Arm(GLCNClassifier):
    """The variant ``plus`` with another network or loss; its settings and all the rest are those of the variant."""

    network: type[GLCNPlus] = GLCNPlus
    criterion: type[PlusLoss] = PlusLoss
    link_steps = LINK_STEPS

    def _parts(self, plan: Plan) -> Parts:
        return build_plus(plan, network=self.network, criterion=self.criterion, link_steps=self.link_steps)


class _Uniform(GLCNPlus):
    def normalized(self, weights: Tensor, degree: Tensor, pattern: Pattern) -> Tensor:
        return row_normalized(weights, degree, pattern)


class Uniform(Arm):
    """S = D⁻¹A, every neighbour of a row alike; for ``learn_graph=False``."""

    network = _Uniform


class _Shuffled(GLCNPlus):
    def weigh(self, h: Tensor, pattern: Pattern, weights: Tensor | None, is_loop: Tensor) -> EdgeWeights:
        edges = super().weigh(h, pattern, weights, is_loop)
        return edges._replace(weights=edges.weights[_shuffled_within_rows(pattern)])


class Shuffled(Arm):
    """The learned W with the values of each row dealt out anew, once for all: none is where it was learned."""

    network = _Shuffled


@lru_cache(maxsize=2)
def _shuffled_within_rows(pattern: Pattern) -> Tensor:
    """Return the numbers of the edges, (E,), those of each row in a random order that is always the same."""
    drawn = torch.rand(pattern.num_edges, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return (pattern.rows + drawn).argsort()


class _PaperScorer(EdgeScorer):
    def forward(self, h: Tensor, pattern: Pattern, weights: Tensor | None, is_loop: Tensor) -> EdgeWeights:  # noqa: ARG002
        score, square = edge_distances(h, self.attention, pattern)
        learned = score.relu().exp()  # 1 for a self-loop
        return EdgeWeights(score, square, self.in_amounts(learned, weights))


class _PaperNetwork(GLCNPlus):
    def __init__(self, *arguments: Any, generator: torch.Generator | None = None, **keywords: Any) -> None:
        super().__init__(*arguments, generator=generator, **keywords)
        self.scorer = _PaperScorer(self.scorer.in_channels, self.scorer.out_channels, generator=generator)


class _PaperLoss(PlusLoss):
    def _graph_loss(self, output: PlusOutput, graph: CandidateGraph) -> Tensor:
        """Return Σ_ij S_ij ‖h_i − h_j‖² + γ‖S‖², per row."""
        S = output.graph.values
        return (S @ output.graph.square + SPARSITY * S @ S) / graph.num_nodes


class PaperScore(Arm):
    """The paper's layer, w_ij = A_ij·exp(ReLU(aᵀ|h_i − h_j|)), with its graph loss in place of the link loss."""

    network = _PaperNetwork
    criterion = _PaperLoss
    link_steps = 0


class _Cosine(GLCNPlus):
    alike: Tensor  # (E,) set after the network is made

    def weigh(self, h: Tensor, pattern: Pattern, weights: Tensor | None, is_loop: Tensor) -> EdgeWeights:
        edges = super().weigh(h, pattern, weights, is_loop)
        return edges._replace(weights=self.scorer.in_amounts(self.alike, weights))


class Cosine(Arm):
    """A view that is not learned: edges weigh as much as the features of two rows are alike."""

    network = _Cosine
    link_steps = 0

    def _parts(self, plan: Plan) -> Parts:
        parts = super()._parts(plan)
        data = plan.source.data
        parts.model.alike = _cosines(data.x, data.graph.pattern)
        return parts


def _cosines(x: Features, pattern: Pattern) -> Tensor:
    """Return how alike the ends of each edge are, (E,), at least a little; a row and itself are alike."""
    if isinstance(x, SparseFeatures):
        unit = normalize(sparse.csr_array((x.values, x.indices, x.indptr), shape=x.shape))
    else:
        unit = normalize(x.numpy())
    i, j = pattern.rows.numpy(), pattern.columns.numpy()
    pairs = unit[i].multiply(unit[j]) if sparse.issparse(unit) else unit[i] * unit[j]
    alike = np.maximum(np.asarray(pairs.sum(axis=1)).ravel(), LEAST_ALIKE)
    return torch.from_numpy(np.where(i == j, 1.0, alike).astype(np.float32))
