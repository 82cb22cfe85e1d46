"""Softmax over the edges of each row."""

from math import exp
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.checks import check_edges
from glcn.kernels.parallel import kernel
from glcn.kernels.pattern import Pattern
from glcn.kernels.stopwatch import timed

_WORK_PER_EDGE = 8


@timed("softmax")
def row_softmax(logits: Tensor, pattern: Pattern, weights: Tensor | None = None, *, rectified: int = 0) -> Tensor:
    """Return S_e = w_e exp(l_e) / Σ_{e' in the row of e} w_e' exp(l_e'), differentiable in ``logits``.

    ``logits`` is (E,) and so are the non-negative ``weights`` (None: all 1). ``rectified`` = ±1 takes ±ReLU(l) for l.
    """
    check_edges("logits", logits, pattern)
    check_edges("weights", weights, pattern)
    if logits.device.type != "cpu":
        return reference.row_softmax(logits, pattern, weights, rectified)
    values: Tensor = _RowSoftmax.apply(logits, pattern, weights, rectified)
    return values


class _RowSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, pattern: Pattern, weights: Tensor | None, rectified: int) -> Tensor:
        logits = logits.detach().contiguous()
        values = torch.empty_like(logits)
        w = np.empty(0, values.numpy().dtype) if weights is None else weights.to(logits.dtype).contiguous().numpy()
        chunks, indptr, _, _ = pattern.arrays
        work = _WORK_PER_EDGE * pattern.num_edges
        parallel.run(_forward, chunks, work, indptr, logits.numpy(), w, rectified, values.numpy())
        ctx.save_for_backward(logits, values)
        ctx.pattern, ctx.rectified = pattern, rectified
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        logits, values = ctx.saved_tensors
        grad = torch.empty_like(values)
        chunks, indptr, _, _ = ctx.pattern.arrays
        arguments = (logits.numpy(), values.numpy(), gradients[0].contiguous().numpy(), ctx.rectified, grad.numpy())
        parallel.run(_backward, chunks, _WORK_PER_EDGE * ctx.pattern.num_edges, indptr, *arguments)
        return grad, None, None, None


@kernel
def _forward(chunks, first, last, indptr, logits, weights, rectified, values):  # type: ignore[no-untyped-def]
    zero = logits.dtype.type(0)
    for i in range(chunks[first], chunks[last]):
        start, stop = indptr[i], indptr[i + 1]
        if start == stop:
            continue
        peak = -np.inf
        for e in range(start, stop):
            logit = logits[e]
            if rectified != 0:
                logit = zero if logit < zero else logit  # NaN stays
                logit = -logit if rectified < 0 else logit
            values[e] = logit
            peak = max(peak, logit)
        total = zero
        for e in range(start, stop):
            mass = exp(values[e] - logits.dtype.type(peak))
            if weights.size > 0:
                mass *= weights[e]
            values[e] = mass
            total += mass
        for e in range(start, stop):
            values[e] /= total


@kernel
def _backward(chunks, first, last, indptr, logits, values, grad_values, rectified, grad):  # type: ignore[no-untyped-def]
    zero = logits.dtype.type(0)
    for i in range(chunks[first], chunks[last]):
        mean = values.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            mean += values[e] * grad_values[e]
        for e in range(indptr[i], indptr[i + 1]):
            each = values[e] * (grad_values[e] - mean)
            if rectified != 0:
                each = (-each if rectified < 0 else each) if logits[e] > zero else zero
            grad[e] = each
