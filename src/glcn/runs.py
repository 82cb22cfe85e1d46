"""A run on disk: what was asked, what came out, and what was learned."""

import csv
import json
import os
import platform
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from scipy import sparse
from sklearn.metrics import accuracy_score

from glcn import __version__
from glcn.answers import harmless
from glcn.datasets import Dataset
from glcn.estimator import GLCNClassifier
from glcn.training import FitProfile


def free_path(parent: Path, name: str, ending: str = "") -> Path:
    """Return a name under ``parent`` that is not taken yet."""
    path, number = parent / f"{name}{ending}", 1
    while path.exists():
        number += 1
        path = parent / f"{name}-{number}{ending}"
    return path


def check_target(path: Path) -> None:
    """Refuse early what could not be written at the end."""
    if path.exists():
        raise FileExistsError(f"{path} exists already; choose another --out, or move it away")
    parent = path.absolute().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise PermissionError(f"can not write into {parent}; choose another --out")


def evaluate(dataset: Dataset, clf: GLCNClassifier) -> dict[str, Any]:
    """Score a fitted classifier; the one place where test labels are read."""
    scores = {
        name: float(accuracy_score(dataset.y[rows], clf.transduction_[rows])) if len(rows) else None
        for name, rows in (("validation", clf.validation_rows_), ("test", dataset.test))
    }
    return {
        "dataset": dataset.name,
        "method": f"glcn-{clf.variant}",
        "labels": len(dataset.train) - len(np.intersect1d(dataset.train, clf.validation_rows_)),
        "split": dataset.split,
        "seed": clf.random_state,
        "accuracy": scores["test"],
        "validation_accuracy": scores["validation"],
        "epochs": clf.n_iter_,
        "best_epoch": clf.best_epoch_,
        "interrupted": clf.interrupted_,
        "fingerprint": dataset.fingerprint,
        "graph": {**asdict(clf.graph_report_), "collapsed": clf.graph_report_.collapsed},
    }


def write_run(
    folder: Path, dataset: Dataset, clf: GLCNClassifier, metrics: dict[str, Any], profile: FitProfile | None = None
) -> None:
    """Write a run folder: everything aside first, then one rename, so that a half-written run never appears."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    aside.mkdir()
    try:
        _write_json(aside / "metrics.json", metrics)
        _write_json(aside / "settings.json", _settings(dataset, clf))
        _write_json(aside / "history.json", clf.history_)
        if profile is not None:
            _write_json(aside / "profile.json", profile.to_dict())
        _write_predictions(aside / "predictions.csv", dataset, clf)
        sparse.save_npz(aside / "graph.npz", clf.graph_)
        (aside / "weights.safetensors").write_bytes(save(clf.model_.state_dict()))
        aside.rename(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _settings(dataset: Dataset, clf: GLCNClassifier) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "split": dataset.split,
        "features": dataset.features,
        "split_description": dataset.split_description,
        "preparation": dataset.preparation,
        "fingerprint": dataset.fingerprint,
        "parameters": clf.settings_,
        "versions": {
            "glcn": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "threads": torch.get_num_threads(),
    }


def _write_predictions(path: Path, dataset: Dataset, clf: GLCNClassifier) -> None:
    role = np.full(len(dataset.y), "", dtype="U10")
    for name, rows in (("train", dataset.train), ("validation", clf.validation_rows_), ("test", dataset.test)):
        role[rows] = name
    names = [dataset.class_names[int(label)] for label in clf.classes_]
    ids = np.arange(len(dataset.y)) if dataset.ids is None else dataset.ids
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "role", "predicted", "probability", *(f"p({name})" for name in names)])
        for row, probabilities in enumerate(clf.label_distributions_.astype(float)):
            best = int(probabilities.argmax())
            shares = [f"{share:.6f}" for share in probabilities]
            writer.writerow([harmless(ids[row]), role[row], harmless(names[best]), shares[best], *shares])


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
