"""Training with early stopping."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import Adam
from torch.optim.lr_scheduler import StepLR

from glcn.graph import Prior
from glcn.interrupts import held_interrupts
from glcn.kernels import Features
from glcn.kernels.stopwatch import stage
from glcn.training.checkpoint import Checkpoint
from glcn.training.data import Source, TrainingData
from glcn.training.processes import Processes, current_processes

SELDOM = 10  # epochs from one look at the validation rows to the next, while it only shows how training goes


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. Early stopping needs validation rows; without them ``max_epochs`` epochs run."""

    learning_rate: float = 0.005
    learning_rate_decay: float = 1.0  # factor every ``decay_every`` epochs
    decay_every: int = 100
    weight_decay: float = 0.0  # L2 on P, a and W⁰
    max_epochs: int = 3000
    patience: int = 100  # epochs without a lower validation loss before training stops
    min_epochs: int = 0  # epochs whose weights can not be the best, for losses that change so long
    look_every: int = 1  # epochs from one look at the validation rows to the next


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

    Where a source is not judged at each step, validation entries stay as they were. So it is between two looks
    (``TrainingSettings.look_every``); there is one at every tenth step before the weights may be the best.
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
    checkpoint: Checkpoint | None = None,
) -> TrainingResult:
    """Train ``model`` in place and leave it with its best weights.

    The best weights are those with the lowest validation loss from ``settings.min_epochs`` on, or the last ones where
    there are no validation rows. Ctrl-C ends training the same way, with the best weights so far. ``before_epoch`` is
    told the number of each epoch before it, for losses that change with time. Where ``checkpoint`` holds a state,
    training goes on from there, to the same bits; in the end it holds the last state, so that what comes after training
    can be done again.
    Where processes train together, each calls this with its own share of the data.
    """
    processes = current_processes()
    generator = torch.Generator() if generator is None else generator
    state = _State(model, settings, generator)
    if checkpoint is not None and (kept := checkpoint.read()) is not None:
        state.load(kept)
    network = processes.join(model)
    first, interrupted = state.epoch, False
    try:
        for epoch in range(first, 0 if state.finished else settings.max_epochs + 1):
            state.epoch = epoch
            if before_epoch is not None:
                before_epoch(epoch)
            state.optimizer.zero_grad(set_to_none=True)
            terms, part, output = _learn(network, loss, source.batches(epoch), generator, processes)
            with stage("evaluation"):
                judged = source.judged(epoch) if _is_looked_at(epoch, settings) else None
                looked = _evaluate(model, loss, judged, part, output, processes)
            report = state.record(terms, looked)
            _refuse_divergence(report, epoch)
            if callback is not None:
                callback(_progress(epoch, settings.max_epochs, report))
            if (looked and state.watch.out_of_patience(epoch)) or epoch == settings.max_epochs:
                break
            with stage("optimiser"):
                state.optimizer.step()
                state.schedule.step()
            if checkpoint is not None and processes.is_first and checkpoint.is_due:
                checkpoint.write(state.kept(epoch + 1))
        if checkpoint is not None and processes.is_first and not state.finished:
            with held_interrupts() as held:
                checkpoint.write(state.kept(state.epoch, finished=True))
            interrupted = held.pressed
    except KeyboardInterrupt:
        if state.epoch == 0:
            raise  # nothing was trained yet, so there is nothing to keep
        interrupted = True
    best_epoch = state.watch.restore(state.epoch)
    model.eval()
    return TrainingResult(state.history, best_epoch, state.epoch, state.watch.out_of_patience(state.epoch), interrupted)


def _is_looked_at(epoch: int, settings: TrainingSettings) -> bool:
    every = settings.look_every if epoch >= settings.min_epochs else SELDOM
    return epoch % every == 0 or epoch == settings.max_epochs


def _learn(
    network: Network, loss: Loss, parts: Sequence[TrainingData], generator: torch.Generator, processes: Processes
) -> tuple[dict[str, float], TrainingData, Any]:
    """Leave the gradients of one step; returns the terms of the loss, and the last part with what was said of it."""
    network.train()
    sums: Tensor | float = 0.0
    for number, part in enumerate(parts, start=1):
        if part.noise is not None:
            generator.manual_seed(part.noise)
        with nullcontext() if number == len(parts) else processes.apart(network):
            output = network(part.x, part.graph, generator)
            terms = _judge(loss, output, part, part.train_rows)
            with stage("backward"):
                (terms.total / len(parts)).backward()
        sums = sums + torch.stack([value.detach().double() for value in terms])
    means = processes.total(torch.as_tensor(sums)) / (len(parts) * processes.count)
    return dict(zip(("loss", *terms._fields[1:]), means.tolist(), strict=True)), part, output


class _State:
    """Everything that changes while training."""

    def __init__(self, model: Network, settings: TrainingSettings, generator: torch.Generator) -> None:
        self.model = model
        self.generator = generator
        self.optimizer = _optimizer(model, settings)
        self.schedule = StepLR(self.optimizer, settings.decay_every, settings.learning_rate_decay)
        self.watch = _EarlyStopping(model, settings.patience, settings.min_epochs)
        self.history: dict[str, list[float]] = {}
        self.validation: dict[str, float] = {}
        self.epoch = 0
        self.finished = False

    def record(self, terms: dict[str, float], looked: dict[str, float]) -> dict[str, float]:
        """Note an epoch; ``looked`` is what was found on validation rows, if they were looked at."""
        self.validation = looked or self.validation
        if looked:
            self.watch.see(looked["validation_loss"], self.epoch)
        report = terms | self.validation
        for name, value in report.items():
            self.history.setdefault(name, []).append(value)
        return report

    def kept(self, epoch: int, *, finished: bool = False) -> dict[str, Any]:
        """Return all of it, to go on with ``epoch``, or to end with it."""
        return {
            "epoch": epoch,
            "finished": finished,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "generator": self.generator.get_state(),
            "history": self.history,
            "validation": self.validation,
            "lowest": self.watch.lowest,
            "best_epoch": self.watch.epoch,
            "best": self.watch.weights,
        }

    def load(self, kept: Mapping[str, Any]) -> None:
        """Take over what :meth:`kept` returned."""
        self.epoch, self.history, self.validation = kept["epoch"], kept["history"], kept["validation"]
        self.finished = kept["finished"]
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.schedule.load_state_dict(kept["schedule"])
        self.generator.set_state(kept["generator"])
        self.watch.lowest, self.watch.epoch, self.watch.weights = kept["lowest"], kept["best_epoch"], kept["best"]


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
    model: Network,
    loss: Loss,
    parts: Iterable[TrainingData] | None,
    batch: TrainingData,
    output: Any,
    processes: Processes,
) -> dict[str, float]:
    """Judge the current weights on the validation rows; ``output`` is what the model just said of ``batch``."""
    if parts is None:
        return {}
    sums = torch.zeros(4, dtype=torch.float64)  # of the loss, the cross-entropy, the hits and the rows
    for part in parts:
        rows = part.validation_rows
        if not len(rows):
            continue
        if model.is_random or part is not batch:  # else the pass that training made is the one to judge
            model.eval()
            output = model(part.x, part.graph)
        terms = _judge(loss, output, part, rows)
        hits = (output.logits[rows].argmax(dim=1) == part.targets[rows]).double().mean()
        means = torch.stack([terms.total.double(), terms.cross_entropy.double(), hits, torch.ones_like(hits)])
        sums += len(rows) * means.cpu()
    *sums_by_name, count = processes.total(sums).tolist()
    names = ("validation_loss", "validation_cross_entropy", "validation_accuracy")
    return {name: total / count for name, total in zip(names, sums_by_name, strict=True)} if count else {}


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
    """Keeps the weights of the lowest validation loss, from some epoch on."""

    def __init__(self, model: Network, patience: int, min_epochs: int) -> None:
        self.model = model
        self.patience = patience
        self.min_epochs = min_epochs
        self.lowest = float("inf")
        self.epoch = 0
        self.weights: dict[str, Tensor] | None = None

    def see(self, validation_loss: float, epoch: int) -> None:
        if epoch >= self.min_epochs and validation_loss < self.lowest:
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
