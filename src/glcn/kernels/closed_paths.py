"""How well two nodes are joined besides their own edge: by neighbours that are common, and by ones that are joined."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.kernels.parallel import even_chunks, kernel, run
from glcn.kernels.pattern import Pattern


class ClosedPaths(NamedTuple):
    """For each pair (i, j), what else leads from i to j; self-loops and the edge between the two do not count."""

    common: NDArray[np.float64]  # |N(i) ∩ N(j)|
    shared: NDArray[np.float64]  # Σ 1/|N(k)| over these: a neighbour of few says more than one of many
    thirds: NDArray[np.float64]  # edges between N(i) and N(j), over √(|N(i)| |N(j)|)


def closed_paths(pattern: Pattern, i: NDArray[np.int64], j: NDArray[np.int64]) -> ClosedPaths:
    """Count the paths of two and three steps between the nodes of each pair in a symmetric pattern with self-loops."""
    found = ClosedPaths(*np.zeros((3, len(i))))
    indptr, indices = pattern.indptr.numpy(), pattern.indices.numpy()
    volume = volumes(pattern)
    work = int(np.minimum(volume[i], volume[j]).sum())
    chunk = max(1, min(16384, len(i) // 64))
    run(_count, even_chunks(len(i), chunk), work, indptr, indices, volume, i, j, *found)
    return found


def volumes(pattern: Pattern) -> NDArray[np.int64]:
    """Return the number of edges of all the neighbours of each node, (n,): what walking two steps from it costs."""
    indptr, indices = pattern.indptr.numpy().astype(np.int64), pattern.indices.numpy()
    running = np.concatenate([[0], np.cumsum(np.diff(indptr)[indices])])
    found: NDArray[np.int64] = running[indptr[1:]] - running[indptr[:-1]]
    return found


@kernel
def _count(chunks, first, last, indptr, indices, volume, i, j, common, shared, thirds):  # type: ignore[no-untyped-def]
    is_near = np.zeros(len(indptr) - 1, np.bool_)
    for pair in range(chunks[first], chunks[last]):
        near, far = i[pair], j[pair]  # there is as much from one to the other as back: two steps are taken from ``far``
        if volume[far] > volume[near]:
            near, far = far, near
        for edge in range(indptr[near], indptr[near + 1]):
            is_near[indices[edge]] = True
        is_joined = is_near[far]
        is_near[near] = False
        is_near[far] = False
        paths = 0
        for edge in range(indptr[far], indptr[far + 1]):
            k = indices[edge]
            if k in (near, far):
                continue
            if is_near[k]:
                common[pair] += 1
                shared[pair] += 1 / (indptr[k + 1] - indptr[k] - 1)
            for step in range(indptr[k], indptr[k + 1]):
                paths += is_near[indices[step]] and indices[step] != k
        for edge in range(indptr[near], indptr[near + 1]):
            is_near[indices[edge]] = False
        degrees = (indptr[near + 1] - indptr[near] - 1 - is_joined) * (indptr[far + 1] - indptr[far] - 1 - is_joined)
        thirds[pair] = paths / np.sqrt(max(degrees, 1))
