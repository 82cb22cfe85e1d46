"""What training sees: all rows at once, or a part of them at each step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from glcn.graph import Prior


class Source(Protocol):
    """Where the steps of a training get their data from."""

    @property
    def data(self) -> "TrainingData":
        """All of it."""

    def batches(self, step: int) -> Sequence["TrainingData"]:
        """Return what this process sees in a step: one or more parts, whose gradients are averaged."""

    def judged(self, step: int) -> Iterable["TrainingData"] | None:
        """Return this process's share of the validation rows, in parts; None where it is not time to look at them."""

    def to(self, device: torch.device | str) -> "Source":
        """Return the source with its data on another device."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Everything that training may see. Labels of other rows than the two kinds named here are never read.

    It is a :class:`Source` that gives all of itself at each step.
    """

    x: Any  # Features, or for other sources what gives them for some rows, ``x[rows]``
    graph: Any  # what the network takes: a CandidateGraph, or another object with ``to(device)``
    targets: Tensor  # (n,) int64, class of each row named below, anything elsewhere
    train_rows: Tensor  # (l,) rows whose labels are fitted
    validation_rows: Tensor  # (v,) rows whose labels decide when to stop; may be empty
    prior: Prior | None = None
    class_weight: Tensor | None = None  # (c,)
    noise: int | None = None  # seed of what is random about a pass; None goes on with the generator of the training

    @property
    def data(self) -> "TrainingData":
        """The data itself."""
        return self

    def batches(self, step: int) -> Sequence["TrainingData"]:  # noqa: ARG002 as other sources
        """Return all."""
        return (self,)

    def judged(self, step: int) -> Iterable["TrainingData"]:  # noqa: ARG002 as other sources
        """Return all, at each step."""
        return (self,)

    def to(self, device: torch.device | str) -> "TrainingData":
        """Return the data on another device."""
        return TrainingData(
            self.x.to(device),
            self.graph.to(device),
            self.targets.to(device),
            self.train_rows.to(device),
            self.validation_rows.to(device),
            None if self.prior is None else Prior(self.prior.values.to(device), self.prior.outside),
            None if self.class_weight is None else self.class_weight.to(device),
            self.noise,
        )
