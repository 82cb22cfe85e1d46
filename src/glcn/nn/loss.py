"""The loss of the paper: classification and graph learning in one number."""

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import cross_entropy

from glcn.graph import CandidateGraph, CompleteGraph, Prior
from glcn.kernels import AllPairs
from glcn.nn.glcn import GLCNOutput
from glcn.nn.graph_learning import LearnedGraph

Reduction = Literal["sum", "mean"]
Smoothness = Literal["pairwise", "trace"]


class LossTerms(NamedTuple):
    """The loss and its parts, before their weights, each a scalar."""

    total: Tensor
    cross_entropy: Tensor
    smoothness: Tensor
    sparsity: Tensor
    prior: Tensor


class GLCNLoss(Module):
    r"""Cross-entropy on labelled rows plus the graph learning loss.

    .. math::
        L = -\sum_{i \in L} \ln Z_{i y_i} + \lambda L_{GL}, \qquad
        L_{GL} = \sum_{ij} S_{ij} \|\tilde x_i - \tilde x_j\|^2 + \gamma \|S\|_F^2 + \beta \|S - A\|_F^2

    Parameters
    ----------
    graph_weight, sparsity_weight, prior_weight
        λ, γ and β. The released code subtracts ‖S‖²_F: a negative γ.
    label_reduction
        ``"sum"`` (the paper) or ``"mean"`` over the labelled rows.
    graph_reduction
        ``"sum"`` (the paper), or ``"mean"``: L_GL divided by the number of rows.
    smoothness
        ``"pairwise"`` (the paper), or ``"trace"``: tr(x̃ᵀ(I−S)x̃), as in the released code. The two differ because S
        is not symmetric.
    smoothness_unit
        What the smoothness is divided by; 1 in the paper. The mean ‖x̃_i − x̃_j‖² of the untrained network, together
        with ``"mean"``, gives λ the same meaning whatever the number and scale of the features.
    """

    def __init__(
        self,
        graph_weight: float = 0.01,
        sparsity_weight: float = 0.01,
        prior_weight: float = 0.0,
        *,
        label_reduction: Reduction = "sum",
        graph_reduction: Reduction = "sum",
        smoothness: Smoothness = "pairwise",
        smoothness_unit: float = 1.0,
    ) -> None:
        super().__init__()
        self.graph_weight = graph_weight
        self.sparsity_weight = sparsity_weight
        self.prior_weight = prior_weight
        self.label_reduction: Reduction = label_reduction
        self.graph_reduction: Reduction = graph_reduction
        self.smoothness: Smoothness = smoothness
        self.smoothness_unit = smoothness_unit

    def reset_parameters(self) -> None:
        """Do nothing: the loss has no parameters."""

    def forward(
        self,
        output: GLCNOutput,
        graph: CandidateGraph | CompleteGraph,
        targets: Tensor,
        rows: Tensor,
        *,
        prior: Prior | None = None,
        class_weight: Tensor | None = None,
    ) -> LossTerms:
        """Compare ``output`` with ``targets`` (n,) on ``rows``, and judge its graph."""
        label_loss = cross_entropy(
            output.logits[rows], targets[rows], weight=class_weight, reduction=self.label_reduction
        )
        smoothness, sparsity, distance = self._graph_loss(output.graph, graph.num_nodes, prior)
        total = label_loss
        if self.graph_weight:  # no more operations than there are terms: small data would feel them
            total = torch.add(total, smoothness, alpha=self.graph_weight)
            total = torch.add(total, sparsity, alpha=self.graph_weight * self.sparsity_weight)
            if prior is not None:
                total = torch.add(total, distance, alpha=self.graph_weight * self.prior_weight)
        return LossTerms(total, label_loss, smoothness, sparsity, distance)

    def _graph_loss(
        self, learned: LearnedGraph | AllPairs, num_nodes: int, prior: Prior | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        smoothness, sparsity, distance = learned.terms(None if prior is None else prior.values)
        if self.smoothness == "trace":
            x = learned.embedding
            smoothness = (x * (x - learned.propagate(x))).sum()
        if prior is not None:
            distance = distance + prior.outside
        share = 1.0 if self.graph_reduction == "sum" else 1.0 / num_nodes
        if share == self.smoothness_unit == 1.0:
            return smoothness, sparsity, distance
        return share / self.smoothness_unit * smoothness, share * sparsity, share * distance

    def extra_repr(self) -> str:
        """Return the arguments that made this loss."""
        return (
            f"λ={self.graph_weight}, γ={self.sparsity_weight}, β={self.prior_weight}, "
            f"labels by {self.label_reduction}, graph by {self.graph_reduction}, {self.smoothness}"
        )

    def __call__(self, *arguments: Any, **keywords: Any) -> LossTerms:
        """Run :meth:`forward`."""
        return super().__call__(*arguments, **keywords)  # type: ignore[no-any-return]
