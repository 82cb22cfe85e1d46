"""Dropout whose mask depends on a seed and a position only, not on threads or on the order of work."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from glcn.kernels import parallel, reference
from glcn.kernels.parallel import kernel


def dropout(x: Tensor, probability: float, generator: torch.Generator | None = None) -> Tensor:
    """Zero each entry of ``x`` with the given probability and scale the others by 1 / (1 − probability).

    The mask's seed is drawn from ``generator`` (PyTorch's default one where it is None).
    """
    if not 0 <= probability < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {probability}")
    if probability == 0:
        return x
    seed = int(torch.randint(2**62, (), generator=generator))
    if x.device.type != "cpu":
        return reference.dropout(x, probability, seed)
    dropped: Tensor = _Dropout.apply(x, probability, seed)
    return dropped


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, probability: float, seed: int) -> Tensor:
        ctx.probability, ctx.seed = probability, seed
        return _masked(x, probability, seed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return _masked(gradients[0], ctx.probability, ctx.seed), None, None


def _masked(x: Tensor, probability: float, seed: int) -> Tensor:
    x = x.detach().contiguous()
    out = torch.empty_like(x)
    flat = x.view(-1).numpy()
    chunks = parallel.even_chunks(x.numel())
    # In arrays, because numba takes long to recognise NumPy's scalars.
    numbers = np.array([seed & 0xFFFFFFFF, seed >> 32, int(probability * 2**24)], np.uint32)
    scale = np.array([1.0 / (1.0 - probability)], flat.dtype)
    parallel.run(_mask, chunks, 2 * x.numel(), flat, numbers, scale, out.view(-1).numpy())
    return out


@kernel
def _mask(chunks, first, last, x, numbers, scale, out):  # type: ignore[no-untyped-def]
    # Counting from 0 keeps the position in 32 bits, which is what lets the loop run on vector units.
    start, stop = chunks[first], chunks[last]
    x_part, out_part = x[start:stop], out[start:stop]
    low, high, threshold = numbers[0], numbers[1], numbers[2]
    base = np.uint32(np.uint32(start) + low)
    factor = scale[0]
    zero = x.dtype.type(0)
    for e in range(stop - start):
        z = _mix(np.uint32(np.uint32(e) + base))
        z = _mix(np.uint32(z ^ high))
        keep = np.uint32(z >> np.uint32(8)) >= threshold
        out_part[e] = x_part[e] * factor if keep else zero


@kernel
def _mix(z):  # type: ignore[no-untyped-def]
    # An integer hash of 32 bits in which every input bit moves about half of the output bits.
    z = np.uint32(np.uint32(z ^ np.uint32(z >> np.uint32(16))) * np.uint32(0x7FEB352D))
    z = np.uint32(np.uint32(z ^ np.uint32(z >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(z ^ np.uint32(z >> np.uint32(16)))
