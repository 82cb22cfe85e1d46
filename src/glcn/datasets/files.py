"""Files that appear whole or not at all."""

from pathlib import Path
from typing import Any

import numpy as np

from glcn.whole_files import written_aside

__all__ = ["write_npz", "written_aside"]


def write_npz(path: Path, **arrays: Any) -> None:
    """Write an .npz file of plain arrays."""
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
