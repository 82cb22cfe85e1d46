"""Recipes: what is run for a dataset and a method, read from small files.

A folder of ``recipes/`` is a task: ``task.toml`` names the dataset, its columns in the tables and its graph, every
other file is a method on it. Adding a task or a method is adding a file.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from glcn.datasets import Dataset, load
from glcn.datasets.files import written_aside

FOLDER = Path(__file__).with_name("recipes")
METHODS = Path(__file__).with_name("methods")
SWEEPS = Path(__file__).with_name("sweeps.toml")

_T = TypeVar("_T")


@dataclass(frozen=True)
class Column:
    """One column of a table: a split of the dataset, and how many seeds are run on it."""

    name: str
    split: str
    labels: int | None
    seeds: int

    @property
    def title(self) -> str:
        """What stands above it in a table."""
        return f"{self.split} split" if self.labels is None else f"{self.labels} labels"


@dataclass(frozen=True)
class Task:
    """A dataset as the experiments use it."""

    name: str
    title: str
    dataset: str
    columns: tuple[Column, ...]  # the first one is the one that settings are chosen on
    table: str | None = None  # of the paper, where it stands in one
    prepare: str | None = None
    descriptor: str | None = None
    graph: Mapping[str, Any] | None = None  # of a dataset without one: {"prepare": ..., "n_neighbors": ..., "metric"}
    final_seeds: int = 0  # further seeds by which the best settings are compared; seeds must not change the split

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return _choose("column", name, {each.name: each for each in self.columns})

    def load(self, column: Column, seed: int) -> Dataset:
        """Load the dataset with the split of a column and seed."""
        return load(
            self.dataset,
            split=column.split,
            labels=column.labels,
            seed=seed,
            prepare=self.prepare,
            descriptor=self.descriptor,
        )


@dataclass(frozen=True)
class Method:
    """A way to classify: an estimator, and what tuning may choose from."""

    name: str
    title: str
    estimator: str
    source: str  # where the method comes from
    fixed: Mapping[str, Any] = field(default_factory=dict)  # settings that tuning does not touch
    start: Mapping[str, Any] = field(default_factory=dict)  # the first settings that tuning tries
    search: Mapping[str, Any] = field(default_factory=dict)  # parameter → list of choices, or {low, high, log}
    role: str = "baseline"  # "baseline", "ours", "reference": in the tables, not the paper's; "arm": in no table


@dataclass(frozen=True)
class Recipe:
    """A method on a task."""

    task: Task
    method: Method
    settings: Mapping[str, Any]
    paper: Mapping[str, str]  # the paper's number by column, as printed there
    deviations: tuple[str, ...]
    tuned: bool


@dataclass(frozen=True)
class Sweep:
    """Runs that differ from recipes in one setting."""

    target: str
    title: str
    task: Task
    column: Column
    parameter: str
    values: tuple[Any, ...]
    methods: tuple[Method, ...]
    seeds: int
    titles: tuple[str, ...]  # of the values, where they stand above or beside a table
    paper: Mapping[str, Sequence[str]]
    shared: Mapping[str, Any]  # further settings of all methods that have them, and changes to the graph


def sweeps() -> tuple[Sweep, ...]:
    """Return the sweeps of Tables 3 and 4 and Figure 5, and those past the paper."""
    found = []
    for content in _read(SWEEPS)["sweep"]:
        home = task(content["task"])
        content |= {
            "task": home,
            "column": home.column(content["column"]),
            "values": tuple(content["values"]),
            "titles": tuple(content.get("titles") or [f"{value:g}" for value in content["values"]]),
            "methods": tuple(method(name) for name in content["methods"]),
            "paper": content.get("paper", {}),
            "shared": content.get("shared", {}),
        }
        found.append(Sweep(**content))
    return tuple(found)


def tasks() -> tuple[Task, ...]:
    """Return the tasks of the paper's tables, in their order."""
    return tuple(task for task in all_tasks() if task.table is not None)


def all_tasks() -> tuple[Task, ...]:
    """Return all tasks, those that go past the paper too."""
    found = [_read_task(path) for path in FOLDER.glob("*/task.toml")]
    return tuple(task for _, task in sorted(found, key=lambda pair: pair[0]))


def task(name: str) -> Task:
    """Return the task of that name."""
    return _choose("dataset", name, {each.name: each for each in all_tasks()})


@cache
def methods() -> tuple[Method, ...]:
    """Return all methods, in the order of the tables."""
    found = []
    for path in METHODS.glob("*.toml"):
        content = _read(path)
        found.append((content.pop("order"), Method(path.stem, **content)))
    return tuple(method for _, method in sorted(found, key=lambda pair: pair[0]))


def method(name: str) -> Method:
    """Return the method of that name."""
    return _choose("method", name, {each.name: each for each in methods()})


def recipes(task_: Task) -> tuple[Recipe, ...]:
    """Return the methods that are run on a task."""
    here = [each for each in methods() if recipe_path(task_, each).exists()]
    return tuple(recipe(task_, each) for each in here)


def recipe_path(task_: Task, method_: Method) -> Path:
    """Return where the recipe of a method on a task stands."""
    return FOLDER / task_.name / f"{method_.name}.toml"


def recipe(task_: Task, method_: Method) -> Recipe:
    """Return the recipe of a method on a task; one without anything to choose needs no file."""
    path = recipe_path(task_, method_)
    content = _read(path) if path.exists() or method_.search else {}
    return Recipe(
        task=task_,
        method=method_,
        settings=with_none({**method_.fixed, **content.get("settings", {})}),
        paper=content.get("paper", {}),
        deviations=tuple(content.get("deviations", ())),
        tuned=bool(method_.search),
    )


def with_none(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Turn "none", which is how TOML has to write it, into None."""
    return {name: None if value == "none" else value for name, value in settings.items()}


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Replace the settings of a recipe, which stand last in its file."""
    head = path.read_text(encoding="utf-8").split("[settings]")[0]
    lines = [f"{name} = {_as_toml(value)}" for name, value in settings.items()]
    with written_aside(path) as aside:
        aside.write_text(head + "\n".join(["[settings]", *lines]) + "\n", encoding="utf-8")


def _as_toml(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _read_task(path: Path) -> tuple[int, Task]:
    content = _read(path)
    columns = tuple(
        Column(name, each.get("split", "random"), each.get("labels"), each["seeds"])
        for name, each in content.pop("columns").items()
    )
    return content.pop("order"), Task(path.parent.name, columns=columns, **content)


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        try:
            return tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} can not be read: {error}") from error


def _choose(kind: str, name: str, among: Mapping[str, _T]) -> _T:
    if name not in among:
        raise ValueError(f"there is no {kind} {name!r}; choose one of {', '.join(among)}")
    return among[name]
