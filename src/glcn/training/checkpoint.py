"""The state of a training on disk: one safetensors file, never half-written, and no pickle."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

SCHEMA = 1
EVERY = 30.0  # seconds between two checkpoints


class Checkpoint:
    """Where a training keeps its state, and goes on from.

    Parameters
    ----------
    path
        The file. It is written aside and renamed, so that it always holds a whole state.
    purpose
        What is trained on what; a state that was made for another purpose is refused.
    every
        Seconds between two states; None is half a minute.
    """

    def __init__(self, path: Path, purpose: str, *, every: float | None = None) -> None:
        self.path = path
        self.purpose = purpose
        self.every = EVERY if every is None else every
        self._last = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether it is time for another state."""
        return time.monotonic() - self._last >= self.every

    def write(self, state: Mapping[str, Any]) -> None:
        """Keep a state: dictionaries and lists of tensors, numbers, words and None."""
        tensors: dict[str, Tensor] = {}
        notes = {"schema": SCHEMA, "purpose": self.purpose, "state": _packed(state, "", tensors)}
        content = save(tensors, {"glcn": json.dumps(notes)})
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")
        try:
            with aside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        finally:
            aside.unlink(missing_ok=True)
        self._last = time.monotonic()

    def read(self) -> dict[str, Any] | None:
        """Return the state that was kept last, or None where there is none."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                notes = json.loads(file.metadata()["glcn"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 it is no dictionary
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{self.path} can not be read ({error}); delete it to start anew") from error
        if notes.get("schema") != SCHEMA:
            raise ValueError(f"{self.path} was written by another version of glcn; delete it to start anew")
        if notes.get("purpose") != self.purpose:
            raise ValueError(
                f"{self.path} belongs to a training on other data or with other settings; repeat the command as it "
                "was, or delete the file to start anew"
            )
        state: dict[str, Any] = _unpacked(notes["state"], tensors)
        return state


def _packed(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """Turn a state into what JSON can hold, and put its tensors aside."""
    if isinstance(value, Tensor):
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {"tensor": name}
    if isinstance(value, Mapping):
        return {"items": [[key, _packed(part, f"{name}/{key}", tensors)] for key, part in value.items()]}
    if isinstance(value, list | tuple):
        if all(isinstance(part, float) for part in value):
            return {"numbers": list(value)}
        return {"list": [_packed(part, f"{name}/{place}", tensors) for place, part in enumerate(value)]}
    return {"value": value}


def _unpacked(packed: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Any:
    ((kind, content),) = packed.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "items":
        return {key: _unpacked(part, tensors) for key, part in content}
    if kind == "list":
        return [_unpacked(part, tensors) for part in content]
    return content
