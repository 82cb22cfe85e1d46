"""Label rows round by round, chosen by `label_next` and at random, and compare the accuracy.

Half of the rows can be asked for, the other half is only scored: no method can gain by taking away hard rows.
Run: python scripts/label_next_loop.py digits mnist. It writes docs/images/label_next.json; with --draw only the figure.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from glcn import GLCNClassifier, datasets

IMAGES = Path(__file__).parents[1] / "docs/images"
RESULTS = IMAGES / "label_next.json"
ROUNDS, A_ROUND, EPOCHS = 6, 10, 60
ROWS = {"digits": None, "mnist": 3000}  # a random part of MNIST, so that the loop ends within minutes
FIRST_SEED = 5  # the form of the score was chosen on digits with seeds 0 to 4
SEEDS = {"digits": 5, "mnist": 2}


def run(name: str, seed: int, way: str) -> list[float]:
    """Return the accuracy after each round."""
    data = datasets.load(name)
    random = np.random.default_rng(seed)
    rows = random.permutation(len(data.y))[: ROWS[name]]
    X, y = data.X[rows], data.y[rows]
    pool, scored = np.arange(len(y) // 2), np.arange(len(y) // 2, len(y))
    labels = np.full(len(y), -1)
    first = [random.choice(pool[y[pool] == label]) for label in np.unique(y)]  # one of each class to start from
    labels[first] = y[first]
    accuracies = []
    for _ in range(ROUNDS):
        clf = GLCNClassifier(random_state=seed, fixed_epochs=EPOCHS).fit(X, labels)
        accuracies.append(float((clf.transduction_[scored] == y[scored]).mean()))
        free = pool[labels[pool] < 0]
        if way == "random":
            chosen = random.choice(free, A_ROUND, replace=False)
        else:
            chosen = np.array([each.row for each in clf.label_next(A_ROUND, among=free)])
        labels[chosen] = y[chosen]
    return accuracies


def draw() -> None:
    """Draw mean and standard deviation over the seeds."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    results = json.loads(RESULTS.read_text())
    figure, panels = plt.subplots(1, len(results), figsize=(10, 3.8), layout="constrained", squeeze=False)
    for axes, (name, found) in zip(panels[0], results.items(), strict=True):
        for (way, runs), colour in zip(found["accuracy"].items(), ("#0072B2", "#E69F00"), strict=True):
            curves = 100 * np.array(runs)
            axes.errorbar(found["labels"], curves.mean(axis=0), curves.std(axis=0), color=colour, capsize=3, label=way)
        axes.set(xlabel="labels", ylabel="accuracy in %")
        axes.set_title(f"{name}, {found['rows']} rows, {len(runs)} seeds, mean ± standard deviation", fontsize=10)
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    figure.savefig(IMAGES / "label_next.png", dpi=120)


def main() -> None:
    """Run the loops that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ROWS, []])
    parser.add_argument("--draw", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.names:
        found = {"label next": [], "random": []}
        start = time.perf_counter()
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS[name]):
            for way, runs in found.items():
                runs.append([round(value, 4) for value in run(name, seed, way)])
                print(name, way, seed, runs[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
        labels = [10 + A_ROUND * step for step in range(ROUNDS)]
        rows = ROWS[name] or len(datasets.load(name).y)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = {"rows": rows, "epochs": EPOCHS, "labels": labels, "accuracy": found}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    draw()


if __name__ == "__main__":
    main()
