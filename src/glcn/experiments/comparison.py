"""Is one method better than another? A paired test over seeds or splits."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from glcn.experiments.tables import Cell


@dataclass(frozen=True)
class Comparison:
    """How two methods differ on the seeds that both have."""

    difference: float  # mean, in points
    wins: int
    losses: int
    seeds: int
    p: float | None  # of Wilcoxon's signed-rank test, two-sided; None with fewer than two seeds

    def describe(self) -> str:
        """Return the difference in words."""
        test = "" if self.p is None else f", p {self.p:.3f}"
        return f"{self.difference:+.2f} ({self.wins} of {self.seeds} better{test})"


def compare(first: Cell, second: Cell) -> Comparison | None:
    """Compare ``first`` with ``second``, seed by seed; None where they share none."""
    shared = sorted(set(first.accuracies) & set(second.accuracies))
    if not shared:
        return None
    pairs = [first.accuracies[seed] - second.accuracies[seed] for seed in shared]
    differences = np.round(pairs, 9)  # equal numbers are ties, whatever their last bits
    return Comparison(
        difference=float(differences.mean()),
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
        seeds=len(shared),
        p=_p(differences),
    )


def _p(differences: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float | None:
    if len(differences) < 2:
        return None
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    return float(wilcoxon(moved, method="auto").pvalue)
