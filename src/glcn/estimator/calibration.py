"""Probabilities that can be believed: one temperature, chosen on validation rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn.functional import cross_entropy

LEAST_ROWS = 30  # of validation, below which nothing can be said
RANGE = (-3.0, 3.0)  # of ln T
BINS = 10


class Calibration(NamedTuple):
    """How far probabilities can be believed.

    An error is the mean distance between how sure the answers are and how often they are right, over ten bins of
    sureness, on the validation rows, on which T was chosen, too.
    """

    temperature: float  # T, by which logits are divided; above 1 where answers were too sure
    rows: int  # of validation, on which it was chosen; 0 where there were too few and T is 1
    error_before: float | None
    error_after: float | None

    def describe(self) -> str:
        """Return a sentence for people."""
        if self.error_before is None or self.error_after is None:
            return "not calibrated: too few validation rows"
        return (
            f"off by {self.error_before:.1%} on {self.rows} validation rows, {self.error_after:.1%} at temperature "
            f"{self.temperature:.2f}"
        )


NOT_CALIBRATED = Calibration(1.0, 0, None, None)


def calibrated(logits: Tensor, targets: Tensor) -> Calibration:
    """Choose T on validation rows: ``logits`` (v, c) and their classes (v,)."""
    if len(targets) < LEAST_ROWS:
        return NOT_CALIBRATED
    logits = logits.double()

    def loss(log_temperature: float) -> float:
        return float(cross_entropy(logits / np.exp(log_temperature), targets))

    found = minimize_scalar(loss, bounds=RANGE, method="bounded", options={"xatol": 1e-4})
    T = float(np.exp(found.x)) if found.fun < loss(0.0) else 1.0
    before, after = (expected_error((logits / each).softmax(dim=1).numpy(), targets.numpy()) for each in (1.0, T))
    return Calibration(T, len(targets), before, after)


def expected_error(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the mean distance between sureness and accuracy over bins of sureness, weighed by their rows."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gaps = [abs(sure[bins == each].mean() - right[bins == each].mean()) * (bins == each).mean() for each in set(bins)]
    return float(sum(gaps))
