"""Where data that is not bundled lies."""

import os
from pathlib import Path

VARIABLE = "GLCN_DATA"


class MissingDataError(FileNotFoundError):
    """A dataset's files are not in the data folder."""


def data_folder() -> Path:
    """Return the folder named by ``GLCN_DATA``, else one in the user's cache folder; it need not exist."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("glcn"))


def locate(name: str, *paths: str) -> list[Path]:
    """Return where a dataset's files are, or say what is missing and how to get it."""
    folder = data_folder()
    found = [folder / path for path in paths]
    missing = [path for path, place in zip(paths, found, strict=True) if not place.is_file()]
    if missing:
        listed = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise MissingDataError(
            f"{name} is not here: {listed} not found in {folder}. Set {VARIABLE} to the folder that has it, or run "
            f"`glcn data fetch {name}` (downloads) or `glcn data import {name} ARCHIVE`"
        )
    return found
