"""Small pictures of all rows in one image file."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_SIDE = 28  # pixels of a thumbnail
MOST = 20_000  # thumbnails in a sheet; more would be a heavy file
_QUALITY = 80


def write_thumbnails(path: Path, pictures: NDArray[np.uint8]) -> None:
    """Write (n, h, w) grey or (n, h, w, 3) coloured pictures as one sheet; nothing where there are too many."""
    if len(pictures) > MOST:
        return
    _pillow().fromarray(sheet(pictures)).save(path, quality=_QUALITY)


def sheet(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay pictures out in as many columns as lines, row by row, each shrunk to at most 28 pixels a side."""
    n, columns = len(pictures), sheet_columns(len(pictures))
    step = math.ceil(max(pictures.shape[1:3]) / LARGEST_SIDE)
    small = _shrunk(pictures, step)
    height, width, *channels = small.shape[1:]
    lines = math.ceil(n / columns)
    tiles = np.full((lines * columns, height, width, *channels), 255, np.uint8)
    tiles[:n] = small
    laid = tiles.reshape(lines, columns, height, width, *channels).swapaxes(1, 2)
    return laid.reshape(lines * height, columns * width, *channels)


def sheet_columns(num_pictures: int) -> int:
    """Return how many pictures stand side by side."""
    return math.ceil(math.sqrt(num_pictures))


def _shrunk(pictures: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Average squares of ``step`` pixels."""
    height, width = (side // step * step for side in pictures.shape[1:3])
    cut = pictures[:, :height, :width]
    squares = cut.reshape(len(cut), height // step, step, width // step, step, *pictures.shape[3:])
    small: NDArray[np.uint8] = squares.mean(axis=(2, 4)).astype(np.uint8)
    return small


def _pillow() -> Any:
    from PIL import Image

    return Image
