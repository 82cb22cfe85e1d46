"""`glcn data`: what there is, where it is, and what it looks like."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from glcn.cli.errors import told_plainly
from glcn.cli.progress import file_bar

data = typer.Typer(help="List, show, download and import datasets.", no_args_is_help=True)
Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")]


@data.command("list")
def list_datasets() -> None:
    """List the datasets by name: bundled, found or missing."""
    from glcn.datasets import CATALOGUE, data_folder, status

    console = Console()
    table = Table("name", "here?", "download", "what it is", box=None, pad_edge=False)
    for entry in CATALOGUE.values():
        size = sum(file.size for file in (*entry.files.values(), *entry.archives.values()))
        table.add_row(f"[bold]{entry.name}[/]", status(entry), f"{size / 1e6:.1f} MB" if size else "–", entry.title)
    console.print(table)
    console.print(f"data folder: {escape(str(data_folder()))} (set GLCN_DATA to name another)", soft_wrap=True)


@data.command()
def show(
    name: Annotated[str | None, typer.Argument(help="Which dataset; left out, a table of all that are here.")] = None,
    split: Annotated[str | None, typer.Option(help="Which split.")] = None,
    labels: Annotated[int | None, typer.Option(help="Number of labelled rows (images, digits).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of a random split.")] = 0,
    descriptor: Annotated[str | None, typer.Option(help="Which features of images.")] = None,
    debug: Debug = False,
) -> None:
    """Show sizes, classes, splits, homophily and fingerprint."""
    with told_plainly(debug):
        if name is None:
            _show_all()
        else:
            _show_one(name, split, labels, seed, descriptor)


def _show_all() -> None:
    from glcn.datasets import CATALOGUE, MissingDataError, load, summarise

    console, missing, damaged = Console(), [], []
    titles = ("name", "rows", "feat.", "cl.", "edges", "hom.", "split", "fit/val/test", "fingerprint")
    table = Table(*titles, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[1:6]:
        column.justify = "right"
    with console.status("reading") as status:
        for name in CATALOGUE:
            status.update(f"reading {name}")
            try:
                found = summarise(load(name))
            except MissingDataError:
                missing.append(name)
                continue
            except ValueError as error:
                table.add_row(name, "damaged")
                damaged.append(str(error))
                continue
            table.add_row(
                name,
                str(found.rows),
                str(found.features),
                str(found.classes),
                "–" if found.edges is None else str(found.edges),
                f"{found.homophily:.2f}" + ("*" if found.edges is None else ""),
                found.split,
                f"{found.train}/{found.validation}/{found.test}",
                found.fingerprint,
            )
    console.print(table)
    console.print("hom.: share of edges that join one class; * among each row's 10 nearest neighbours")
    for sentence in damaged:
        console.print(f"[bold red]error:[/] {escape(sentence)}", soft_wrap=True)
    if missing:
        console.print(f"not here: {', '.join(missing)}; `glcn data show NAME` says how to get one")


def _show_one(name: str, split: str | None, labels: int | None, seed: int, descriptor: str | None) -> None:
    import numpy as np

    from glcn.datasets import CATALOGUE, load, summarise

    dataset = load(name, split=split, labels=labels, seed=seed, descriptor=descriptor)
    found, entry = summarise(dataset), CATALOGUE[name]
    table = Table(show_header=False, title=entry.title, title_justify="left")
    table.add_row("rows × features", f"{found.rows} × {found.features}")
    table.add_row("features", escape(dataset.features))
    table.add_row("prepared", escape(dataset.preparation))
    counts = np.bincount(dataset.y[dataset.y >= 0], minlength=found.classes)
    table.add_row(
        "classes",
        ", ".join(f"{escape(label)} {count}" for label, count in zip(dataset.class_names, counts, strict=True)),
    )
    unknown = int((dataset.y < 0).sum())
    if unknown:
        table.add_row("no label known", f"{unknown} rows, in no part of any split")
    if found.edges is None:
        table.add_row("graph", f"none; {found.homophily:.1%} of the edges to 10 nearest neighbours join one class")
    else:
        alone = int((np.diff(dataset.graph.indptr) == 0).sum())
        table.add_row(
            "graph", f"{found.edges} edges, {found.homophily:.1%} of them within a class; {alone} rows without any"
        )
    table.add_row(f"split {found.split}", escape(dataset.split_description))
    table.add_row("fit / validation / test", f"{found.train} / {found.validation} / {found.test}")
    table.add_row("other splits", ", ".join(each for each in entry.splits if each != found.split) or "none")
    table.add_row("origin", entry.origin)
    table.add_row("licence", entry.licence)
    table.add_row("fingerprint", found.fingerprint)
    Console().print(table)


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Which dataset.")],
    debug: Debug = False,
) -> None:
    """Download a dataset into the data folder; a broken-off download goes on where it was."""
    with told_plainly(debug, "stopped; run the same command again to go on from here"):
        from glcn.datasets import fetch as fetch_dataset

        with file_bar() as report:
            files = fetch_dataset(name, report)
        for path in files:
            typer.echo(path)
        _say_next(name)


@data.command("import")
def import_dataset(
    name: Annotated[str, typer.Argument(help="Which image set: mnist, cifar10, svhn or scene15.")],
    archive: Annotated[
        Path,
        typer.Argument(
            help="Its official archive: the folder of MNIST's idx files, cifar-10-python.tar.gz, test_32x32.mat, or "
            "the folder of Scene15's JPEG images."
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    debug: Debug = False,
) -> None:
    """Turn an official archive into the file that the loader reads."""
    with told_plainly(debug):
        from glcn.datasets import import_archive

        typer.echo(import_archive(name, archive, force=force))
        _say_next(name)


def _say_next(name: str) -> None:
    """Say what is still to be done before a dataset loads."""
    from glcn.datasets import MissingDataError, load

    try:
        load(name)
    except MissingDataError as error:
        Console(stderr=True).print(f"next: {escape(str(error))}", soft_wrap=True)
