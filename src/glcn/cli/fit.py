"""`glcn fit`: train, show how well it did, save the run."""

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from glcn.cli.errors import INTERRUPTED, told_plainly
from glcn.cli.inputs import (
    MOST_SEED,
    AddLabels,
    Categorical,
    Data,
    Descriptor,
    Drop,
    Edges,
    IdColumn,
    KeepLabel,
    Label,
    Labels,
    LabelsFile,
    Neighbors,
    Numeric,
    Prepare,
    Split,
    name_of,
    number_of_neighbors,
    read_data,
    with_added_labels,
)
from glcn.cli.report import make_page
from glcn.cli.verbosity import Verbose, check_verbosity, epoch_lines, show_columns, show_settings
from glcn.cli.words import plain_console, print_notes, shown, warnings_as_notes
from glcn.escaping import visible_json
from glcn.exceptions import GraphCollapseWarning, TrainingInterruptedWarning

if TYPE_CHECKING:
    from glcn.datasets import Dataset
    from glcn.estimator import GLCNClassifier
    from glcn.training import Callback, FitProfile

# Either of them is enough for a second thread to save time.
ROWS_FOR_THREADS = 10_000
ENTRIES_FOR_THREADS = 1_000_000


def fit(
    data: Data,
    label: Label = None,
    id_column: IdColumn = None,
    labels_file: LabelsFile = None,
    graph: Edges = None,
    numeric: Numeric = None,
    categorical: Categorical = None,
    drop: Drop = None,
    keep_label: KeepLabel = None,
    prepare: Prepare = None,
    variant: Annotated[str, typer.Option(help="Form of the network: plus, closeness, paper or released.")] = "plus",
    split: Split = None,
    labels: Labels = None,
    descriptor: Descriptor = None,
    add_labels: AddLabels = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Seed of the training, and of a random split.")] = 0,
    n_neighbors: Neighbors = None,
    max_epochs: Annotated[
        int | None, typer.Option(min=1, help="Most epochs to train.", show_default="the variant's own")
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=2, help="Train on neighbourhoods of so many rows a step.", show_default="from 50,000 rows on"),
    ] = None,
    batch_shares: Annotated[
        int | None,
        typer.Option(min=1, help="Cut each step into so many shares.", show_default="one a process of torchrun"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="runs/NAME-VARIANT-seedN")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run of this command that was killed.")] = False,
    checkpoint_every: Annotated[
        float, typer.Option(min=0, help="Seconds between two states of the training on disk, for --resume.")
    ] = 30.0,
    report: Annotated[bool, typer.Option("--report", help="Write a page to look at, too: report.html.")] = False,
    profile: Annotated[bool, typer.Option("--profile", help="Show where the time goes; also in profile.json.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the scores as JSON; all else goes to standard error.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result folder only.")] = False,
    verbose: Verbose = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Train on a dataset or on your own file, show how well it did, and save the run."""
    with told_plainly(debug, "stopped before there was anything to save; if training had begun, add --resume to go on"):
        check_verbosity(quiet, verbose)
        # Imported here, so that --help answers at once.
        from glcn.interrupts import held_interrupts
        from glcn.runs import evaluate, load_run, write_run
        from glcn.training import as_torchrun_says

        with as_torchrun_says() as processes:
            name = f"{name_of(data)}-{variant}-seed{seed}"
            folder = processes.agree(lambda: _folder(out, name, resume, processes.restarted))
            with _begun(folder) if processes.is_first else nullcontext():
                dataset = read_data(
                    data,
                    label=label,
                    id_column=id_column,
                    labels_file=labels_file,
                    graph=graph,
                    numeric=numeric,
                    categorical=categorical,
                    drop=drop,
                    keep_label=keep_label,
                    prepare=prepare,
                    split=split,
                    labels=labels,
                    descriptor=descriptor,
                    seed=seed,
                )
                dataset = with_added_labels(dataset, data, add_labels)
                given = {"max_epochs": max_epochs, "batch_size": batch_size, "batch_shares": batch_shares}
                clf = _classifier(dataset, folder, variant, seed, n_neighbors, given)
                quiet = quiet or not processes.is_first
                console = plain_console(quiet=quiet, stderr=as_json)
                _introduce(console, dataset)
                told = None
                if verbose:
                    show_columns(console, dataset.encoder)
                    told = epoch_lines(console)
                clf.verbose = not quiet and not verbose and sys.stderr.isatty()
                with _threads_that_pay(dataset.X):
                    seconds, times = _fitted(clf, dataset, folder, profile, checkpoint_every, told)
                    if not processes.is_first:
                        return
                    with held_interrupts() as held:  # what was learned is not lost any more
                        metrics = evaluate(dataset, clf) | {"seconds": seconds}
                        write_run(folder, dataset, clf, metrics, times)
            if verbose:
                show_settings(console, clf.settings_)
            console.print(_result_table(dataset, clf, metrics))
            if times is not None:
                console.print(_profile_table(times))
            console.print(f"results in [bold]{shown(str(folder))}[/]", soft_wrap=True)
            if report:
                page = make_page(load_run(folder), quiet=quiet)
                console.print(f"report in [bold]{shown(str(page))}[/]", soft_wrap=True)
            if as_json:
                typer.echo(visible_json(metrics | {"run": str(folder)}, indent=2))
            elif quiet:
                typer.echo(folder)
    if clf.interrupted_ or held.pressed:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _threads_that_pay(X: Any) -> Iterator[None]:
    """Leave few rows to one thread, unless OMP_NUM_THREADS is set.

    To wake a second thread for each small piece of work takes longer than the piece.
    """
    import torch

    before = torch.get_num_threads()
    few = X.shape[0] < ROWS_FOR_THREADS and X.size < ENTRIES_FOR_THREADS
    if few and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _classifier(
    dataset: "Dataset",
    folder: Path,
    variant: str,
    seed: int,
    n_neighbors: int | None,
    given: dict[str, int | None],
) -> "GLCNClassifier":
    from glcn.estimator import GLCNClassifier
    from glcn.runs import files_of
    from glcn.store import Store

    settings: dict[str, Any] = {"n_neighbors": number_of_neighbors(n_neighbors, dataset.X.shape[0])}
    if isinstance(dataset.graph, Store):
        settings = {
            "n_neighbors": dataset.graph.n_neighbors,
            "metric": dataset.graph.metric,
            "work_dir": files_of(folder),
        }
    settings |= {name: value for name, value in given.items() if value is not None}
    return GLCNClassifier(variant, random_state=seed, **settings)


def _fitted(
    clf: "GLCNClassifier",
    dataset: "Dataset",
    folder: Path,
    profile: bool,
    checkpoint_every: float,
    callback: "Callback | None",
) -> tuple[float, "FitProfile | None"]:
    """Train, and return how many seconds that took and where they went."""
    from glcn.runs import checkpoint_of
    from glcn.training import profiled

    start = time.perf_counter()
    with warnings_as_notes():
        for category in (GraphCollapseWarning, TrainingInterruptedWarning):
            warnings.simplefilter("ignore", category)  # the table says the same in its place
        held_out = dataset.validation if len(dataset.validation) else None
        with profiled() if profile else nullcontext() as times:
            clf.fit(
                dataset.X,
                dataset.visible_labels,
                graph=dataset.graph,
                validation=held_out,
                callback=callback,
                checkpoint=checkpoint_of(folder),
                checkpoint_every=checkpoint_every,
            )
            return round(time.perf_counter() - start, 3), times


@contextmanager
def _begun(folder: Path) -> Iterator[None]:
    """Make the place of a run, so that one that can not be written is noticed before any work; none is left empty."""
    from glcn.runs import begin_run, give_up

    begin_run(folder)
    try:
        yield
    finally:
        give_up(folder)


def _folder(out: Path | None, name: str, resume: bool, restarted: bool) -> Path:
    """Choose where a run goes: a new folder, or that of one which was begun, where it is to be gone on with."""
    from glcn.runs import free_path, is_begun, last_begun, unfinished

    runs = Path("runs")
    begun = last_begun(runs, name) if out is None else out if is_begun(out) else None
    if resume and begun is None:
        raise FileNotFoundError(f"there is no unfinished run {out or runs / name} to go on with; leave --resume out")
    if begun is not None and (resume or restarted):
        return begun
    if out is not None and begun is not None:
        raise FileExistsError(f"{unfinished(out)} is a run that was not finished; add --resume, or move it away")
    return out or free_path(runs, name)


def _introduce(console: Console, dataset: "Dataset") -> None:
    from glcn.store import Store

    if isinstance(dataset.graph, Store):
        graph = f"{dataset.graph.n_neighbors} neighbours of each on disk"
    else:
        graph = "no graph: nearest neighbours" if dataset.graph is None else f"{dataset.graph.nnz // 2} edges"
    rows, columns = dataset.X.shape
    console.print(
        f"[bold]{shown(dataset.name)}[/]: {rows} rows, {columns} features, {len(dataset.class_names)} classes, {graph}"
    )
    print_notes(console, dataset.notes)
    if dataset.encoder is not None and dataset.encoder.width is None:
        console.print("  (--numeric, --categorical or --drop COLUMN decides otherwise)", highlight=False)
    console.print(f"split [bold]{dataset.split}[/]: {shown(dataset.split_description)}", highlight=False)


def _result_table(dataset: "Dataset", clf: "GLCNClassifier", metrics: dict[str, Any]) -> Table:
    from glcn.whole_files import readable

    table = Table(
        show_header=False, title=f"GLCN, {clf.variant} variant, seed {clf.random_state}", title_justify="left"
    )
    if metrics["accuracy"] is not None:
        table.add_row("test accuracy", f"[bold]{metrics['accuracy']:.1%}[/] of {len(dataset.test)} rows")
    if metrics["validation_accuracy"] is not None:
        table.add_row(
            "validation accuracy", f"{metrics['validation_accuracy']:.1%} of {len(clf.validation_rows_)} rows"
        )
    else:
        table.add_row("validation accuracy", "unknown: too few labels of some class to hold any out")
    if clf.settings_["calibrate"]:
        table.add_row("probabilities", clf.calibration_.describe())
    stopped = " (interrupted)" if clf.interrupted_ else ""
    rounds = clf.settings_.get("rounds", 1)
    of_rounds = f" in round {clf.round_} of at most {rounds}" if rounds > 1 else ""
    table.add_row("epochs", f"{clf.n_iter_}{of_rounds}{stopped}, best {clf.best_epoch_}")
    table.add_row("seconds", f"{metrics['seconds']:.1f}")
    table.add_row("memory", f"about {readable(clf.memory_estimate_)} were expected")
    if clf.neighbor_recall_ is not None and clf.neighbor_recall_ < 1:
        table.add_row("nearest neighbours", f"{clf.neighbor_recall_:.1%} of the true ones found, on a sample of rows")
    table.add_row("learned graph", clf.graph_report_.describe())
    return table


def _profile_table(profile: "FitProfile") -> Table:
    table = Table("stage", title="where the time went", title_justify="left", caption_justify="left")
    for name in ("seconds", "share"):
        table.add_column(name, justify="right")
    for name, seconds in profile.seconds.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / profile.total:.1%}")
    limits = [
        f"{share.kernel} {share.of_bandwidth:.0%} of a copy's bandwidth, "
        f"{share.of_arithmetic:.0%} of a product's arithmetic"
        for share in profile.kernels
    ]
    table.caption = "the kernels that ran longest reached " + "; ".join(limits) if limits else None
    return table
