"""Features that travel several hops and are added up on the way: X + S·X + S·S·X + …."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.checks import check_edges, check_nodes, check_square
from glcn.kernels.csr_matmul import csr_matmul
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import Pattern
from glcn.kernels.stopwatch import timed


@timed("convolution")
def spread(values: Tensor, x: Tensor, pattern: Pattern, hops: int) -> tuple[Tensor, ...]:
    """Return the partial sums X, X + S·X, …, one more than hops, for S given by its (E,) ``values``.

    They are differentiable in ``values`` and ``x`` (n, m).
    """
    check_edges("values", values, pattern)
    check_nodes("x", x, pattern)
    check_square(pattern)
    if x.device.type != "cpu":
        return reference.spread(values, x, pattern, hops)
    further: tuple[Tensor, ...] = _Spread.apply(values, x, pattern, hops) if hops else ()
    return x, *further


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, x: Tensor, pattern: Pattern, hops: int) -> tuple[Tensor, ...]:
        chunks, indptr, indices, _ = pattern.arrays
        sums = [x]
        for _ in range(hops):
            sums.append(csr_matmul(chunks, indptr, indices, values, sums[-1], plus=x))
        ctx.save_for_backward(values, *(sums[:-1] if ctx.needs_input_grad[0] else ()))
        ctx.pattern = pattern
        ctx.set_materialize_grads(False)
        return tuple(sums[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        some = next((gradient for gradient in gradients if gradient is not None), None)
        if some is None:
            return None, None, None, None
        values, *sums = ctx.saved_tensors
        chunks, indptr, indices, _ = ctx.pattern.both_ways
        mirrored = values.detach().index_select(0, ctx.pattern.reverse)
        grad_values = torch.zeros_like(mirrored)
        grad_x, grad_sum = torch.zeros_like(some), torch.zeros_like(some)  # grad_sum: of the sum after a hop
        for hop, gradient in reversed(list(enumerate(gradients))):
            if gradient is not None:
                grad_sum = grad_sum + gradient
            if sums:
                tensors = (sums[hop].detach(), grad_sum, grad_values)
                arrays = (tensor.contiguous().numpy() for tensor in tensors)
                parallel.run(_add_dots, chunks, len(mirrored) * some.shape[1], indptr, indices, *arrays)
            grad_x += grad_sum
            grad_sum = csr_matmul(chunks, indptr, indices, mirrored, grad_sum)
        return grad_values if sums else None, grad_x + grad_sum, None, None


@kernel
def _add_dots(chunks, first, last, indptr, indices, x, grad_sum, grad_values):  # type: ignore[no-untyped-def]
    # Of sum = X + S·x: dS_ij = g_i·x_j.
    for i in range(chunks[first], chunks[last]):
        g_i = grad_sum[i]
        for e in range(indptr[i], indptr[i + 1]):
            x_j = x[indices[e]]
            dot = x.dtype.type(0)
            for k in range(x.shape[1]):
                dot += g_i[k] * x_j[k]
            grad_values[e] += dot
