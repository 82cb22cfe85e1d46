"""`glcn report`: a page on which to see what a run learned."""

import webbrowser
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glcn.cli.errors import told_plainly
from glcn.cli.progress import stage_bar

if TYPE_CHECKING:
    from glcn.runs import Run


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run, as `glcn fit` wrote it.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file to write.", show_default="RUN/report.html")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Write one HTML file that shows a run: scores, a map of all rows, why each has its label, what to label next."""
    with told_plainly(debug, "stopped; no page was written"):
        from glcn.runs import load_run

        if out is not None and out.exists() and not force:
            raise FileExistsError(f"{out} exists already; choose another --out, or pass --force")
        path = make_page(load_run(run), out, quiet=quiet)
        typer.echo(path)
        if open_page and not webbrowser.open(path.absolute().as_uri()):
            typer.echo(f"no browser was found; open {path} by hand", err=True)


def make_page(run: "Run", out: Path | None = None, *, quiet: bool = False) -> Path:
    """Write the page of a run, with progress; returns its path."""
    from glcn.report import write_report

    path = out or run.folder / "report.html"
    with nullcontext() if quiet else stage_bar() as progress:
        write_report(run, path, progress=progress)
    return path
