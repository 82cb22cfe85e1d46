"""Nested tensors, numbers and words in one safetensors file: never half-written, and no pickle."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

_HEADER = "glcn"


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write dictionaries and lists of tensors, numbers, words and None: aside first, then one rename."""
    tensors: dict[str, Tensor] = {}
    packed = json.dumps(_packed(state, "", tensors))
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        aside.touch()  # with the rights that files get here
        save_file(tensors, aside, {_HEADER: packed})
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read_state(path: Path) -> dict[str, Any]:
    """Read what :func:`write_state` wrote; a ValueError says that it did not, or that something is missing."""
    try:
        with safe_open(path, framework="pt") as file:
            packed = json.loads(file.metadata()[_HEADER])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 it is no dictionary
        state: dict[str, Any] = _unpacked(packed, tensors)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} can not be read ({error})") from error
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
