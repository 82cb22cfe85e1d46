"""Words from users' files on a terminal: shown as they are, never obeyed."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from glcn.escaping import visible


def plain_console(**options: Any) -> Console:
    """Return a console that leaves ``:x:`` as it is written."""
    return Console(emoji=False, **options)


def shown(text: object) -> str:
    """Return text in which markup, control characters and other invisible ones are written out.

    A class that is named ``[red]`` or holds an escape sequence is printed so, and changes no colour and no title.
    """
    return escape(visible(text))


def shown_lines(text: object) -> str:
    """Return text as :func:`shown` does, line by line."""
    return "\n".join(shown(line) for line in str(text).split("\n"))


def print_notes(console: Console, notes: Sequence[str], most: int = 20) -> None:
    """Print sentences as a list."""
    table = Table.grid(padding=(0, 1, 0, 0))
    for note in notes[:most]:
        table.add_row("  ·", shown(note))
    if len(notes) > most:
        table.add_row("  ·", f"and {len(notes) - most} more")
    if notes:
        console.print(table, highlight=False)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as sentences on stderr, without the places in our code that they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = _note
        yield


def _note(message: Warning | str, *_: object, **__: object) -> None:
    plain_console(stderr=True).print(f"[bold]note:[/] {shown(message)}", soft_wrap=True)
