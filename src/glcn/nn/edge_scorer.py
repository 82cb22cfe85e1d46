"""The learned graph of the variant ``plus``: near rows weigh more, in a space that tells edges from random pairs."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import Module, Parameter, init

from glcn.graph import CandidateGraph
from glcn.kernels import Pattern, edge_distances, propagate

FIRST_ATTENTION = 0.3  # a starts as a plain distance
FIRST_OFFSET = 1.0  # β
FIRST_AMOUNT = -2.0  # κ
MOST_PAIRS = 16_384  # random pairs an epoch; there is a new draw in each, and gathering more would take most of it


class EdgeWeights(NamedTuple):
    """Candidate edges, weighed."""

    score: Tensor  # (E,) aᵀ|h_i − h_j|, before the ReLU
    square: Tensor  # (E,) ‖h_i − h_j‖²
    weights: Tensor  # (E,) w_ij, symmetric, before any normalisation


class LinkLogOdds(NamedTuple):
    """How much likelier a pair is among edges than among random pairs, as the scorer has it: f + β."""

    edges: Tensor  # of the given edges between different rows
    pairs: Tensor  # of random pairs


class EdgeScorer(Module):
    r"""Weigh candidate edges by how near their ends are in a learned space.

    .. math::
        f_{ij} = -\mathrm{ReLU}(a^\top|h_i - h_j|), \qquad w_{ij} = A_{ij} e^{f_{ij}} \ (i \ne j), \qquad
        w_{ii} = A_{ii} e^b, \qquad h_i = x_i P

    Candidates that the given graph does not have, A_ij = 0, take part by a learned amount: w_ij = e^κ e^{f_ij}.

    Parameters
    ----------
    in_channels, out_channels
        Number of features p, and of columns d of the projection P.
    """

    def __init__(self, in_channels: int, out_channels: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.projection = Parameter(torch.empty(in_channels, out_channels))
        self.attention = Parameter(torch.empty(out_channels))
        self.loop = Parameter(torch.empty(()))  # b
        self.offset = Parameter(torch.empty(()))  # β
        self.amount = Parameter(torch.empty(()))  # κ
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw P anew (Glorot); a starts as a plain distance, a self-loop weighs as much as an edge of length 0."""
        init.xavier_uniform_(self.projection, generator=generator)
        init.constant_(self.attention, FIRST_ATTENTION)
        init.zeros_(self.loop)
        init.constant_(self.offset, FIRST_OFFSET)
        init.constant_(self.amount, FIRST_AMOUNT)

    def forward(self, h: Tensor, pattern: Pattern, weights: Tensor | None, is_loop: Tensor) -> EdgeWeights:
        """Weigh the edges between rows embedded at ``h`` (n, d); ``weights`` (E,) are those of A, None for ones."""
        score, square = edge_distances(h, self.attention, pattern)
        learned = torch.where(is_loop, self.loop, -score.relu()).exp()
        return EdgeWeights(score, square, self.in_amounts(learned, weights))

    def in_amounts(self, learned: Tensor, weights: Tensor | None) -> Tensor:
        """Return ``learned`` (E,) times A, or times e^κ on candidates that A does not have."""
        return learned if weights is None else learned * torch.where(weights > 0, weights, self.amount.exp())

    def log_odds(
        self, h: Tensor, score: Tensor, graph: CandidateGraph, generator: torch.Generator | None = None
    ) -> LinkLogOdds:
        """Return f + β of the given edges, whose scores are known, and of as many random pairs."""
        edges = score[graph.is_given]
        count = min(max(len(edges), 1), MOST_PAIRS)
        i, j = torch.randint(graph.num_nodes, (2, count), generator=generator).to(h.device)
        pairs = (h.index_select(0, i) - h.index_select(0, j)).abs() @ self.attention
        return LinkLogOdds(self.offset - edges.relu(), self.offset - pairs.relu())

    def extra_repr(self) -> str:
        """Return the arguments that made this layer."""
        return f"{self.in_channels}, {self.out_channels}"


def degrees(weights: Tensor, pattern: Pattern) -> Tensor:
    """Return the row sums of W, (n,)."""
    ones = weights.new_ones(pattern.num_columns, 1)
    return propagate(weights, ones, pattern).squeeze(1)


def row_normalized(weights: Tensor, degree: Tensor, pattern: Pattern) -> Tensor:
    """Return S = D⁻¹W, (E,), whose rows sum to 1; ``degree`` as below."""
    return weights / degree.clamp_min(torch.finfo(degree.dtype).tiny).index_select(0, pattern.rows)


def symmetrically_normalized(weights: Tensor, degree: Tensor, pattern: Pattern) -> Tensor:
    """Return S = D^-½ W D^-½, (E,); ``degree`` holds the receiving rows first, then what else the columns name."""
    scale = degree.clamp_min(torch.finfo(degree.dtype).tiny).rsqrt()
    return weights * scale.index_select(0, pattern.rows) * scale.index_select(0, pattern.columns)
