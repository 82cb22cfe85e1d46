"""From lists of neighbours to a symmetric pattern: an edge wherever either end lists the other."""

import numpy as np

from glcn.kernels.parallel import kernel


@kernel
def count_edges(neighbors, degrees):  # type: ignore[no-untyped-def]
    """Count the entries of each row: itself, those it lists, and those that list it without being listed back."""
    n, k = neighbors.shape
    degrees[:] = 1 + k
    for i in range(n):
        for a in range(k):
            j = neighbors[i, a]
            if not _lists(neighbors, j, i):
                degrees[j] += 1


@kernel
def fill_edges(neighbors, cursor, indices):  # type: ignore[no-untyped-def]
    """Write the entries of each row from ``cursor`` on, in any order; the cursors end where the next rows begin."""
    n, k = neighbors.shape
    for i in range(n):
        _append(i, i, cursor, indices)
        for a in range(k):
            j = neighbors[i, a]
            _append(i, j, cursor, indices)
            if not _lists(neighbors, j, i):
                _append(j, i, cursor, indices)


@kernel
def sort_rows(chunks, first, last, indptr, indices):  # type: ignore[no-untyped-def]
    """Sort the entries of each row."""
    for i in range(chunks[first], chunks[last]):
        indices[indptr[i] : indptr[i + 1]] = np.sort(indices[indptr[i] : indptr[i + 1]])


@kernel
def _append(i, j, cursor, indices):  # type: ignore[no-untyped-def]
    indices[cursor[i]] = j
    cursor[i] += 1


@kernel
def _lists(neighbors, i, j):  # type: ignore[no-untyped-def]
    """Whether row i lists j."""
    found = False
    for a in range(neighbors.shape[1]):
        found |= neighbors[i, a] == j
    return found
