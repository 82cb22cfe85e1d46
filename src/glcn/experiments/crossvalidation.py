"""All methods on one dataset by cross-validation."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, recall_score
from sklearn.model_selection import StratifiedKFold

from glcn.datasets import Dataset
from glcn.experiments.recipe import Method, method
from glcn.experiments.records import Row, append
from glcn.experiments.run import VERSIONS, estimator, fit
from glcn.experiments.runner import current_commit, workers
from glcn.graph import CandidateGraph

METHODS = (
    "logistic",
    "mlp",
    "manireg",
    "lp",
    "deepwalk",
    "gcn",
    "gat",
    "glcn",
    "glcn-closeness",
    "plus-fixed",
    "glcn-plus-default",
)
METRICS = ("accuracy", "balanced_accuracy", "macro_f1")


class Fold(NamedTuple):
    """One method on one division of the labelled rows."""

    method: Method
    repeat: int
    number: int
    visible: NDArray[np.int64]  # (n,) labels that may be seen, −1 elsewhere
    held_out: NDArray[np.int64]  # rows that are judged


class Division(NamedTuple):
    """How the labelled rows are divided."""

    folds: int
    alone: tuple[int, ...]  # classes with one label, which is never held out


def division(dataset: Dataset, folds: int) -> Division:
    """Say into how many folds the labels can be divided, so that every fold holds each class."""
    labels = dataset.visible_labels
    counts = np.bincount(labels[labels >= 0], minlength=len(dataset.class_names))
    enough = counts[counts >= 2]
    if len(enough) < 2:
        raise ValueError(
            f"{dataset.name} has fewer than two classes with two labels each; label some more rows, or use glcn fit"
        )
    return Division(min(folds, int(enough.min())), tuple(np.flatnonzero(counts == 1).tolist()))


def divided(dataset: Dataset, methods: Sequence[Method], planned: Division, repeats: int, seed: int) -> Iterator[Fold]:
    """Divide the labelled rows, the same way for every method."""
    labels = dataset.visible_labels
    labelled = np.flatnonzero((labels >= 0) & ~np.isin(labels, planned.alone))
    for repeat in range(repeats):
        parts = StratifiedKFold(planned.folds, shuffle=True, random_state=seed + repeat)
        for number, (_, held) in enumerate(parts.split(labelled, labels[labelled])):
            visible = labels.copy()
            visible[labelled[held]] = -1
            for each in methods:
                yield Fold(each, repeat, number, visible, labelled[held])


def cross_validate(
    dataset: Dataset,
    folds: Sequence[Fold],
    out: Path,
    *,
    n_neighbors: int = 10,
    metric: str = "auto",
    seed: int = 0,
    jobs: int = 1,
    listener: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Judge every fold, each method with its own defaults, and append a row for each to ``out``."""
    graph = dataset.graph
    if graph is None:
        graph = CandidateGraph.knn(dataset.X, n_neighbors, metric).to_scipy()
    rows = []
    about = {"dataset": dataset.name, "fingerprint": dataset.fingerprint, "commit": current_commit()}
    with workers(jobs) as pool:
        waiting = list(folds)
        pending: set[Future[Row]] = set()
        while waiting or pending:
            while waiting and len(pending) < jobs:
                pending.add(pool.submit(judge, waiting.pop(0), dataset.X, dataset.y, graph, seed))
            finished, pending = wait(pending, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in finished:
                rows.append(about | future.result() | {"versions": VERSIONS})
                append(out, rows[-1])
            if listener is not None:
                listener(len(rows), len(folds))
    return rows


def judge(fold: Fold, X: Any, y: NDArray[np.int64], graph: Any, seed: int) -> Row:
    """Fit one method on the labels that a fold shows, and score the rows that it hides."""
    variant = {"variant": fold.method.fixed["variant"]} if "variant" in fold.method.fixed else {}
    clf = estimator(fold.method.estimator, variant, seed + fold.repeat)
    fit(clf, X, fold.visible, graph)
    truth, found = y[fold.held_out], clf.transduction_[fold.held_out]
    scores = (
        accuracy_score(truth, found),
        recall_score(truth, found, labels=np.unique(truth), average="macro"),  # classes that are there to be found
        f1_score(truth, found, average="macro"),
    )
    return {
        "method": fold.method.name,
        "repeat": fold.repeat,
        "fold": fold.number,
        **{name: round(float(score), 5) for name, score in zip(METRICS, scores, strict=True)},
    }


def chosen_methods(names: Sequence[str] | None) -> list[Method]:
    """Return the methods to compare, by name."""
    for name in names or ():
        if name not in METHODS:
            raise ValueError(f"there is no method {name!r} to compare; choose one of {', '.join(METHODS)}")
    return [method(name) for name in names or METHODS]
