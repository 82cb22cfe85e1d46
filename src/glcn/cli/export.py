"""`glcn export`: the learned graph for other tools."""

from pathlib import Path
from typing import Annotated

import typer

from glcn.cli.errors import told_plainly
from glcn.cli.predict import STDOUT, check_output
from glcn.cli.words import plain_console, shown


def export(
    run: Annotated[Path, typer.Argument(help="The folder of a run, as `glcn fit` wrote it.")],
    out: Annotated[
        str,
        typer.Option("--out", "-o", help="File: .graphml (Gephi), .csv (edges) or .npz (scipy); - prints the edges."),
    ],
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Least weight of an edge.")] = 0.0,
    top: Annotated[int | None, typer.Option(min=1, help="Most edges of a row.", show_default="all")] = None,
    loops: Annotated[bool, typer.Option("--loops", help="Keep what rows hear from themselves.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Write the learned graph of a run; an edge leads from the row that is heard to the one that hears it."""
    with told_plainly(debug):
        from glcn.export import write_graph
        from glcn.runs import load_run

        check_output(out, force)
        loaded = load_run(run)
        names = None if loaded.ids is None else loaded.ids.tolist()
        count = write_graph(
            out, loaded.clf, names=names, classes=loaded.classes, threshold=threshold, top=top, loops=loops
        )
        if out != STDOUT:
            plain_console(stderr=True).print(f"{count} edges in [bold]{shown(out)}[/]", soft_wrap=True)
