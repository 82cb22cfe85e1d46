"""Attention of several heads: what each head makes of an edge, and the messages that the heads pass."""

from math import exp
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.checks import check_heads, check_nodes
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import Pattern

_WORK_PER_WEIGHT = 8


def attention(source: Tensor, target: Tensor, pattern: Pattern, slope: float) -> Tensor:
    """Return α_eh, (E, heads): for each head, the softmax over a row of LeakyReLU(target_ih + source_jh).

    ``source`` and ``target`` are (n, heads), ``slope`` is that of the LeakyReLU below 0; differentiable in both.
    """
    check_nodes("source", source, pattern)
    check_nodes("target", target, pattern)
    if source.device.type != "cpu":
        return reference.attention(source, target, pattern, slope)
    weights: Tensor = _Attention.apply(source, target, pattern, slope)
    return weights


def propagate_heads(weights: Tensor, x: Tensor, pattern: Pattern) -> Tensor:
    """Return Σ_j α_eh x_jh for each row and head, (n, heads · m), the columns of ``x`` being heads side by side."""
    check_nodes("x", x, pattern)
    check_heads("weights", weights, x, pattern)
    if x.device.type != "cpu":
        return reference.propagate_heads(weights, x, pattern)
    out: Tensor = _PropagateHeads.apply(weights, x, pattern)
    return out


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, source: Tensor, target: Tensor, pattern: Pattern, slope: float) -> Tensor:
        source, target = source.detach().contiguous(), target.detach().contiguous()
        weights = source.new_empty(pattern.num_edges, source.shape[1])
        chunks, indptr, indices, _ = pattern.arrays
        ctx.slope = np.array([slope], weights.numpy().dtype)
        arguments = (source.numpy(), target.numpy(), ctx.slope, weights.numpy())
        parallel.run(_softmax, chunks, _WORK_PER_WEIGHT * weights.numel(), indptr, indices, *arguments)
        ctx.save_for_backward(source, target, weights)
        ctx.pattern = pattern
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        source, target, weights = ctx.saved_tensors
        chunks, indptr, indices, reverse = ctx.pattern.both_ways
        grad_score = torch.empty_like(weights)
        grad_source, grad_target = torch.empty_like(source), torch.empty_like(target)
        work = _WORK_PER_WEIGHT * weights.numel()
        tables = (source.numpy(), target.numpy(), ctx.slope, weights.numpy(), gradients[0].contiguous().numpy())
        parallel.run(_softmax_backward, chunks, work, indptr, indices, *tables, grad_score.numpy(), grad_target.numpy())
        parallel.run(_mirrored_sums, chunks, work, indptr, reverse, grad_score.numpy(), grad_source.numpy())
        return grad_source, grad_target, None, None


class _PropagateHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, x: Tensor, pattern: Pattern) -> Tensor:
        weights, x = weights.detach().contiguous(), x.detach().contiguous()
        ctx.save_for_backward(weights, x)
        ctx.pattern = pattern
        out = x.new_empty(pattern.num_rows, x.shape[1])
        chunks, indptr, indices, _ = pattern.arrays
        work = pattern.num_edges * x.shape[1]
        parallel.run(_propagate, chunks, work, indptr, indices, weights.numpy(), x.numpy(), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weights, x = ctx.saved_tensors
        chunks, *structure = ctx.pattern.both_ways
        grad_weights, grad_x = torch.empty_like(weights), torch.empty_like(x)
        arguments = (weights, x, gradients[0].contiguous(), grad_weights, grad_x)
        work = 2 * ctx.pattern.num_edges * x.shape[1]
        parallel.run(_propagate_backward, chunks, work, *structure, *(each.numpy() for each in arguments))
        return grad_weights, grad_x, None


@kernel
def _softmax(chunks, first, last, indptr, indices, source, target, slope, weights):  # type: ignore[no-untyped-def]
    heads = source.shape[1]
    zero = source.dtype.type(0)
    peak, total = np.empty(heads, source.dtype), np.empty(heads, source.dtype)
    for i in range(chunks[first], chunks[last]):
        start, stop = indptr[i], indptr[i + 1]
        peak[:] = -np.inf
        total[:] = zero
        for e in range(start, stop):
            j = indices[e]
            for h in range(heads):
                score = target[i, h] + source[j, h]
                score = slope[0] * score if score < zero else score
                weights[e, h] = score
                peak[h] = max(peak[h], score)
        for e in range(start, stop):
            for h in range(heads):
                mass = exp(weights[e, h] - peak[h])
                weights[e, h] = mass
                total[h] += mass
        for e in range(start, stop):
            for h in range(heads):
                weights[e, h] /= total[h]


@kernel
def _softmax_backward(  # type: ignore[no-untyped-def]
    chunks, first, last, indptr, indices, source, target, slope, weights, grad, grad_score, grad_target
):
    heads = source.shape[1]
    zero = source.dtype.type(0)
    mean = np.empty(heads, source.dtype)
    for i in range(chunks[first], chunks[last]):
        mean[:] = zero
        grad_target[i, :] = zero
        for e in range(indptr[i], indptr[i + 1]):
            for h in range(heads):
                mean[h] += weights[e, h] * grad[e, h]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for h in range(heads):
                each = weights[e, h] * (grad[e, h] - mean[h])
                each = slope[0] * each if target[i, h] + source[j, h] < zero else each
                grad_score[e, h] = each
                grad_target[i, h] += each


@kernel
def _mirrored_sums(chunks, first, last, indptr, reverse, values, out):  # type: ignore[no-untyped-def]
    # Sums over columns of the pattern, as sums over the mirror images of a row.
    for j in range(chunks[first], chunks[last]):
        out[j, :] = values.dtype.type(0)
        for e in range(indptr[j], indptr[j + 1]):
            mirror = reverse[e]
            for h in range(values.shape[1]):
                out[j, h] += values[mirror, h]


@kernel
def _propagate(chunks, first, last, indptr, indices, weights, x, out):  # type: ignore[no-untyped-def]
    heads = weights.shape[1]
    m = x.shape[1] // heads
    for i in range(chunks[first], chunks[last]):
        out[i, :] = x.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for h in range(heads):
                weight = weights[e, h]
                sent, received = x[j, h * m : (h + 1) * m], out[i, h * m : (h + 1) * m]
                for k in range(m):
                    received[k] += weight * sent[k]


@kernel
def _propagate_backward(  # type: ignore[no-untyped-def]
    chunks, first, last, indptr, indices, reverse, weights, x, grad_out, grad_weights, grad_x
):
    # As for one head: dα_eh = g_ih·x_jh, and the mirror entry of (i, j) holds what i sends to j.
    heads = weights.shape[1]
    m = x.shape[1] // heads
    for i in range(chunks[first], chunks[last]):
        grad_x[i, :] = x.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            j, mirror = indices[e], reverse[e]
            for h in range(heads):
                part = slice(h * m, (h + 1) * m)
                g_i, g_j, x_j, grad_x_i = grad_out[i, part], grad_out[j, part], x[j, part], grad_x[i, part]
                weight = weights[mirror, h]
                dot = x.dtype.type(0)
                for k in range(m):
                    dot += g_i[k] * x_j[k]
                    grad_x_i[k] += weight * g_j[k]
                grad_weights[e, h] = dot
