"""Checks that a file is the one that it should be."""

import hashlib
from pathlib import Path


class ChecksumError(ValueError):
    """A file's SHA-256 differs from the recorded one."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path, expected: str) -> None:
    """Refuse a file whose bytes are not the expected ones."""
    found = sha256(path)
    if found != expected:
        raise ChecksumError(
            f"{path.name} is damaged or another version: its SHA-256 is {found[:12]}…, expected {expected[:12]}…; "
            "delete it and fetch it again"
        )
