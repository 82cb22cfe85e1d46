"""Which runs each table and figure of the paper needs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from glcn.experiments.recipe import Recipe, recipe, recipes, task, tasks
from glcn.experiments.recipe import method as method_named
from glcn.experiments.run import Run, parameters_of
from glcn.experiments.runner import seeds_first

CITATION = ("citeseer", "cora-released", "cora", "pubmed")
IMAGES = ("svhn", "cifar10", "mnist", "scene15")
HIDDEN_UNITS = (50, 60, 70, 80, 90)
GRAPH_WEIGHTS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
DEPTHS = (2, 3, 4, 5, 6)
SWEEP_SEEDS = 5
SIX = ("manireg", "lp", "deepwalk", "gcn", "gat", "glcn")
WITH_DEPTH = ("gcn", "glcn", "glcn-closeness")
WITH_GRAPH_WEIGHT = ("glcn", "glcn-closeness")
QUICK: dict[str, Any] = {"max_epochs": 60, "walks_per_row": 2, "max_landmarks": 500}


def runs_of(
    target: str,
    *,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
) -> list[Run]:
    """Return the runs of ``table1`` to ``table4`` and ``figure5``, in the order in which to do them."""
    found = _TARGETS[target]()
    known = {each.name for each in tasks()} | {each.dataset for each in tasks()}
    for name in datasets or ():
        if name not in known:
            raise ValueError(f"there is no dataset {name!r}; choose one of {', '.join(sorted(known))}")
    if datasets is not None:
        chosen = set(datasets)
        found = [run for run in found if {run.recipe.task.name, run.recipe.task.dataset} & chosen]
    if methods is not None:
        wanted = {method_named(name).name for name in methods}
        found = [run for run in found if run.recipe.method.name in wanted]
    if quick:
        found = [_quick(run) for run in found if run.seed == 0 and run.column == run.recipe.task.columns[0]]
    if seeds is not None:
        found = _with_seeds(found, seeds)
    return seeds_first(found)


def _with_seeds(runs: Sequence[Run], seeds: int) -> list[Run]:
    once = {(run.recipe.task.name, run.recipe.method.name, run.column, str(run.changes)): run for run in runs}
    return [replace(run, seed=seed) for seed in range(seeds) for run in once.values()]


def _quick(run: Run) -> Run:
    """Shorten a run, so that every method can be seen at work; its figure says little."""
    cheaper = {name: value for name, value in QUICK.items() if name in parameters_of(run.recipe.method)}
    return replace(run, changes={**run.changes, **cheaper})


def _columns(names: Sequence[str]) -> list[Run]:
    """Return every method on every column of some tasks."""
    return [
        Run(each, column, seed)
        for name in names
        for column in task(name).columns
        for each in recipes(task(name))
        for seed in range(column.seeds)
    ]


def _sweep(task_name: str, method_names: Sequence[str], parameter: str, values: Sequence[Any]) -> list[Run]:
    """Return runs that differ from the recipes in one setting, at the smallest number of labels."""
    column = task(task_name).columns[0]
    return [
        Run(each, column, seed, {parameter: value})
        for each in (sweep_recipe(task_name, name) for name in method_names)
        for value in values
        for seed in range(SWEEP_SEEDS)
    ]


def sweep_recipe(task_name: str, method_name: str) -> Recipe:
    """Return the recipe that a sweep starts from."""
    return recipe(task(task_name), method_named(method_name))


_TARGETS = {
    "table1": lambda: _columns(CITATION),
    "table2": lambda: _columns(IMAGES),
    "table3": lambda: _sweep("mnist", WITH_DEPTH, "hidden_units", HIDDEN_UNITS),
    "table4": lambda: [
        run for name in ("cifar10", "mnist") for run in _sweep(name, WITH_GRAPH_WEIGHT, "graph_weight", GRAPH_WEIGHTS)
    ],
    "figure5": lambda: _sweep("mnist", WITH_DEPTH, "n_layers", DEPTHS),
}
