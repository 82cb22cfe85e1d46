"""Contestants take turns in one process, so that what slows the machine down slows all of them."""

import ctypes
import gc
import multiprocessing
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHORTEST_TURN = 0.2  # seconds; quicker contestants repeat their work within a turn
LONG_STEP = 15.0  # seconds, compared with which compiling is nothing

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
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_weigh, args=(sender, prepare, small, arguments))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        raise RuntimeError(f"a contestant ended without an answer (exit code {child.exitcode}): {arguments}") from None
    finally:
        child.join()


def _weigh(
    sender: Connection, prepare: Callable[..., Step], small: tuple[object, ...], arguments: tuple[object, ...]
) -> None:
    import torch

    torch.set_num_threads(1)
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
    sender.send((_status("VmHWM") - before) / 1024)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
