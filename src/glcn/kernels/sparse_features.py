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

from glcn.kernels import reference
from glcn.kernels.csr_matmul import csr_matmul
from glcn.kernels.dropout import dropout
from glcn.kernels.pattern import chunk_bounds


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """A constant (n, p) feature matrix in CSR, with its transpose stored for the backward pass."""

    indptr: Tensor  # (n + 1,) int32
    indices: Tensor  # (nnz,) int32
    values: Tensor  # (nnz,)
    num_columns: int
    transpose_indptr: Tensor  # (p + 1,) int32
    transpose_indices: Tensor  # (nnz,) int32, row of each entry in column order
    transpose_position: Tensor  # (nnz,) int64, where that entry stands in ``values``

    @classmethod
    def from_scipy(cls, matrix: Any, dtype: torch.dtype = torch.float32) -> "SparseFeatures":
        """Copy a scipy.sparse matrix or array; duplicate entries are summed."""
        csr = sparse.csr_array(matrix, copy=True)
        csr.sum_duplicates()
        if csr.nnz > np.iinfo(np.int32).max:
            raise ValueError(f"X has {csr.nnz} stored entries; at most 2,147,483,647 are supported")
        position = sparse.csr_array((np.arange(csr.nnz), csr.indices, csr.indptr), shape=csr.shape).tocsc()
        return cls(
            indptr=_int32(csr.indptr),
            indices=_int32(csr.indices),
            values=torch.from_numpy(np.asarray(csr.data)).to(dtype, copy=True),
            num_columns=int(csr.shape[1]),
            transpose_indptr=_int32(position.indptr),
            transpose_indices=_int32(position.indices),
            transpose_position=torch.from_numpy(position.data.astype(np.int64)),
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
        return _arrays(self.indptr, self.indices)

    @cached_property
    def transpose_arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The same for the transpose."""
        return _arrays(self.transpose_indptr, self.transpose_indices)

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
    transposed = None
    if torch.is_grad_enabled() and any(weight.requires_grad for weight in weights):
        transposed = values.index_select(0, x.transpose_position)
    return tuple(_SparseMatmul.apply(weight, values, transposed, x) for weight in weights)


class _SparseMatmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, values: Tensor, transposed: Tensor | None, x: SparseFeatures) -> Tensor:
        ctx.save_for_backward(transposed)
        ctx.x = x
        return csr_matmul(*x.arrays, values, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x: SparseFeatures = ctx.x
        (transposed,) = ctx.saved_tensors
        return csr_matmul(*x.transpose_arrays, transposed, gradients[0]), None, None, None


def _arrays(indptr: Tensor, indices: Tensor) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    pointers = indptr.numpy()
    return chunk_bounds(pointers), pointers, indices.numpy()


def _int32(array: Any) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.int32))
