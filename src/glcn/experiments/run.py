"""One run: a recipe, a column of its task, a seed."""

import json
import platform
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, log_loss

from glcn.datasets import Dataset
from glcn.estimator.base import TransductiveClassifier
from glcn.estimator.variants import AUTO
from glcn.exceptions import GraphCollapseWarning
from glcn.experiments.perturb import CHANGES, perturbed
from glcn.experiments.recipe import Column, Method, Recipe, Task
from glcn.experiments.records import Row
from glcn.graph import CandidateGraph

VERSIONS = {
    "python": platform.python_version(),
    **{name: version(name) for name in ("glcn", "numpy", "scipy", "scikit-learn", "torch", "numba")},
}


@dataclass(frozen=True)
class Run:
    """What to compute: ``changes`` are settings that differ from the recipe's, or changes to the graph."""

    recipe: Recipe
    column: Column
    seed: int
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """All settings but the seed; one left at "auto" is none, so that such a run is that of the defaults."""
        settings = {**self.recipe.settings, **self.changes}
        return {name: value for name, value in settings.items() if name not in CHANGES and value != AUTO}

    @property
    def graph_changes(self) -> dict[str, Any]:
        """What is done to the graph before anything sees it; adding or removing nothing is no change."""
        return {name: value for name, value in self.changes.items() if name in CHANGES and value}

    @property
    def key(self) -> str:
        """What makes two runs the same."""
        task = self.recipe.task
        graph = dict(task.graph) if task.graph else None
        identity = [
            *(task.dataset, task.prepare, task.descriptor, graph),
            *(self.column.split, self.column.labels, self.recipe.method.estimator, self.seed, self.settings),
        ]
        if self.graph_changes:
            identity.append(self.graph_changes)
        return json.dumps(identity, sort_keys=True)

    @property
    def title(self) -> str:
        """A few words for a progress line."""
        changes = "".join(f" {name}={value}" for name, value in self.changes.items())
        return f"{self.recipe.task.title} {self.column.name} {self.recipe.method.title}{changes} seed {self.seed}"


def estimator(method_estimator: str, settings: Mapping[str, Any], seed: int) -> TransductiveClassifier:
    """Build the classifier of a method."""
    kind = _class(method_estimator)
    seeded = {"random_state": seed} if "random_state" in signature(kind).parameters else {}
    built: TransductiveClassifier = kind(**settings, **seeded)
    return built


def parameters_of(method: Method) -> set[str]:
    """Return the names of the parameters that a method's classifier has."""
    return set(signature(_class(method.estimator)).parameters)


def _class(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def compute(run: Run, cache: Path | None = None) -> Row:
    """Fit and judge one run; the one place of the experiments where test labels are read."""
    dataset = run.recipe.task.load(run.column, run.seed)
    graph = perturbed(shared_graph(run.recipe.task, dataset), run.graph_changes, run.seed)
    clf = estimator(run.recipe.method.estimator, run.settings, run.seed)
    if cache is not None and "memory" in clf.get_params():
        clf.set_params(memory=str(cache))
    _forget_peak()
    start, start_of_work = time.perf_counter(), time.process_time()
    fit_dataset(clf, dataset, graph)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_of_work
    found = clf.transduction_[dataset.test]
    truth = dataset.y[dataset.test]
    return {
        "dataset": dataset.name,
        "method": run.recipe.method.name,
        "labels": len(dataset.train),
        "split": dataset.split,
        "seed": run.seed,
        "accuracy": round(float(accuracy_score(truth, found)), 5),
        "macro_f1": round(float(f1_score(truth, found, average="macro")), 5),
        **validation_scores(clf, dataset),
        "task": run.recipe.task.name,
        "column": run.column.name,
        "settings": run.settings,
        **run.graph_changes,
        **_training(clf),
        **_same_class_mass(clf, dataset, graph),
        "graph": dict(run.recipe.task.graph) if run.recipe.task.graph else None,
        "features": dataset.features,
        "preparation": dataset.preparation,
        "fingerprint": dataset.fingerprint,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "peak_mb": _peak_mb(),
        "versions": VERSIONS,
        "key": run.key,
    }


def fit(clf: TransductiveClassifier, X: Any, labels: Any, graph: Any, validation: Any = None) -> None:
    """Fit without the warning that a graph collapsed: the rows say how far it moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphCollapseWarning)
        clf.fit(X, labels, graph=graph, validation=validation)


def fit_dataset(clf: TransductiveClassifier, dataset: Dataset, graph: Any) -> None:
    """Fit on the labels of a split that a classifier may see."""
    fit(clf, dataset.X, dataset.visible_labels, graph, dataset.validation)


def validation_scores(clf: TransductiveClassifier, dataset: Dataset) -> dict[str, float]:
    """Return accuracy and log-loss on the validation rows."""
    rows = dataset.validation
    probabilities = np.clip(clf.label_distributions_[rows].astype(float), 1e-7, 1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    loss = log_loss(dataset.y[rows], probabilities, labels=clf.classes_)
    return {
        "validation_accuracy": round(float(accuracy_score(dataset.y[rows], clf.transduction_[rows])), 5),
        "validation_log_loss": round(float(loss), 5),
    }


def shared_graph(task: Task, dataset: Dataset) -> Any:
    """Return the graph that all methods of a task use: the dataset's own, or the task's nearest neighbours."""
    if dataset.graph is not None or task.graph is None:
        return dataset.graph
    return neighbors(task, task.graph["prepare"], task.graph["n_neighbors"], task.graph["metric"])


@lru_cache(maxsize=4)
def _neighbors(dataset: str, descriptor: str | None, prepare: str, k: int, metric: str) -> Any:
    from glcn.datasets import load

    X = load(dataset, descriptor=descriptor, prepare=prepare).X  # features do not depend on the split
    return CandidateGraph.knn(X, k, metric)


def neighbors(task: Task, prepare: str, k: int, metric: str) -> Any:
    """Return the nearest-neighbour graph of a task's rows; kept for the next run."""
    return _neighbors(task.dataset, task.descriptor, prepare, k, metric)


def _training(clf: TransductiveClassifier) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, title in (("n_iter_", "epochs"), ("best_epoch_", "best_epoch"), ("round_", "round")):
        if hasattr(clf, name):
            found[title] = getattr(clf, name)
    if hasattr(clf, "graph_report_"):
        found["distance_from_uniform"] = round(clf.graph_report_.distance_from_uniform, 5)
    return found


def _same_class_mass(clf: TransductiveClassifier, dataset: Dataset, graph: Any) -> dict[str, float]:
    """Return which share of what test rows receive comes from their own class, under S and under D⁻¹A as given."""
    if not hasattr(clf, "graph_"):
        return {}
    S = clf.graph_
    candidates = CandidateGraph.coerce(S if graph is None else graph, S.shape[0])
    given = candidates.unweighted() if graph is None else candidates
    found = {
        "same_class_mass": _from_own_class(S, dataset),
        "uniform_same_class_mass": _from_own_class(given.to_scipy(given.uniform()), dataset),
    }
    return {name: share for name, share in found.items() if share is not None}


def _from_own_class(S: Any, dataset: Dataset) -> float | None:
    entries = S.tocoo()
    values, (rows, columns) = entries.data, entries.coords
    between = np.isin(rows, dataset.test) & (rows != columns)
    same = between & (dataset.y[rows] == dataset.y[columns])
    return round(float(values[same].sum() / values[between].sum()), 5) if between.any() else None


def _forget_peak() -> None:
    """Let the kernel count the peak memory of this process anew (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_mb() -> float | None:
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    peak = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM")), None)
    return None if peak is None else round(int(peak.split()[1]) / 1024, 1)
