"""The networks of the baselines: PyTorch Geometric's convolutions, and a perceptron."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Identity, Module, ModuleList, Parameter, init
from torch.nn.functional import cross_entropy, elu

from glcn.graph import Prior
from glcn.kernels import Features, Pattern, attention, dropout, feature_products, propagate_heads


@dataclass(frozen=True, eq=False)
class Edges:
    """A graph as PyTorch Geometric takes it; an edge (source, target) carries what the source sends."""

    index: Tensor  # (2, E), or a sparse (n, n) tensor of weights whose rows receive
    weight: Tensor | None  # (E,) beside (2, E)
    pattern: Pattern | None = None  # the same edges for our kernels, where each one has its reverse

    def to(self, device: torch.device | str) -> "Edges":
        """Return the edges on another device."""
        weight = None if self.weight is None else self.weight.to(device)
        return Edges(self.index.to(device), weight, None if self.pattern is None else self.pattern.to(device))


class Logits(NamedTuple):
    """What a network says of each row, and its first hidden layer."""

    logits: Tensor  # (n, c)
    hidden: Tensor  # (n, h) output of the first layer


class LabelTerms(NamedTuple):
    """The loss, which has one part only."""

    total: Tensor
    cross_entropy: Tensor


def label_loss(
    output: Logits,
    graph: Any,
    targets: Tensor,
    rows: Tensor,
    *,
    prior: Prior | None = None,
    class_weight: Tensor | None = None,
) -> LabelTerms:
    """Return the mean cross-entropy on ``rows``; graph and prior have no part in it."""
    loss = cross_entropy(output.logits[rows], targets[rows], weight=class_weight)
    return LabelTerms(loss, loss)


class ConvolutionNetwork(Module):
    """Layers of one kind, each fed by a product with its weights: X·W by our kernels, so that sparse X stays sparse.

    Parameters
    ----------
    sizes
        Numbers of columns: features, what each layer gives.
    layers
        Modules called with (X·W, edges); they hold no weight matrix of their own.
    inner_sizes
        Columns of each X·W.
    activation
        σ of the hidden layers.
    dropout
        Probability of dropping an entry of each layer's input while training.
    decay_all
        Whether weight decay acts on all parameters, or on those of the first layer.
    """

    def __init__(
        self,
        sizes: list[int],
        layers: list[Module],
        inner_sizes: list[int],
        *,
        activation: Callable[[Tensor], Tensor],
        dropout: float,
        decay_all: bool,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList(
            [Parameter(torch.empty(p, q)) for p, q in zip(sizes[:-1], inner_sizes, strict=True)]
        )
        for weight in self.weights:
            init.xavier_uniform_(weight, generator=generator)
        self.layers = ModuleList(layers)
        self.activation = activation
        self.dropout = dropout
        self.decay_all = decay_all

    @property
    def is_random(self) -> bool:
        """Whether a pass in training differs from one in evaluation."""
        return self.dropout > 0

    def forward(self, x: Features, graph: Edges, generator: torch.Generator | None = None) -> Logits:
        """Return the logits of all rows."""
        probability = self.dropout if self.training else 0.0
        (message,) = feature_products(x, (self.weights[0],), probability, generator)
        hidden = first = self.layers[0](message, graph)
        for weight, layer in zip(list(self.weights)[1:], list(self.layers)[1:], strict=True):
            hidden = layer(dropout(self.activation(hidden), probability, generator) @ weight, graph)
        return Logits(hidden, self.activation(first))

    def decayed_parameters(self) -> list[Parameter]:
        """Return the parameters that weight decay acts on."""
        if self.decay_all:
            return list(self.parameters())
        return [self.weights[0], *self.layers[0].parameters()]


class _Convolution(Module):
    """A convolution of PyTorch Geometric whose own weight matrix is taken out."""

    def __init__(self, convolution: Any) -> None:
        super().__init__()
        convolution.lin = Identity()
        self.convolution = convolution

    def forward(self, message: Tensor, edges: Edges) -> Tensor:
        result: Tensor = (
            self.convolution(message, edges.index)
            if edges.weight is None
            else self.convolution(message, edges.index, edges.weight)
        )
        return result


class _AttentionConvolution(_Convolution):
    """A ``GATConv`` whose messages pass through our kernels where the edges allow it, several times as fast."""

    def forward(self, message: Tensor, edges: Edges) -> Tensor:
        conv, pattern = self.convolution, edges.pattern
        if pattern is None:
            return super().forward(message, edges)
        heads = message.view(len(message), conv.heads, conv.out_channels)
        source, target = (heads * conv.att_src).sum(dim=2), (heads * conv.att_dst).sum(dim=2)
        weights = attention(source, target, pattern, conv.negative_slope)
        received = propagate_heads(dropout(weights, conv.dropout if self.training else 0.0), message, pattern)
        result: Tensor = conv.bias + (received if conv.concat else received.view_as(heads).mean(dim=1))
        return result


class _Bias(Module):
    """A layer without edges."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.bias = Parameter(torch.zeros(size))

    def forward(self, message: Tensor, edges: Edges) -> Tensor:
        return message + self.bias


def _convolutions() -> Any:
    try:
        from torch_geometric import nn
    except ImportError as error:
        raise ImportError("GCN and GAT need PyTorch Geometric: pip install 'glcn[baselines]'") from error
    return nn


def gcn(sizes: list[int], dropout: float, generator: torch.Generator) -> ConvolutionNetwork:
    """Build the network of Kipf and Welling (2017); its edges carry the normalised weights."""
    layers: list[Module] = [_Convolution(_convolutions().GCNConv(q, q, normalize=False)) for q in sizes[1:]]
    return ConvolutionNetwork(
        sizes, layers, sizes[1:], activation=torch.relu, dropout=dropout, decay_all=False, generator=generator
    )


def gat(
    sizes: list[int], heads: int, output_heads: int, dropout: float, generator: torch.Generator
) -> ConvolutionNetwork:
    """Build the network of Veličković et al. (2018): hidden heads side by side, output heads averaged."""
    widths = [sizes[0], *(size * heads for size in sizes[1:-1]), sizes[-1]]
    counts = [heads] * (len(sizes) - 2) + [output_heads]
    layers: list[Module] = []
    for size, count in zip(sizes[1:], counts, strict=True):
        last = len(layers) == len(counts) - 1
        layers.append(
            _AttentionConvolution(
                _convolutions().GATConv(
                    size * count, size, heads=count, concat=not last, dropout=dropout, add_self_loops=False, bias=True
                )
            )
        )
    inner = [size * count for size, count in zip(sizes[1:], counts, strict=True)]
    return ConvolutionNetwork(
        widths, layers, inner, activation=elu, dropout=dropout, decay_all=True, generator=generator
    )


def perceptron(sizes: list[int], dropout: float, generator: torch.Generator) -> ConvolutionNetwork:
    """Build a network that looks at each row by itself."""
    layers: list[Module] = [_Bias(q) for q in sizes[1:]]
    return ConvolutionNetwork(
        sizes, layers, sizes[1:], activation=torch.relu, dropout=dropout, decay_all=False, generator=generator
    )
