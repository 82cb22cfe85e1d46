"""A build that can be broken off at any moment and goes on where it was."""

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from glcn.exceptions import RestartedBuildWarning
from glcn.store.format import array_path, write_json

PROGRESS = "progress.json"


class Workplace:
    """The folder of an unfinished build: its arrays, and a file that says how far each stage is.

    What a stage has written is flushed before the file says so. A stage that is done again from there writes the same
    bytes, so a build that was killed ends like one that was not.
    """

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        self.folder = folder
        self.request = request
        self.done: dict[str, int] = {}
        self.facts: dict[str, Any] = {}
        self._open: dict[str, NDArray[Any]] = {}

    @classmethod
    @contextmanager
    def at(cls, folder: Path, request: dict[str, Any]) -> Iterator["Workplace"]:
        """Go on with what was begun for the same request, or begin; nobody else may build here meanwhile."""
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            place = cls(folder, request)
            place._go_on()
            yield place

    def array(self, name: str, shape: tuple[int, ...] = (), dtype: Any = None, *, stage: str) -> NDArray[Any]:
        """Return an array that ``stage`` fills: a new one, or what an earlier run has left of it."""
        if name not in self._open:
            path = array_path(self.folder, name)
            begun = self.done.get(stage, 0) > 0
            self._open[name] = np.load(path, mmap_mode="r+") if begun else open_memmap(path, "w+", dtype, shape)
        return np.asarray(self._open[name])

    def steps(self, stage: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
        """Give the parts of a stage that are still to be done, and note each when the next one is asked for."""
        for first, last in pairwise(bounds):
            if last <= self.done.get(stage, 0):
                continue
            yield first, last
            self.note(stage, last)

    def is_done(self, stage: str) -> bool:
        """Whether a stage of one part was done by an earlier run."""
        return self.done.get(stage, 0) > 0

    def note(self, stage: str, done: int = 1, **facts: Any) -> None:
        """Note how far a stage is, and what was found out."""
        for values in self._open.values():
            values.flush()  # type: ignore[attr-defined]
        self.done[stage] = done
        self.facts.update(facts)
        write_json(self.folder / PROGRESS, {"request": self.request, "done": self.done, "facts": self.facts})

    def remove(self, *names: str) -> None:
        """Remove arrays that are of no more use."""
        for name in names:
            self._open.pop(name, None)
            array_path(self.folder, name).unlink(missing_ok=True)

    def become(self, target: Path) -> None:
        """Give the finished folder its name."""
        self._open.clear()
        self.folder.rename(target)
        (target / PROGRESS).unlink()

    def abandon(self) -> None:
        """Remove everything."""
        self._open.clear()
        shutil.rmtree(self.folder)

    def _go_on(self) -> None:
        """Read how far an earlier run came, or clear the place for a new one."""
        earlier = self._read()
        if earlier == self.request:
            return
        if earlier is not None:
            changed = ", ".join(name for name in self.request if earlier.get(name) != self.request[name])
            warnings.warn(
                f"what was begun in {self.folder} was for another input or other settings ({changed}); building anew",
                RestartedBuildWarning,
                stacklevel=6,
            )
            for path in self.folder.glob("*.npy"):
                path.unlink()
        self.done, self.facts = {}, {}
        self.note("begin")

    def _read(self) -> dict[str, Any] | None:
        """Return what an earlier run was asked for: None where there was none, nothing where it can not be told."""
        path = self.folder / PROGRESS
        if not path.exists():
            if any(self.folder.glob("*.npy")):
                raise FileExistsError(f"{self.folder} is in the way and no unfinished build; move it away")
            return None
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            self.done, self.facts = dict(state["done"]), dict(state["facts"])
            return dict(state["request"])
        except (ValueError, KeyError, TypeError):
            return {}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; a lock ends with its process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows, where nothing stops a second build
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(
                f"another process is building in {folder}; wait for it, or choose another name"
            ) from error
        yield
    finally:
        os.close(handle)
