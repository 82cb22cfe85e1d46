"""Which runs each table and figure of the paper needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from glcn.experiments.perturb import CHANGES
from glcn.experiments.recipe import Method, Sweep, Task, all_tasks, recipe, recipes, sweeps, tasks
from glcn.experiments.recipe import method as method_named
from glcn.experiments.recipe import methods as all_methods
from glcn.experiments.run import Run, parameters_of
from glcn.experiments.runner import seeds_first

TABLES = ("table1", "table2")
PAPER = (*TABLES, "table3", "table4", "figure3", "figure4", "figure5")
TARGETS = (*PAPER, "ablation", "noise", "rounds")
ALL = "all"
DEFAULT = "default"  # the value of a sweep that leaves a setting as the recipe has it
QUICK: dict[str, Any] = {"max_epochs": 100, "walks_per_row": 2, "max_landmarks": 500}


def tasks_of(target: str) -> tuple[Task, ...]:
    """Return the tasks of Table 1 (with a graph of their own) or Table 2 (without)."""
    return tuple(task for task in tasks() if task.table == target)


def sweeps_of(target: str) -> tuple[Sweep, ...]:
    """Return the sweeps of a table or figure."""
    return tuple(sweep for sweep in sweeps() if sweep.target == target)


def runs_of(
    target: str,
    *,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
) -> list[Run]:
    """Return the runs of a table or sweep in the order in which to do them; Figures 3 and 4 have none.

    Left out, ``methods`` are the paper's and ours in Tables 1 and 2, and ``["all"]`` has those that are for reference
    too; a sweep has the methods that it names.
    """
    wanted = _wanted([ALL] if methods is None and target not in TABLES else methods)
    chosen = None if datasets is None else _known(datasets)
    found = [
        run
        for run in (_table_runs(target) if target in TABLES else _sweep_runs(target))
        if (chosen is None or {run.recipe.task.name, run.recipe.task.dataset} & chosen)
        and run.recipe.method.name in wanted
    ]
    if quick:
        found = [_shortened(run) for run in found if run.column == run.recipe.task.columns[0]]
    if seeds is not None or quick:
        found = _with_seeds(found, seeds or 1)
    return seeds_first(found)


def sweep_run(sweep: Sweep, method: Method, value: Any, seed: int) -> Run:
    """Return one run of a sweep."""
    changes = {} if value == DEFAULT else {sweep.parameter: value}
    changes |= _that_it_has(method, sweep.shared)
    return Run(recipe(sweep.task, method), sweep.column, seed, changes)


def _wanted(methods: Iterable[str] | None) -> set[str]:
    names = ["main"] if methods is None else list(methods)
    groups = {
        "main": {method.name for method in all_methods() if method.role != "reference"},
        ALL: {method.name for method in all_methods()},
    }
    return {found for name in names for found in groups.get(name) or {method_named(name).name}}


def _known(datasets: Iterable[str]) -> set[str]:
    known = {name for task in all_tasks() for name in (task.name, task.dataset)}
    chosen = set(datasets)
    for name in sorted(chosen - known):
        raise ValueError(f"there is no dataset {name!r}; choose among {', '.join(sorted(known))}")
    return chosen


def _table_runs(target: str) -> list[Run]:
    return [
        Run(each, column, seed)
        for task in tasks_of(target)
        for column in task.columns
        for each in recipes(task)
        for seed in range(column.seeds)
    ]


def _sweep_runs(target: str) -> list[Run]:
    return [
        sweep_run(sweep, method, value, seed)
        for sweep in sweeps_of(target)
        for method in sweep.methods
        for value in sweep.values
        for seed in range(sweep.seeds)
    ]


def _with_seeds(runs: Sequence[Run], seeds: int) -> list[Run]:
    once = {(run.recipe.method.name, replace(run, seed=0).key): run for run in runs}
    return [replace(run, seed=seed) for seed in range(seeds) for run in once.values()]


def _shortened(run: Run) -> Run:
    """Cut a run short, so that every method can be seen at work; its figure says little."""
    return replace(run, changes={**run.changes, **_that_it_has(run.recipe.method, QUICK)})


def _that_it_has(method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
    known = parameters_of(method) | set(CHANGES)
    return {name: value for name, value in settings.items() if name in known}
