"""Random walks on a graph."""

import numpy as np
from numpy.typing import NDArray

from glcn.kernels.parallel import kernel


def uniform_walks(
    indptr: NDArray[np.int64], indices: NDArray[np.int64], starts: NDArray[np.int64], length: int, seed: int
) -> NDArray[np.int64]:
    """Return one walk from each start, (len(starts), length), each step to any neighbour with the same probability.

    A row without neighbours stays where it is. The same seed gives the same walks.
    """
    steps = np.random.default_rng(seed).random((len(starts), length - 1))
    walks = np.empty((len(starts), length), np.int64)
    _walk(indptr, indices, starts, steps, walks)
    return walks


@kernel
def _walk(indptr, indices, starts, steps, walks):  # type: ignore[no-untyped-def]
    for number in range(len(starts)):
        row = starts[number]
        walks[number, 0] = row
        for step in range(steps.shape[1]):
            first, degree = indptr[row], indptr[row + 1] - indptr[row]
            if degree > 0:
                row = indices[first + min(int(steps[number, step] * degree), degree - 1)]
            walks[number, step + 1] = row
