"""The figures of the paper and those past it, as PNG and SVG."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.files import write_npz, written_aside
from glcn.experiments.plan import runs_of, sweeps_of
from glcn.experiments.recipe import Recipe, method, recipe, task
from glcn.experiments.records import append, read
from glcn.experiments.run import estimator, fit_dataset, shared_graph
from glcn.experiments.runner import current_commit
from glcn.experiments.tables import Found, Line, grids

CURVE_EPOCHS = 300
SHOWN = ("gcn", "glcn", "glcn-closeness")
# Okabe and Ito's palette, safe for colour-blind readers.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#444444", "#B8A800")
MARKERS = ("o", "^", "s", "D")


def figure3(results: Path, *, compute: bool = True) -> list[Path]:
    """Draw the training cross-entropy over epochs on MNIST."""
    curves = _curves(results, compute)
    if not curves:
        return []
    figure, (axes,) = _canvas(1, (6.4, 4.0))
    for place, (name, curve) in enumerate(curves.items()):
        axes.plot(curve, color=COLOURS[place], label=method(name).title, linewidth=1.8)
    axes.set(yscale="log", xlabel="epoch", ylabel="training cross-entropy, mean over labels")
    axes.set_title("MNIST, 1000 labels, seed 0", loc="left", fontsize=10)
    axes.legend(frameon=False)
    return _save(figure, results, "figure3")


def figure4(results: Path, *, compute: bool = True) -> list[Path]:
    """Draw t-SNE maps of what the first convolution gives on Scene15, side by side."""
    path = results / "figure4.npz"
    if compute and not path.exists():
        write_npz(path, **_maps())
    if not path.exists():
        return []
    with np.load(path) as maps:
        names, y, points = maps["class_names"].tolist(), maps["y"], [maps["gcn"], maps["glcn"]]
        agreement = [float(maps["gcn_agreement"]), float(maps["glcn_agreement"])]
    figure, panels = _canvas(2, (11.5, 5.6))
    for axes, shown, title, share in zip(panels, points, ("GCN", "GLCN"), agreement, strict=True):
        for code, name in enumerate(names):
            axes.scatter(
                *shown[y == code].T,
                s=7,
                alpha=0.7,
                linewidth=0,
                color=COLOURS[code % len(COLOURS)],
                marker=MARKERS[code // len(COLOURS)],
                label=name if axes is panels[0] else None,
            )
        axes.set_title(f"{title}: of a row's 10 nearest on the map, {share:.1%} are of its class", fontsize=10)
        axes.set_axis_off()
    figure.legend(loc="outside lower center", ncols=8, frameon=False, fontsize=9, markerscale=2.5, handletextpad=0.1)
    return _save(figure, results, "figure4")


def figure5(results: Path, *, compute: bool = True) -> list[Path]:  # noqa: ARG001 (called as the others are)
    """Draw the accuracy against the number of convolutions on MNIST; its runs are made before, as those of a table."""
    (sweep,) = sweeps_of("figure5")
    (grid,) = grids("figure5", Found(read(results / "runs.jsonl")), runs_of("figure5"))
    figure, (axes,) = _canvas(1, (6.4, 4.0))
    if not sum(_with_error_bars(axes, sweep.values, line, place, 0.05) for place, line in enumerate(grid.lines)):
        return []
    axes.set(xlabel="convolutions", ylabel="test accuracy in %", xticks=sweep.values)
    axes.set_title("MNIST, 1000 labels, mean ± standard deviation over 5 splits", loc="left", fontsize=10)
    axes.legend(frameon=False)
    return _save(figure, results, "figure5")


def noise(results: Path, *, compute: bool = True) -> list[Path]:  # noqa: ARG001 (called as the others are)
    """Draw the accuracy against edges added and removed; a line across is what the features alone give."""
    sweeps = sweeps_of("noise")
    tables = {grid.title: grid for grid in grids("noise", Found(read(results / "runs.jsonl")), runs_of("noise"))}
    curves = [sweep for sweep in sweeps if sweep.parameter != "no_graph"]
    without = {sweep.task.name: tables[sweep.title] for sweep in sweeps if sweep.parameter == "no_graph"}
    figure, panels = _canvas(len(curves), (3.4 * len(curves), 3.8))
    longest = 0
    shown = list(dict.fromkeys(line.title for sweep in curves for line in tables[sweep.title].lines))
    for axes, sweep in zip(panels, curves, strict=True):
        for line in tables[sweep.title].lines:
            points = _with_error_bars(axes, [100 * value for value in sweep.values], line, shown.index(line.title), 0.8)
            longest = max(longest, points)
        alone = without[sweep.task.name].cell("gcn", without[sweep.task.name].columns[0])
        if alone is not None and alone.mean is not None:
            axes.axhline(alone.mean, color=COLOURS[6], linewidth=1.2, linestyle=":", label="GCN on nearest neighbours")
        what = "random edges added" if sweep.parameter == "added_edges" else "true edges removed"
        axes.set(xlabel=f"{what}, %", ylabel="test accuracy in %" if axes is panels[0] else None)
        axes.set_title(f"{sweep.task.title}, {sweep.column.title}", loc="left", fontsize=10)
    if longest < 2:  # the graph as it is may be known from a table
        return []
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    return _save(figure, results, "noise")


def _with_error_bars(axes: Any, at: Sequence[float], line: Line, place: int, shift: float) -> int:
    """Draw mean ± standard deviation of a line's cells; returns how many there were."""
    known = [(x, list(cell.accuracies.values())) for x, cell in zip(at, line.cells, strict=True) if cell.accuracies]
    if known:
        axes.errorbar(
            [x + shift * (place - 1) for x, _ in known],
            [np.mean(values) for _, values in known],
            yerr=[np.std(values, ddof=1) if len(values) > 1 else 0.0 for _, values in known],
            color=COLOURS[place],
            marker=MARKERS[place],
            capsize=3,
            label=line.title,
        )
    return len(known)


DATASETS = {"figure3": "mnist", "figure4": "scene15", "figure5": "mnist", "noise": "cora"}
FIGURES: dict[str, Callable[..., list[Path]]] = {
    "figure3": figure3,
    "figure4": figure4,
    "figure5": figure5,
    "noise": noise,
}


def _curves(results: Path, compute: bool) -> dict[str, list[float]]:
    """Return the mean training cross-entropy of each method, epoch by epoch, computed where it is missing."""
    path = results / "figure3.jsonl"
    known = {row["method"]: row["cross_entropy"] for row in read(path)}
    for name in SHOWN:
        if compute and name not in known:
            changes = {"max_epochs": CURVE_EPOCHS, "patience": CURVE_EPOCHS}
            clf, dataset = _fitted(recipe(task("mnist"), method(name)), changes)
            summed = getattr(clf, "variant", None) == "paper"
            curve = np.array(clf.history_["cross_entropy"]) / (len(dataset.train) if summed else 1)
            known[name] = [round(float(value), 6) for value in curve]
            append(path, {"method": name, "seed": 0, "cross_entropy": known[name], "commit": current_commit()})
    return {name: known[name] for name in SHOWN if name in known}


def _maps() -> dict[str, NDArray[Any]]:
    """Return t-SNE coordinates of Scene15 by GCN and GLCN, and how often neighbours on the map are of one class."""
    from sklearn.manifold import TSNE

    found: dict[str, Any] = {"commit": np.array(str(current_commit()))}
    for name in ("gcn", "glcn"):
        clf, dataset = _fitted(recipe(task("scene15"), method(name)), {})
        points = TSNE(random_state=0, perplexity=40).fit_transform(clf.hidden_).astype(np.float32)
        found |= {name: points, f"{name}_agreement": np.array(_agreement(points, dataset.y))}
        found |= {"y": dataset.y.astype(np.int16), "class_names": np.array(dataset.class_names)}
    return found


def _agreement(points: NDArray[np.float32], y: NDArray[np.int64]) -> float:
    from glcn.graph import nearest_neighbors

    return float((y[nearest_neighbors(points, 10)] == y[:, None]).mean())


def _fitted(recipe_: Recipe, changes: dict[str, Any]) -> tuple[Any, Any]:
    home = recipe_.task
    dataset = home.load(home.columns[0], 0)
    clf = estimator(recipe_.method.estimator, {**recipe_.settings, **changes}, 0)
    fit_dataset(clf, dataset, shared_graph(home, dataset))
    return clf, dataset


def _canvas(panels: int, size: tuple[float, float]) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'glcn[experiments]'") from error
    figure = Figure(figsize=size, layout="constrained")
    axes = [figure.add_subplot(1, panels, place + 1) for place in range(panels)]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, results: Path, name: str) -> list[Path]:
    from matplotlib import rc_context

    paths = []
    with rc_context({"svg.hashsalt": "glcn"}):  # the same picture gives the same file
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            path = results / "figures" / f"{name}.{kind}"
            with written_aside(path) as aside:
                figure.savefig(aside, format=kind, dpi=130, metadata=metadata)
            paths.append(path)
    return paths
