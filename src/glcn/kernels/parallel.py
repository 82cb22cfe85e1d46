"""Run a kernel over chunks of rows, in threads where that pays.

The kernels release the GIL, so plain Python threads run them side by side. This leaves numba's own threading layers
out of the picture: forked children and concurrent callers work, and ``torch.set_num_threads`` is the one knob.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray

from glcn.kernels import stopwatch

# Sums may be reordered for vector units (the same way on every run), NaN and infinity keep their meaning.
kernel = njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy")

SERIAL_WORK = 8_000_000  # scalar operations below which handing work to threads costs more than it saves
VECTOR = 8  # numbers that a vector unit takes at a time; loops over a multiple of it have no remainder
TASKS_PER_THREAD = 4  # rows differ in cost, so threads fetch several smaller tasks each

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # a forked child has the pool object but not its threads
    os.register_at_fork(after_in_child=_pools.clear)


def run(function: Callable[..., None], chunks: NDArray[np.int64], work: int, *arguments: Any) -> None:
    """Call ``function(chunks, first, last, *arguments)`` so that every chunk is done once."""
    if stopwatch.is_running():
        start = time.perf_counter()
        _run(function, chunks, work, *arguments)
        stopwatch.note(function.py_func.__module__.rpartition(".")[2], time.perf_counter() - start, work)  # type: ignore[attr-defined]
    else:
        _run(function, chunks, work, *arguments)


def _run(function: Callable[..., None], chunks: NDArray[np.int64], work: int, *arguments: Any) -> None:
    count = len(chunks) - 1
    threads = min(torch.get_num_threads(), count)
    if threads <= 1 or work < SERIAL_WORK:
        function(chunks, 0, count, *arguments)
        return
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="glcn")
    bounds = np.linspace(0, count, min(count, threads * TASKS_PER_THREAD) + 1).astype(int).tolist()
    tasks = [_pools[threads].submit(function, chunks, first, last, *arguments) for first, last in pairwise(bounds)]
    for task in tasks:
        task.result()


def even_chunks(length: int, size: int = 16384) -> NDArray[np.int64]:
    """Cut a flat array into chunks of equal size."""
    return np.append(np.arange(0, length, size), length).astype(np.int64)
