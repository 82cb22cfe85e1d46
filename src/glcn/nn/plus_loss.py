"""The loss of the variant ``plus``: labels, agreement of random passes, and telling edges from random pairs."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import cross_entropy, softplus

from glcn.graph import CandidateGraph, Prior
from glcn.nn.edge_scorer import LinkLogOdds
from glcn.nn.plus import PlusOutput

ALIGNMENTS = 3  # rounds in which the class shares of the estimated labels are brought to the wanted ones
UNDONE = 0.5  # of the shift of the class shares, where the wanted ones are not known; 1 would never let them move


class PlusTerms(NamedTuple):
    """The loss and its parts, before their weights, each a scalar."""

    total: Tensor
    cross_entropy: Tensor
    consistency: Tensor
    link: Tensor
    taught: Tensor


class Taught(NamedTuple):
    """Rows without a label, and what an earlier network took them for."""

    rows: Tensor  # (t,)
    classes: Tensor  # (t,)


class PlusLoss(Module):
    r"""Cross-entropy on labelled rows, consistency on all rows, link loss on the candidate edges.

    .. math::
        L = \frac{1}{s} \sum_t \Big( -\frac{1}{|L|} \sum_{i \in L} \ln Z^t_{i y_i}
            - \frac{1}{|M|} \sum_{i \in M} \ln Z^t_{i m_i}
            + \lambda_c(\text{epoch}) \frac{1}{n} \sum_i \|Z^t_i - q_i\|^2 \Big) + \lambda L_{link}, \qquad
        q_{ic} \propto u_c \, \bar Z_{ic}^{1/T}

    q are the estimated labels: the mean of the passes' probabilities, sharpened; no gradient flows through them. u
    brings their class shares to ``class_shares``; where these are not known, u is the square root of what would keep
    the shares as they were before the sharpening. λ_c rises from 0 over the first epochs. M are the rows that an
    earlier network was surest of, with what it took them for, m; the first network has none. With f + β from
    :class:`EdgeScorer`,

    .. math::
        L_{link} = \mathrm{mean}_{edges} \ln(1 + e^{-(f+\beta)}) + \mathrm{mean}_{random\ pairs} \ln(1 + e^{f+\beta})

    Parameters
    ----------
    consistency_weight, link_weight
        λ_c at its full height, and λ.
    temperature
        T, below 1 to sharpen.
    warm_up
        Epochs until λ_c has its full height.
    class_shares
        (c,) shares of the classes among all rows, where the labels are a fair sample of them.
    taught
        M and m.
    """

    def __init__(
        self,
        consistency_weight: float = 1.0,
        link_weight: float = 0.5,
        *,
        temperature: float = 0.3,
        warm_up: int = 200,
        class_shares: Tensor | None = None,
        taught: Taught | None = None,
    ) -> None:
        super().__init__()
        self.consistency_weight = consistency_weight
        self.link_weight = link_weight
        self.temperature = temperature
        self.warm_up = warm_up
        self.epoch = 0
        self.class_shares = class_shares
        self.taught = taught

    def start_epoch(self, epoch: int) -> None:
        """Set how far the warm-up of the consistency is."""
        self.epoch = epoch

    def reset_parameters(self) -> None:
        """Do nothing: the loss has no parameters."""

    def forward(
        self,
        output: PlusOutput,
        graph: CandidateGraph,
        targets: Tensor,
        rows: Tensor,
        *,
        prior: Prior | None = None,
        class_weight: Tensor | None = None,
    ) -> PlusTerms:
        """Compare ``output`` with ``targets`` (n,) on ``rows``; a pass in evaluation is judged on these alone."""
        if prior is not None:
            raise ValueError("this loss has no term for a prior graph")
        nothing = output.logits.new_zeros(())
        if output.views:  # a pass in evaluation
            label_loss = cross_entropy(output.logits[rows], targets[rows], weight=class_weight)
            return PlusTerms(label_loss, label_loss, nothing, nothing, nothing)
        label_loss = _misfit(output.samples, rows, targets[rows], class_weight)
        taught = nothing
        if self.taught is not None:
            taught = _misfit(output.samples, *(part.to(rows.device) for part in self.taught))
        consistency = nothing
        if self.consistency_weight and output.says is not None:
            consistency = self._consistency(output.samples.softmax(dim=2), output.says)
        link = self._graph_loss(output, graph)
        height = self.consistency_weight * min(1.0, self.epoch / max(self.warm_up, 1))
        total = label_loss + taught + height * consistency + self.link_weight * link
        return PlusTerms(total, label_loss, consistency, link, taught)

    def _graph_loss(self, output: PlusOutput, graph: CandidateGraph) -> Tensor:  # noqa: ARG002 others look at S
        """Return what trains the graph by itself, a scalar; 0 where none is learned."""
        return output.logits.new_zeros(()) if output.links is None else link_loss(output.links)

    def _consistency(self, Z: Tensor, says: Tensor) -> Tensor:
        shares = None if self.class_shares is None else self.class_shares.to(Z.device)
        q = estimated_labels(torch.tensordot(says, Z.detach(), dims=1), self.temperature, shares)
        return (Z - q).square().sum(dim=2).mean()

    def extra_repr(self) -> str:
        """Return the arguments that made this loss."""
        return (
            f"consistency {self.consistency_weight} after {self.warm_up} epochs, link {self.link_weight}, "
            f"T={self.temperature}"
        )

    def __call__(self, *arguments: Any, **keywords: Any) -> PlusTerms:
        """Run :meth:`forward`."""
        return super().__call__(*arguments, **keywords)  # type: ignore[no-any-return]


def _misfit(samples: Tensor, rows: Tensor, classes: Tensor, class_weight: Tensor | None = None) -> Tensor:
    """Return the mean cross-entropy of some rows, ``classes`` (l,), over all passes of ``samples`` (s, n, c)."""
    of_rows = samples[:, rows].flatten(0, 1)
    return cross_entropy(of_rows, classes.repeat(len(samples)), weight=class_weight)


def estimated_labels(mean: Tensor, temperature: float, class_shares: Tensor | None) -> Tensor:
    """Sharpen probabilities (n, c) and mind the class shares, which sharpening shifts towards large classes.

    They are brought to ``class_shares``, or, where these are not known, half of the shift is undone.
    """
    q = (mean.clamp_min(torch.finfo(mean.dtype).tiny).log() / temperature).softmax(dim=1)
    if class_shares is None:
        return _reweighted(q, mean.mean(dim=0), UNDONE)
    for _ in range(ALIGNMENTS):
        q = _reweighted(q, class_shares, 1.0)
    return q


def _reweighted(q: Tensor, shares: Tensor, power: float) -> Tensor:
    q = q * (shares / q.mean(dim=0).clamp_min(1e-6)) ** power
    return q / q.sum(dim=1, keepdim=True)


def link_loss(links: LinkLogOdds) -> Tensor:
    """Return how badly edges and random pairs are told apart; a graph without edges teaches nothing."""
    if not len(links.edges):
        return 0.0 * links.pairs.sum()
    return softplus(-links.edges).mean() + softplus(links.pairs).mean()
