"""The state of a training on disk: one safetensors file, never half-written, and no pickle."""

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glcn.exceptions import CheckpointWarning
from glcn.state_file import read_state, write_state

SCHEMA = 2
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
        self._failed = False

    @property
    def is_due(self) -> bool:
        """Whether it is time for another state."""
        return time.monotonic() - self._last >= self.every

    def write(self, state: Mapping[str, Any]) -> None:
        """Keep a state: dictionaries and lists of tensors, numbers, words and None.

        Where it can not be written, the one before stays, and a warning says so once: the training is worth more.
        """
        try:
            write_state(self.path, {"schema": SCHEMA, "purpose": self.purpose, "state": state})
        except OSError as error:
            if not self._failed:
                warnings.warn(f"{error} (training goes on without)", CheckpointWarning, stacklevel=2)
            self._failed = True
        self._last = time.monotonic()

    def read(self) -> dict[str, Any] | None:
        """Return the state that was kept last, or None where there is none."""
        if not self.path.exists():
            return None
        try:
            kept = read_state(self.path)
        except ValueError as error:
            raise ValueError(f"{error}; delete it to start anew") from error
        if kept.get("schema") != SCHEMA:
            raise ValueError(f"{self.path} was written by another version of glcn; delete it to start anew")
        if kept["purpose"] != self.purpose:
            raise ValueError(
                f"{self.path} belongs to a training on other data or with other settings; repeat the command as it "
                "was, or delete the file to start anew"
            )
        state: dict[str, Any] = kept["state"]
        return state
