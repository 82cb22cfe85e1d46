"""What is said before the work begins."""

import os
import shutil
from pathlib import Path
from typing import Any

from glcn.graph.coarse import ROWS_PER_CELL
from glcn.store.arrays import StoredArray
from glcn.store.format import PARTIAL
from glcn.whole_files import existing_parent


def features_of(arrays: dict[str, StoredArray], path: Path) -> StoredArray:
    """Choose the features among the arrays of a file."""
    named = [arrays[name] for name in ("X", "x") if name in arrays]
    flat = [array for array in arrays.values() if len(array.shape) == 2]
    if not named and len(flat) != 1:
        raise ValueError(
            f"{path.name} must hold an array X, or one of two dimensions; got {', '.join(arrays) or 'none'}"
        )
    X = named[0] if named else flat[0]
    if len(X.shape) != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"{X.name} must hold rows of numbers, (n, p), got shape {X.shape} and dtype {X.dtype}")
    if 0 in X.shape:
        raise ValueError(f"{X.name} has no rows or no features, got shape {X.shape}")
    return X


def check_target(out: Path) -> None:
    """Refuse early what could not be written at the end."""
    if out.exists():
        raise FileExistsError(f"{out} exists already; choose another name, or move it away")
    parent = existing_parent(out)
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise PermissionError(f"can not write into {parent}; choose another folder")


def check_space(aside: Path, shape: tuple[int, ...], n_neighbors: int) -> None:
    """Refuse early what would fill the disk."""
    rows, columns = shape
    lists = 4 * 4 * n_neighbors  # two sets of rows and distances
    graph = 8 + 4 * (1 + 2 * n_neighbors)  # at most
    needed = rows * (4 * columns + lists + graph + 16) + 2 * 4 * columns * (rows // ROWS_PER_CELL + 1)
    there = sum(path.stat().st_size for path in aside.iterdir()) if aside.is_dir() else 0
    free = shutil.disk_usage(existing_parent(aside)).free
    if needed - there > free:
        raise OSError(
            f"building {aside.name.removesuffix(PARTIAL)} needs up to {(needed - there) / 1e9:.1f} GB on disk, and "
            f"{free / 1e9:.1f} GB are free; make room, or choose another folder"
        )


def identity(path: Path) -> dict[str, Any]:
    """Tell an input from another one, or from itself after a change."""
    state = path.stat()
    return {"path": str(path.resolve()), "bytes": state.st_size, "changed": state.st_mtime_ns}
