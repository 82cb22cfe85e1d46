"""Training in rounds: a further network is also taught by what the one before it is surest of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glcn.estimator.calibration import calibrated
from glcn.nn import Taught
from glcn.nn.plus import ENOUGH_ROWS, losses_of, surely_best
from glcn.training import TrainingData, TrainingResult

SURE_SHARE = 0.5  # of the rows found in a class, those that a network is surest of


class Learned(NamedTuple):
    """A trained network, and its answer."""

    model: Any
    output: Any
    result: TrainingResult
    interrupted: bool
    round: int = 1


def learn_in_rounds(learn: Callable[[int, Taught | None], Learned], rounds: int, data: TrainingData) -> Learned:
    """Return the network that is kept of some rounds; ``learn`` trains that of a round, with what it is taught.

    A round that is not kept is the last, and so is one that Ctrl-C ends.
    """
    kept = learn(1, None)
    while kept.round < rounds and not kept.interrupted:
        taught = surest_rows(kept.output.logits, data)
        if not len(taught.rows):
            break
        try:
            latest = learn(kept.round + 1, taught)
        except KeyboardInterrupt:  # nothing was learned in this round yet
            return kept._replace(interrupted=True)
        if not is_kept(latest, kept, data):
            return kept._replace(interrupted=latest.interrupted)
        kept = latest
    return kept


def surest_rows(logits: Tensor, data: TrainingData) -> Taught:
    """Return the half of the rows without a label that is found most surely in each class, and these classes."""
    sureness, found = logits.softmax(dim=1).max(dim=1)
    free = torch.ones(len(logits), dtype=torch.bool)
    free[data.train_rows] = free[data.validation_rows] = False
    halves = []
    for each in range(logits.shape[1]):
        rows = (free & (found == each)).nonzero().squeeze(1)
        order = sureness[rows].argsort(descending=True, stable=True)
        halves.append(rows[order[: int(len(rows) * SURE_SHARE)]])
    rows = torch.cat(halves).sort().values
    return Taught(rows, found[rows])


def is_kept(latest: Learned, earlier: Learned, data: TrainingData) -> bool:
    """Return whether the network of a further round takes the place of an earlier one.

    It does, unless the earlier one's cross-entropy on the validation rows, calibrated, is lower by more than the
    standard error of the difference. Under 30 of them can not tell, so that it does, if its training was not cut short.
    """
    rows = data.validation_rows
    if len(rows) < ENOUGH_ROWS:
        return not latest.interrupted
    targets = data.targets[rows]
    losses = {}
    for each in (earlier, latest):
        logits = each.output.logits[rows]
        losses[each.round] = losses_of(logits / calibrated(logits, targets).temperature, targets)
    return surely_best(losses, latest.round) == latest.round


def path_of_round(path: Path, number: int) -> Path:
    """Return where the state of a round's training is kept, beside that of the first."""
    return path if number == 1 else path.with_name(f"{path.stem}.round{number}{path.suffix}")
