"""What tests of the experiments share: results that were made up, and workers within this process."""

import json
import pickle
from concurrent.futures import Future

from threadpoolctl import threadpool_limits

from glcn.experiments.plan import runs_of
from glcn.experiments.recipe import Column, Task

threadpool_limits(1)  # as in a worker

TABLES = ("table1", "table2", "table3", "table4", "figure5")

DIGITS = Task(
    name="mnist",  # whose recipes it has
    title="Digits",
    dataset="digits",
    columns=(Column("100", "random", 100, 2), Column("200", "random", 200, 2)),
    graph={"prepare": "unit", "n_neighbors": 5, "metric": "euclidean"},
)


class HereWorkers:
    """Stands in for ``workers``: the work is done at once, but goes through pickle as it would to another process."""

    def __init__(self, jobs):
        self.jobs = jobs

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def submit(self, work, *arguments):
        future = Future()
        work, arguments = pickle.loads(pickle.dumps((work, arguments)))
        try:
            future.set_result(work(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def made_row(run, accuracy, **more):
    """A finished row of a run, with the entries that tables, claims and progress look at."""
    return {
        "dataset": run.recipe.task.dataset,
        "method": run.recipe.method.name,
        "task": run.recipe.task.name,
        "column": run.column.name,
        "seed": run.seed,
        "accuracy": accuracy,
        "settings": run.settings,
        "epochs": 100,
        "seconds": 1.0,
        "key": run.key,
        **more,
    }


def write_rows(results, rows):
    results.mkdir(parents=True, exist_ok=True)
    with (results / "runs.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_results(results, accuracy, targets=TABLES, **more):
    """Write a row for every run of the targets for which ``accuracy(run)`` is not None."""
    runs = {run.key: run for target in targets for run in runs_of(target, methods=["all"])}
    write_rows(results, [made_row(run, accuracy(run), **more) for run in runs.values() if accuracy(run) is not None])
