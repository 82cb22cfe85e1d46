"""How far the two ends of each edge are apart, as the paper's score and as the smoothness loss see it."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.checks import check_nodes
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import Pattern
from glcn.kernels.stopwatch import timed


class EdgeDistances(NamedTuple):
    """Both distances of every edge."""

    score: Tensor  # (E,) aᵀ|h_i − h_j|
    square: Tensor  # (E,) ‖h_i − h_j‖²


@timed("score")
def edge_distances(h: Tensor, a: Tensor, pattern: Pattern) -> EdgeDistances:
    """Return aᵀ|h_i − h_j| and ‖h_i − h_j‖² for each edge (i, j), differentiable in ``h`` and ``a``.

    ``h`` is (n, d) and ``a`` (d,). One pass over the edges serves both, because fetching h_j is what costs.
    """
    check_nodes("h", h, pattern)
    if a.shape != h.shape[1:]:
        raise ValueError(f"a must have one entry for each of the {h.shape[1]} columns of h, got {tuple(a.shape)}")
    if h.device.type != "cpu":
        return EdgeDistances(*reference.edge_distances(h, a, pattern))
    return EdgeDistances(*_EdgeDistances.apply(h, a, pattern))


class _EdgeDistances(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, a: Tensor, pattern: Pattern) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        h, a = h.detach().contiguous(), a.detach().contiguous()
        score, square = h.new_empty(pattern.num_edges), h.new_empty(pattern.num_edges)
        chunks, indptr, indices, reverse = pattern.arrays
        work = pattern.num_edges * h.shape[1] // (1 if pattern.reverse is None else 2)
        own = h.numpy()[pattern.first_row :]
        arguments = (own, h.numpy(), a.numpy(), score.numpy(), square.numpy())
        parallel.run(_forward, chunks, work, indptr, indices, reverse, *arguments)
        ctx.save_for_backward(h, a)
        ctx.pattern = pattern
        return score, square

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        grad_score, grad_square = gradients
        if grad_score is None and grad_square is None:
            return None, None, None
        h, a = ctx.saved_tensors
        chunks, indptr, indices, reverse = ctx.pattern.both_ways
        grad_h = torch.empty_like(h)
        partial_a = np.zeros((len(chunks) - 1, h.shape[1]), np.float64)
        nothing = np.empty(0, grad_h.numpy().dtype)
        arguments = (
            h.numpy(),
            a.numpy(),
            nothing if grad_score is None else grad_score.contiguous().numpy(),
            nothing if grad_square is None else grad_square.contiguous().numpy(),
            grad_h.numpy(),
            partial_a,
        )
        work = 2 * ctx.pattern.num_edges * h.shape[1]
        parallel.run(_backward, chunks, work, indptr, indices, reverse, *arguments)
        return grad_h, torch.from_numpy(partial_a.sum(axis=0)).to(a.dtype), None


@kernel
def _forward(chunks, first, last, indptr, indices, reverse, own, h, a, score, square):  # type: ignore[no-untyped-def]
    d = h.shape[1]
    mirrored = reverse.size > 0
    zero = h.dtype.type(0)
    for i in range(chunks[first], chunks[last]):
        h_i = own[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if mirrored and j < i:
                continue  # both distances are symmetric: row j writes them for row i, too
            h_j = h[j]
            s = zero
            q = zero
            for k in range(d):
                difference = h_i[k] - h_j[k]
                s += a[k] * abs(difference)
                q += difference * difference
            score[e] = s
            square[e] = q
            if mirrored:
                score[reverse[e]] = s
                square[reverse[e]] = q


@kernel
def _backward(  # type: ignore[no-untyped-def]
    chunks, first, last, indptr, indices, reverse, h, a, grad_score, grad_square, grad_h, partial_a
):
    # With U_i = Σ_j (g_ij + g_ji) sign(h_i − h_j): dh_i = a∘U_i, and da = Σ_i h_i∘U_i needs no pass of its own. As
    # Σ_i U_i = 0, any offset may be taken from h there; that of the first row keeps the digits of a far-off embedding.
    d = h.shape[1]
    zero = h.dtype.type(0)
    with_score = grad_score.size > 0
    with_square = grad_square.size > 0
    U = np.empty(d, h.dtype)
    V = np.empty(d, h.dtype)
    for chunk in range(first, last):
        for i in range(chunks[chunk], chunks[chunk + 1]):
            h_i = h[i]
            U[:] = zero
            V[:] = zero
            start, stop = indptr[i], indptr[i + 1]
            twos = stop - (stop - start) % 2
            for e in range(start, twos, 2):  # two at a time: half of the passes over U and V
                h_0, h_1 = h[indices[e]], h[indices[e + 1]]
                r_0, r_1 = reverse[e], reverse[e + 1]
                g_0 = grad_score[e] + grad_score[r_0] if with_score else zero
                g_1 = grad_score[e + 1] + grad_score[r_1] if with_score else zero
                f_0 = grad_square[e] + grad_square[r_0] if with_square else zero
                f_1 = grad_square[e + 1] + grad_square[r_1] if with_square else zero
                for k in range(d):
                    d_0, d_1 = h_i[k] - h_0[k], h_i[k] - h_1[k]
                    U[k] += ((g_0 if d_0 > zero else zero) - (g_0 if d_0 < zero else zero)) + (
                        (g_1 if d_1 > zero else zero) - (g_1 if d_1 < zero else zero)
                    )
                    V[k] += f_0 * d_0 + f_1 * d_1
            for e in range(twos, stop):
                h_0, r_0 = h[indices[e]], reverse[e]
                g_0 = grad_score[e] + grad_score[r_0] if with_score else zero
                f_0 = grad_square[e] + grad_square[r_0] if with_square else zero
                for k in range(d):
                    d_0 = h_i[k] - h_0[k]
                    U[k] += (g_0 if d_0 > zero else zero) - (g_0 if d_0 < zero else zero)
                    V[k] += f_0 * d_0
            for k in range(d):
                grad_h[i, k] = a[k] * U[k] + V[k] + V[k]
                partial_a[chunk, k] += (h_i[k] - h[0, k]) * U[k]
