"""Messages along the edges of the learned graph: S·X."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.checks import check_edges, check_nodes
from glcn.kernels.csr_matmul import csr_matmul
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import Pattern
from glcn.kernels.stopwatch import timed


@timed("convolution")
def propagate(values: Tensor, x: Tensor, pattern: Pattern) -> Tensor:
    """Return S·X for S given by its (E,) ``values``; differentiable in ``values`` and ``x`` (columns, m)."""
    check_edges("values", values, pattern)
    check_nodes("x", x, pattern)
    if x.device.type != "cpu":
        return reference.propagate(values, x, pattern)
    out: Tensor = _Propagate.apply(values, x, pattern)
    return out


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, x: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(values, x)
        ctx.pattern = pattern
        chunks, indptr, indices, _ = pattern.arrays
        return csr_matmul(chunks, indptr, indices, values, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        values, x = (tensor.detach().contiguous() for tensor in ctx.saved_tensors)
        grad_out = gradients[0].contiguous()
        chunks, indptr, indices, reverse = ctx.pattern.both_ways
        if not ctx.needs_input_grad[0]:
            mirrored = values.index_select(0, ctx.pattern.reverse)
            return None, csr_matmul(chunks, indptr, indices, mirrored, grad_out), None
        grad_values, grad_x = torch.empty_like(values), torch.empty_like(x)
        arguments = (values.numpy(), x.numpy(), grad_out.numpy(), grad_values.numpy(), grad_x.numpy())
        work = 2 * ctx.pattern.num_edges * x.shape[1]
        parallel.run(_backward, chunks, work, indptr, indices, reverse, *arguments)
        return grad_values, grad_x, None


@kernel
def _backward(  # type: ignore[no-untyped-def]
    chunks, first, last, indptr, indices, reverse, values, x, grad_out, grad_values, grad_x
):
    # dS_ij = g_i·x_j, and dX = Sᵀ g is a gather: the mirror entry of (i, j) holds S_ji.
    m = x.shape[1]
    for i in range(chunks[first], chunks[last]):
        g_i = grad_out[i]
        grad_x_i = grad_x[i]
        grad_x_i[:] = x.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            x_j = x[j]
            g_j = grad_out[j]
            s = values[reverse[e]]
            dot = x.dtype.type(0)
            for k in range(m):
                dot += g_i[k] * x_j[k]
                grad_x_i[k] += s * g_j[k]
            grad_values[e] = dot
