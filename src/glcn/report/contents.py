"""Everything that a page shows, in plain values for JSON."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.thumbnails import sheet_columns
from glcn.report.evidence import evidence
from glcn.report.graph_view import graph_view
from glcn.report.packing import packed, shares
from glcn.report.progress import Report
from glcn.report.row_map import row_map
from glcn.report.scores import Rows, known_rows, scores
from glcn.report.telling_columns import telling_columns
from glcn.runs import THUMBNAILS, Run

SUGGESTED = 30  # rows to label next
MOST_SHARES = 500_000  # probabilities in a page; beyond, the greatest few of each row
FEW_SHARES = 5
_GRID = 65_535  # places on each side of the map


def contents(run: Run, progress: Report) -> dict[str, Any]:
    """Gather the contents of a page."""
    clf, rows = run.clf, known_rows(run)
    suggested = clf.label_next(SUGGESTED)
    placed = row_map(run, progress)
    pictures = _thumbnails(run)
    return {
        "dataset": str(run.metrics["dataset"]),
        "run": run.folder.name,
        "rows": len(rows.predicted),
        "features": clf.n_features_in_,
        "classes": list(rows.names),
        "ids": _ids(run),
        "summary": _summary(run),
        "settings": run.settings,
        "history": {name: [_rounded(value) for value in curve] for name, curve in clf.history_.items() if any(curve)},
        "best_epoch": clf.best_epoch_,
        "round": clf.round_,
        "rounds": clf.settings_.get("rounds", 1),
        "scores": scores(rows),
        "calibrated_on": clf.calibration_.rows,
        "graph": graph_view(clf),
        "map": {"method": placed.method, **_on_grid(placed.points)},
        "row": _row_facts(rows),
        "probabilities": _probabilities(clf.label_distributions_),
        "evidence": evidence(clf, [each.row for each in suggested], progress).packed(),
        "columns": None if pictures is not None else telling_columns(run),
        "pictures": pictures,
        "label_next": [
            [each.row, *(_rounded(value) for value in (each.score, each.uncertainty, each.reach))] for each in suggested
        ],
    }


def _ids(run: Run) -> list[str] | None:
    """Return the names of the rows; None where they are their numbers."""
    if run.ids is None or run.ids.tolist() == [str(row) for row in range(len(run.ids))]:
        return None
    return [str(name) for name in run.ids]


def _summary(run: Run) -> dict[str, Any]:
    metrics = run.metrics
    told = ("method", "labels", "split", "seed", "epochs", "interrupted", "fingerprint", "seconds")
    return {name: metrics.get(name) for name in told} | {"accuracy": metrics["accuracy"]}


def _on_grid(points: NDArray[np.float32]) -> dict[str, Any]:
    """Return points as whole numbers that fill the map from side to side."""
    low, width = points.min(axis=0), np.ptp(points, axis=0)
    x, y = np.rint((points - low) / np.where(width > 0, width, 1) * _GRID).T
    return {"x": packed(x, "u2"), "y": packed(y, "u2")}


def _row_facts(rows: Rows) -> dict[str, Any]:
    return {
        "predicted": packed(rows.predicted, "i2"),
        "confidence": shares(rows.confidence),
        "given": packed(rows.given, "i2"),
        "truth": packed(rows.truth, "i2"),
        "role": packed(rows.role, "u1"),
    }


def _probabilities(probabilities: NDArray[np.float32]) -> dict[str, Any]:
    n, c = probabilities.shape
    most = c if n * c <= MOST_SHARES else min(c, FEW_SHARES)
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :most]
    return {
        "per_row": most,
        "classes": packed(order, "i2"),
        "shares": shares(np.take_along_axis(probabilities, order, axis=1)),
    }


def _thumbnails(run: Run) -> dict[str, Any] | None:
    path = run.folder / THUMBNAILS
    if not path.exists():
        return None
    columns = sheet_columns(len(run.clf.transduction_))
    sheet = base64.b64encode(path.read_bytes()).decode("ascii")
    return {"columns": columns, "sheet": f"data:image/webp;base64,{sheet}"}


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{value:.5g}")
