"""All pairs of rows, one pair of blocks at a time: scores, products and gradients.

Scores are symmetric, so that each pair of blocks is visited once and serves the rows of both.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from glcn.kernels import parallel
from glcn.kernels.parallel import VECTOR, kernel

BLOCK = 512  # rows; a block of float32 weights then fills a megabyte of cache
_ROWS_PER_TASK = 64
_COLUMNS_PER_TASK = 4


class Product(NamedTuple):
    """A product y = S·x with the gradient of y, and the backward pass that it belongs to."""

    x: Tensor
    y: Tensor
    grad: Tensor
    backward: int


class PairBlocks:
    """Scores by blocks, with what the softmax needs of each row."""

    def __init__(self, h: Tensor, a: Tensor, sign: int) -> None:
        self.sign = sign
        self.n, self.d = h.shape
        # Distances do not change when all rows are moved, and digits are not lost if these are near zero.
        self.h = h - h.mean(dim=0)
        padding = -self.d % VECTOR
        self.columns = pad(self.h.T, (0, 0, 0, padding)).contiguous()  # (d', n)
        self.a = pad(a, (0, padding)).contiguous()
        self.peak = h.new_empty(0)  # (n,) max_j f_ij
        self.total = h.new_empty(0)  # (n,) Σ_j exp(f_ij − peak_i)
        self.smoothness = h.new_empty(0)  # (n,) Σ_j S_ij ‖h_i − h_j‖²
        self.squares = h.new_empty(0)  # (n,) Σ_j S_ij²
        self.pending: list[Product] = []
        self._score, self._square = h.new_empty(BLOCK * BLOCK), h.new_empty(BLOCK * BLOCK)

    def __iter__(self) -> Iterator[tuple[slice, slice, Tensor, Tensor]]:
        """Go through all pairs of blocks: their rows, f = ±ReLU(score) and squared distances, valid until the next."""
        for R in _slices(self.n, BLOCK):
            for C in _slices(self.n, BLOCK, R.start):
                f, q = self.distances(R, C)
                f.relu_()
                if self.sign < 0:
                    f.neg_()
                yield R, C, f, q

    def scores_by_rows(self) -> Iterator[tuple[slice, Tensor]]:
        """Go through all rows, some at a time, with their scores before the ReLU, (b, n)."""
        for rows in _slices(self.n, min(_ROWS_PER_TASK, BLOCK)):
            yield rows, torch.cat([self.distances(rows, C)[0].clone() for C in _slices(self.n, BLOCK)], dim=1)

    def distances(self, R: slice, C: slice) -> tuple[Tensor, Tensor]:
        """Return aᵀ|h_i − h_j| and ‖h_i − h_j‖² of a block, valid until the next call."""
        shape = (R.stop - R.start, C.stop - C.start)
        score, square = (buffer[: shape[0] * shape[1]].view(shape) for buffer in (self._score, self._square))
        chunks = parallel.even_chunks(shape[0], _ROWS_PER_TASK)
        work = shape[0] * shape[1] * len(self.columns)
        arguments = (self.columns.numpy(), self.a.numpy(), R.start, C.start, score.numpy(), square.numpy())
        parallel.run(_distances, chunks, work, *arguments)
        return score, square

    def weights(self, f: Tensor, rows: slice, dim: int) -> Tensor:
        """Return S on a block; its receiving ``rows`` lie along the other axis than ``dim``."""
        return torch.sub(f, self.peak[rows].unsqueeze(dim)).exp_().div_(self.total[rows].unsqueeze(dim))

    def open(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Find the softmax of each row while multiplying with the first ``x``; returns S·x and both sums of S."""
        peak, total, smoothness, squares = (x.new_zeros(self.n) for _ in range(4))  # the self-loop has f = 0
        out = x.new_zeros(self.n, x.shape[1])
        for R, C, f, q in self:
            for rows, others, dim in ((R, C, 1), (C, R, 0)) if R != C else ((R, C, 1),):
                if self.sign > 0:
                    higher = torch.maximum(peak[rows], f.amax(dim=dim))
                    fade = (peak[rows] - higher).exp_()
                    peak[rows] = higher
                    for sums in (total, smoothness):
                        sums[rows] *= fade
                    squares[rows] *= fade.square()
                    out[rows] *= fade[:, None]
                mass = torch.sub(f, peak[rows].unsqueeze(dim)).exp_()
                out[rows] += (mass if dim == 1 else mass.T) @ x[others]
                total[rows] += mass.sum(dim=dim)
                smoothness[rows] += (mass * q).sum(dim=dim)
                squares[rows] += mass.square_().sum(dim=dim)
        self.peak, self.total = peak, total
        self.smoothness, self.squares = smoothness / total, squares / total.square()
        both = torch.stack([self.smoothness, self.squares]).double().sum(dim=1).to(x.dtype)
        return out / total[:, None], both[0].clone(), both[1].clone()

    def product(self, x: Tensor) -> Tensor:
        """Return S·x."""
        out = torch.zeros_like(x)
        for R, C, f, _ in self:
            out[R] += self.weights(f, R, 1) @ x[C]
            if R != C:
                out[C] += self.weights(f, C, 0).T @ x[R]
        return out

    def transposed_product(self, x: Tensor) -> Tensor:
        """Return Sᵀ·x."""
        out = torch.zeros_like(x)
        for R, C, f, _ in self:
            out[C] += self.weights(f, R, 1).T @ x[R]
            if R != C:
                out[R] += self.weights(f, C, 0) @ x[C]
        return out

    def gradients(
        self, products: list[Product], grad_y: Tensor, smoothness: float, squares: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of h, a and, from ``grad_y`` = dL/d(S·x), of x.

        Those of h and a come from all products, and from both sums, whose gradients are given.
        """
        x, y, g = (torch.cat(parts, dim=1) for parts in zip(*(product[:3] for product in products), strict=True))
        mean = (g * y).sum(dim=1) + smoothness * self.smoothness + 2 * squares * self.squares  # Σ_j S_ij dL/dS_ij
        grad_x = torch.zeros_like(grad_y)
        grad_h = torch.zeros_like(self.h)
        U = torch.zeros_like(self.columns)  # U_i = Σ_j (df_ij + df_ji) sign(h_i − h_j): dh = a∘U, da = Σ_i h_i∘U_i
        for R, C, f, q in self:
            S = self.weights(f, R, 1)
            pull = _softmax_gradient(S, g[R] @ x[C].T, q, mean[R][:, None], smoothness, squares)
            grad_x[C] += S.T @ grad_y[R]
            if R != C:
                mirrored = self.weights(f, C, 0)
                pull += _softmax_gradient(mirrored, x[R] @ g[C].T, q, mean[C][None, :], smoothness, squares)
                grad_x[R] += mirrored @ grad_y[C]
                S += mirrored
            if smoothness:
                S *= 2 * smoothness
                grad_h[R] += S.sum(dim=1)[:, None] * self.h[R] - S @ self.h[C]
                grad_h[C] += S.sum(dim=0)[:, None] * self.h[C] - S.T @ self.h[R]
            pull.masked_fill_(f == 0, 0)  # cut by the ReLU
            if self.sign < 0:
                pull.neg_()
            chunks = parallel.even_chunks(len(U), _COLUMNS_PER_TASK)
            work = 2 * pull.numel() * len(U)
            parallel.run(_pull, chunks, work, self.columns.numpy(), pull.numpy(), R.start, C.start, U.numpy())
        grad_h += (self.a[:, None] * U)[: self.d].T
        return grad_h, (self.columns * U).double().sum(dim=1)[: self.d].to(self.h.dtype), grad_x


def _slices(length: int, size: int, start: int = 0) -> list[slice]:
    return [slice(first, min(first + size, length)) for first in range(start, length, size)]


def _softmax_gradient(
    S: Tensor, received: Tensor, q: Tensor, mean: Tensor, smoothness: float, squares: float
) -> Tensor:
    """Return dL/df = S∘(dL/dS − mean) of a block; ``received`` is the part of dL/dS from products, overwritten."""
    if smoothness:
        received.add_(q, alpha=smoothness)
    if squares:
        received.add_(S, alpha=2 * squares)
    return received.sub_(mean).mul_(S)


@kernel
def _distances(chunks, first, last, columns, a, i_start, j_start, score, square):  # type: ignore[no-untyped-def]
    # Along j, so that vectors of rows are compared; eight columns at a time, so that sums are fetched less often.
    d, width = columns.shape[0], score.shape[1]
    j_stop = j_start + width
    zero = columns.dtype.type(0)
    for row in range(chunks[first], chunks[last]):
        i = i_start + row
        s, q = score[row], square[row]
        s[:] = zero
        q[:] = zero
        for k in range(0, d, 8):  # VECTOR
            r0, r1 = columns[k, j_start:j_stop], columns[k + 1, j_start:j_stop]
            r2, r3 = columns[k + 2, j_start:j_stop], columns[k + 3, j_start:j_stop]
            r4, r5 = columns[k + 4, j_start:j_stop], columns[k + 5, j_start:j_stop]
            r6, r7 = columns[k + 6, j_start:j_stop], columns[k + 7, j_start:j_stop]
            h0, h1, h2, h3 = columns[k, i], columns[k + 1, i], columns[k + 2, i], columns[k + 3, i]
            h4, h5, h6, h7 = columns[k + 4, i], columns[k + 5, i], columns[k + 6, i], columns[k + 7, i]
            a0, a1, a2, a3, a4, a5, a6, a7 = a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5], a[k + 6], a[k + 7]
            for j in range(width):
                e0, e1, e2, e3 = h0 - r0[j], h1 - r1[j], h2 - r2[j], h3 - r3[j]
                e4, e5, e6, e7 = h4 - r4[j], h5 - r5[j], h6 - r6[j], h7 - r7[j]
                s[j] += (a0 * abs(e0) + a1 * abs(e1) + a2 * abs(e2) + a3 * abs(e3)) + (
                    a4 * abs(e4) + a5 * abs(e5) + a6 * abs(e6) + a7 * abs(e7)
                )
                q[j] += (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3) + (e4 * e4 + e5 * e5 + e6 * e6 + e7 * e7)


@kernel
def _pull(chunks, first, last, columns, g, i_start, j_start, U):  # type: ignore[no-untyped-def]
    # Each column of h by itself: threads never meet, and four rows at a time share what is fetched of the others.
    height, width = g.shape
    j_stop = j_start + width
    zero = columns.dtype.type(0)
    fours = height - height % 4
    for k in range(chunks[first], chunks[last]):
        r, U_j = columns[k, j_start:j_stop], U[k, j_start:j_stop]
        for row in range(0, fours, 4):
            i = i_start + row
            h0, h1, h2, h3 = columns[k, i], columns[k, i + 1], columns[k, i + 2], columns[k, i + 3]
            g0, g1, g2, g3 = g[row], g[row + 1], g[row + 2], g[row + 3]
            s0 = s1 = s2 = s3 = zero
            for j in range(width):
                h_j = r[j]
                v0 = (g0[j] if h0 > h_j else zero) - (g0[j] if h0 < h_j else zero)
                v1 = (g1[j] if h1 > h_j else zero) - (g1[j] if h1 < h_j else zero)
                v2 = (g2[j] if h2 > h_j else zero) - (g2[j] if h2 < h_j else zero)
                v3 = (g3[j] if h3 > h_j else zero) - (g3[j] if h3 < h_j else zero)
                U_j[j] -= (v0 + v1) + (v2 + v3)
                s0 += v0
                s1 += v1
                s2 += v2
                s3 += v3
            U[k, i] += s0
            U[k, i + 1] += s1
            U[k, i + 2] += s2
            U[k, i + 3] += s3
        for row in range(fours, height):
            h_i, g_i, s = columns[k, i_start + row], g[row], zero
            for j in range(width):
                v = (g_i[j] if h_i > r[j] else zero) - (g_i[j] if h_i < r[j] else zero)
                U_j[j] -= v
                s += v
            U[k, i_start + row] += s
