"""The network of the paper: one graph learning layer, graph convolutions on what it learned."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module, Parameter, ParameterList, init

from glcn.graph import CandidateGraph, CompleteGraph
from glcn.kernels import AllPairs, Features, Pattern, dropout, feature_products
from glcn.nn.graph_learning import GraphLearning, LearnedGraph, Similarity, dense_only

Activation = Literal["relu", "elu", "tanh"]
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "elu": torch.nn.functional.elu,
    "tanh": torch.tanh,
}


class GLCNOutput(NamedTuple):
    """What one pass through the network gives."""

    logits: Tensor  # (n, c); Z = softmax(logits)
    graph: LearnedGraph | AllPairs
    messages: tuple[Tensor, ...]  # X^k W^k of each layer, which new rows attached later will receive


class GLCN(Module):
    r"""Graph learning-convolutional network.

    .. math::
        X^{k+1} = \sigma(S X^k W^k), \quad k = 0 \dots K-1, \qquad Z = \mathrm{softmax}(S X^K W^K)

    with S from :class:`GraphLearning` on the first input.

    Parameters
    ----------
    in_channels, hidden_channels, out_channels
        Numbers of features, hidden units and classes.
    num_layers
        Number of convolutions K + 1; the paper's network has 2.
    projection_channels
        Columns d of the projection P; None for none.
    similarity
        See :class:`GraphLearning`.
    dropout
        Probability of dropping an entry of each convolution's input (and so of the graph learning layer's), while
        training. Not in the paper.
    activation
        σ: ``"relu"`` (the paper's), ``"elu"`` or ``"tanh"``.
    joint
        False stops the gradient of the convolutions at S, so that P and a learn from the graph loss alone, as the
        authors' released code does.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        projection_channels: int | None = 70,
        similarity: Similarity = "paper",
        dropout: float = 0.0,
        activation: Activation = "relu",
        joint: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
        if activation not in _ACTIVATIONS:
            raise ValueError(f"activation must be one of {tuple(_ACTIVATIONS)}, got {activation!r}")
        self.dropout = dropout
        self.activation = activation
        self.joint = joint
        self.graph_learning = GraphLearning(in_channels, projection_channels, similarity, generator=generator)
        widths = [in_channels] + [hidden_channels] * (num_layers - 1) + [out_channels]
        self.weights = ParameterList(Parameter(torch.empty(rows, columns)) for rows, columns in pairwise(widths))
        self._reset_weights(generator)

    @property
    def is_random(self) -> bool:
        """Whether a pass in training differs from one in evaluation."""
        return self.dropout > 0

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all parameters anew (Glorot)."""
        self.graph_learning.reset_parameters(generator)
        self._reset_weights(generator)

    def _reset_weights(self, generator: torch.Generator | None) -> None:
        for weight in self.weights:
            init.xavier_uniform_(weight, generator=generator)

    def forward(
        self, x: Features, graph: CandidateGraph | CompleteGraph, generator: torch.Generator | None = None
    ) -> GLCNOutput:
        """Learn S on ``graph`` and classify all rows of ``x`` (n, p); ``generator`` draws the dropout."""
        embedding, message = self.first_products(x, generator)  # (n, d), (n, m)
        S = self.graph_learning.learn(embedding, graph)
        messages = [message]
        for weight in list(self.weights)[1:]:
            message = self.next_message(S.propagate(message, joint=self.joint), weight, generator)
            messages.append(message)
        return GLCNOutput(S.propagate(message, joint=self.joint), S, tuple(messages))

    def attach(
        self, x: Features, known: GLCNOutput, support: Tensor, pattern: Pattern, weights: Tensor | None = None
    ) -> Tensor:
        """Classify new rows from their edges to known ones, which stay as they are.

        Parameters
        ----------
        x
            The new rows, (b, p).
        known
            What the network said of the known rows, without dropout.
        support
            The known rows that the new ones are joined with, (s,).
        pattern, weights
            Edges from each new row to a table of the b new rows followed by the s supporting ones.

        Returns
        -------
        Tensor
            Logits of the new rows, (b, c).
        """
        embedding, message = self.first_products(x, None)
        table = torch.cat([embedding, known.graph.embedding[support]])
        S = self.graph_learning.connect(table, pattern, weights)
        layers = list(self.weights)
        for layer, known_message in enumerate(known.messages):
            received = S.propagate(torch.cat([message, known_message[support]]))
            if layer + 1 == len(layers):
                return received
            message = self.next_message(received, layers[layer + 1], None)
        raise AssertionError("a network has at least one layer")

    def first_hidden(self, output: GLCNOutput) -> Tensor:
        """Return σ(S X W⁰) of a pass, (n, m): each row as the first convolution sees it."""
        return _ACTIVATIONS[self.activation](output.graph.propagate(output.messages[0]))

    def first_products(self, x: Features, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Return x P and x W⁰, under the same dropout."""
        probability = self.dropout if self.training else 0.0
        P, W = self.graph_learning.projection, self.weights[0]
        if P is None:
            dropped = dropout(dense_only(x), probability, generator)
            return dropped, dropped @ W
        padding = self.graph_learning.padding
        embedding, message = feature_products(x, (P, W), probability, generator, padding=padding)
        return embedding, message

    def next_message(self, received: Tensor, weight: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return what rows send in the next layer, σ(received) W."""
        hidden = _ACTIVATIONS[self.activation](received)
        return dropout(hidden, self.dropout if self.training else 0.0, generator) @ weight

    def decayed_parameters(self) -> list[Parameter]:
        """Return what weight decay acts on, as in the released code: P, a and W⁰."""
        return [*self.graph_learning.parameters(), self.weights[0]]

    def extra_repr(self) -> str:
        """Return the arguments that the layers do not show."""
        widths = " → ".join(str(weight.shape[0]) for weight in self.weights) + f" → {self.weights[-1].shape[1]}"
        return f"{widths}, dropout={self.dropout}, activation={self.activation!r}, joint={self.joint}"

    def __call__(self, *arguments: Any, **keywords: Any) -> GLCNOutput:
        """Run :meth:`forward`."""
        return super().__call__(*arguments, **keywords)  # type: ignore[no-any-return]
