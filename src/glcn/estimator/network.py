"""What classifiers that train a network share."""

import warnings
from contextlib import nullcontext

import torch

from glcn.estimator.inputs import choose_device
from glcn.exceptions import TrainingInterruptedWarning
from glcn.training import (
    Callback,
    Loss,
    Network,
    Progress,
    ProgressBar,
    TrainingData,
    TrainingResult,
    TrainingSettings,
    train,
)


class NetworkMixin:
    """Training by the common loop, and its record; the attributes named here are parameters of the classifier."""

    learning_rate: float
    weight_decay: float
    max_epochs: int
    patience: int
    fixed_epochs: int
    device: str
    verbose: bool
    learning_rate_decay: float = 1.0

    def _train(
        self, model: Network, loss: Loss, data: TrainingData, generator: torch.Generator, callback: Callback | None
    ) -> TrainingResult:
        """Train ``model`` on the chosen device and bring it back."""
        settings = TrainingSettings(
            learning_rate=self.learning_rate,
            learning_rate_decay=self.learning_rate_decay,
            weight_decay=self.weight_decay,
            max_epochs=self.max_epochs if len(data.validation_rows) else self.fixed_epochs,
            patience=self.patience,
        )
        device = choose_device(self.device)
        with ProgressBar() if self.verbose else nullcontext() as bar:
            callbacks = [watcher for watcher in (bar, callback) if watcher is not None]

            def tell(progress: Progress) -> None:
                for watcher in callbacks:
                    watcher(progress)

            result = train(model.to(device), loss, data.to(device), settings, generator=generator, callback=tell)
        model.to("cpu")
        return result

    def _record(self, result: TrainingResult) -> None:
        """Keep how training went."""
        self.history_ = result.history
        self.n_iter_ = result.epochs
        self.best_epoch_ = result.best_epoch
        self.interrupted_ = result.interrupted

    def _warn_if_interrupted(self) -> None:
        if self.interrupted_:
            warnings.warn(
                f"training was interrupted at epoch {self.n_iter_}; the weights of epoch {self.best_epoch_} were kept",
                TrainingInterruptedWarning,
                stacklevel=3,
            )
