"""What is in the folder of a store, and whether it is whole."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCHEMA = 1
DESCRIPTION = "store.json"
PARTIAL = ".partial"
REMEDY = "build it again with `glcn graph build`"
_ALWAYS = {  # array: dtype
    "X": "float32",
    "scale": "float32",
    "centroids": "float32",
    "cell_indptr": "int64",
    "cell_rows": "int32",
    "neighbors": "int32",
    "indptr": "int64",
    "indices": "int32",
}
_WITH_LABELS = {"y": "int32"}


class StoreError(ValueError):
    """A store is not whole, was changed, or is of a newer version."""


def array_path(folder: Path, name: str) -> Path:
    """Return the file of an array."""
    return folder / f"{name}.npy"


def stored_arrays(with_labels: bool) -> dict[str, str]:
    """Return the dtypes of the arrays of a store by name."""
    return _ALWAYS | (_WITH_LABELS if with_labels else {})


def describe_array(folder: Path, name: str) -> dict[str, Any]:
    """Return shape, dtype, size and checksum of an array."""
    path = array_path(folder, name)
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return {
        "shape": list(values.shape),
        "dtype": values.dtype.name,
        "bytes": path.stat().st_size,
        "blake2b": _checksum(path),
    }


def write_description(folder: Path, content: dict[str, Any]) -> None:
    """Write the description, sealed by a checksum of its own."""
    whole = {"format": "glcn store", "schema": SCHEMA, **content}
    write_json(folder / DESCRIPTION, whole | {"checksum": seal(whole)})


def read_description(folder: Path) -> dict[str, Any]:
    """Read the description and refuse one that was changed or that is of a newer version."""
    path = folder / DESCRIPTION
    if not path.is_file():
        if folder.with_name(folder.name + PARTIAL).is_dir():
            raise FileNotFoundError(f"{folder} is not finished; run the same `glcn graph build` again to go on")
        raise FileNotFoundError(f"there is no store in {folder}: it has no {DESCRIPTION}; {REMEDY}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        schema, checksum = content["schema"], content.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} can not be read; {REMEDY}") from error
    if not isinstance(schema, int) or schema > SCHEMA:
        raise StoreError(f"{folder} was built by a newer glcn (schema {schema}, known {SCHEMA}); update glcn")
    if checksum != seal(content):
        raise StoreError(f"{path} was changed after it was built; {REMEDY}")
    return dict(content)


def open_array(folder: Path, name: str, expected: dict[str, Any]) -> NDArray[Any]:
    """Open an array of a store on disk and refuse one that is missing, cut off or of another kind."""
    path = array_path(folder, name)
    if not path.is_file():
        raise StoreError(f"{folder} lacks {path.name}; {REMEDY}")
    size = path.stat().st_size
    if size != expected["bytes"]:
        raise StoreError(f"{path} has {size:,} bytes, expected {expected['bytes']:,}; {REMEDY}")
    try:
        # Copied where it is written to, which nobody does: torch warns of arrays that are read-only.
        values: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise StoreError(f"{path} can not be read as an array; {REMEDY}") from error
    if list(values.shape) != expected["shape"] or values.dtype.name != expected["dtype"]:
        raise StoreError(
            f"{path} holds {values.dtype.name} of shape {values.shape}, expected {expected['dtype']} of shape "
            f"{tuple(expected['shape'])}; {REMEDY}"
        )
    return values


def check_content(folder: Path, name: str, expected: dict[str, Any]) -> None:
    """Refuse an array whose bytes are not those that were built."""
    path = array_path(folder, name)
    if _checksum(path) != expected["blake2b"]:
        raise StoreError(f"{path} was changed after it was built (its checksum differs); {REMEDY}")


def write_json(path: Path, content: Any) -> None:
    """Write aside, then rename, so that a half-written file never appears."""
    aside = path.with_name(f"{path.name}.aside")
    aside.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    aside.replace(path)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


def seal(content: dict[str, Any]) -> str:
    """Return a checksum of a description, and with it of all arrays."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()
