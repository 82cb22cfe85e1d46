"""How long pieces of work say how far they are."""

from collections.abc import Callable

Report = Callable[[str, int, int], None]  # what is being done, how much of it is done, and how much there is


def silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""
