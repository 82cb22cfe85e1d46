"""Every kernel in plain PyTorch: what the kernels are held to, and the path for other devices.

Not tested on a GPU. Gather and scatter over edges, differentiated by autograd; sums over edges may differ in the last
bits from run to run on devices where ``index_add`` is not deterministic.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from glcn.kernels.pattern import Pattern

_MASK32 = 0xFFFFFFFF


def edge_distances(h: Tensor, a: Tensor, pattern: Pattern) -> tuple[Tensor, Tensor]:
    """aᵀ|h_i − h_j| and ‖h_i − h_j‖² for each edge."""
    difference = h[pattern.rows] - h[pattern.columns]  # (E, d)
    return difference.abs() @ a, difference.square().sum(dim=1)


def row_softmax(logits: Tensor, pattern: Pattern, weights: Tensor | None, rectified: int = 0) -> Tensor:
    """w_e exp(l_e) / Σ_{row} w exp(l), of ±ReLU(l) where ``rectified`` is ±1."""
    logits = rectified * logits.relu() if rectified else logits
    peak = logits.new_full((pattern.num_rows,), -torch.inf)
    rows = pattern.rows - pattern.first_row
    peak = peak.scatter_reduce(0, rows, logits.detach(), "amax")
    mass = (logits - peak[rows]).exp()
    if weights is not None:
        mass = mass * weights
    total = mass.new_zeros(pattern.num_rows).index_add(0, rows, mass)
    return mass / total[rows]


def graph_terms(values: Tensor, squares: Tensor, prior: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Σ S‖h_i − h_j‖², ‖S‖²_F and, on the stored edges, ‖S − A‖²_F."""
    distance = values.new_zeros(()) if prior is None else (values - prior).square().sum()
    return (values * squares).sum(), values.square().sum(), distance


def propagate(values: Tensor, x: Tensor, pattern: Pattern) -> Tensor:
    """S·X."""
    messages = values[:, None] * x[pattern.columns]  # (E, m)
    return x.new_zeros(pattern.num_rows, x.shape[1]).index_add(0, pattern.rows - pattern.first_row, messages)


def spread(values: Tensor, x: Tensor, pattern: Pattern, hops: int) -> tuple[Tensor, ...]:
    """X, X + S·X, X + S·X + S·S·X and so on."""
    sums = [x]
    for _ in range(hops):
        sums.append(x + propagate(values, sums[-1], pattern))
    return tuple(sums)


def attention(source: Tensor, target: Tensor, pattern: Pattern, slope: float) -> Tensor:
    """Softmax over rows of LeakyReLU(target_i + source_j), one head after the other."""
    score = leaky_relu(target[pattern.rows] + source[pattern.columns], slope)  # (E, heads)
    return torch.stack([row_softmax(head, pattern, None) for head in score.unbind(dim=1)], dim=1)


def propagate_heads(weights: Tensor, x: Tensor, pattern: Pattern) -> Tensor:
    """Σ_j α_ij x_j, one head after the other."""
    heads = zip(weights.unbind(dim=1), x.chunk(weights.shape[1], dim=1), strict=True)
    return torch.cat([propagate(weight, part, pattern) for weight, part in heads], dim=1)


def all_scores(h: Tensor, others: Tensor, a: Tensor) -> Tensor:
    """aᵀ|h_i − h_j| of all pairs, (n, n'), one column of h at a time."""
    score = h.new_zeros(h.shape[0], others.shape[0])
    for k in range(len(a)):
        score = score + a[k] * (h[:, k, None] - others[None, :, k]).abs()
    return score


class DensePairs(NamedTuple):
    """A graph on all pairs as a matrix."""

    S: Tensor  # (n, n)
    terms: tuple[Tensor, Tensor, Tensor]


def all_pairs(h: Tensor, a: Tensor, sign: int) -> DensePairs:
    """S = softmax_j(±ReLU(aᵀ|h_i − h_j|)), Σ S‖h_i − h_j‖², ‖S‖²_F and 0."""
    S = (sign * all_scores(h, h, a).relu()).softmax(dim=1)
    squares = (h[:, None] - h[None, :]).square().sum(dim=2)
    return DensePairs(S, ((S * squares).sum(), S.square().sum(), h.new_zeros(())))


def sparse_matmul(indptr: Tensor, indices: Tensor, values: Tensor, weight: Tensor) -> Tensor:
    """X·W for X in CSR."""
    counts = indptr.diff().long()
    rows = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
    products = values[:, None] * weight[indices.long()]
    return weight.new_zeros(len(counts), weight.shape[1]).index_add(0, rows, products)


def dropout(x: Tensor, probability: float, seed: int) -> Tensor:
    """Zero each entry with the given probability and scale the rest; the same bits as the kernel's."""
    index = torch.arange(x.numel(), device=x.device)
    z = _mix(index + (seed & _MASK32))
    z = _mix(z ^ (seed >> 32 & _MASK32))
    keep = (z >> 8) >= int(probability * 2**24)
    return torch.where(keep.view(x.shape), x * (1.0 / (1.0 - probability)), torch.zeros_like(x))


def _mix(z: Tensor) -> Tensor:
    z = z & _MASK32
    z = (z ^ (z >> 16)) * 0x7FEB352D & _MASK32
    z = (z ^ (z >> 15)) * 0x846CA68B & _MASK32
    return z ^ (z >> 16)
