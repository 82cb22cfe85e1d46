"""Many searches for settings side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import NamedTuple

from glcn.experiments.recipe import Method, Task, recipes, task, tasks
from glcn.experiments.records import Row, read
from glcn.experiments.runner import workers
from glcn.experiments.tune import GRAPH, NEIGHBORS, adopt, log_path, read_log, scores_of, tune, tune_graph


class Search(NamedTuple):
    """A method to tune on a task; no method stands for the graph of the task."""

    task: Task
    method: Method | None

    @property
    def name(self) -> str:
        """The name of its log."""
        return GRAPH if self.method is None else self.method.name


def searches(task_name: str, methods: list[str] | None = None) -> list[Search]:
    """Return what can be tuned on a task (or on ``"all"``), the graph first where it is asked for by name."""
    if methods and GRAPH in methods and len(methods) > 1:
        raise ValueError("choose the graph first, by itself: the other methods are tuned on the one that was chosen")
    found = []
    for each in tasks() if task_name == "all" else [task(task_name)]:
        if task_name == "all" and methods == [GRAPH] and each.graph is None:
            continue
        there = {recipe.method.name: recipe.method for recipe in recipes(each)}
        names = methods or [name for name, method in there.items() if method.search]
        for name in names:
            if name == GRAPH:
                if each.graph is None:
                    raise ValueError(f"{each.name} has a graph of its own: there is none to choose")
                found.append(Search(each, None))
            elif name not in there:
                raise ValueError(f"there is no recipe {name!r} for {each.name}; choose among {', '.join(there)}")
            else:
                found.append(Search(each, there[name]))
    return found


def search_all(
    wanted: Sequence[Search],
    folder: Path,
    *,
    trials: int,
    jobs: int = 1,
    listener: Callable[[int, int, str], None] | None = None,
    write: bool = False,
) -> list[tuple[Search, list[Row]]]:
    """Run searches, ``jobs`` at a time, and return their logs; ``write`` puts the best settings into the recipes."""

    def goal(search: Search) -> int:
        return len(NEIGHBORS) if search.method is None else scores_of(search.task, trials)

    def log(search: Search) -> list[Row]:
        path = log_path(folder, search.task, search.name)
        return read(path) if search.method is None else read_log(path, trials)

    with workers(jobs) as pool:
        waiting = list(wanted)
        pending: dict[Future[None], Search] = {}
        while waiting or pending:
            while waiting and len(pending) < jobs:
                search = waiting.pop(0)
                pending[pool.submit(_work, search, folder, trials)] = search
            finished, _ = wait(pending, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in finished:
                search = pending.pop(future)
                future.result()
            if listener is not None:
                names = ", ".join(f"{search.task.name} {search.name}" for search in pending.values())
                listener(sum(len(log(search)) for search in wanted), sum(map(goal, wanted)), names)
    logs = [(search, log(search)) for search in wanted]
    for search, rows in logs:
        if write and search.method is not None:
            adopt(search.task, search.method, rows)
    return logs


def _work(search: Search, folder: Path, trials: int) -> None:
    cache = folder / "cache"
    if search.method is None:
        tune_graph(search.task, folder, cache=cache)
    else:
        tune(search.task, search.method, folder, trials=trials, cache=cache)
