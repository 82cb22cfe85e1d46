"""Nested tensors, numbers and words in one safetensors file: never half-written, and no pickle."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from torch import Tensor

from glcn.whole_files import written_aside

_HEADER = "glcn"


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write dictionaries and lists of tensors, numbers, words and None: aside first, then one rename."""
    arrays: dict[str, NDArray[Any]] = {}
    packed = json.dumps(_packed(state, "", arrays))
    # Not by safetensors' own save_file, which writes aside under names of its own and leaves these when it is killed.
    with written_aside(path, lasting=True) as aside:
        aside.write_bytes(save(arrays, {_HEADER: packed}))


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


def _packed(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Turn a state into what JSON can hold, and put its tensors aside."""
    if isinstance(value, Tensor):
        arrays[name] = np.asarray(value.detach().cpu().numpy(), order="C")
        return {"tensor": name}
    if isinstance(value, Mapping):
        return {"items": [[key, _packed(part, f"{name}/{key}", arrays)] for key, part in value.items()]}
    if isinstance(value, list | tuple):
        if all(isinstance(part, float) for part in value):
            return {"numbers": list(value)}
        return {"list": [_packed(part, f"{name}/{place}", arrays) for place, part in enumerate(value)]}
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
