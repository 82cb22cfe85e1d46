"""`glcn tune`: choose settings by validation score."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from glcn.cli.errors import told_plainly


def tune(
    dataset: Annotated[str, typer.Argument(help="Which task: a folder of recipes, such as cora or mnist; or all.")],
    method: Annotated[
        list[str] | None,
        typer.Argument(help="Which methods; `graph` is the neighbours of an image set."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Settings to try for each method, in all.")] = 12,
    jobs: Annotated[int, typer.Option(min=1, help="Searches to run side by side, one thread each.")] = 1,
    results: Annotated[Path, typer.Option(help="Folder of results; logs go to its folder tuning.")] = Path("results"),
    write: Annotated[bool, typer.Option("--write", help="Write the best settings into the recipes.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Choose settings by validation accuracy, with as many trials for every method; test labels are not read.

    Where the task has final seeds, the first trial and the best three others are scored by these, too, and
    the first is left only for one that is surely better.
    A search that was broken off goes on where it was.
    """
    with told_plainly(debug, "stopped; finished trials are kept, run the same command again to go on"):
        from glcn.experiments.searches import search_all, searches
        from glcn.experiments.tune import best, first_scores

        wanted = searches(dataset, method)
        console = Console(stderr=True)
        with console.status("") as status:

            def show(done: int, total: int, names: str) -> None:
                status.update(f"{done} of {total} scores known; now: {escape(names)}")

            logs = search_all(wanted, results, trials=trials, jobs=jobs, listener=show, write=write)
        table = Table("task", "method", "trials", "seeds", "validation", "best settings", box=None, pad_edge=False)
        for search, rows in logs:
            chosen = best(rows)
            table.add_row(
                search.task.name,
                search.name,
                str(len(first_scores(rows))),
                str(chosen["seeds"]),
                f"{chosen['validation_accuracy']:.1%}",
                escape(_words(chosen["params"])),
            )
        Console().print(table)


def _words(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
