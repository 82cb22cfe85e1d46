"""Sparse times dense: the product behind S·X and X·W."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glcn.kernels import parallel
from glcn.kernels.parallel import kernel


def csr_matmul(
    chunks: NDArray[np.int64],
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    values: Tensor,
    dense: Tensor,
    plus: Tensor | None = None,
) -> Tensor:
    """Return M·D for M in CSR, ``plus`` a matrix of its shape if there is one; no gradient."""
    values, dense = values.detach().contiguous(), dense.detach().contiguous()
    out = dense.new_empty(len(indptr) - 1, dense.shape[1])
    added = dense.new_empty(0, dense.shape[1]) if plus is None else plus.detach().contiguous()
    work = len(indices) * dense.shape[1]
    parallel.run(_multiply, chunks, work, indptr, indices, values.numpy(), dense.numpy(), added.numpy(), out.numpy())
    return out


@kernel
def _multiply(chunks, first, last, indptr, indices, values, dense, added, out):  # type: ignore[no-untyped-def]
    m = dense.shape[1]
    zero = dense.dtype.type(0)
    for i in range(chunks[first], chunks[last]):
        for k in range(m):
            out[i, k] = added[i, k] if len(added) else zero
        start, stop = indptr[i], indptr[i + 1]
        fours = stop - (stop - start) % 4
        for e in range(start, fours, 4):  # four at a time: a quarter of the passes over the output row
            v0, v1, v2, v3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            j0, j1, j2, j3 = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            for k in range(m):
                out[i, k] += v0 * dense[j0, k] + v1 * dense[j1, k] + v2 * dense[j2, k] + v3 * dense[j3, k]
        for e in range(fours, stop):
            value, j = values[e], indices[e]
            for k in range(m):
                out[i, k] += value * dense[j, k]
