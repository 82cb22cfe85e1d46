"""Where the time of a fit goes, and how near its kernels come to what the machine can do."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from glcn.kernels.stopwatch import Stopwatch, running

REST = "Python and everything else"
ORDER = (
    "neighbour search",
    "head start",
    "projection",
    "score",
    "softmax",
    "convolution",
    "graph loss",
    "backward",
    "optimiser",
    "evaluation",
    "final answer",
)
_BYTES, _FLOPS = 4, 2  # of a scalar operation of a kernel: a float32 fetched, multiplied and added
_COPIED = 1 << 26  # bytes
_SIDE = 1024  # of the matrices that are multiplied


class KernelShare(NamedTuple):
    """How near a kernel came to the machine's limit."""

    kernel: str
    seconds: float
    of_bandwidth: float  # bytes it fetched, over those of a plain copy in the same time; above 1 if from caches
    of_arithmetic: float  # what it multiplied and added, over what a dense product does in the same time


@dataclass
class FitProfile:
    """Seconds of each stage, filled when :func:`profiled` ends."""

    seconds: dict[str, float] = field(default_factory=dict)
    kernels: list[KernelShare] = field(default_factory=list)
    total: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what is written to disk."""
        kernels = [
            {name: value if isinstance(value, str) else round(value, 4) for name, value in share._asdict().items()}
            for share in self.kernels
        ]
        seconds = {name: round(value, 4) for name, value in self.seconds.items()}
        return {"total": round(self.total, 4), "seconds": seconds, "kernels": kernels}


@contextmanager
def profiled() -> Iterator[FitProfile]:
    """Time the fits within by stage; the two kernels that ran longest are held against the machine afterwards."""
    profile = FitProfile()
    start = time.perf_counter()
    with running(Stopwatch()) as stopwatch:
        yield profile
    profile.total = time.perf_counter() - start
    known = {name: stopwatch.seconds[name] for name in ORDER if name in stopwatch.seconds}
    profile.seconds = known | {REST: max(0.0, profile.total - sum(known.values()))}
    bandwidth, arithmetic = _limits()
    longest = sorted(stopwatch.kernels.items(), key=lambda item: -item[1].seconds)[:2]
    profile.kernels = [
        KernelShare(
            name, use.seconds, _BYTES * use.work / bandwidth / use.seconds, _FLOPS * use.work / arithmetic / use.seconds
        )
        for name, use in longest
    ]


def _limits() -> tuple[float, float]:
    """Return bytes a second of a copy (what is read and what is written) and operations a second of a product."""
    source = torch.ones(_COPIED // 4)
    target = torch.empty_like(source)
    x = torch.ones(_SIDE, _SIDE)
    copying = _quickest(lambda: target.copy_(source))
    multiplying = _quickest(lambda: torch.mm(x, x))
    return 2 * _COPIED / copying, 2 * _SIDE**3 / multiplying


def _quickest(work: Any, times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])
