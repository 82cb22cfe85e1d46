"""Image files as arrays."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")


def find_pictures(folder: Path) -> list[Path]:
    """Return the image files in a folder and below, sorted by path."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    if not found:
        raise ValueError(f"there are no images in {folder}; their endings must be one of {', '.join(ENDINGS)}")
    return found


def read_picture(path: Path, *, grey_size: int | None = None) -> NDArray[np.uint8]:
    """Read an image file as (height, width, 3); with ``grey_size`` in grey, resized to that square."""
    image = _pillow()
    try:
        with image.open(path) as picture:
            if grey_size is None:
                return np.asarray(picture.convert("RGB"))
            return np.asarray(picture.convert("L").resize((grey_size, grey_size), image.Resampling.BICUBIC))
    except OSError as error:
        raise ValueError(f"{path.name} can not be read as an image ({error})") from error


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading images needs Pillow: pip install 'glcn[images]'") from error
    return Image
