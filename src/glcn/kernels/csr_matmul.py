"""Sparse times dense: the product behind S·X and X·W."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glcn.kernels import parallel
from glcn.kernels.parallel import kernel


def csr_matmul(
    chunks: NDArray[np.int64], indptr: NDArray[np.int32], indices: NDArray[np.int32], values: Tensor, dense: Tensor
) -> Tensor:
    """Return M·D for M in CSR; no gradient."""
    values, dense = values.detach().contiguous(), dense.detach().contiguous()
    out = dense.new_empty(len(indptr) - 1, dense.shape[1])
    work = len(indices) * dense.shape[1]
    parallel.run(_multiply, chunks, work, indptr, indices, values.numpy(), dense.numpy(), out.numpy())
    return out


@kernel
def _multiply(chunks, first, last, indptr, indices, values, dense, out):  # type: ignore[no-untyped-def]
    m = dense.shape[1]
    for i in range(chunks[first], chunks[last]):
        out_i = out[i]
        out_i[:] = dense.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            value = values[e]
            row = dense[indices[e]]
            for k in range(m):
                out_i[k] += value * row[k]
