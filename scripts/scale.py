"""A million rows from features to answers: ``python scripts/scale.py FOLDER ROWS [ROWS ...]``.

``python scripts/scale.py --draw`` draws results/scale.jsonl.

Makes rows of 64 features in 10 overlapping classes, 1 % of them labelled; builds a store, trains, and compares with
logistic regression and nearest neighbours on the labelled rows. Time and memory are of real processes, one for each
stage: the most memory that is the process's own, without files that are mapped into it, and the most with them. Adds a
line to FOLDER/scale.jsonl for each number of rows.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from glcn.experiments.runner import current_commit

FEATURES, CLASSES, GROUPS, RANK = 64, 10, 2, 20
SPREAD, NOISE = 1.5, 0.35
BLOCK, EVERY = 50_000, 0.1  # rows made at a time; seconds between two looks at the memory of a process
RESULTS = Path(__file__).parents[1] / "results/scale.jsonl"
TESTED = 20_000  # rows on which the two others are compared


def make(rows, folder):
    """Write features, all labels, and the labels that may be seen."""
    shape = np.random.default_rng(0)
    space = shape.normal(size=(20, FEATURES)) / np.sqrt(20)
    centres = shape.normal(size=(CLASSES * GROUPS, 20)) * 1.6 @ space
    directions = shape.normal(size=(CLASSES * GROUPS, RANK, 20)) / np.sqrt(RANK) * SPREAD * 2 @ space
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=(rows, FEATURES))
    y = np.empty(rows, np.int32)
    for block, start in enumerate(range(0, rows, BLOCK)):
        random = np.random.default_rng((1, block))
        size = min(BLOCK, rows - start)
        group = random.integers(CLASSES * GROUPS, size=size)
        inner = np.einsum("ik,ikp->ip", random.normal(size=(size, RANK)), directions[group])
        X[start : start + size] = centres[group] + inner + NOISE * random.normal(size=(size, FEATURES))
        y[start : start + size] = group % CLASSES
    X.flush()
    np.save(folder / "truth.npy", y)
    seen = np.random.default_rng(2).random(rows) < 0.01
    np.save(folder / "y.npy", np.where(seen, y, -1))


def measured(*command):
    """Run a process and return its seconds, and the most memory of its own and in all, in megabytes."""
    start = time.perf_counter()
    child = subprocess.Popen(command)
    own = whole = 0
    while child.poll() is None:
        try:
            status = dict(line.split(":", 1) for line in Path(f"/proc/{child.pid}/status").read_text().splitlines())
            own = max(own, int(status["RssAnon"].split()[0]))
            whole = max(whole, int(status["VmRSS"].split()[0]))
        except (OSError, KeyError, ValueError):
            pass
        time.sleep(EVERY)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return {"seconds": round(time.perf_counter() - start, 1), "own_mb": own // 1024, "resident_mb": whole // 1024}


def others(folder):
    """Return the accuracy of logistic regression and of 15 nearest neighbours, both on the labelled rows."""
    X, y, truth = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy"), np.load(folder / "truth.npy")
    labelled = np.flatnonzero(y >= 0)
    test = np.random.default_rng(3).permutation(np.flatnonzero(y < 0))[:TESTED]
    methods = {"logistic": LogisticRegression(max_iter=500), "knn": KNeighborsClassifier(15)}
    return {
        name: round(float(method.fit(X[labelled], y[labelled]).score(X[test], truth[test])), 4)
        for name, method in methods.items()
    }


def main(root, sizes):
    """Go through all stages for each number of rows."""
    glcn = [sys.executable, "-m", "glcn"]
    for rows in sizes:
        folder = root / str(rows)
        folder.mkdir(parents=True)
        make(rows, folder)
        store, run = str(folder / "store"), folder / "run"
        build = measured(*glcn, "graph", "build", str(folder / "X.npy"), "-o", store, "--labels", str(folder / "y.npy"))
        fit = measured(*glcn, "fit", store, "--batch-size", "1024", "--out", str(run))
        new = folder / "new.npy"
        np.save(new, np.load(folder / "X.npy", mmap_mode="r") + np.float32(0.01))
        predict = measured(*glcn, "predict", str(run), str(new), "-o", str(folder / "answers.csv"))
        found = np.load(run / "model/known/probabilities.npy", mmap_mode="r").argmax(axis=1)
        hidden = np.load(folder / "y.npy") < 0
        line = {
            "rows": rows,
            "build": build,
            "fit": fit,
            "predict": predict,
            "recall": json.loads((Path(store) / "store.json").read_text())["recall"],
            "steps": json.loads((run / "metrics.json").read_text())["epochs"],
            "accuracy": round(float((found == np.load(folder / "truth.npy"))[hidden].mean()), 4),
            **others(folder),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "commit": current_commit(),
        }
        with (root / "scale.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line, indent=1), flush=True)


def draw():
    """Draw time, memory, recall and accuracy against the number of rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    lines = sorted(map(json.loads, RESULTS.read_text().splitlines()), key=lambda line: line["rows"])
    rows = [line["rows"] for line in lines]
    figure, panels = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    time_, memory, recall, accuracy = panels.ravel()
    for stage, colour in (("build", "#009E73"), ("fit", "#0072B2"), ("predict", "#E69F00")):
        time_.plot(rows, [line[stage]["seconds"] for line in lines], "o-", color=colour, label=stage)
        memory.plot(rows, [line[stage]["own_mb"] for line in lines], "o-", color=colour, label=f"{stage}, its own")
        held = [line[stage]["resident_mb"] for line in lines]
        memory.plot(rows, held, "o:", color=colour, label=f"{stage}, with mapped files")
    recall.plot(rows, [100 * line["recall"] for line in lines], "o-", color="#444444")
    for name, title, colour in (
        ("accuracy", "glcn", "#0072B2"),
        ("knn", "15 nearest labelled rows", "#E69F00"),
        ("logistic", "logistic regression", "#D55E00"),
    ):
        accuracy.plot(rows, [100 * line[name] for line in lines], "o-", color=colour, label=title)
    time_.set(title="time", ylabel="seconds", yscale="log")
    memory.set(title="memory, at most", ylabel="MB", ylim=(0, None))
    recall.set(title="true neighbours that were found, of 15", ylabel="%", ylim=(90, 100.5))
    accuracy.set(title="accuracy on rows without a label", ylabel="%", ylim=(0, 100))
    for axes in panels.ravel():
        axes.set(xscale="log", xlabel="rows")
        axes.set_xticks(rows, minor=False)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n / 1e6:g}M" if n >= 1e6 else f"{n / 1e3:g}k"))
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    for axes in (time_, memory, accuracy):
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(RESULTS.parents[1] / "docs/images/scale.png", dpi=120)


if __name__ == "__main__":
    if sys.argv[1:] == ["--draw"]:
        draw()
    else:
        main(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]])
