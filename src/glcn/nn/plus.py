"""Random propagation on a learned graph: the network of the variant ``plus``."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product as combinations
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import Module, Parameter, init
from torch.nn.functional import nll_loss, one_hot

from glcn.graph import CandidateGraph
from glcn.kernels import Features, Pattern, dropout, feature_products, propagate, spread
from glcn.nn.edge_scorer import (
    EdgeScorer,
    EdgeWeights,
    LinkLogOdds,
    degrees,
    row_normalized,
    symmetrically_normalized,
)
from glcn.nn.graph_learning import LearnedGraph

STEPS_OF_SHARES = 4  # validation rows may choose shares of the views in the answer that are multiples of a quarter
SMOOTHINGS = (0.0, 0.2, 0.4, 0.6, 0.8)  # α, from which validation rows may choose
USUAL_SMOOTHING = 0.4
PUPIL = 0.5  # what the features alone say of the estimated labels beside a given graph, where a graph's view says 1
NORMALIZATIONS = {"symmetric": symmetrically_normalized, "rows": row_normalized}  # how W becomes S
ENOUGH_ROWS = 30  # validation rows that may choose one of these
SMOOTH_ENOUGH = 1e-6  # error of a probability

Choice = TypeVar("Choice", bound=Hashable)


class View(NamedTuple):
    """A graph that features travel on, in evaluation: what new rows attached later will receive from it."""

    degree: Tensor  # (n,) row sums of W
    sums: tuple[Tensor, ...]  # K + 1 times (n, m), the partial sums of the hops; the last alone where rows stay alone


class PlusOutput(NamedTuple):
    """What one pass through the network gives."""

    logits: Tensor  # (n, c); Z = softmax(logits)
    samples: Tensor  # (s, n, c) logits of each random pass; in evaluation (v, n, c), those of each view
    graph: LearnedGraph  # its values are D⁻¹W: rows sum to 1
    links: LinkLogOdds | None  # in training, where a graph is learned
    says: Tensor | None  # (s,) how much each pass counts in the estimated labels, in training
    views: tuple[View, ...]  # in evaluation


class GLCNPlus(Module):
    r"""Random propagation on a learned graph.

    .. math::
        S = D^{-1/2} W D^{-1/2}, \qquad
        H = \frac{1}{K+1} \sum_{k=0}^{K} S^k \,(m \circ X (r \circ W^0)), \qquad
        Z = \mathrm{softmax}(\mathrm{ReLU}(H + b^0) W^1 + b^1)

    In training the masks m, over rows, and r, over features, are drawn anew for each of s passes, so that a row has to
    be recognised by various parts of its neighbourhood and of its features. The passes take turns in up to three views.
    The first has W from :class:`EdgeScorer`. The second has W = A, so that the learned graph can not cut off what the
    given one would bring; there is none where neighbours were only found by their features. The last has W = I and
    m = 1, so that a row has to be recognised by itself, too. The answer is Σ_v θ_v Z_v over the views, with
    θ from :meth:`settle_shares`. At last it is spread over the learned graph, together with the labels that are known;
    see :meth:`settle_answer`.

    Parameters
    ----------
    in_channels, hidden_channels, out_channels
        Numbers of features, hidden units and classes.
    projection_channels
        Columns d of the projection P in which the graph is learned.
    num_hops
        K.
    num_passes
        s, the number of random passes an epoch, dealt out to the views; the last views are left out by fewer passes.
    row_dropout, feature_dropout, dropout
        Probabilities of dropping a row of X W⁰, a feature, and a hidden unit of a row.
    smoothing
        α, how much of the answer comes from neighbours at last; None lets validation rows choose.
    learn_graph
        False keeps W = A in the first view.
    given_view
        Whether there is a view with W = A beside the learned one.
    feature_view
        Whether there is a view with W = I.
    normalization
        How S is made of W: ``"symmetric"`` as above, or ``"rows"``, S = D⁻¹W, the mean of a row's neighbours.
    wider
        Whether the graph has candidates that were not given, so that there is an amount of them to learn.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        projection_channels: int = 32,
        num_hops: int = 8,
        num_passes: int = 3,
        row_dropout: float = 0.5,
        feature_dropout: float = 0.25,
        dropout: float = 0.5,
        smoothing: float | None = 0.0,
        learn_graph: bool = True,
        given_view: bool = True,
        feature_view: bool = True,
        normalization: str = "symmetric",
        wider: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        shares = {"row_dropout": row_dropout, "feature_dropout": feature_dropout, "dropout": dropout}
        for name, value in {**shares, "smoothing": smoothing or 0.0}.items():
            if not 0 <= value < 1:
                raise ValueError(f"{name} must lie in [0, 1), got {value}")
        if normalization not in NORMALIZATIONS:
            raise ValueError(f"normalization must be one of {tuple(NORMALIZATIONS)}, got {normalization!r}")
        self.num_hops = num_hops
        self.num_passes = num_passes
        self.row_dropout = row_dropout
        self.feature_dropout = feature_dropout
        self.dropout = dropout
        self.settles_smoothing = smoothing is None
        self.smoothing = USUAL_SMOOTHING if smoothing is None else smoothing
        self.learn_graph = learn_graph
        self.given_view = given_view
        self.feature_view = feature_view
        self.normalization = normalization
        self.scorer = EdgeScorer(in_channels, projection_channels, generator=generator).requires_grad_(learn_graph)
        self.scorer.amount.requires_grad_(learn_graph and wider)
        self.first_weight = Parameter(torch.empty(in_channels, hidden_channels))  # W⁰
        self.first_bias = Parameter(torch.empty(hidden_channels))
        self.second_weight = Parameter(torch.empty(hidden_channels, out_channels))  # W¹
        self.second_bias = Parameter(torch.empty(out_channels))
        self.register_buffer("shares", torch.tensor(self.usual_shares))  # θ
        self.shares: Tensor
        self._reset_weights(generator)

    @property
    def num_views(self) -> int:
        """Number of views: the learned graph, the given one, the features alone; as many as there are passes."""
        return min(self.num_passes, 1 + (self.learn_graph and self.given_view) + self.feature_view)

    @property
    def num_graphs(self) -> int:
        """Number of views on a graph; they come first."""
        return min(self.num_passes, 1 + (self.learn_graph and self.given_view))

    @property
    def usual_shares(self) -> tuple[float, ...]:
        """The even shares of the views in the answer; beside a given graph that of the features alone is none."""
        even = self.num_graphs if self.given_view else self.num_views
        return (1 / even,) * even + (0.0,) * (self.num_views - even)

    @property
    def is_random(self) -> bool:
        """Whether a pass in training differs from one in evaluation."""
        return True

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all parameters anew (Glorot)."""
        self.scorer.reset_parameters(generator)
        self._reset_weights(generator)

    def _reset_weights(self, generator: torch.Generator | None) -> None:
        for weight in (self.first_weight, self.second_weight):
            init.xavier_uniform_(weight, generator=generator)
        for bias in (self.first_bias, self.second_bias):
            init.zeros_(bias)

    def forward(self, x: Features, graph: CandidateGraph, generator: torch.Generator | None = None) -> PlusOutput:
        """Learn W on ``graph`` and classify all rows of ``x`` (n, p); ``generator`` draws what is random."""
        passes = self.num_passes if self.training else 1
        h, product = self.products(x, passes, generator)  # (n, d), (n, s·m)
        edges = self.weigh(h, graph.pattern, graph.weights, graph.is_loop)
        if self.training:
            parts = self._dealt_out(self._without_some_rows(product, passes, generator))
        else:
            parts = (product,) * self.num_views
        views = [self._spread(edges.weights, parts[0], graph.pattern)]
        if self.num_graphs > 1:
            given = graph.as_given
            views.append(self._spread(given.given_weights().to(product), parts[1], given.pattern))
        views += [View(part.new_ones(len(part)), (self.unspread(part),)) for part in parts[self.num_graphs :]]
        samples = torch.cat([self.classify(view.sums[-1], generator) for view in views])
        links = self.scorer.log_odds(h, edges.score, graph, generator) if self.training and self.learn_graph else None
        shares = edges.weights / views[0].degree.index_select(0, graph.pattern.rows)
        learned = LearnedGraph(h, edges.score, edges.square, shares, graph.pattern)
        if self.training:
            says = self._says().to(samples)
            return PlusOutput(samples.log_softmax(dim=2).logsumexp(dim=0), samples, learned, links, says, ())
        return PlusOutput(blended(samples, self.shares), samples, learned, links, None, tuple(views))

    def link_log_odds(
        self, x: Features, graph: CandidateGraph, generator: torch.Generator | None = None
    ) -> LinkLogOdds:
        """Return what the link loss needs, without the rest of the network."""
        (h,) = feature_products(x, (self._masked(self.scorer.projection, 1, generator),))
        edges = self.weigh(h, graph.pattern, graph.weights, graph.is_loop)
        return self.scorer.log_odds(h, edges.score, graph, generator)

    @torch.no_grad()
    def balance_loops(self, x: Features, graph: CandidateGraph) -> None:
        """Let a self-loop weigh as much as the mean edge, as it does where all weights are alike."""
        (h,) = feature_products(x, (self.scorer.projection,))
        edges = self.scorer(h, graph.pattern, None, graph.is_loop).weights[~graph.is_loop]
        self.scorer.loop.copy_(edges.mean().log())

    @torch.no_grad()
    def settle_shares(self, output: PlusOutput, targets: Tensor, rows: Tensor) -> None:
        """Set θ so that the cross-entropy of ``output``, of a pass in evaluation, on ``rows`` is lowest.

        It stays as it usually is unless another one is better by more than the standard error of the difference, on 30
        rows or more.
        """
        if self.num_views == 1 or len(rows) < ENOUGH_ROWS:
            return
        samples = output.samples[:, rows]
        steps = combinations(range(STEPS_OF_SHARES + 1), repeat=self.num_views)
        shares = [tuple(step / STEPS_OF_SHARES for step in each) for each in steps if sum(each) == STEPS_OF_SHARES]
        losses = {each: losses_of(blended(samples, each), targets[rows]) for each in (self.usual_shares, *shares)}
        self.shares.copy_(torch.tensor(surely_best(losses, self.usual_shares)))

    @torch.no_grad()
    def settle_smoothing(self, answer: Callable[[], Tensor], targets: Tensor, rows: Tensor) -> None:
        """Set α so that the cross-entropy of ``answer``, the logits under the α of the moment, on ``rows`` is lowest.

        It stays at its usual value unless another one is better by more than the standard error of the difference, on
        30 rows or more.
        """
        if not self.settles_smoothing or len(rows) < ENOUGH_ROWS:
            return
        losses = {}
        for alpha in SMOOTHINGS:
            self.smoothing = alpha
            losses[alpha] = losses_of(answer()[rows], targets[rows])
        self.smoothing = surely_best(losses, USUAL_SMOOTHING)

    @torch.no_grad()
    def settle_answer(self, output: PlusOutput, targets: Tensor, rows: Tensor) -> PlusOutput:
        r"""Spread the answer of a pass in evaluation over the learned graph D⁻¹W.

        .. math::
            F = (1 - α) F^0 + α D^{-1} W F

        where F⁰ is Z, but the label itself on the labelled ``rows``.
        """
        if not self.smoothing:
            return output
        first = output.logits.softmax(dim=1)
        first[rows] = one_hot(targets[rows], first.shape[1]).to(first.dtype)
        F = first
        for _ in range(smoothing_rounds(self.smoothing)):
            F = torch.lerp(first, output.graph.propagate(F), self.smoothing)
        return output._replace(logits=F.clamp_min(torch.finfo(F.dtype).tiny).log())

    def attach(
        self, x: Features, known: PlusOutput, support: Tensor, pattern: Pattern, weights: Tensor | None = None
    ) -> Tensor:
        """Classify new rows from their edges to known ones, which stay as they are; see :meth:`glcn.nn.GLCN.attach`."""
        h, product = self.products(x, 1, None)
        table = torch.cat([h, known.graph.embedding[support]])
        edges = self.weigh(table, pattern, weights, pattern.rows == pattern.columns)
        samples = []
        Ws = self.graph_weights(edges.weights, weights)
        for W, view in zip(Ws, known.views[: self.num_graphs], strict=True):
            S = self.normalized(W, torch.cat([degrees(W, pattern), view.degree[support]]), pattern)
            received = product
            for known_sum in view.sums[:-1]:
                received = product + propagate(S, torch.cat([received, known_sum[support]]), pattern)
            samples.append(self.classify(received, None))
        if self.num_graphs < self.num_views:
            samples.append(self.classify(self.unspread(product), None))
        logits = blended(torch.cat(samples), self.shares)
        return self._smoothed(logits, edges.weights, known.logits[support], pattern) if self.smoothing else logits

    def _smoothed(self, logits: Tensor, weights: Tensor, known: Tensor, pattern: Pattern) -> Tensor:
        """Return the log of F for new rows, which hear from known ones and from themselves."""
        is_loop = pattern.rows == pattern.columns
        shares = weights / degrees(weights, pattern).index_select(0, pattern.rows)
        own = shares[is_loop][:, None]  # one of each new row
        table = torch.cat([torch.zeros_like(logits), known.softmax(dim=1)])
        heard = propagate(shares, table, pattern)
        F = torch.lerp(logits.softmax(dim=1), heard, self.smoothing) / (1 - self.smoothing * own)
        return F.clamp_min(torch.finfo(F.dtype).tiny).log()

    def first_hidden(self, output: PlusOutput) -> Tensor:
        """Return ReLU(H + b⁰) of a pass in evaluation, (n, m): each row as the classifier sees it, views mixed by θ."""
        hidden = [torch.relu(view.sums[-1] / (self.num_hops + 1) + self.first_bias) for view in output.views]
        return torch.stack([share * each for share, each in zip(self.shares, hidden, strict=True)]).sum(dim=0)

    def graph_weights(self, learned: Tensor, given: Tensor | None) -> tuple[Tensor, ...]:
        """Return the W of each view on a graph, (E,) each; ``given`` is None where every weight of A is 1."""
        if self.num_graphs == 1:
            return (learned,)
        return learned, torch.ones_like(learned) if given is None else given.to(learned.dtype)

    def _passes_of_views(self) -> list[int]:
        """Return how many passes each view has."""
        views = self.num_views
        return [self.num_passes // views + (view < self.num_passes % views) for view in range(views)]

    def _says(self) -> Tensor:
        """Return how much each pass counts in the estimated labels, (s,); they sum to 1."""
        says = torch.ones(self.num_passes)
        if self.given_view and self.num_graphs < self.num_views:
            says[-self._passes_of_views()[-1] :] = PUPIL
        return says / says.sum()

    def _dealt_out(self, product: Tensor) -> Sequence[Tensor]:
        """Give each view its passes, which stand side by side in ``product`` (n, s·m)."""
        widths = [passes * len(self.first_bias) for passes in self._passes_of_views()]
        return [part.contiguous() for part in product.split_with_sizes(widths, dim=1)]

    def _spread(self, W: Tensor, product: Tensor, pattern: Pattern) -> View:
        """Send ``product`` (n, ·) over K hops, and sum up."""
        degree = degrees(W, pattern)
        S = self.normalized(W, degree, pattern)
        return View(degree, spread(S, product, pattern, self.num_hops))

    def unspread(self, product: Tensor) -> Tensor:
        """Return what K hops sum up to where every row hears of itself alone."""
        return product * (self.num_hops + 1)

    def products(self, x: Features, passes: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Return x P and the x W⁰ of all passes side by side, each with its own features left out in training."""
        W = self._masked(self.first_weight, passes, generator)
        if not self.learn_graph:
            (product,) = feature_products(x, (W,))
            return product.new_zeros(len(product), self.scorer.out_channels), product
        P = self._masked(self.scorer.projection, 1, generator)
        h, product = feature_products(x, (P, W))
        return h, product

    def _masked(self, weight: Tensor, passes: int, generator: torch.Generator | None) -> Tensor:
        """Repeat a weight (p, m) for each pass, (p, passes·m), with the rows of dropped features at zero."""
        if not self.training or not self.feature_dropout:
            return weight.repeat(1, passes)
        kept = dropout(weight.new_ones(len(weight), passes), self.feature_dropout, generator)
        return (kept[:, :, None] * weight[:, None, :]).flatten(1)

    def _without_some_rows(self, product: Tensor, passes: int, generator: torch.Generator | None) -> Tensor:
        kept = dropout(product.new_ones(len(product), passes, 1), self.row_dropout, generator)
        if self.num_graphs < self.num_views:  # without its own features, nothing is left of a row there
            kept[:, -self._passes_of_views()[-1] :] = 1
        return (product.view(len(product), passes, -1) * kept).flatten(1)

    def weigh(self, h: Tensor, pattern: Pattern, weights: Tensor | None, is_loop: Tensor) -> EdgeWeights:
        """Return the learned W on some edges between rows embedded at ``h``; that of A where none is learned."""
        if self.learn_graph:
            weighed: EdgeWeights = self.scorer(h, pattern, weights, is_loop)
            return weighed
        zeros = h.new_zeros(pattern.num_edges)
        return EdgeWeights(zeros, zeros, h.new_ones(pattern.num_edges) if weights is None else weights)

    def normalized(self, weights: Tensor, degree: Tensor, pattern: Pattern) -> Tensor:
        """Turn W into S, (E,)."""
        return NORMALIZATIONS[self.normalization](weights, degree, pattern)

    def classify(self, sums: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return the logits of each pass, (passes, n, c), from its K + 1 hops summed, (n, passes·m)."""
        H = sums.view(len(sums), -1, len(self.first_bias)) / (self.num_hops + 1)
        hidden = dropout(torch.relu(H + self.first_bias), self.dropout if self.training else 0.0, generator)
        return (hidden @ self.second_weight + self.second_bias).transpose(0, 1)

    def decayed_parameters(self) -> list[Parameter]:
        """Return what weight decay acts on: all but the scorer."""
        return [self.first_weight, self.first_bias, self.second_weight, self.second_bias]

    def extra_repr(self) -> str:
        """Return the arguments that the layers do not show."""
        widths = f"{len(self.first_weight)} → {len(self.second_weight)} → {len(self.second_bias)}"
        return (
            f"{widths}, num_hops={self.num_hops}, num_passes={self.num_passes}, learn_graph={self.learn_graph}, "
            f"given_view={self.given_view}, feature_view={self.feature_view}"
        )

    def __call__(self, *arguments: Any, **keywords: Any) -> PlusOutput:
        """Run :meth:`forward`."""
        return super().__call__(*arguments, **keywords)  # type: ignore[no-any-return]


def losses_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy of each row."""
    return nll_loss(logits.log_softmax(dim=1), targets, reduction="none")


def surely_best(losses: Mapping[Choice, Tensor], usual: Choice) -> Choice:
    """Return the choice whose losses, one of each row, have the lowest mean, if that is no chance; else the usual one.

    Another one has to be better by more than the standard error of the difference.
    """
    gains = {value: losses[usual] - loss for value, loss in losses.items()}
    sure = {value: gain.mean() for value, gain in gains.items() if gain.mean() > gain.std() / len(gain) ** 0.5}
    return max(sure, key=lambda value: sure[value].item(), default=usual)


def smoothing_rounds(alpha: float) -> int:
    """Return after how many rounds an answer is as good as spread."""
    return 0 if alpha == 0 else math.ceil(math.log(SMOOTH_ENOUGH) / math.log(alpha))


def blended(samples: Tensor, shares: Tensor | Sequence[float]) -> Tensor:
    """Return the logits of the mean of the views' probabilities, (n, c), from ``samples`` (v, n, c) in these shares."""
    if len(samples) == 1:
        return samples[0]
    least = torch.finfo(samples.dtype).tiny
    weights = torch.as_tensor(shares, dtype=samples.dtype, device=samples.device).clamp_min(least).log()
    return torch.logsumexp(samples.log_softmax(dim=2) + weights[:, None, None], dim=0)
