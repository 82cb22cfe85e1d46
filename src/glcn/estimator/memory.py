"""How much memory a fit will need, before it begins, and whether the machine has it."""

import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from glcn.estimator.inputs import mostly_zero
from glcn.exceptions import LowMemoryWarning
from glcn.graph import LARGEST_STORED, CandidateGraph
from glcn.nn import VARIANTS
from glcn.store import Store
from glcn.whole_files import readable

FLOAT = 4  # bytes
SURE = 2.0  # times what is free, above which there is no doubt that an estimate is too much
_EDGE = 12 * FLOAT  # rows and columns of an edge, and about eight values: scores, weights, their gradients
_STORED_EDGE = 6 * FLOAT  # where it leads, its mirror image, and what was learned about it
_MEMINFO = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def edge_count(graph: Any, num_rows: int, num_neighbors: int) -> int:
    """Return about how many edges will be stored; none of all pairs in blocks."""
    if graph is None:
        return num_rows * (2 * min(num_neighbors, num_rows) + 1)
    if isinstance(graph, str):
        return num_rows**2 if num_rows <= LARGEST_STORED else 0
    if isinstance(graph, Store):
        return graph.graph.num_edges
    if isinstance(graph, CandidateGraph):
        return graph.num_edges
    if sparse.issparse(graph):
        return int(graph.nnz) + num_rows
    edges = getattr(graph, "edge_index", graph)
    if hasattr(edges, "number_of_edges"):
        return 2 * int(edges.number_of_edges()) + num_rows
    shape = np.shape(edges)
    return (int(shape[1]) if len(shape) == 2 and shape[0] == 2 else num_rows**2) + num_rows


class Scope(NamedTuple):
    """How many rows are held at a time: all of them, unless a fit goes by batches."""

    trained: int  # by a step of training
    answered: int  # by the answer; none where it goes to files
    copied: int  # of the features


def needed_bytes(settings: Mapping[str, Any], X: Any, edges: int, num_classes: int, scope: Scope | None = None) -> int:
    """Estimate what a fit needs on top of its inputs, at its peak."""
    n, p = (int(size) for size in X.shape)
    trained, answered, copied = scope or Scope(n, n, n)
    m, d = int(settings["hidden_units"]), int(settings["projection_size"] or p)
    if settings["variant"] in VARIANTS:
        # Each layer has what it receives and sends, in training with gradients; the embedding has its own.
        layers = trained * (3 * d + 4 * m * int(settings["n_layers"]) + 4 * num_classes)
        layers += answered * (d + 2 * m * int(settings["n_layers"]) + 2 * num_classes)
    else:
        layers = _plus_layers(settings, answered, trained, m, d) + 8 * answered * num_classes
    earlier = int(settings.get("rounds", 1)) > 1
    weights = (5 + earlier) * p * (d + m)  # with gradients, moments, the best so far, and those of an earlier round
    features = _features(settings, X, n, p) * copied // n
    stored = _STORED_EDGE * edges * answered // n
    return features + FLOAT * (layers + weights) + stored + _EDGE * edges * trained // n


def disk_bytes(settings: Mapping[str, Any], X: Any, edges: int, num_classes: int, *, features: bool = True) -> int:
    """Estimate what a fit will keep on disk: the state of its training, and all that new rows are answered by.

    ``features`` says whether the rows themselves are among it.
    """
    n, p = (int(size) for size in X.shape)
    m, d = int(settings["hidden_units"]), int(settings["projection_size"] or p)
    if settings["variant"] in VARIANTS:
        layers = d + m * (int(settings["n_layers"]) - 1) + 3 * num_classes
    else:
        layers = d + _view_floats(settings, m) + 2 * num_classes
    words = n * (30 + 9 * num_classes)  # a line of predictions
    states = int(settings.get("rounds", 1))
    weights = (4 * states + 1) * p * (d + m)  # with moments and the best so far, and once more in the model
    rows = 0 if not features else _matrix(X)
    return rows + FLOAT * (n * layers + weights) + _STORED_EDGE * edges + words


def _matrix(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes)


def _features(settings: Mapping[str, Any], X: Any, n: int, p: int) -> int:
    """Return the bytes of what is made of X: a copy for new rows, a scaled one, and the network's own."""
    if sparse.issparse(X):
        copies = 2 * int(X.data.nbytes + X.indices.nbytes)
        if settings["projection_size"] is not None and mostly_zero(X):
            return copies + 5 * FLOAT * int(X.nnz)
        return copies + 2 * FLOAT * n * p
    dropped = settings["variant"] in VARIANTS and settings["dropout"] > 0
    return 2 * int(X.nbytes) + (2 if dropped else 1) * FLOAT * n * p


def _plus_layers(settings: Mapping[str, Any], n: int, trained_rows: int, m: int, d: int) -> int:
    """Count the floats of the layers of ``plus``: partial sums of all hops in training, and of each view afterwards."""
    passes, hops = int(settings["n_passes"]), int(settings["n_hops"]) + 1
    training = 2 * trained_rows * m * (passes * hops + 4 * passes)
    evaluation = n * (m + _view_floats(settings, m))
    return training + evaluation + 3 * trained_rows * d + n * d


def _view_floats(settings: Mapping[str, Any], m: int) -> int:
    """Count the floats of a row that are kept of the views of ``plus``: the sums of each hop, and a degree."""
    graphs = 1 + int(settings["learn_graph"] and settings["given_view"])
    return graphs * (m * int(settings["n_hops"]) + 1) + int(settings["feature_view"]) * (m + 1)


def available_bytes() -> int | None:
    """Return how much memory can still be had, or None where the system does not tell."""
    found = []
    if _MEMINFO.exists():
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError, KeyError):  # no container, or one without a limit
        limit, used = (int((_CONTAINER / f"memory.{name}").read_text()) for name in ("max", "current"))
        cached = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
        found.append(limit - used + int(cached["inactive_file"]))  # files that were read make room when it is needed
    return min(found, default=None)


def check_memory(needed: int, variant: str) -> None:
    """Refuse what can not fit, and warn of what may not, before time is spent on it."""
    available = available_bytes()
    if available is None or needed <= available:
        return
    smaller = "n_neighbors or hidden_units" if variant in VARIANTS else "n_neighbors, n_hops or hidden_units"
    words = (
        f"this fit needs about {readable(needed)} of memory, and {readable(available)} are free; take a smaller "
        f"{smaller}, fewer features (by TruncatedSVD), or fewer unlabelled rows"
    )
    if needed > SURE * available:
        raise MemoryError(words)
    warnings.warn(words, LowMemoryWarning, stacklevel=3)
