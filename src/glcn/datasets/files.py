"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Give a name to write to; afterwards the file takes its place by one rename, or is removed after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield aside
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_npz(path: Path, **arrays: Any) -> None:
    """Write an .npz file of plain arrays."""
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
