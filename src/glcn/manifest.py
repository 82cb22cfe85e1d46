"""The list of a run's files with their checksums, by which a changed or missing one is noticed."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

NAME = "manifest.json"
SCHEMA = 1
REMEDY = "take a copy that is whole, or fit again"


def write_manifest(folder: Path, names: Iterable[str]) -> None:
    """Write the checksums of some files of a folder."""
    content: dict[str, Any] = {"schema": SCHEMA, "files": {name: checksum(folder / name) for name in sorted(names)}}
    content["own_checksum"] = own_checksum(content)
    (folder / NAME).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def check_manifest(folder: Path) -> set[str]:
    """Compare a folder with its list, and return the names in it; a ValueError says what is wrong."""
    content = _read(folder / NAME)
    for name, expected in content["files"].items():
        path = folder / name
        if not path.is_file():
            raise ValueError(f"{path} is missing, so this is no whole run; {REMEDY}")
        if checksum(path) != expected:
            raise ValueError(f"{path} is damaged or was changed after the run was saved; {REMEDY}")
    return set(content["files"])


def checksum(path: Path) -> str:
    """Return a hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def own_checksum(content: Mapping[str, Any]) -> str:
    """Return a hash of a description, for an entry ``own_checksum`` in it."""
    others = {name: value for name, value in content.items() if name != "own_checksum"}
    return hashlib.blake2b(json.dumps(others, sort_keys=True).encode(), digest_size=16).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"{path} is missing, so this is no whole run, or one of an older glcn; {REMEDY}")
    return read_sealed(path, SCHEMA)


def read_sealed(path: Path, known: int) -> dict[str, Any]:
    """Read a description that has a schema and a checksum of its own; a ValueError says what is wrong with it."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        schema, own = content["schema"], content["own_checksum"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}); {REMEDY}") from error
    if schema != known:
        raise ValueError(f"{path} has schema {schema!r}, and this glcn reads {known}; use the glcn that wrote it")
    if own_checksum(content) != own:
        raise ValueError(f"{path} was changed after it was saved; {REMEDY}")
    return content
