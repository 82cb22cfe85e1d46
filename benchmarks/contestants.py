"""What races against what: each function returns the step of one contestant on one case."""

import warnings
from collections.abc import Callable

import torch
from cases import Case, case, clustered
from networks import CdistGLCN, ChunkedGLCN, GatheredGLCN, KernelGCN, PlainGLCN, PyGGAT, PyGGCN, SparseGCN
from race import Seconds, Step, take_turns
from scipy import sparse
from torch import Tensor
from torch.nn.functional import cross_entropy

from glcn.estimator.inputs import training_features
from glcn.graph import CompleteGraph
from glcn.kernels import Features
from glcn.nn import GLCN, GLCNLoss

HIDDEN = 16
GRAPH_WEIGHT, SPARSITY_WEIGHT = 0.7, 0.02
for notice in ("Sparse CSR tensor support is in beta", "Sparse invariant checks are implicitly disabled"):
    warnings.filterwarnings("ignore", notice)


def epoch(name: str, side: str, dropout: float = 0.0, evaluated: bool = False) -> Step:
    """Return an epoch of a network on a case: forward, loss, backward, Adam, and an evaluation where asked for."""
    this = case(name)
    torch.manual_seed(0)
    network = _EPOCHS[side](this, dropout)
    return _training(network.model, network.loss, evaluated)


def race_of_epochs(name: str, sides: list[str], dropout: float, evaluated: bool, rounds: int) -> dict[str, Seconds]:
    """Return the seconds of an epoch of each contestant."""
    return take_turns({side: epoch(name, side, dropout, evaluated) for side in sides}, rounds)


def epoch_of_size(rows: int, k: int, side: str) -> Step:
    """Return an epoch on generated rows."""
    network = _EPOCHS[side](clustered(rows, k), 0.0)
    return _training(network.model, network.loss, evaluated=False)


def graph_learning(name: str, side: str) -> Step:
    """Return score, softmax and both sums of the graph loss on a case, forward and backward."""
    this = case(name)
    ours = _ours(this, 0.0).model
    plain = GatheredGLCN(ours, this.graph)
    torch.manual_seed(0)
    h = torch.randn(this.graph.num_nodes, 70, requires_grad=True)

    def learned() -> tuple[Tensor, Tensor]:
        if side == "glcn":
            smoothness, sparsity, _ = ours.graph_learning.learn(h, this.graph).terms()
            return smoothness, sparsity
        return plain.learn(h)[1:]

    def step() -> None:
        h.grad = None
        smoothness, sparsity = learned()
        (smoothness + SPARSITY_WEIGHT * sparsity).backward()

    return step


def all_pairs(rows: int, side: str) -> Step:
    """Return an epoch on the complete graph on generated rows, without an optimiser."""
    torch.manual_seed(0)
    x, y = torch.randn(rows, 64), torch.randint(10, (rows,))
    labelled = torch.arange(0, rows, 10)
    model = GLCN(64, HIDDEN, 10, similarity="closeness")
    loss = GLCNLoss(GRAPH_WEIGHT / rows, SPARSITY_WEIGHT)
    if side == "glcn":
        graph = CompleteGraph(rows)

        def total() -> Tensor:
            return loss(model(x, graph), graph, y, labelled).total
    else:
        plain = {"cdist": CdistGLCN, "chunked": ChunkedGLCN}[side](model)

        def total() -> Tensor:
            return _plain_loss(plain(x), y, labelled, GRAPH_WEIGHT / rows)

    return lambda: total().backward()


class _Network:
    def __init__(self, model: torch.nn.Module, loss: Callable[[], Tensor]) -> None:
        self.model = model
        self.loss = loss


def _training(model: torch.nn.Module, loss: Callable[[], Tensor], evaluated: bool) -> Step:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, fused=True)

    def step() -> None:
        model.train()
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        if evaluated:
            model.eval()
            with torch.no_grad():
                loss()

    return step


def _sizes(this: Case) -> tuple[int, int, int]:
    return this.X.shape[1], HIDDEN, int(this.y.max()) + 1


def _features(this: Case) -> Features:
    return training_features(this.X, compact=True, device="cpu")


def _dense(this: Case) -> Tensor:
    return torch.from_numpy(this.X.toarray() if sparse.issparse(this.X) else this.X)


def _glcn(this: Case, dropout: float) -> GLCN:
    return GLCN(*_sizes(this), dropout=dropout, generator=torch.Generator().manual_seed(0))


def _ours(this: Case, dropout: float) -> _Network:
    model, loss, x = _glcn(this, dropout), GLCNLoss(GRAPH_WEIGHT, SPARSITY_WEIGHT), _features(this)
    return _Network(model, lambda: loss(model(x, this.graph), this.graph, this.y, this.rows).total)


def _plain(this: Case, dropout: float, x: Tensor) -> _Network:
    model = GatheredGLCN(_glcn(this, dropout), this.graph)
    return _Network(model, lambda: _plain_loss(model(x), this.y, this.rows, GRAPH_WEIGHT))


def _plain_loss(output: tuple[Tensor, Tensor, Tensor], y: Tensor, rows: Tensor, graph_weight: float) -> Tensor:
    logits, smoothness, sparsity = output
    labels = cross_entropy(logits[rows], y[rows], reduction="sum")
    return labels + graph_weight * (smoothness + SPARSITY_WEIGHT * sparsity)


def _labels_only(this: Case, model: torch.nn.Module, x: Features) -> _Network:
    return _Network(model, lambda: cross_entropy(model(x)[this.rows], this.y[this.rows]))


def _edges(this: Case) -> Tensor:
    both = this.graph.to_edge_index()
    return both[:, both[0] != both[1]]  # PyTorch Geometric adds its own loops


_EPOCHS: dict[str, Callable[[Case, float], _Network]] = {
    "glcn": _ours,
    "plain, dense X": lambda this, p: _plain(this, p, _dense(this)),
    "plain, sparse X": lambda this, p: _plain(this, p, _dense(this).to_sparse_csr()),
    "PyG GCN, dense X": lambda this, p: _labels_only(this, PyGGCN(_sizes(this), _edges(this), p), _dense(this)),
    "PyG GAT, dense X": lambda this, p: _labels_only(this, PyGGAT(_sizes(this), _edges(this), p), _dense(this)),
    "GCN, sparse PyTorch": lambda this, p: _labels_only(
        this, SparseGCN(_sizes(this), this.graph, p), _dense(this).to_sparse_csr()
    ),
    "our GCN": lambda this, p: _labels_only(this, KernelGCN(_sizes(this), this.graph, p), _features(this)),
}

SIDES = tuple(_EPOCHS)


def check_equal(name: str) -> None:
    """Make sure that ours and the plain network have the same loss and gradients before they race."""
    this = case(name)
    ours = _ours(this, 0.0)
    for x in (_dense(this), _dense(this).to_sparse_csr()):
        plain = _plain(this, 0.0, x)
        _same(ours.loss(), ours.model, plain.loss(), plain.model)


def check_equal_pairs(rows: int = 600) -> None:
    """Make sure of the same for the complete graph."""
    torch.manual_seed(0)
    model, x = GLCN(64, HIDDEN, 10, similarity="closeness"), torch.randn(rows, 64)
    for plain in (CdistGLCN(model), ChunkedGLCN(model)):
        output = model(x, CompleteGraph(rows))
        smoothness, sparsity, _ = output.graph.terms()
        other = plain(x)
        ours = output.logits.sin().sum() + (smoothness + sparsity) / rows
        _same(ours, model, other[0].sin().sum() + (other[1] + other[2]) / rows, plain)


def _same(ours: Tensor, model: GLCN, other: Tensor, plain: PlainGLCN) -> None:
    torch.testing.assert_close(other, ours, rtol=1e-3, atol=1e-3)
    pairs = [(model.graph_learning.projection, plain.projection), (model.graph_learning.attention, plain.attention)]
    pairs += list(zip(model.weights, plain.weights, strict=True))
    mine, its = zip(*pairs, strict=True)
    for first, second in zip(torch.autograd.grad(ours, mine), torch.autograd.grad(other, its), strict=True):
        torch.testing.assert_close(second, first, rtol=1e-2, atol=1e-3 * float(first.abs().max()))
