"""The command line."""

import sys
import time
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from glcn import __version__
from glcn.exceptions import GraphCollapseWarning, TrainingInterruptedWarning

app = typer.Typer(
    help="Learn from few labels: which rows are neighbours, and how to classify them, in one network.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"glcn {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn from few labels: which rows are neighbours, and how to classify them, in one network."""


@app.command()
def fit(
    dataset: Annotated[str, typer.Argument(help="Which data: cora or digits.")],
    variant: Annotated[str, typer.Option(help="Form of the network: closeness, paper or released.")] = "closeness",
    split: Annotated[
        str | None, typer.Option(help="Split of the rows: released or random (cora), random (digits).")
    ] = None,
    labels: Annotated[int | None, typer.Option(help="Number of labelled rows (digits only).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the training, and of a random split.")] = 0,
    max_epochs: Annotated[int, typer.Option(min=1, help="Most epochs to train.")] = 3000,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="runs/DATASET-VARIANT-seedN")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result folder only.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Train on a dataset, show how well it did, and save the run."""
    console, errors = Console(quiet=quiet), Console(stderr=True)
    try:
        interrupted = _fit(console, dataset, variant, split, labels, seed, max_epochs, out, quiet)
    except KeyboardInterrupt:
        errors.print("stopped before there was anything to save")
        raise typer.Exit(INTERRUPTED) from None
    except (ValueError, TypeError, OSError, FloatingPointError) as error:
        if debug:
            raise
        errors.print(f"[bold red]error:[/] {escape(str(error))}")
        raise typer.Exit(2) from None
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _fit(
    console: Console,
    name: str,
    variant: str,
    split: str | None,
    labels: int | None,
    seed: int,
    max_epochs: int,
    out: Path | None,
    quiet: bool,
) -> bool:
    # Imported here, so that --help answers at once.
    from glcn.datasets import load
    from glcn.estimator import GLCNClassifier
    from glcn.runs import check_target, evaluate, free_folder, write_run

    folder = out or free_folder(Path("runs"), f"{name}-{variant}-seed{seed}")
    check_target(folder)
    data = load(name, split=split, labels=labels, seed=seed)
    console.print(
        f"[bold]{data.name}[/]: {data.X.shape[0]} rows, {data.X.shape[1]} features, {len(data.class_names)} classes, "
        + (f"{data.graph.nnz // 2} edges" if data.graph is not None else "no graph: nearest neighbours")
    )
    console.print(f"split [bold]{data.split}[/]: {data.split_description}", highlight=False)
    clf = GLCNClassifier(variant, max_epochs=max_epochs, random_state=seed, verbose=not quiet and sys.stderr.isatty())
    start = time.perf_counter()
    with warnings.catch_warnings():
        for category in (GraphCollapseWarning, TrainingInterruptedWarning):
            warnings.simplefilter("ignore", category)  # the table says the same in its place
        clf.fit(data.X, data.visible_labels, graph=data.graph, validation=data.validation)
    metrics = evaluate(data, clf) | {"seconds": round(time.perf_counter() - start, 3)}
    write_run(folder, data, clf, metrics)

    table = Table(show_header=False, title=f"GLCN, {variant} variant, seed {seed}", title_justify="left")
    test, validation = len(data.test), len(data.validation)
    table.add_row("test accuracy", f"[bold]{metrics['accuracy']:.1%}[/] of {test} rows")
    table.add_row("validation accuracy", f"{metrics['validation_accuracy']:.1%} of {validation} rows")
    stopped = " (interrupted)" if clf.interrupted_ else ""
    table.add_row("epochs", f"{clf.n_iter_}{stopped}, best {clf.best_epoch_}")
    table.add_row("seconds", f"{metrics['seconds']:.1f}")
    table.add_row("learned graph", clf.graph_report_.describe())
    console.print(table)
    console.print(f"results in [bold]{escape(str(folder))}[/]", soft_wrap=True)
    if quiet:
        typer.echo(folder)
    return clf.interrupted_


if __name__ == "__main__":
    app()
