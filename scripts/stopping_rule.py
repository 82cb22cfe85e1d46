"""Why GLCN stays under its published accuracy on Citeseer and Cora: what the choice of the epoch is worth.

    GLCN_DATA=... python scripts/stopping_rule.py [TASK] [SEEDS] [METHOD]

Trains GLCN (or glcn-released) by its recipe for citeseer, cora-released and so on, and notes the test accuracy of every
epoch. Prints it for the epoch with the lowest validation loss (what all our figures use), for the one with the highest
validation accuracy, and for the one that is best on the test rows themselves, which nobody may choose.
"""

import sys
from typing import Any

import numpy as np
import torch

from glcn import GLCNClassifier
from glcn.experiments.recipe import method, recipe, task


class Watched(GLCNClassifier):
    """Keeps the network at hand while it is trained."""

    def _parts(self, plan: Any) -> Any:
        self.parts, self.data = super()._parts(plan), plan.source.data
        return self.parts


def main() -> None:
    """Train, and print the three accuracies."""
    name = sys.argv[1] if len(sys.argv) > 1 else "citeseer"
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    chosen = task(name)
    data = chosen.load(chosen.columns[0], seed=0)
    settings = recipe(chosen, method(sys.argv[3] if len(sys.argv) > 3 else "glcn")).settings
    rows = []
    for seed in range(seeds):
        clf = Watched(**{**settings, "random_state": seed})
        seen: list[tuple[float, float, float]] = []

        def note(progress: Any, clf: Watched = clf, seen: list[tuple[float, float, float]] = seen) -> None:
            clf.parts.model.eval()
            with torch.no_grad():
                found = clf.parts.model(clf.data.x, clf.data.graph).logits.argmax(dim=1).numpy()
            right = float((found[data.test] == data.y[data.test]).mean())
            seen.append((progress.validation_loss, -progress.validation_accuracy, right))

        clf.fit(data.X, data.visible_labels, graph=data.graph, validation=data.validation, callback=note)
        table = np.array(seen)
        by_loss, by_accuracy = table[:, 0].argmin(), np.lexsort((table[:, 0], table[:, 1]))[0]
        rows.append(100 * np.array([table[by_loss, 2], table[by_accuracy, 2], table[:, 2].max()]))
        print(f"seed {seed}: by loss {rows[-1][0]:.1f}, by accuracy {rows[-1][1]:.1f}, best on test {rows[-1][2]:.1f}")
    means, spreads = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
    words = ("lowest validation loss", "highest validation accuracy", "best on the test rows, in hindsight")
    for word, mean, spread in zip(words, means, spreads, strict=True):
        print(f"{word}: {mean:.1f} ± {spread:.1f}")


if __name__ == "__main__":
    main()
