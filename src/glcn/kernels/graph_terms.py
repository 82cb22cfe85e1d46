"""The terms of the graph learning loss."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.checks import check_edges
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import Pattern
from glcn.kernels.stopwatch import timed


class GraphTerms(NamedTuple):
    """Sums over all stored edges, each a scalar."""

    smoothness: Tensor  # Σ_ij S_ij ‖h_i − h_j‖²
    frobenius: Tensor  # ‖S‖²_F
    prior: Tensor  # ‖S − A‖²_F on the stored edges, 0 without A


@timed("graph loss")
def graph_terms(values: Tensor, squares: Tensor, pattern: Pattern, prior: Tensor | None = None) -> GraphTerms:
    """Return the three sums over edges, differentiable in ``values`` and ``squares``, both (E,)."""
    for name, each in (("values", values), ("squares", squares), ("prior", prior)):
        check_edges(name, each, pattern)
    if values.device.type != "cpu":
        return GraphTerms(*reference.graph_terms(values, squares, prior))
    return GraphTerms(*_GraphTerms.apply(values, squares, pattern, prior))


class _GraphTerms(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, squares: Tensor, pattern: Pattern, prior: Tensor | None
    ) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        values, squares = values.detach().contiguous(), squares.detach().contiguous()
        chunks, indptr, _, _ = pattern.arrays
        partial = np.zeros((len(chunks) - 1, 3), np.float64)
        A = np.empty(0, values.numpy().dtype) if prior is None else prior.to(values.dtype).contiguous().numpy()
        arguments = (values.numpy(), squares.numpy(), A, partial)
        parallel.run(_forward, chunks, 4 * pattern.num_edges, indptr, *arguments)
        ctx.save_for_backward(values, squares, prior)
        sums = torch.from_numpy(partial.sum(axis=0)).to(values.dtype)
        return sums[0].clone(), sums[1].clone(), sums[2].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        values, squares, prior = ctx.saved_tensors
        smoothness, frobenius, distance = gradients
        # In an array, because numba takes long to recognise NumPy's scalars.
        parts = (smoothness, frobenius, distance)
        weights = np.array([0.0 if part is None else part.item() for part in parts], values.numpy().dtype)
        grad_values, grad_squares = torch.empty_like(values), torch.empty_like(values)
        A = np.empty(0, values.numpy().dtype) if prior is None else prior.to(values.dtype).contiguous().numpy()
        arguments = (values.numpy(), squares.numpy(), A, weights, grad_values.numpy(), grad_squares.numpy())
        chunks = parallel.even_chunks(len(values))
        parallel.run(_backward, chunks, 4 * len(values), *arguments)
        return grad_values, grad_squares, None, None


@kernel
def _forward(chunks, first, last, indptr, values, squares, prior, partial):  # type: ignore[no-untyped-def]
    for chunk in range(first, last):
        start, stop = indptr[chunks[chunk]], indptr[chunks[chunk + 1]]
        smoothness = 0.0
        frobenius = 0.0
        distance = 0.0
        for e in range(start, stop):
            s = np.float64(values[e])
            smoothness += s * squares[e]
            frobenius += s * s
        if prior.size > 0:
            for e in range(start, stop):
                gap = np.float64(values[e]) - prior[e]
                distance += gap * gap
        partial[chunk, 0] = smoothness
        partial[chunk, 1] = frobenius
        partial[chunk, 2] = distance


@kernel
def _backward(chunks, first, last, values, squares, prior, weights, grad_values, grad_squares):  # type: ignore[no-untyped-def]
    smoothness, frobenius, distance = weights[0], 2 * weights[1], 2 * weights[2]
    for e in range(chunks[first], chunks[last]):
        grad_values[e] = smoothness * squares[e] + frobenius * values[e]
        grad_squares[e] = smoothness * values[e]
    if prior.size > 0:
        for e in range(chunks[first], chunks[last]):
            grad_values[e] += distance * (values[e] - prior[e])
