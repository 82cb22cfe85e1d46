"""Results on disk: one JSON object a line, appended when it is complete, never rewritten."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add one row; it is on disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(row, ensure_ascii=False) + "\n"
    with path.open("ab") as file:
        if file.tell() and not _ends_with_newline(path):  # an earlier writer was killed within a line
            file.write(b"\n")
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> list[Row]:
    """Return the rows of a file, without a line that was broken off; no file has no rows."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):  # not splitlines: texts may hold others
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
