"""What the paper claims, judged by our runs: each claim holds, does not hold, or can not be told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np

from glcn.experiments.comparison import Comparison, compare
from glcn.experiments.plan import runs_of
from glcn.experiments.records import Row, read
from glcn.experiments.tables import Cell, Found, Grid, grids

HOLDS, FAILS, OPEN = "holds", "does not hold", "can not be told"
SIGNIFICANT = 0.05
INSENSITIVE = 1.0  # points within which all accuracies of a sweep lie
SLIGHTLY = 2.0  # times as slow
CLEARLY = 0.01  # of the nearest on one map, against another; less may be chance


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and what became of it."""

    text: str
    verdict: str
    evidence: str


class Evidence:
    """All results, in the form in which claims are judged."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.rows: list[Row] = read(results / "runs.jsonl")
        self.found = Found(self.rows)
        kinds = ("table1", "table2", "table3", "table4", "ablation", "noise", "rounds")
        self.tables = {target: grids(target, self.found) for target in kinds}
        self.depth = grids("figure5", self.found)

    def pairs(self, other: str, targets: Sequence[str] = ("table1", "table2")) -> dict[str, Comparison]:
        """Return GLCN against another method, by dataset and column."""
        found = {}
        for target in targets:
            for grid in self.tables[target]:
                for column in grid.columns:
                    ours, theirs = grid.cell("glcn", column), grid.cell(other, column)
                    result = compare(ours, theirs) if ours and theirs else None
                    if result is not None:
                        found[f"{grid.title} {column}"] = result
        return found

    def missing(self, names: Sequence[str], targets: Sequence[str] = ("table1", "table2")) -> bool:
        """Whether one of the methods still has cells without any run."""
        lines = [line for target in targets for grid in self.tables[target] for line in grid.lines]
        return any(cell.wanted and not cell.accuracies for line in lines if line.name in names for cell in line.cells)


def claims(results: Path) -> list[Claim]:
    """Judge the nine claims."""
    evidence = Evidence(results)
    return [judge(evidence) for judge in _JUDGES]


def _better_than(evidence: Evidence, text: str, others: Sequence[str]) -> Claim:
    """Judge that GLCN is above each of ``others`` in every column."""
    pairs = {
        f"{column} ({other})" if len(others) > 1 else column: pair
        for other in others
        for column, pair in evidence.pairs(other).items()
    }
    if not pairs:
        return Claim(text, OPEN, "not run yet")
    above = [column for column, pair in pairs.items() if pair.difference > 0]
    surely_below = [column for column, pair in pairs.items() if pair.difference < 0 and (pair.p or 1.0) <= SIGNIFICANT]
    words = f"above in {len(above)} of {len(pairs)} columns"
    if len(above) < len(pairs):
        below = [f"{column} {pair.difference:+.2f}" for column, pair in pairs.items() if pair.difference <= 0]
        words += f"; not in {', '.join(below)}"
    if surely_below:
        return Claim(text, FAILS, words)
    if evidence.missing(("glcn", *others)):
        return Claim(text, OPEN, f"{words}; not all columns are run yet")
    return Claim(text, HOLDS if len(above) == len(pairs) else FAILS, words)


def _gcn(evidence: Evidence) -> Claim:
    return _better_than(evidence, "GLCN is above GCN on every dataset, most on images.", ("gcn",))


def _gat(evidence: Evidence) -> Claim:
    return _better_than(evidence, "GLCN is above GAT.", ("gat",))


def _others(evidence: Evidence) -> Claim:
    text = "GLCN is above label propagation, manifold regularisation and DeepWalk."
    return _better_than(evidence, text, ("lp", "manireg", "deepwalk"))


def _training_loss(evidence: Evidence) -> Claim:
    text = "GLCN ends with a lower training cross-entropy than GCN, and takes slightly more epochs to get there."
    curves = {row["method"]: row["cross_entropy"] for row in read(evidence.results / "figure3.jsonl")}
    if not {"gcn", "glcn"} <= set(curves):
        return Claim(text, OPEN, "not run yet")
    ends = {name: mean(curve[-20:]) for name, curve in curves.items()}
    halves = {name: _epochs_to_settle(curve) for name, curve in curves.items()}
    words = (
        f"MNIST, last 20 of {len(curves['gcn']) - 1} epochs: GLCN {ends['glcn']:.3f}, GCN {ends['gcn']:.3f}; "
        f"within 10 % of the way to its end after {halves['glcn']} and {halves['gcn']} epochs"
    )
    lower, slower = ends["glcn"] < ends["gcn"], halves["glcn"] >= halves["gcn"]
    return Claim(text, HOLDS if lower and slower else FAILS, words)


def _epochs_to_settle(curve: Sequence[float]) -> int:
    end = mean(curve[-20:])
    return int(np.argmax(np.array(curve) <= end + 0.1 * (curve[0] - end)))


def _depth(evidence: Evidence) -> Claim:
    text = "GLCN is better than GCN at every depth, and insensitive to depth."
    return _over_a_sweep(text, evidence.depth, range_of="depths")


def _width(evidence: Evidence) -> Claim:
    return _over_a_sweep(
        "GLCN is insensitive to the number of hidden units.", evidence.tables["table3"], range_of="widths", above=False
    )


def _over_a_sweep(text: str, found: Sequence[Grid], *, range_of: str, above: bool = True) -> Claim:
    (grid,) = found
    ours, theirs = (next(line for line in grid.lines if line.name == name).cells for name in ("glcn", "gcn"))
    both = [(one.mean, other.mean) for one, other in zip(ours, theirs, strict=True)]
    known = [(one, other) for one, other in both if one is not None and other is not None]
    if len(known) < len(both):
        return Claim(text, OPEN, "not run yet")
    wins = sum(one > other for one, other in known)
    spread = max(one for one, _ in known) - min(one for one, _ in known)
    words = f"the means of GLCN at {len(known)} {range_of} lie within {spread:.2f} points"
    if not above:
        return Claim(text, HOLDS if spread <= INSENSITIVE else FAILS, words)
    together = compare(_together(ours), _together(theirs))
    words = f"above GCN at {wins} of {len(known)} {range_of}; {words}"
    if spread > INSENSITIVE or wins < len(known) or together is None:
        return Claim(text, FAILS, words)
    words += f"; all {range_of} and splits together {together.describe()}"
    sure = together.wins > together.losses and together.p is not None and together.p < SIGNIFICANT
    return Claim(text, HOLDS if sure else OPEN, words)


def _together(cells: Sequence[Cell]) -> Cell:
    """Return all runs of some cells as if they were one cell's."""
    accuracies = {
        seed * len(cells) + number: value
        for number, cell in enumerate(cells)
        for seed, value in cell.accuracies.items()
    }
    return Cell(None, accuracies, sum(cell.wanted for cell in cells))


def _graph_weight(evidence: Evidence) -> Claim:
    text = "λ = 0 is reasonable, and λ > 0 is better."
    verdicts, words = [], []
    for grid in evidence.tables["table4"]:
        cells = next(line for line in grid.lines if line.name == "glcn").cells
        if any(cell.mean is None for cell in cells):
            return Claim(text, OPEN, "not run yet")
        best = max(cells[1:], key=lambda cell: cell.mean or 0.0)
        result = compare(best, cells[0])
        if result is None:
            return Claim(text, OPEN, "no split has been run with and without the graph loss yet")
        weight = grid.columns[list(cells).index(best)]
        words.append(f"{grid.title.split(',')[0]}: best λ = {weight}, {result.describe()} against λ = 0")
        verdicts.append(result.wins == result.seeds)
    least = "p of 5 splits is at least 0.062, of 3 splits 0.250"
    return Claim(text, HOLDS if all(verdicts) else FAILS, f"{'; '.join(words)} ({least})")


def _maps(evidence: Evidence) -> Claim:
    text = "GLCN's first convolution separates the classes more clearly in a t-SNE map."
    path = evidence.results / "figure4.npz"
    if not path.exists():
        return Claim(text, OPEN, "not run yet")
    with np.load(path) as maps:
        gcn, glcn = float(maps["gcn_agreement"]), float(maps["glcn_agreement"])
    words = f"Scene15: of a row's 10 nearest on the map {glcn:.1%} are of its class with GLCN, {gcn:.1%} with GCN"
    if abs(glcn - gcn) < CLEARLY:
        return Claim(text, OPEN, f"{words}; under a point, on one pair of maps")
    return Claim(text, HOLDS if glcn > gcn else FAILS, words)


def _speed(evidence: Evidence) -> Claim:
    text = "GLCN is only slightly slower than GCN."
    ratios = []
    own = {run.key for target in ("table1", "table2") for run in runs_of(target, methods=("gcn", "glcn"))}
    rows = [row for row in evidence.rows if row["key"] in own]
    for task in sorted({row["task"] for row in rows}):
        cost = {
            name: [
                row["seconds"] / row["epochs"]
                for row in rows
                if (row["task"], row["method"]) == (task, name) and row.get("epochs")
            ]
            for name in ("gcn", "glcn")
        }
        if all(cost.values()):
            ratios.append((task, median(cost["glcn"]) / median(cost["gcn"])))
    if not ratios:
        return Claim(text, OPEN, "not run yet")
    listed = ", ".join(f"{task} {ratio:.1f}" for task, ratio in ratios)
    words = (
        "medians of wall-clock times of runs that shared the machine with others, so no benchmark; "
        f"seconds an epoch over GCN's, both with their own settings: {listed}"
    )
    return Claim(text, HOLDS if max(ratio for _, ratio in ratios) <= SLIGHTLY else FAILS, words)


_JUDGES: tuple[Callable[[Evidence], Claim], ...] = (
    _gcn,
    _gat,
    _others,
    _training_loss,
    _depth,
    _width,
    _graph_weight,
    _maps,
    _speed,
)
