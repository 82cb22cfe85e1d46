"""Training on sampled neighbourhoods against training on all rows: ``python scripts/batches.py pubmed|mnist [SEEDS]``.

Pubmed has its public split; MNIST is all 70,000 digits with 1,000 labels and 1,000 validation rows drawn at random, the
others are the test rows. Both sides have the default settings and the same graph, split and seed.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from glcn import GLCNClassifier
from glcn.datasets import load
from glcn.datasets.folder import data_folder
from glcn.estimator.batching import SEEDS
from glcn.experiments.runner import current_commit
from glcn.graph import CandidateGraph

LABELS = VALIDATION = 1_000
RESULTS = Path(__file__).parents[1] / "results/batches.jsonl"


def pubmed(seed):  # noqa: ARG001 its split is fixed
    """Return features, labels, graph, and the rows that are fitted, held out and tested."""
    data = load("pubmed")
    return data.X, data.y, data.graph, (data.train, data.validation, data.test)


def mnist(seed):
    """Return the same for all digits."""
    with np.load(data_folder() / "mnist" / "mnist.npz", allow_pickle=False) as arrays:
        X = np.concatenate([arrays["x_train"], arrays["x_test"]]).reshape(70_000, -1).astype(np.float32) / 255
        y = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.int64)
    rows = np.random.default_rng(seed).permutation(len(y))
    return X, y, CandidateGraph.knn(X, 10), tuple(np.split(rows, [LABELS, LABELS + VALIDATION]))


def main(name, seeds):
    """Print a line for each fit, note it in results/batches.jsonl, and print the difference at last."""
    gains = []
    for seed in range(seeds):
        X, y, graph, (train, validation, test) = {"pubmed": pubmed, "mnist": mnist}[name](seed)
        few = np.full(len(y), -1)
        few[train], few[validation] = y[train], y[validation]
        accuracy = {}
        for size in (SEEDS, None):
            start = time.perf_counter()
            clf = GLCNClassifier(batch_size=size, random_state=seed).fit(X, few, graph=graph, validation=validation)
            accuracy[size] = float((clf.transduction_[test] == y[test]).mean())
            line = {"data": name, "seed": seed, "batch_size": size, "accuracy": round(accuracy[size], 5)}
            line |= {"steps": clf.n_iter_, "seconds": round(time.perf_counter() - start), "commit": current_commit()}
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)
        gains.append(100 * (accuracy[SEEDS] - accuracy[None]))
    print(f"batches minus all rows: {np.mean(gains):+.2f} ± {np.std(gains, ddof=min(1, seeds - 1)):.2f} points")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
