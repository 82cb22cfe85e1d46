"""`glcn reproduce`: the tables and figures of the paper, by one command."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from glcn.cli.errors import MISTAKE, told_plainly

if TYPE_CHECKING:
    from glcn.experiments.run import Run
    from glcn.experiments.runner import Listener, State
    from glcn.experiments.tables import Cell, Grid


def reproduce(
    target: Annotated[
        str,
        typer.Argument(
            help="table1 to table4, figure3 to figure5, ablation (what the graph of plus is worth), noise (edges added "
            "and removed, no graph) or all."
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="See every method at work: one seed, few epochs; kept apart. Of all: the paper's."
        ),
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds or splits a cell.", show_default="10 or 5, as the recipe says")
    ] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these, joined by commas.")] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="These, joined by commas; all: also those for reference, such as logistic regression.",
            show_default="the paper's six and ours; all with --show and --quick",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs side by side, one thread each.")] = 1,
    results: Annotated[Path, typer.Option(help="Folder of results; what is there is not computed again.")] = Path(
        "results"
    ),
    compare: Annotated[
        bool, typer.Option("--compare", help="Show ours against the paper's, and GLCN against each method.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Show what is there; compute nothing.")] = False,
    page: Annotated[
        Path | None, typer.Option(help="Write a Markdown page of all results, with figures beside it.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Redo the tables and figures of the paper, and what goes past it; an interrupted run goes on where it was."""
    with told_plainly(debug, "stopped; finished runs are kept, run the same command again to go on"):
        from glcn.experiments.figures import DATASETS, FIGURES
        from glcn.experiments.page import write_page
        from glcn.experiments.plan import ALL, PAPER, TARGETS, runs_of
        from glcn.experiments.records import read
        from glcn.experiments.runner import run_all
        from glcn.experiments.tables import Found, grids

        if target not in (*TARGETS, "all"):
            raise ValueError(f"there is no {target!r}; choose one of {', '.join(TARGETS)} or all")
        everything = PAPER if quick else TARGETS  # the tables have every method on every dataset
        wanted = everything if target == "all" else (target,)
        named = _listed(methods) or ([ALL] if show or quick else None)
        chosen: dict[str, Any] = {"datasets": _listed(datasets), "methods": named, "seeds": seeds, "quick": quick}
        tables = [each for each in wanted if each not in ("figure3", "figure4")]
        runs = [run for each in tables for run in runs_of(each, **chosen)]
        among = chosen["datasets"]
        figures = [name for name in wanted if name in FIGURES and (among is None or DATASETS[name] in among)]
        if not runs and not figures:
            raise ValueError(f"{target} has nothing for these datasets and methods")
        rows_file = results / ("quick.jsonl" if quick else "runs.jsonl")
        console = Console()
        failed = []
        if not show:
            runs = _with_data(runs)
        if runs and not show:
            if not quick:
                _warn_of_changes()
            with _watched(tables, runs) as listener:
                state = run_all(runs, rows_file, jobs=jobs, cache=results / "cache", listener=listener)
            failed = state.failed
        shown = [grid for each in tables for grid in grids(each, Found(read(rows_file)), runs)]
        for grid in shown:
            if _any(grid):
                console.print(_table(grid))
                if compare:
                    console.print(*_comparisons(grid), sep="\n")
        for path in (path for name in figures if not quick for path in _drawn(name, results, show, target)):
            console.print(f"figure: {escape(str(path))}", soft_wrap=True)
        if page is not None:
            write_page(page, results)
            console.print(f"page: {escape(str(page))}", soft_wrap=True)
        for run, error in failed:
            reason = error if debug else error.strip().splitlines()[-1]
            Console(stderr=True).print(f"[bold red]failed:[/] {escape(run.title)}: {escape(reason)}", soft_wrap=True)
        if failed:
            raise typer.Exit(MISTAKE)


def _warn_of_changes() -> None:
    """Say before the work that its rows could not be traced to a commit."""
    from glcn.experiments.runner import current_commit

    commit = current_commit()
    if commit is not None and commit.endswith("+"):
        Console(stderr=True).print(
            f"[bold]note:[/] the code differs from its last commit, so rows will name {commit}; "
            "commit first if they are to be kept",
            soft_wrap=True,
        )


def _with_data(runs: "list[Run]") -> "list[Run]":
    """Leave out the runs whose data is not here, and say so."""
    from glcn.datasets import MissingDataError

    missing: dict[str, str] = {}
    for task in {run.recipe.task.name: run.recipe.task for run in runs}.values():
        try:
            task.load(task.columns[0], 0)
        except MissingDataError as error:
            missing[task.name] = str(error)
    for name, reason in missing.items():
        Console(stderr=True).print(f"[bold]left out:[/] {escape(name)}: {escape(reason)}", soft_wrap=True)
    if runs and len(missing) == len({run.recipe.task.name for run in runs}):
        raise ValueError("none of the datasets is here; `glcn data list` shows which there are")
    return [run for run in runs if run.recipe.task.name not in missing]


def _drawn(figure: str, results: Path, show: bool, target: str) -> list[Path]:
    """Draw a figure; among all targets, one whose data is not here is left out."""
    from glcn.datasets import MissingDataError
    from glcn.experiments.figures import FIGURES

    try:
        return FIGURES[figure](results, compute=not show)
    except MissingDataError as error:
        if target != "all":
            raise
        Console(stderr=True).print(f"[bold]left out:[/] {figure}: {escape(str(error))}", soft_wrap=True)
        return []


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


@contextmanager
def _watched(tables: list[str], runs: "Sequence[Run]") -> "Iterator[Listener]":
    """Draw a live table on a terminal; elsewhere print a line for each run that ends."""
    from glcn.experiments.tables import Found, grids

    errors = Console(stderr=True)
    if not sys.stderr.isatty():
        told: int | None = None

        def tell(state: "State") -> None:
            nonlocal told
            for row in state.rows[-1:] if told is None else state.rows[told:]:  # of earlier rows the last is enough
                errors.print(
                    f"{state.done} of {state.total}: {row['task']} {row['column']} {row['method']} seed {row['seed']} "
                    f"{row['accuracy']:.2%} in {row['seconds']:.0f} s{_left(state)}",
                    soft_wrap=True,
                    highlight=False,
                )
            told = len(state.rows)

        yield tell
        return
    with Live(console=errors, refresh_per_second=2, transient=True, vertical_overflow="crop") as live:

        def draw(state: "State") -> None:
            shown = [_table(grid) for each in tables for grid in grids(each, Found(state.rows), runs) if _any(grid)]
            head = Text(f"{state.done} of {state.total} runs done{_left(state)}", style="bold")
            now = Text("now: " + "; ".join(run.title for run in state.running), style="dim", overflow="ellipsis")
            live.update(Group(head, now, *shown[-2:]))

        yield draw


def _any(grid: "Grid") -> bool:
    return any(cell.accuracies for line in grid.lines for cell in line.cells)


def _left(state: "State") -> str:
    seconds = state.seconds_left
    if seconds is None or state.done == state.total:
        return ""
    if seconds < 90:
        return f", about {seconds:.0f} s left"
    if seconds < 5400:
        return f", about {seconds / 60:.0f} min left"
    return f", about {seconds / 3600:.1f} h left"


def _table(grid: "Grid") -> Table:
    """Ours, and the paper's figure below it; many columns become lines, so that 80 columns of a terminal suffice."""
    table = Table(title=grid.title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    turned = len(grid.columns) > 4
    heads = [line.title for line in grid.lines] if turned else list(grid.columns)
    sides = list(grid.columns) if turned else [line.title for line in grid.lines]
    table.add_column("")
    for head in heads:
        table.add_column(escape(head), justify="right")
    cells = [line.cells for line in grid.lines]
    for side, found in zip(sides, zip(*cells, strict=True) if turned else cells, strict=True):
        table.add_row(escape(side), *(_cell_text(cell) for cell in found))
    return table


def _cell_text(cell: "Cell") -> str:
    return cell.ours if cell.paper is None else f"{cell.ours}\n[dim]paper {cell.paper}[/]"


def _comparisons(grid: "Grid") -> Iterator[Table]:
    """For each column: ours minus the paper's, and our methods against each, by a paired test over seeds or splits."""
    from glcn.experiments.comparison import compare

    ours = [line for line in grid.lines if line.role == "ours"]
    for place, column in enumerate(grid.columns):
        table = Table(title=f"{grid.title}, {column}: points", title_justify="left", box=None, pad_edge=False)
        for name in ("", "ours − paper", *(f"{line.title} − it" for line in ours)):
            table.add_column(escape(name))
        for line in grid.lines:
            cell = line.cells[place]
            if cell.mean is None:
                continue
            against = (None if mine is line else compare(mine.cells[place], cell) for mine in ours)
            table.add_row(
                escape(line.title),
                "" if cell.difference is None else f"{cell.difference:+.2f}",
                *("" if each is None else each.describe() for each in against),
            )
        if table.row_count:
            yield table
