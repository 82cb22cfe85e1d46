"""How much memory a fit will need, before it begins, and whether the machine has it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from scipy import sparse

from glcn.graph import CandidateGraph, CompleteGraph

FLOAT = 4  # bytes
_MEMINFO = Path("/proc/meminfo")
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_USED = Path("/sys/fs/cgroup/memory.current")
_VIEWS = 2


def needed_bytes(settings: Mapping[str, Any], X: Any, graph: CandidateGraph | CompleteGraph, num_classes: int) -> int:
    """Estimate what a fit needs on top of its inputs, at its peak."""
    n, p = (int(size) for size in X.shape)
    m, d = int(settings["hidden_units"]), int(settings["projection_size"] or p)
    features: int = 3 * FLOAT * X.nnz if sparse.issparse(X) else FLOAT * n * p
    copy: int = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes  # of X, for neighbours of new rows
    if settings["variant"] == "plus":
        layers = _plus_layers(settings, n, m, d)
    else:
        # Each layer has what it receives and sends, with gradients; the embedding has its own.
        layers = n * (4 * d + 6 * m * int(settings["n_layers"]) + 6 * num_classes)
    weights = 5 * p * (d + m)  # with gradients, moments and the best so far
    if isinstance(graph, CompleteGraph):
        return copy + features + FLOAT * (layers + weights + 4 * n * d)
    # Indices, rows and columns of the edges, and about a dozen values each: scores, weights, their gradients.
    edges = graph.num_edges * (6 * FLOAT + 12 * FLOAT)
    return copy + features + FLOAT * (layers + weights) + edges


def _plus_layers(settings: Mapping[str, Any], n: int, m: int, d: int) -> int:
    """Count the floats of the layers of ``plus``: partial sums of all hops in training, and of each view afterwards."""
    passes, hops = int(settings["n_passes"]), int(settings["n_hops"]) + 1
    training = 2 * n * m * (passes * hops + 4 * passes)
    evaluation = n * m * _VIEWS * hops
    return training + evaluation + 4 * n * d


def available_bytes() -> int | None:
    """Return how much memory can still be had, or None where the system does not tell."""
    found = []
    if _MEMINFO.exists():
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # no container, or one without a limit
        found.append(int(_LIMIT.read_text()) - int(_USED.read_text()))
    return min(found, default=None)


def check_memory(needed: int) -> None:
    """Refuse what can not fit, before hours are spent on it."""
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"this fit needs about {readable(needed)} of memory, and {readable(available)} are free; take a smaller "
            "n_neighbors, n_hops or hidden_units, fewer features (by TruncatedSVD), or fewer unlabelled rows"
        )


def readable(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"
