"""Full-batch training with early stopping."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import Adam
from torch.optim.lr_scheduler import StepLR

from glcn.graph import Prior
from glcn.kernels import Features
from glcn.kernels.stopwatch import stage


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. Early stopping needs validation rows; without them ``max_epochs`` epochs run."""

    learning_rate: float = 0.005
    learning_rate_decay: float = 1.0  # factor every ``decay_every`` epochs
    decay_every: int = 100
    weight_decay: float = 0.0  # L2 on P, a and W⁰
    max_epochs: int = 3000
    patience: int = 100  # epochs without a lower validation loss before training stops


class Network(Protocol):
    """A torch module that this loop can train."""

    @property
    def is_random(self) -> bool:
        """Whether a pass in training differs from one in evaluation."""

    def __call__(self, x: Features, graph: Any, generator: torch.Generator | None = None) -> Any:
        """Return an output with ``logits``, (n, c)."""

    def decayed_parameters(self) -> list[Parameter]:
        """Return the parameters that weight decay acts on."""

    def parameters(self) -> Iterator[Parameter]:
        """Return all parameters."""

    def state_dict(self) -> dict[str, Any]:
        """Return the weights by name."""

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Any:
        """Take the weights by name."""

    def to(self, device: torch.device | str) -> Any:
        """Move to another device."""

    def train(self) -> Any:
        """Turn dropout on."""

    def eval(self) -> Any:
        """Turn dropout off."""


class Loss(Protocol):
    """Compares the output of a network with labels on some rows."""

    def __call__(
        self,
        output: Any,
        graph: Any,
        targets: Tensor,
        rows: Tensor,
        *,
        prior: Prior | None = None,
        class_weight: Tensor | None = None,
    ) -> Any:
        """Return a NamedTuple of scalars: ``total``, which is minimised, then ``cross_entropy``, then what it likes."""


class Source(Protocol):
    """Where the steps of a training get their data from."""

    @property
    def data(self) -> "TrainingData":
        """All of it."""

    def batch(self, step: int) -> "TrainingData":
        """Return what a step sees."""

    def judged(self, step: int) -> Iterable["TrainingData"]:
        """Return the validation rows in one or more parts; nothing where it is not time to look at them."""

    def to(self, device: torch.device | str) -> "Source":
        """Return the source with its data on another device."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Everything that training may see. Labels of other rows than the two kinds named here are never read.

    It is a :class:`Source` that gives all of itself at each step.
    """

    x: Features
    graph: Any  # what the network takes: a CandidateGraph, or another object with ``to(device)``
    targets: Tensor  # (n,) int64, class of each row named below, anything elsewhere
    train_rows: Tensor  # (l,) rows whose labels are fitted
    validation_rows: Tensor  # (v,) rows whose labels decide when to stop; may be empty
    prior: Prior | None = None
    class_weight: Tensor | None = None  # (c,)

    @property
    def data(self) -> "TrainingData":
        """The data itself."""
        return self

    def batch(self, step: int) -> "TrainingData":  # noqa: ARG002 as other sources
        """Return all."""
        return self

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
        )


class Progress(NamedTuple):
    """What a callback is told after each epoch."""

    epoch: int
    max_epochs: int
    loss: float
    validation_loss: float | None
    validation_accuracy: float | None


@dataclass(frozen=True)
class TrainingResult:
    """How training went. Entry t of each history list belongs to the weights after t steps.

    Where a source is not judged at each step, validation entries stay as they were.
    """

    history: dict[str, list[float]] = field(repr=False)
    best_epoch: int
    epochs: int
    stopped_early: bool
    interrupted: bool


Callback = Callable[[Progress], None]


def train(
    model: Network,
    loss: Loss,
    source: Source,
    settings: TrainingSettings,
    *,
    generator: torch.Generator | None = None,
    callback: Callback | None = None,
    before_epoch: Callable[[int], None] | None = None,
) -> TrainingResult:
    """Train ``model`` in place and leave it with its best weights.

    The best weights are those with the lowest validation loss, or the last ones where there are no validation rows.
    Ctrl-C ends training the same way, with the best weights so far. ``before_epoch`` is told the number
    of each epoch before it, for losses that change with time.
    """
    optimizer = _optimizer(model, settings)
    schedule = StepLR(optimizer, settings.decay_every, settings.learning_rate_decay)
    watch = _EarlyStopping(model, settings.patience)
    history: dict[str, list[float]] = {}
    validation: dict[str, float] = {}
    epoch, interrupted = 0, False
    try:
        for epoch in range(settings.max_epochs + 1):
            if before_epoch is not None:
                before_epoch(epoch)
            model.train()
            batch = source.batch(epoch)
            output = model(batch.x, batch.graph, generator)
            terms = _judge(loss, output, batch, batch.train_rows)
            with stage("evaluation"):
                looked = _evaluate(model, loss, source.judged(epoch), batch, output)
            validation = looked or validation
            report = _record(history, terms, validation)
            _refuse_divergence(report, epoch)
            if looked:
                watch.see(report["validation_loss"], epoch)
            if callback is not None:
                callback(_progress(epoch, settings.max_epochs, report))
            if watch.out_of_patience(epoch) or epoch == settings.max_epochs:
                break
            optimizer.zero_grad(set_to_none=True)
            with stage("backward"):
                terms.total.backward()
            with stage("optimiser"):
                optimizer.step()
                schedule.step()
    except KeyboardInterrupt:
        if epoch == 0:
            raise  # nothing was trained yet, so there is nothing to keep
        interrupted = True
    best_epoch = watch.restore(epoch)
    model.eval()
    return TrainingResult(history, best_epoch, epoch, watch.out_of_patience(epoch), interrupted)


def _optimizer(model: Network, settings: TrainingSettings) -> Adam:
    decayed = model.decayed_parameters()
    known = {id(parameter) for parameter in decayed}
    others = [parameter for parameter in model.parameters() if id(parameter) not in known]
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}]
    if others:
        groups.append({"params": others, "weight_decay": 0.0})
    return Adam(groups, lr=settings.learning_rate, fused=True)


def _judge(loss: Loss, output: Any, data: TrainingData, rows: Tensor) -> Any:
    return loss(output, data.graph, data.targets, rows, prior=data.prior, class_weight=data.class_weight)


@torch.no_grad()
def _evaluate(
    model: Network, loss: Loss, parts: Iterable[TrainingData], batch: TrainingData, output: Any
) -> dict[str, float]:
    """Judge the current weights on the validation rows; ``output`` is what the model just said of ``batch``."""
    sums, count = torch.zeros(3, dtype=torch.float64), 0
    for part in parts:
        rows = part.validation_rows
        if not len(rows):
            continue
        if model.is_random or part is not batch:  # else the pass that training made is the one to judge
            model.eval()
            output = model(part.x, part.graph)
        terms = _judge(loss, output, part, rows)
        hits = (output.logits[rows].argmax(dim=1) == part.targets[rows]).double().mean()
        sums += len(rows) * torch.stack([terms.total.double(), terms.cross_entropy.double(), hits]).cpu()
        count += len(rows)
    names = ("validation_loss", "validation_cross_entropy", "validation_accuracy")
    return dict(zip(names, (sums / count).tolist(), strict=True)) if count else {}


def _record(history: dict[str, list[float]], terms: Any, validation: dict[str, float]) -> dict[str, float]:
    report = {"loss": terms.total.item()}
    report |= {name: value.item() for name, value in zip(terms._fields[1:], terms[1:], strict=True)}
    report |= validation
    for name, value in report.items():
        history.setdefault(name, []).append(value)
    return report


def _refuse_divergence(report: dict[str, float], epoch: int) -> None:
    for name in ("loss", "validation_loss"):
        value = report.get(name, 0.0)
        if value != value or abs(value) == float("inf"):
            raise FloatingPointError(
                f"training diverged: {name} is {value} at epoch {epoch}; scale the features (for example to unit "
                "variance) or lower learning_rate"
            )


def _progress(epoch: int, max_epochs: int, report: dict[str, float]) -> Progress:
    return Progress(epoch, max_epochs, report["loss"], report.get("validation_loss"), report.get("validation_accuracy"))


class _EarlyStopping:
    """Keeps the weights of the lowest validation loss."""

    def __init__(self, model: Network, patience: int) -> None:
        self.model = model
        self.patience = patience
        self.lowest = float("inf")
        self.epoch = 0
        self.weights: dict[str, Tensor] | None = None

    def see(self, validation_loss: float, epoch: int) -> None:
        if validation_loss < self.lowest:
            weights = {name: value.clone() for name, value in self.model.state_dict().items()}
            self.lowest, self.epoch, self.weights = validation_loss, epoch, weights

    def out_of_patience(self, epoch: int) -> bool:
        return self.weights is not None and epoch - self.epoch >= self.patience

    def restore(self, last_epoch: int) -> int:
        """Load the best weights and return the epoch that they belong to."""
        if self.weights is None:
            return last_epoch
        self.model.load_state_dict(self.weights)
        return self.epoch
