"""The graph learning layer."""

from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor
from torch.nn import Module, Parameter, init
from torch.nn.functional import pad

from glcn.graph import CandidateGraph, CompleteGraph
from glcn.kernels import (
    VECTOR,
    AllPairs,
    Features,
    GraphTerms,
    Pattern,
    SparseFeatures,
    edge_distances,
    feature_products,
    graph_terms,
    propagate,
    row_softmax,
)

Similarity = Literal["paper", "closeness"]
_SIGN: dict[Similarity, int] = {"paper": 1, "closeness": -1}


class LearnedGraph(NamedTuple):
    """A graph learned on candidate edges, with what its losses need; ``AllPairs`` is its counterpart without edges."""

    embedding: Tensor  # (n, d) x̃ = x P, with columns of zeros up to a multiple of 8
    score: Tensor  # (E,) aᵀ|x̃_i − x̃_j|, before the ReLU
    square: Tensor  # (E,) ‖x̃_i − x̃_j‖²
    values: Tensor  # (E,) S_ij; each row sums to 1
    pattern: Pattern

    def propagate(self, x: Tensor, *, joint: bool = True) -> Tensor:
        """Return S·X; unless ``joint``, no gradient goes through S."""
        return propagate(self.values if joint else self.values.detach(), x, self.pattern)

    def terms(self, prior: Tensor | None = None) -> GraphTerms:
        """Return the sums over edges of the graph learning loss; ``prior`` is (E,)."""
        return graph_terms(self.values, self.square, self.pattern, prior)


class GraphLearning(Module):
    r"""Learn the weights of candidate edges from features.

    .. math::
        S_{ij} = \frac{A_{ij} \exp(\pm\mathrm{ReLU}(a^\top|\tilde x_i - \tilde x_j|))}
                      {\sum_k A_{ik} \exp(\pm\mathrm{ReLU}(a^\top|\tilde x_i - \tilde x_k|))},
        \qquad \tilde x_i = x_i P

    with plus for ``similarity="paper"`` and minus for ``"closeness"``. The paper's sign gives identical rows the least
    weight; the other one gives them the most.

    Parameters
    ----------
    in_channels
        Number of features p.
    out_channels
        Number of columns d of the projection P; None learns on the features themselves (P = I, a ∈ R^p).
    similarity
        ``"paper"`` or ``"closeness"``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int | None = 70,
        similarity: Similarity = "paper",
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if similarity not in _SIGN:
            raise ValueError(f"similarity must be one of {get_args(Similarity)}, got {similarity!r}")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.similarity: Similarity = similarity
        self.projection = None if out_channels is None else Parameter(torch.empty(in_channels, out_channels))
        self.attention = Parameter(torch.empty(in_channels if out_channels is None else out_channels))
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw P and a anew (Glorot).

        By closeness, a starts at the absolute values: as a distance, which the ReLU does not cut.
        """
        if self.projection is not None:
            init.xavier_uniform_(self.projection, generator=generator)
        init.xavier_uniform_(self.attention.data[:, None], generator=generator)
        if self.similarity == "closeness":
            self.attention.data.abs_()

    def forward(self, x: Features, graph: CandidateGraph | CompleteGraph) -> LearnedGraph | AllPairs:
        """Learn S on the edges of ``graph`` from features ``x`` (n, p)."""
        return self.learn(self.embed(x), graph)

    def embed(self, x: Features) -> Tensor:
        """Return x̃ = x P, (n, d), with columns of zeros up to a multiple of 8."""
        if self.projection is not None:
            return feature_products(x, (self.projection,), padding=self.padding)[0]
        return dense_only(x)

    @property
    def padding(self) -> int:
        """Columns of zeros that an embedding gets, so that vector units have no remainder to do one by one."""
        return -len(self.attention) % VECTOR

    @property
    def width(self) -> int:
        """Columns of an embedding."""
        return len(self.attention) + (0 if self.projection is None else self.padding)

    def learn(self, embedding: Tensor, graph: CandidateGraph | CompleteGraph) -> LearnedGraph | AllPairs:
        """Learn S from rows that are embedded already."""
        if isinstance(graph, CompleteGraph):
            return AllPairs(embedding, self._attention_on(embedding), _SIGN[self.similarity])
        return self.connect(embedding, graph.pattern, graph.weights)

    def connect(self, embedding: Tensor, pattern: Pattern, weights: Tensor | None = None) -> LearnedGraph:
        """Weigh some edges between rows that are embedded already."""
        score, square = edge_distances(embedding, self._attention_on(embedding), pattern)
        S = row_softmax(score, pattern, weights, rectified=_SIGN[self.similarity])
        return LearnedGraph(embedding, score, square, S, pattern)

    def _attention_on(self, embedding: Tensor) -> Tensor:
        d, width = len(self.attention), embedding.shape[1]
        if width not in (d, d + self.padding):
            raise ValueError(f"the embedding must have {d} columns (or {d + self.padding}), got {width}")
        return pad(self.attention, (0, width - d))

    def extra_repr(self) -> str:
        """Return the arguments that made this layer."""
        return f"{self.in_channels}, {self.out_channels}, similarity={self.similarity!r}"


def dense_only(x: Any) -> Tensor:
    """Refuse sparse features where P is the identity: differences of rows would be dense."""
    if isinstance(x, SparseFeatures):
        raise ValueError("learning without a projection needs dense features; pass x.toarray() or set a projection")
    return x  # type: ignore[no-any-return]
