"""How mistakes and Ctrl-C reach the person at the terminal."""

import os
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

import typer

from glcn.cli.words import plain_console, shown_lines

MISTAKE = 2
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended
UNHEARD = 141  # and for one whose reader went away
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
        sys.stdout.flush()  # here, where a reader that went away can still be dealt with
    except BrokenPipeError:
        _forget_output()
        raise typer.Exit(UNHEARD) from None
    except KeyboardInterrupt:
        errors.print(interrupted)
        raise typer.Exit(INTERRUPTED) from None
    except EXPECTED as error:
        if debug:
            raise
        errors.print(f"[bold red]error:[/] {shown_lines(error)}", soft_wrap=True)
        raise typer.Exit(MISTAKE) from None


def _forget_output() -> None:
    """Send what is still to be written nowhere: nobody reads it, as of ``glcn predict … | head -1``."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
