"""Where the time goes: seconds by stage, taken only while somebody asks for them."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

WHOLE = ("backward", "evaluation", "head start", "final answer")
P = ParamSpec("P")
R = TypeVar("R")
_running: "Stopwatch | None" = None


class KernelUse(NamedTuple):
    """How long a kernel ran, and for how many scalar operations."""

    seconds: float = 0.0
    work: int = 0


class Stopwatch:
    """Seconds of named stages; a stage within another counts for itself only, not for the one around it."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.kernels: defaultdict[str, KernelUse] = defaultdict(KernelUse)  # by the name of its module
        self._stack: list[tuple[str, float]] = []
        self._thread = threading.get_ident()

    def hears(self) -> bool:
        """Whether it belongs to the thread that asks: fits in other threads are none of its business."""
        return threading.get_ident() == self._thread

    def note(self, kernel: str, seconds: float, work: int) -> None:
        """Add one call of a kernel."""
        before = self.kernels[kernel]
        self.kernels[kernel] = KernelUse(before.seconds + seconds, before.work + work)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done within; what happens in the stages of ``WHOLE`` belongs to these."""
        if any(outer in WHOLE for outer, _ in self._stack):
            yield
            return
        start = time.perf_counter()
        self._stack.append((name, 0.0))
        try:
            yield
        finally:
            elapsed = time.perf_counter() - start
            _, inner = self._stack.pop()
            self.seconds[name] += elapsed - inner
            if self._stack:
                outer, so_far = self._stack[-1]
                self._stack[-1] = (outer, so_far + elapsed)


@contextmanager
def running(stopwatch: Stopwatch) -> Iterator[Stopwatch]:
    """Let ``stopwatch`` run within; one at a time, for the whole process."""
    global _running
    if _running is not None:
        raise RuntimeError("a stopwatch is running already")
    _running = stopwatch
    try:
        yield stopwatch
    finally:
        _running = None


def is_running() -> bool:
    """Whether a stopwatch runs for this thread."""
    stopwatch = _running
    return stopwatch is not None and stopwatch.hears()


def note(kernel: str, seconds: float, work: int) -> None:
    """Add one call of a kernel, if a stopwatch runs."""
    stopwatch = _running
    if stopwatch is not None and stopwatch.hears():
        stopwatch.note(kernel, seconds, work)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Time what is done within, if a stopwatch runs."""
    stopwatch = _running
    if stopwatch is None or not stopwatch.hears():
        yield
        return
    with stopwatch.stage(name):
        yield


def timed(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function a stage."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*arguments: P.args, **keywords: P.kwargs) -> R:
            if _running is None:
                return function(*arguments, **keywords)
            with stage(name):
                return function(*arguments, **keywords)

        return wrapper

    return decorate
