"""A run on disk: what was asked, what came out, and what was learned."""

import json
import platform
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import accuracy_score

from glcn import __version__
from glcn.datasets import Dataset
from glcn.datasets.thumbnails import write_thumbnails
from glcn.escaping import csv_line
from glcn.estimator import GLCNClassifier
from glcn.estimator.saving import plain_parameters
from glcn.manifest import check_manifest, write_manifest
from glcn.store import Store
from glcn.tables import TableEncoder
from glcn.training import FitProfile
from glcn.whole_files import check_writable, named_errors, settle

MODEL, ENCODER, ROWS = "model", "encoder.json", "rows.json"
TRUTH, THUMBNAILS = "truth.json", "thumbnails.webp"
SETTINGS, METRICS = "settings.json", "metrics.json"
_CHECKPOINT, _WORK, _RESULTS = "checkpoint.safetensors", "work", "results"
_UNCHECKED = ("predictions.csv", "graph.npz")  # written for people and other programs; nothing here reads them again


class Truth(NamedTuple):
    """What is known of the rows besides what the fit saw; only reports and scores look at it."""

    names: tuple[str, ...]  # of all classes of the dataset
    labels: NDArray[np.int64]  # (n,) places in ``names``, −1 where nobody knows
    test: NDArray[np.int64]  # rows of the final score


@dataclass(frozen=True)
class Run:
    """A finished run, read from its folder."""

    folder: Path
    clf: GLCNClassifier
    encoder: TableEncoder | None  # makes features of tables as those of training
    ids: NDArray[np.str_] | None  # names of the training rows; None: their numbers
    classes: tuple[str, ...]  # names of the classes, in the order of the probabilities
    settings: dict[str, Any]
    metrics: dict[str, Any]
    truth: Truth | None = None

    @property
    def feature_titles(self) -> list[str]:
        """A name for each feature of the classifier."""
        width = self.clf.n_features_in_
        titles = self.encoder.titles if self.encoder is not None else []
        return titles if len(titles) == width else [f"feature {number}" for number in range(width)]

    def name_of(self, row: int) -> str:
        """Return the name of a training row."""
        return str(row if self.ids is None else self.ids[row])


def unfinished(folder: Path) -> Path:
    """Return where a run keeps what it has until it is finished."""
    return folder.with_name(f"{folder.name}.partial")


def checkpoint_of(folder: Path) -> Path:
    """Return the file in which a run keeps the state of its training."""
    return unfinished(folder) / _CHECKPOINT


def files_of(folder: Path) -> Path:
    """Return where a run on a store keeps what it has of the rows."""
    return unfinished(folder) / _WORK


def results_of(folder: Path) -> Path:
    """Return where the results of a run are while they are being written; they are renamed when all are there."""
    return unfinished(folder) / _RESULTS


def is_begun(folder: Path) -> bool:
    """Whether there is a run of this name that was not finished."""
    return unfinished(folder).exists() and not folder.exists()


def last_begun(parent: Path, name: str) -> Path | None:
    """Return the run under ``parent`` that was begun last under a name and not finished, if there is one."""
    paths = [parent / name, *(parent / f"{name}-{number}" for number in range(2, 1000))]
    begun = [path for path in paths if is_begun(path)]
    return max(begun, key=lambda path: unfinished(path).stat().st_mtime, default=None)


def free_path(parent: Path, name: str, ending: str = "") -> Path:
    """Return a name under ``parent`` that is not taken yet."""
    path, number = parent / f"{name}{ending}", 1
    while path.exists() or unfinished(path).exists():
        number += 1
        path = parent / f"{name}-{number}{ending}"
    return path


def check_target(path: Path) -> None:
    """Refuse early what could not be written at the end."""
    if path.exists():
        raise FileExistsError(f"{path} exists already; choose another --out, or move it away")
    check_writable(path, "choose another --out")


def begin_run(folder: Path) -> None:
    """Make the place in which a run keeps what it has, without what a killed one left half-written there."""
    check_target(folder)
    aside = unfinished(folder)
    with named_errors(folder):
        aside.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside / _RESULTS, ignore_errors=True)
        for path in aside.glob(".*.partial"):
            path.unlink()


def give_up(folder: Path) -> None:
    """Remove the place of a run that never had anything to keep."""
    with suppress(OSError):  # there is something in it
        unfinished(folder).rmdir()


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
        "round": clf.round_,
        "epochs": clf.n_iter_,
        "best_epoch": clf.best_epoch_,
        "interrupted": clf.interrupted_,
        "calibration": clf.calibration_._asdict(),
        "fingerprint": dataset.fingerprint,
        "graph": {**asdict(clf.graph_report_), "collapsed": clf.graph_report_.collapsed},
    }


def write_run(
    folder: Path, dataset: Dataset, clf: GLCNClassifier, metrics: dict[str, Any], profile: FitProfile | None = None
) -> None:
    """Write a run folder: everything aside first, then one rename, so that a half-written run never appears.

    The state of the training is removed after that only. Where a run can not be written, its state is kept, so that it
    can be resumed.
    """
    begin_run(folder)
    results = results_of(folder)
    try:
        with named_errors(folder):
            results.mkdir()
            _write_results(results, dataset, clf, metrics, profile)
            _settle_all(results)
            results.rename(folder)
    except BaseException as error:
        shutil.rmtree(results, ignore_errors=True)
        give_up(folder)
        if isinstance(error, OSError):
            raise OSError(f"{error}; {_what_is_left(folder)}") from error
        raise
    shutil.rmtree(unfinished(folder), ignore_errors=True)


def _write_results(
    results: Path, dataset: Dataset, clf: GLCNClassifier, metrics: dict[str, Any], profile: FitProfile | None
) -> None:
    _write_json(results / METRICS, metrics)
    _write_json(results / SETTINGS, _settings(dataset, clf))
    _write_json(results / "history.json", clf.history_)
    if profile is not None:
        _write_json(results / "profile.json", profile.to_dict())
    _write_predictions(results / "predictions.csv", dataset, clf)
    if not isinstance(dataset.graph, Store):
        sparse.save_npz(results / "graph.npz", clf.graph_)
    if dataset.encoder is not None:
        _write_json(results / ENCODER, dataset.encoder.to_dict())
    _write_json(results / ROWS, None if dataset.ids is None else dataset.ids.tolist())
    _write_json(results / TRUTH, _truth(dataset))
    if dataset.pictures is not None:
        write_thumbnails(results / THUMBNAILS, dataset.pictures())
    clf.save(results / MODEL)
    write_manifest(results, [path.name for path in results.iterdir() if path.is_file() and path.name not in _UNCHECKED])


def _settle_all(folder: Path) -> None:
    """Wait until all files are on the disk, so that a machine that dies after the rename has a whole run."""
    for path in folder.rglob("*"):
        settle(path)
    settle(folder)


def _what_is_left(folder: Path) -> str:
    if checkpoint_of(folder).exists():
        return f"what was learned is kept in {unfinished(folder)}: repeat the command with --resume"
    return "what was learned could not be kept"


def load_run(folder: str | Path, *, store: str | Path | None = None) -> Run:
    """Read a run that ``glcn fit`` wrote; ``store`` says where its store is now, if it had one that has moved."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no run {folder}; name a folder that `glcn fit` wrote")
    listed = check_manifest(folder)
    settings, metrics, ids = (_read_json(folder / name) for name in (SETTINGS, METRICS, ROWS))
    encoder = TableEncoder.from_dict(_read_json(folder / ENCODER)) if ENCODER in listed else None
    clf = GLCNClassifier.load(folder / MODEL, store=store)
    names = None if ids is None else np.array(ids, dtype=str)
    return Run(
        folder, clf, encoder, names, tuple(settings["class_names"]), settings, metrics, _read_truth(folder / TRUTH)
    )


def _truth(dataset: Dataset) -> dict[str, Any]:
    return {"names": dataset.class_names, "labels": dataset.y.tolist(), "test": dataset.test.tolist()}


def _read_truth(path: Path) -> Truth:
    content = _read_json(path)
    labels, test = (np.array(content[name], np.int64) for name in ("labels", "test"))
    return Truth(tuple(content["names"]), labels, test)


def _settings(dataset: Dataset, clf: GLCNClassifier) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "class_names": [dataset.class_names[int(label)] for label in clf.classes_],
        "split": dataset.split,
        "features": dataset.features,
        "split_description": dataset.split_description,
        "preparation": dataset.preparation,
        "fingerprint": dataset.fingerprint,
        "parameters": plain_parameters(clf.settings_),
        "versions": {
            "glcn": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "threads": torch.get_num_threads(),
    }


def _write_predictions(path: Path, dataset: Dataset, clf: GLCNClassifier) -> None:
    roles = ("", "train", "validation", "test")
    role = np.zeros(len(dataset.y), np.int8)
    for number, rows in enumerate((dataset.train, clf.validation_rows_, dataset.test), start=1):
        role[rows] = number
    names = [dataset.class_names[int(label)] for label in clf.classes_]
    ids = np.arange(len(dataset.y)) if dataset.ids is None else dataset.ids
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(csv_line(["row", "role", "predicted", "probability", *(f"p({name})" for name in names)]))
        for row, probabilities in enumerate(clf.label_distributions_):
            best = int(probabilities.argmax())
            shares = [f"{share:.6f}" for share in probabilities]
            file.write(csv_line([ids[row], roles[role[row]], names[best], shares[best], *shares]))


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
