"""How much a command says: no more than its result, the usual, or everything that it decided."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from glcn.cli.words import shown

if TYPE_CHECKING:
    from glcn.tables import TableEncoder
    from glcn.training import Progress

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say more: how each column is read, every setting, how it goes.")
]
_LINES = 20  # of a training, about


def check_verbosity(quiet: bool, verbose: bool) -> None:
    """Refuse to say less and more at once."""
    if quiet and verbose:
        raise ValueError("--quiet and --verbose contradict each other; give one of them")


def show_columns(console: Console, encoder: "TableEncoder | None") -> None:
    """Print how each column of a table becomes numbers."""
    if encoder is None or not encoder.columns:
        return
    table = Table("column", "read as", "what comes out", title="columns", title_justify="left")
    for column in encoder.columns:
        what = ", ".join(column.titles) or "nothing: all rows are the same"
        table.add_row(shown(column.name), column.kind, shown(what))
    console.print(table)
    console.print(f"features: {shown(encoder.describe())}", highlight=False)


def show_settings(console: Console, settings: dict[str, Any]) -> None:
    """Print every setting of a fitted classifier as it was in the end."""
    table = Table("setting", "value", title="settings", title_justify="left")
    for name, value in sorted(settings.items()):
        table.add_row(name, shown(value))
    console.print(table)


def epoch_lines(console: Console) -> Callable[["Progress"], None]:
    """Return a callback that prints some lines of a training, for logs in which a bar can not be drawn."""

    def line(progress: "Progress") -> None:
        if progress.epoch % max(1, progress.max_epochs // _LINES):
            return
        said = f"epoch {progress.epoch:>4} of {progress.max_epochs}  loss {progress.loss:.4f}"
        if progress.validation_loss is not None:
            said += f"  validation {progress.validation_loss:.4f}"
        if progress.validation_accuracy is not None:
            said += f", {progress.validation_accuracy:.1%} right"
        console.print(said, highlight=False)

    return line
