"""The command line: the only place that parses arguments or prints."""

import os
from typing import Annotated

import typer

from glcn import __version__
from glcn.cli.compare import compare
from glcn.cli.data import data
from glcn.cli.explain import explain
from glcn.cli.export import export
from glcn.cli.features import features
from glcn.cli.fit import fit
from glcn.cli.graph import graph
from glcn.cli.predict import predict
from glcn.cli.report import report
from glcn.cli.reproduce import reproduce
from glcn.cli.tune import tune

app = typer.Typer(
    help="Learn from few labels: which rows are neighbours, and how to classify them, in one network.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fit)
app.command()(predict)
app.command()(explain)
app.command()(export)
app.command()(report)
app.command()(compare)
app.command()(features)
app.command()(reproduce)
app.command()(tune)
app.add_typer(data, name="data")
app.add_typer(graph, name="graph")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"glcn {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # noqa: ARG001 its callback answers
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn from few labels: which rows are neighbours, and how to classify them, in one network."""
    # Read when torch is loaded, later: threads that wait give their core away. Where another program is busy on one of
    # two cores, a small fit takes a third of the time.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
