"""Words from users' files on a terminal: shown as they are, never obeyed."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def plain_console(**options: Any) -> Console:
    """Return a console that leaves ``:x:`` as it is written."""
    return Console(emoji=False, **options)


def shown(text: object) -> str:
    """Return text in which markup, control characters and other invisible ones are written out.

    A class that is named ``[red]`` or holds an escape sequence is printed so, and changes no colour and no title.
    """
    visible = "".join(each if each.isprintable() else _written_out(each) for each in str(text))
    return escape(visible)


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


def _written_out(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
