"""What classifiers that train a network share."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch

from glcn.estimator.inputs import choose_device
from glcn.exceptions import TrainingInterruptedWarning
from glcn.training import (
    Callback,
    Checkpoint,
    Loss,
    Network,
    Progress,
    ProgressBar,
    Source,
    TrainingResult,
    TrainingSettings,
    train,
)

LOOK_EVERY = 2  # epochs, where several networks are trained: a look takes a fifth of an epoch


class NetworkMixin:
    """Training by the common loop, and its record; the attributes named here are parameters of the classifier."""

    device: str
    verbose: bool

    def _train(
        self,
        model: Network,
        loss: Loss,
        source: Source,
        settings: Mapping[str, Any],
        generator: torch.Generator,
        callback: Callback | None,
        before_epoch: Callable[[int], None] | None = None,
        checkpoint: Checkpoint | None = None,
        title: str = "training",
    ) -> TrainingResult:
        """Train ``model`` on the chosen device and bring it back; ``settings`` are parameters of the classifier."""
        how = TrainingSettings(
            learning_rate=settings["learning_rate"],
            learning_rate_decay=settings.get("learning_rate_decay", 1.0),
            weight_decay=settings["weight_decay"],
            max_epochs=settings["max_epochs" if len(source.data.validation_rows) else "fixed_epochs"],
            patience=settings["patience"],
            min_epochs=settings.get("min_epochs", 0),
            look_every=LOOK_EVERY if settings.get("rounds", 1) > 1 else 1,
        )
        device = choose_device(self.device)
        with ProgressBar(title=title) if self.verbose else nullcontext() as bar:
            callbacks = [watcher for watcher in (bar, callback) if watcher is not None]

            def tell(progress: Progress) -> None:
                for watcher in callbacks:
                    watcher(progress)

            model.to(device)
            result = train(
                model,
                loss,
                source.to(device),
                how,
                generator=generator,
                callback=tell,
                before_epoch=before_epoch,
                checkpoint=checkpoint,
            )
        model.to("cpu")
        return result

    def _record(self, result: TrainingResult) -> None:
        """Keep how training went."""
        self.history_ = result.history
        self.n_iter_ = result.epochs
        self.best_epoch_ = result.best_epoch
        self.interrupted_ = result.interrupted

    def _warn_if_interrupted(self, when: str | None = None) -> None:
        if self.interrupted_:
            warnings.warn(
                f"training was interrupted {when or f'at epoch {self.n_iter_}'}; the weights of epoch "
                f"{self.best_epoch_} were kept",
                TrainingInterruptedWarning,
                stacklevel=3,
            )
