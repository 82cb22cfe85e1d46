"""The tables of the paper, filled with its figures and ours."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from glcn.experiments.plan import ALL, QUICK, TABLES, runs_of, sweep_run, sweeps_of, tasks_of
from glcn.experiments.recipe import Method, Sweep, Task, recipes
from glcn.experiments.records import Row
from glcn.experiments.run import Run


@dataclass(frozen=True)
class Cell:
    """One method in one column: what the paper prints, and what we measured."""

    paper: str | None
    accuracies: Mapping[int, float]  # in %, by seed
    wanted: int  # number of seeds in all
    same_class_mass: float | None = None  # mean share of what test rows receive that comes from their own class

    @property
    def mean(self) -> float | None:
        """Mean accuracy in %."""
        return mean(self.accuracies.values()) if self.accuracies else None

    @property
    def ours(self) -> str:
        """Mean ± standard deviation in words, with the number of seeds where some are missing."""
        if not self.accuracies:
            return "–"
        values = list(self.accuracies.values())
        spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
        missing = f" ({len(values)} of {self.wanted})" if len(values) < self.wanted else ""
        return f"{mean(values):.2f}{spread}{missing}"

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points."""
        if self.paper is None or self.mean is None:
            return None
        return self.mean - float(self.paper.split("±")[0])


@dataclass(frozen=True)
class Line:
    """One method in all columns."""

    name: str
    title: str
    role: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """A table: columns and lines."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]

    def cell(self, method: str, column: str) -> Cell | None:
        """Return a cell by names, None where there is none."""
        for line in self.lines:
            if line.name == method and column in self.columns:
                return line.cells[self.columns.index(column)]
        return None


class Found:
    """Finished rows by the key of their run."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.by_key = {row["key"]: row for row in rows}

    def cell(self, runs: Sequence[Run], paper: str | None = None) -> Cell:
        """Gather the seeds of a cell."""
        rows = {run.seed: row for run in runs if (row := self.by_key.get(run.key))}
        masses = [row["same_class_mass"] for row in rows.values() if "same_class_mass" in row]
        accuracies = {seed: 100 * row["accuracy"] for seed, row in rows.items()}
        return Cell(paper, accuracies, len(runs), mean(masses) if masses else None)


def grids(target: str, found: Found, runs: Sequence[Run] | None = None) -> list[Grid]:
    """Return the grids of a table: one a task for Tables 1 and 2, one a sweep for the others.

    ``runs`` are those asked for, where they are not all that the recipes name.
    """
    cells = _Cells(found, runs_of(target, methods=[ALL]) if runs is None else runs)
    if target in TABLES:
        return [grid for task in tasks_of(target) if (grid := _task_grid(task, cells)).lines]
    return [grid for sweep in sweeps_of(target) if (grid := _sweep_grid(sweep, cells)).lines]


class _Cells:
    """The runs that were asked for, by cell."""

    def __init__(self, found: Found, runs: Sequence[Run]) -> None:
        self.found = found
        self.runs: dict[Place, list[Run]] = defaultdict(list)
        for run in runs:
            self.runs[_place(run)].append(run)

    def has(self, task: Task, method: Method) -> bool:
        return any(place[:2] == (task.name, method.name) for place in self.runs)

    def cell(self, run: Run, paper: str | None) -> Cell:
        return self.found.cell(self.runs.get(_place(run), []), paper)


Place = tuple[str, str, str, str]


def _place(run: Run) -> Place:
    """Return what runs of one cell share; what `--quick` changes in all of them does not count."""
    changes = {name: value for name, value in run.changes.items() if name not in QUICK}
    return run.recipe.task.name, run.recipe.method.name, run.column.name, str(changes)


def _task_grid(task: Task, cells: _Cells) -> Grid:
    lines = tuple(
        Line(
            each.method.name,
            each.method.title,
            each.method.role,
            tuple(cells.cell(Run(each, column, 0), each.paper.get(column.name)) for column in task.columns),
        )
        for each in recipes(task)
        if cells.has(task, each.method)
    )
    return Grid(task.title, tuple(column.title for column in task.columns), lines)


def _sweep_grid(sweep: Sweep, cells: _Cells) -> Grid:
    lines = tuple(
        Line(
            method.name,
            method.title,
            method.role,
            tuple(
                cells.cell(
                    sweep_run(sweep, method, value, 0),
                    sweep.paper[method.name][place] if method.name in sweep.paper else None,
                )
                for place, value in enumerate(sweep.values)
            ),
        )
        for method in sweep.methods
        if cells.has(sweep.task, method)
    )
    return Grid(sweep.title, sweep.titles, lines)
