"""Features that are mostly zero, kept as CSR all the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.dropout import dropout
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import chunk_bounds


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """A constant (n, p) feature matrix in CSR."""

    indptr: Tensor  # (n + 1,) int32
    indices: Tensor  # (nnz,) int32
    values: Tensor  # (nnz,)
    num_columns: int

    @classmethod
    def from_scipy(cls, matrix: Any, dtype: torch.dtype = torch.float32) -> "SparseFeatures":
        """Copy a scipy.sparse matrix or array; duplicate entries are summed."""
        csr = sparse.csr_array(matrix, copy=True)
        csr.sum_duplicates()
        if csr.nnz > np.iinfo(np.int32).max:
            raise ValueError(f"X has {csr.nnz} stored entries; at most 2,147,483,647 are supported")
        return cls(
            indptr=_int32(csr.indptr),
            indices=_int32(csr.indices),
            values=torch.from_numpy(np.asarray(csr.data)).to(dtype, copy=True),
            num_columns=int(csr.shape[1]),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.indptr.numel() - 1, self.num_columns

    @property
    def device(self) -> torch.device:
        """Where the values are."""
        return self.values.device

    @property
    def dtype(self) -> torch.dtype:
        """Type of the values."""
        return self.values.dtype

    @cached_property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Chunks, row pointers and columns as NumPy arrays (CPU only)."""
        indptr = self.indptr.numpy()
        return chunk_bounds(indptr), indptr, self.indices.numpy()

    def to(self, device: torch.device | str) -> "SparseFeatures":
        """Return the features on another device."""
        tensors = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return SparseFeatures(num_columns=self.num_columns, **tensors)


Features = Tensor | SparseFeatures


def feature_matmul(x: Features, weight: Tensor) -> Tensor:
    """Return X·W, (n, m), differentiable in ``weight`` (and in a dense ``x``)."""
    return feature_products(x, (weight,))[0]


def feature_products(
    x: Features,
    weights: Sequence[Tensor],
    dropout_probability: float = 0.0,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, ...]:
    """Return dropout(X)·W for each of the weights, under one and the same dropout.

    Dropout acts on the stored entries of sparse features: zeros would stay zero anyway.
    """
    for weight in weights:
        if weight.shape[0] != x.shape[1]:
            raise ValueError(f"x has {x.shape[1]} columns but the network was made for {weight.shape[0]} features")
    if isinstance(x, Tensor):
        product = dropout(x, dropout_probability, generator) @ torch.cat(list(weights), dim=1)
        parts = torch.split(product, [weight.shape[1] for weight in weights], dim=1)
        return tuple(part.contiguous() for part in parts)
    values = dropout(x.values, dropout_probability, generator)
    if values.device.type != "cpu":
        return tuple(reference.sparse_matmul(x.indptr, x.indices, values, weight) for weight in weights)
    first, *others = weights
    rest = torch.cat(others, dim=1) if others else first.new_empty(first.shape[0], 0)
    product, products = _SparseProducts.apply(first, rest, values, x)
    if len(others) < 2:
        return (product, products)[: len(weights)]
    return product, *(part.contiguous() for part in torch.split(products, [each.shape[1] for each in others], dim=1))


class _SparseProducts(torch.autograd.Function):
    """X·[V|W] as two matrices, in one pass over X, and one backward."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, values: Tensor, x: SparseFeatures) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(values)
        ctx.x = x
        both = torch.cat([first.detach(), second.detach()], dim=1)
        out, others = (both.new_empty(x.shape[0], weight.shape[1]) for weight in (first, second))
        chunks, indptr, indices = x.arrays
        work = len(indices) * both.shape[1]
        arguments = (values.numpy(), both.numpy(), out.numpy(), others.numpy())
        parallel.run(_multiply, chunks, work, indptr, indices, *arguments)
        return out, others

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (values,) = ctx.saved_tensors
        _, indptr, indices = ctx.x.arrays
        width = sum(gradient.shape[1] for gradient in gradients)
        out = gradients[0].new_zeros(ctx.x.num_columns, width)
        # Threads share the columns of W: none writes where another does, and each sum runs over rows in their order.
        strips = parallel.strips(width)
        arguments = (values.numpy(), *(gradient.contiguous().numpy() for gradient in gradients), out.numpy())
        parallel.run(_multiply_transposed, strips, len(indices) * width, indptr, indices, *arguments)
        border = gradients[0].shape[1]
        return out[:, :border].contiguous(), out[:, border:].contiguous(), None, None


@kernel
def _multiply(chunks, first, last, indptr, indices, values, weights, out, others):  # type: ignore[no-untyped-def]
    m, border = weights.shape[1], out.shape[1]
    zero = weights.dtype.type(0)
    row = np.empty(m, weights.dtype)
    for i in range(chunks[first], chunks[last]):
        row[:] = zero
        start, stop = indptr[i], indptr[i + 1]
        fours = stop - (stop - start) % 4
        for e in range(start, fours, 4):  # four at a time: a quarter of the passes over the output row
            v0, v1, v2, v3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            w0, w1 = weights[indices[e]], weights[indices[e + 1]]
            w2, w3 = weights[indices[e + 2]], weights[indices[e + 3]]
            for k in range(m):
                row[k] += v0 * w0[k] + v1 * w1[k] + v2 * w2[k] + v3 * w3[k]
        for e in range(fours, stop):
            value, w = values[e], weights[indices[e]]
            for k in range(m):
                row[k] += value * w[k]
        for k in range(border):
            out[i, k] = row[k]
        for k in range(m - border):
            others[i, k] = row[border + k]


@kernel
def _multiply_transposed(strips, first, last, indptr, indices, values, grad, others, out):  # type: ignore[no-untyped-def]
    left, right, border = strips[first], strips[last], grad.shape[1]
    row = np.empty(right - left, out.dtype)
    for i in range(len(indptr) - 1):
        for k in range(left, right):
            row[k - left] = grad[i, k] if k < border else others[i, k - border]
        for e in range(indptr[i], indptr[i + 1]):
            value, target = values[e], out[indices[e], left:right]
            for k in range(right - left):
                target[k] += value * row[k]


def _int32(array: Any) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.int32))
