"""Features that are mostly zero, kept as CSR all the way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from glcn.kernels import parallel, reference
from glcn.kernels.dropout import dropout
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import bounds, chunk_bounds
from glcn.kernels.stopwatch import timed

_MOST_PARTS = 8
_ENTRIES_PER_SUM = 16  # entries of a part for each column, compared with which adding up the parts is little


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

    @cached_property
    def by_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """The entries ordered by column: chunks, column pointers, the row of each and where it is in ``values``."""
        shape, (_, indptr, indices) = self.shape, self.arrays
        position = sparse.csr_array((np.arange(len(indices), dtype=np.int32), indices, indptr), shape=shape).tocsc()
        pointers = position.indptr.astype(np.int32)
        return chunk_bounds(pointers), pointers, position.indices.astype(np.int32), position.data

    @cached_property
    def parts(self) -> NDArray[np.int64]:
        """Rows cut into a few parts, whose sums over rows are taken by themselves: first rows, and the end."""
        pointers, columns = self.arrays[1], self.num_columns
        count = min(_MOST_PARTS, max(1, int(pointers[-1]) // (_ENTRIES_PER_SUM * columns)))
        return bounds(pointers, count)

    def double(self) -> "SparseFeatures":
        """Return the features in double precision."""
        return replace(self, values=self.values.double())

    def to(self, device: torch.device | str) -> "SparseFeatures":
        """Return the features on another device."""
        tensors = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return SparseFeatures(num_columns=self.num_columns, **tensors)


Features = Tensor | SparseFeatures


@timed("projection")
def feature_products(
    x: Features,
    weights: Sequence[Tensor],
    dropout_probability: float = 0.0,
    generator: torch.Generator | None = None,
    *,
    padding: int = 0,
) -> tuple[Tensor, ...]:
    """Return dropout(X)·W for each of the weights, (n, m), under one and the same dropout.

    Differentiable in the weights, and in a dense ``x``.

    Dropout acts on the stored entries of sparse features: zeros would stay zero anyway. The first product gets
    ``padding`` columns of zeros.
    """
    for weight in weights:
        if weight.shape[0] != x.shape[1]:
            raise ValueError(f"x has {x.shape[1]} columns but the network was made for {weight.shape[0]} features")
    if isinstance(x, Tensor):
        return _apart(_DenseProducts, dropout(x, dropout_probability, generator), weights, padding)
    values = dropout(x.values, dropout_probability, generator)
    if values.device.type != "cpu":
        padded = (pad(weights[0], (0, padding)), *weights[1:])
        return tuple(reference.sparse_matmul(x.indptr, x.indices, values, weight) for weight in padded)
    return _apart(_SparseProducts, values, weights, padding, x)


def _apart(
    function: type[torch.autograd.Function], x: Tensor, weights: Sequence[Tensor], padding: int, *more: Any
) -> tuple[Tensor, ...]:
    """Multiply with the first weight and with all others side by side, by one product, and return each by itself."""
    first, *others = weights
    rest = torch.cat(others, dim=1) if len(others) > 1 else others[0] if others else first.new_empty(len(first), 0)
    product, products = function.apply(x, first, rest, padding, *more)
    if len(others) < 2:
        return (product, products)[: len(weights)]
    return product, *(part.contiguous() for part in torch.split(products, [each.shape[1] for each in others], dim=1))


def _side_by_side(first: Tensor, second: Tensor, padding: int, *, multiple: int = 1) -> Tensor:
    """Return [first | zeros | second | zeros], (p, ·), with as many columns as a multiple of a number."""
    border, start = first.shape[1], first.shape[1] + padding
    stop = start + second.shape[1]
    both = first.new_empty(first.shape[0], stop + -stop % multiple)
    both[:, :border] = first
    both[:, border:start] = 0
    both[:, start:stop] = second
    both[:, stop:] = 0
    return both


class _DenseProducts(torch.autograd.Function):
    """X·[V|W] as two matrices, by one product, and one backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, first: Tensor, second: Tensor, padding: int) -> tuple[Tensor, Tensor]:
        both = _side_by_side(first, second, padding, multiple=parallel.VECTOR)  # by a quarter quicker than other widths
        ctx.border, ctx.start = first.shape[1], first.shape[1] + padding
        stop = ctx.start + second.shape[1]
        ctx.save_for_backward(x, both[:, :stop])
        product = x @ both
        return product[:, : ctx.start].contiguous(), product[:, ctx.start : stop].contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, both = ctx.saved_tensors
        gradient = torch.cat(gradients, dim=1)
        out = (gradient.T @ x).T  # which BLAS does quicker than x.T @ gradient
        grad_x = gradient @ both.T if ctx.needs_input_grad[0] else None
        return grad_x, out[:, : ctx.border].contiguous(), out[:, ctx.start :].contiguous(), None


class _SparseProducts(torch.autograd.Function):
    """The same for sparse features, in one pass over their stored entries."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, first: Tensor, second: Tensor, padding: int, x: SparseFeatures
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(values)
        ctx.x, ctx.border = x, first.shape[1]
        both = _side_by_side(first, second, padding)
        out = both.new_empty(x.shape[0], first.shape[1] + padding)
        others = both.new_empty(x.shape[0], second.shape[1])
        chunks, indptr, indices = x.arrays
        work = len(indices) * both.shape[1]
        arguments = (values.numpy(), both.numpy(), out.numpy(), others.numpy())
        parallel.run(_multiply, chunks, work, indptr, indices, *arguments)
        return out, others

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (values,) = ctx.saved_tensors
        x: SparseFeatures = ctx.x
        n, p = x.shape
        width = sum(gradient.shape[1] for gradient in gradients)
        work = len(values) * width
        if n < 2 * p:  # fetching rows of the gradient costs half of what updating rows of the result does
            out = gradients[0].new_empty(p, width)
            chunks, *entries = x.by_columns
            arguments = (values.numpy(), torch.cat(gradients, dim=1).numpy(), out.numpy())
            parallel.run(_gather, chunks, work, *entries, *arguments)
        else:
            _, *entries = x.arrays
            sums = gradients[0].new_zeros(len(x.parts) - 1, p, width)  # parts depend on X alone: so do all bits
            arguments = (values.numpy(), *(gradient.contiguous().numpy() for gradient in gradients), sums.numpy())
            parallel.run(_scatter, x.parts, work, *entries, *arguments)
            out = sums.sum(dim=0) if len(sums) > 1 else sums[0]
        border = ctx.border
        return None, out[:, :border].contiguous(), out[:, gradients[0].shape[1] :].contiguous(), None, None


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
def _gather(chunks, first, last, indptr, rows, position, values, grad, out):  # type: ignore[no-untyped-def]
    m = grad.shape[1]
    zero = out.dtype.type(0)
    for j in range(chunks[first], chunks[last]):
        total = out[j]
        total[:] = zero
        start, stop = indptr[j], indptr[j + 1]
        fours = stop - (stop - start) % 4
        for e in range(start, fours, 4):
            v0, v1, v2, v3 = (
                values[position[e]],
                values[position[e + 1]],
                values[position[e + 2]],
                values[position[e + 3]],
            )
            g0, g1, g2, g3 = grad[rows[e]], grad[rows[e + 1]], grad[rows[e + 2]], grad[rows[e + 3]]
            for k in range(m):
                total[k] += v0 * g0[k] + v1 * g1[k] + v2 * g2[k] + v3 * g3[k]
        for e in range(fours, stop):
            value, g = values[position[e]], grad[rows[e]]
            for k in range(m):
                total[k] += value * g[k]


@kernel
def _scatter(parts, first, last, indptr, indices, values, grad, others, sums):  # type: ignore[no-untyped-def]
    m, border = sums.shape[2], grad.shape[1]
    row = np.empty(m, sums.dtype)
    for part in range(first, last):
        out = sums[part]
        for i in range(parts[part], parts[part + 1]):
            for k in range(border):
                row[k] = grad[i, k]
            for k in range(m - border):
                row[border + k] = others[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                value, target = values[e], out[indices[e]]
                for k in range(m):
                    target[k] += value * row[k]


def _int32(array: Any) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.int32))
