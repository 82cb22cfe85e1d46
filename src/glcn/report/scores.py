"""How well a run did, as far as anybody knows: accuracy, classes, confusions, reliability."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.runs import Run

ROLES = ("", "train", "validation", "test")
BINS = 10  # of the reliability curve
ENOUGH = 30  # rows from which on it says by how much sureness is off


class Rows(NamedTuple):
    """What is known of each row; classes are places in ``names``."""

    names: tuple[str, ...]  # the classes of the run, then those that only the truth has
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float64]  # probability of the predicted class
    given: NDArray[np.int64]  # labels that the fit saw, −1 elsewhere
    truth: NDArray[np.int64]  # −1 where nobody knows
    role: NDArray[np.int64]  # places in ROLES


def known_rows(run: Run) -> Rows:
    """Gather what is known of the rows of a run."""
    clf = run.clf
    probabilities = clf.label_distributions_
    given = clf._codes
    names, truth, test = run.classes, given, np.empty(0, np.int64)
    if run.truth is not None:
        names = (*run.classes, *(name for name in run.truth.names if name not in run.classes))
        place = np.array([names.index(name) for name in run.truth.names] + [-1])
        truth, test = place[run.truth.labels], run.truth.test
    role = np.where(given >= 0, ROLES.index("train"), 0)
    role[clf.validation_rows_] = ROLES.index("validation")
    role[test] = ROLES.index("test")
    return Rows(names, probabilities.argmax(axis=1), probabilities.max(axis=1).astype(float), given, truth, role)


def scores(rows: Rows) -> dict[str, Any]:
    """Return all figures of the page that compare answers with the truth.

    Only rows that were not fitted count: those for test if there are any, else those for validation.
    """
    parts = {name: np.flatnonzero((rows.role == ROLES.index(name)) & (rows.truth >= 0)) for name in ROLES[2:]}
    judged = parts["test"] if len(parts["test"]) else parts["validation"]
    return {
        "accuracy": {
            name: {"rows": len(part), "share": _mean(rows.predicted[part] == rows.truth[part])}
            for name, part in parts.items()
        },
        "judged_by": "test" if len(parts["test"]) else "validation" if len(judged) else None,
        "confusion": _confusion(rows, judged).tolist(),
        "classes": _class_table(rows, judged),
        "reliability": _reliability(rows, judged),
    }


def _confusion(rows: Rows, judged: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows of each class (down) were given each class (across)."""
    table = np.zeros((len(rows.names), len(rows.names)), np.int64)
    np.add.at(table, (rows.truth[judged], rows.predicted[judged]), 1)
    return table


def _class_table(rows: Rows, judged: NDArray[np.int64]) -> list[dict[str, Any]]:
    confusion = _confusion(rows, judged)
    hits, said, there = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    return [
        {
            "labelled": int((rows.given == code).sum()),
            "predicted": int((rows.predicted == code).sum()),
            "confidence": _mean(rows.confidence[rows.predicted == code]),
            "precision": _share(hits[code], said[code]),
            "recall": _share(hits[code], there[code]),
        }
        for code in range(len(rows.names))
    ]


def _reliability(rows: Rows, judged: NDArray[np.int64]) -> dict[str, Any]:
    """Compare how sure the answers are with how often they are right, in ten bins of confidence."""
    confidence, right = rows.confidence[judged], rows.predicted[judged] == rows.truth[judged]
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    bins = [
        {
            "rows": int((place == each).sum()),
            "confidence": _mean(confidence[place == each]),
            "accuracy": _mean(right[place == each]),
        }
        for each in range(BINS)
        if (place == each).any()
    ]
    gap = sum(each["rows"] * abs(each["confidence"] - each["accuracy"]) for each in bins) / max(len(judged), 1)
    return {"rows": len(judged), "bins": bins, "gap": round(float(gap), 4) if len(judged) >= ENOUGH else None}


def _mean(values: NDArray[Any]) -> Any:
    return round(float(values.mean()), 6) if len(values) else None


def _share(part: int, whole: int) -> float | None:
    return round(float(part / whole), 6) if whole else None
