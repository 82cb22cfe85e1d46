"""How mistakes and Ctrl-C reach the person at the terminal."""

import pickle
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

import typer

from glcn.cli.words import plain_console, shown_lines

MISTAKE = 2
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended
EXPECTED = (
    ValueError,
    TypeError,
    OSError,
    MemoryError,
    ImportError,
    FloatingPointError,
    pickle.UnpicklingError,
    BrokenExecutor,
)


@contextmanager
def told_plainly(debug: bool, interrupted: str = "stopped before there was anything to save") -> Iterator[None]:
    """Turn an expected error into one sentence on stderr, and Ctrl-C into another; ``debug`` shows tracebacks."""
    errors = plain_console(stderr=True)
    try:
        yield
    except KeyboardInterrupt:
        errors.print(interrupted)
        raise typer.Exit(INTERRUPTED) from None
    except EXPECTED as error:
        if debug:
            raise
        errors.print(f"[bold red]error:[/] {shown_lines(error)}", soft_wrap=True)
        raise typer.Exit(MISTAKE) from None
