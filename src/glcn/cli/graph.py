"""`glcn graph`: rows, labels and nearest neighbours in a folder, for data that should not be in memory."""

import time
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from glcn.cli.errors import told_plainly
from glcn.cli.progress import stage_bar
from glcn.cli.words import warnings_as_notes
from glcn.exceptions import RestartedBuildWarning

if TYPE_CHECKING:
    from glcn.store import Store

graph = typer.Typer(help="Build and show a store: rows and their nearest neighbours on disk.", no_args_is_help=True)
Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")]


@graph.command()
def build(
    features: Annotated[
        Path,
        typer.Argument(help="Rows of numbers: an .npy file, or an .npz file with an array X and perhaps labels y."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the store.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="Labels: .npy, or .csv or .txt with one a line; −1 or an empty line is a row without one."),
    ] = None,
    n_neighbors: Annotated[int, typer.Option(min=1, help="Neighbours of a row.")] = 15,
    metric: Annotated[str, typer.Option(help="How rows are compared: euclidean, cosine or auto.")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the folder only.")] = False,
    debug: Debug = False,
) -> None:
    """Find the nearest neighbours of many rows and keep them on disk; after a stop the same command goes on."""
    with told_plainly(debug, "stopped; run the same command again to go on from here"):
        from glcn.store import build_store

        start = time.perf_counter()
        with warnings_as_notes(), nullcontext() if quiet else stage_bar() as report:
            warnings.simplefilter("always", RestartedBuildWarning)
            store = build_store(features, out, labels=labels, n_neighbors=n_neighbors, metric=metric, progress=report)
        if quiet:
            typer.echo(store.path)
        else:
            Console().print(_table(store, time.perf_counter() - start))


@graph.command()
def show(
    store: Annotated[Path, typer.Argument(help="Folder of the store.")],
    verify: Annotated[bool, typer.Option("--verify", help="Read all of it and compare checksums.")] = False,
    debug: Debug = False,
) -> None:
    """Show what is in a store, and whether it is whole."""
    with told_plainly(debug):
        from glcn.store import Store

        table = _table(Store.open(store, verify=verify))
        if verify:
            table.add_row("checksums", "all as they were built")
        Console().print(table)


def _table(store: "Store", seconds: float | None = None) -> Table:
    table = Table(show_header=False, title=escape(str(store.path)), title_justify="left")
    table.add_row("rows × features", f"{store.num_rows:,} × {store.num_features:,}")
    table.add_row("labelled rows", f"{store.num_labelled:,}")
    table.add_row("classes", escape(_named(store.classes)) if store.classes else "none")
    table.add_row("edges", f"{store.graph.num_edges:,}, {store.n_neighbors} neighbours a row, {store.metric}")
    table.add_row("nearest neighbours", f"{store.recall:.1%} of the true ones found, on a sample of rows")
    if seconds is not None:
        table.add_row("seconds", f"{seconds:.1f}")
    table.add_row("size on disk", f"{store.num_bytes / 1e6:,.1f} MB")
    return table


def _named(classes: tuple[int | str, ...], most: int = 12) -> str:
    rest = f" and {len(classes) - most} more" if len(classes) > most else ""
    return f"{len(classes)}: {', '.join(str(label) for label in classes[:most])}{rest}"
