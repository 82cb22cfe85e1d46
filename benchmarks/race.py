"""Contestants take turns in one process, so that what slows the machine down slows all of them.

``in_fresh_process`` gives a race a process of its own: in one that has worked before, large arrays come from memory
that was kept, which makes those quicker that need many.
"""

import ctypes
import gc
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHORTEST_TURN = 0.2  # seconds; quicker contestants repeat their work within a turn
LONG_STEP = 15.0  # seconds, compared with which compiling is nothing

KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 33)}  # for glibc

Step = Callable[[], None]
Seconds = NDArray[np.float64]


class Ratio(NamedTuple):
    """How two contestants compare: the median over rounds, the least and the greatest."""

    middle: float
    low: float
    high: float


def take_turns(sides: Mapping[str, Step], rounds: int) -> dict[str, Seconds]:
    """Return the seconds of one step of each contestant in each round."""
    repeats = {name: _repeats(step) for name, step in sides.items()}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, step in sides.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                step()
            seconds[name].append((time.perf_counter() - start) / repeats[name])
    return {name: np.array(times) for name, times in seconds.items()}


def _repeats(step: Step) -> int:
    """Compile, allocate and fill caches by a first step, or two, and see how many make a turn."""
    first = _timed(step)
    return 1 if first > LONG_STEP else max(1, round(SHORTEST_TURN / _timed(step)))


def _timed(step: Step) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def ratio(numerator: Seconds, denominator: Seconds) -> Ratio:
    low, middle, high = np.percentile(numerator / denominator, [0, 50, 100])
    return Ratio(float(middle), float(low), float(high))


def extra_megabytes(prepare: Callable[..., Step], small: tuple[object, ...], *arguments: object) -> float | None:
    """Return by how much the memory of a fresh process grows during two steps, at its peak.

    ``prepare(*arguments)`` returns the step; before that, ``prepare(*small)`` has compiled all that is compiled. None
    where the system does not tell (other than Linux).
    """
    if not Path("/proc/self/clear_refs").exists():
        return None
    return in_fresh_process(_weigh, prepare, small, arguments)


def in_fresh_process(
    function: Callable[..., Any], *arguments: object, environment: Mapping[str, str] | None = None
) -> Any:
    """Return what a function returns in a process of its own, which has one thread and a changed environment."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(sender, function, arguments))
    with _changed_environment(environment or {}):
        child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        raise RuntimeError(f"a contestant ended without an answer (exit code {child.exitcode}): {arguments}") from None
    finally:
        child.join()


@contextmanager
def _changed_environment(changes: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _answer(sender: Connection, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    import torch

    torch.set_num_threads(1)
    sender.send(function(*arguments))


def _weigh(prepare: Callable[..., Step], small: tuple[object, ...], arguments: tuple[object, ...]) -> float:
    warm_up = prepare(*small)
    for _ in range(2):
        warm_up()
    step = prepare(*arguments)
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # else what loading the data has freed would be used, and not seen
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _status("VmRSS")
    for _ in range(2):
        step()
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
