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
        # One row more, which counts nowhere: scores are computed for two rows at a time.
        self.columns = pad(self.h.T, (0, 1, 0, padding)).contiguous()  # (d', n + 1)
        self.a = pad(a, (0, padding)).contiguous()
        self.peak = h.new_zeros(self.n)  # max_j f_ij; that of the self-loop is 0
        self.total = h.new_empty(0)  # (n,) Σ_j exp(f_ij − peak_i)
        self.smoothness = h.new_empty(0)  # (n,) Σ_j S_ij ‖h_i − h_j‖²
        self.squares = h.new_empty(0)  # (n,) Σ_j S_ij²
        self.pending: list[Product] = []
        self._score, self._square, self._mass = (h.new_empty((BLOCK + 1) * BLOCK) for _ in range(3))

    def blocks(self, squares: bool = False) -> Iterator[tuple[slice, slice, Tensor, Tensor | None]]:
        """Go through all pairs of blocks: their rows, f = ±ReLU(score) and, if asked for, squared distances.

        Both are valid until the next pair.
        """
        for R in _slices(self.n, BLOCK):
            for C in _slices(self.n, BLOCK, R.start):
                f, q = self.distances(R, C, squares)
                f.relu_()
                if self.sign < 0:
                    f.neg_()
                yield R, C, f, q

    def scores_by_rows(self) -> Iterator[tuple[slice, Tensor]]:
        """Go through all rows, some at a time, with their scores before the ReLU, (b, n)."""
        for rows in _slices(self.n, min(_ROWS_PER_TASK, BLOCK)):
            yield rows, torch.cat([self.distances(rows, C)[0].clone() for C in _slices(self.n, BLOCK)], dim=1)

    def distances(self, R: slice, C: slice, squares: bool = False) -> tuple[Tensor, Tensor | None]:
        """Return aᵀ|h_i − h_j| and, if asked for, ‖h_i − h_j‖² of a block, valid until the next call."""
        height, width = R.stop - R.start, C.stop - C.start
        score, square = (buffer[: (height + 1) * width].view(-1, width) for buffer in (self._score, self._square))
        chunks = parallel.even_chunks(height, _ROWS_PER_TASK)
        work = height * width * len(self.columns)
        arguments = (self.columns.numpy(), self.a.numpy(), R.start, C.start, score.numpy())
        parallel.run(_distances, chunks, work, *arguments, square.numpy() if squares else None)
        return score[:height], square[:height] if squares else None

    def masses(self, f: Tensor, R: slice, C: slice) -> tuple[Tensor, Tensor]:
        """Return exp(f_ij − peak_i) and exp(f_ij − peak_j) of a block, valid until the next call."""
        if self.sign < 0:  # no f is above 0, which the self-loop has
            mass = torch.exp(f, out=self._mass[: f.numel()].view(f.shape))
            return mass, mass
        return torch.sub(f, self.peak[R][:, None]).exp_(), torch.sub(f, self.peak[C]).exp_()

    def open(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Find the softmax of each row while multiplying with the first ``x``; returns S·x and both sums of S."""
        out = x.new_zeros(self.n, x.shape[1])
        sums = x.new_zeros(3, self.n)  # Σ_j of m, of m ‖h_i − h_j‖² and of m², with m = exp(f − peak)
        for R, C, f, q in self.blocks(squares=True):
            if self.sign > 0:
                self._raise_peak(R, f.amax(dim=1), out, sums)
                self._raise_peak(C, f.amax(dim=0), out, sums)
            mass, mirrored = self.masses(f, R, C)
            by_row, by_column = _block_sums(mass, mirrored, q)
            out[R] += mass @ x[C]
            sums[:, R] += by_row
            if R != C:
                out[C] += mirrored.T @ x[R]
                sums[:, C] += by_column
        self.total = sums[0]
        self.smoothness, self.squares = sums[1] / sums[0], sums[2] / sums[0].square()
        both = torch.stack([self.smoothness, self.squares]).double().sum(dim=1).to(x.dtype)
        return out / self.total[:, None], both[0].clone(), both[1].clone()

    def _raise_peak(self, rows: slice, seen: Tensor, out: Tensor, sums: Tensor) -> None:
        """Let the peak of rows be at least what was ``seen`` of them, and what was summed up so far fade as much."""
        higher = torch.maximum(self.peak[rows], seen)
        fade = (self.peak[rows] - higher).exp_()
        self.peak[rows] = higher
        out[rows] *= fade[:, None]
        sums[:2, rows] *= fade
        sums[2, rows] *= fade.square()

    def product(self, x: Tensor) -> Tensor:
        """Return S·x."""
        out = torch.zeros_like(x)
        for R, C, f, _ in self.blocks():
            mass, mirrored = self.masses(f, R, C)
            out[R] += mass @ x[C]
            if R != C:
                out[C] += mirrored.T @ x[R]
        return out / self.total[:, None]

    def transposed_product(self, x: Tensor) -> Tensor:
        """Return Sᵀ·x."""
        out, shared = torch.zeros_like(x), x / self.total[:, None]
        for R, C, f, _ in self.blocks():
            self._add_transposed(out, shared, R, C, *self.masses(f, R, C))
        return out

    @staticmethod
    def _add_transposed(out: Tensor, shared: Tensor, R: slice, C: slice, mass: Tensor, mirrored: Tensor) -> None:
        """Add what a block gives to Sᵀ·x; ``shared`` is x over the totals of its rows."""
        out[C] += mass.T @ shared[R]
        if R != C:
            out[R] += mirrored @ shared[C]

    def gradients(
        self, products: list[Product], grad_y: Tensor, smoothness: float, squares: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of h, a and, from ``grad_y`` = dL/d(S·x), of x.

        Those of h and a come from all products, and from both sums, whose gradients are given.
        """
        x, y, g = (torch.cat(parts, dim=1) for parts in zip(*(product[:3] for product in products), strict=True))
        mean = (g * y).sum(dim=1) + smoothness * self.smoothness + 2 * squares * self.squares  # Σ_j S_ij dL/dS_ij
        grad_x, shared = torch.zeros_like(grad_y), grad_y / self.total[:, None]
        grad_h = torch.zeros_like(self.h)
        U = torch.zeros_like(self.columns)  # U_i = Σ_j (df_ij + df_ji) sign(h_i − h_j): dh = a∘U, da = Σ_i h_i∘U_i
        ends = torch.stack([1 / self.total, mean]).numpy()
        for R, C, f, q in self.blocks(squares=bool(smoothness)):
            mass, mirrored = self.masses(f, R, C)
            self._add_transposed(grad_x, shared, R, C, mass, mirrored)
            pull, back = g[R] @ x[C].T, x[R] @ g[C].T  # dL/dS_ij and dL/dS_ji, their part from products
            factors = self.h.new_tensor([smoothness, squares, self.sign, R != C]).numpy()
            arrays = (each.numpy() for each in (f, f if q is None else q, mass, mirrored, pull, back))
            chunks = parallel.even_chunks(len(pull), _ROWS_PER_TASK)
            parallel.run(_softmax_gradient, chunks, 16 * pull.numel(), ends, R.start, C.start, factors, *arrays)
            if smoothness:
                grad_h[R] += back.sum(dim=1)[:, None] * self.h[R] - back @ self.h[C]
                grad_h[C] += back.sum(dim=0)[:, None] * self.h[C] - back.T @ self.h[R]
            chunks = parallel.even_chunks(len(U), _COLUMNS_PER_TASK)
            work = 2 * pull.numel() * len(U)
            parallel.run(_pull, chunks, work, self.columns.numpy(), pull.numpy(), R.start, C.start, U.numpy())
        grad_h += (self.a[:, None] * U)[: self.d, : self.n].T
        return grad_h, (self.columns * U).double().sum(dim=1)[: self.d].to(self.h.dtype), grad_x


def _slices(length: int, size: int, start: int = 0) -> list[slice]:
    return [slice(first, min(first + size, length)) for first in range(start, length, size)]


def _block_sums(mass: Tensor, mirrored: Tensor, q: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the sums of m, m·q and m² over the columns of ``mass``, (3, b), and over the rows of ``mirrored``."""
    chunks = parallel.even_chunks(len(mass), _ROWS_PER_TASK)
    by_row = mass.new_empty(3, len(mass))
    by_column = mass.new_zeros(len(chunks) - 1, 3, mass.shape[1])
    arrays = (each.numpy() for each in (mass, mirrored, q, by_row, by_column) if each is not None)
    parallel.run(_sums, chunks, 8 * mass.numel(), *arrays)
    return by_row, by_column.sum(dim=0)


@kernel
def _distances(chunks, first, last, columns, a, i_start, j_start, score, square):  # type: ignore[no-untyped-def]
    # Along j, so that vectors of rows are compared; two rows and four columns at a time share what is fetched.
    d, width = columns.shape[0], score.shape[1]
    j_stop = j_start + width
    zero = columns.dtype.type(0)
    for row in range(chunks[first], chunks[last], 2):
        i = i_start + row
        s, t = score[row], score[row + 1]
        s[:] = zero
        t[:] = zero
        if square is not None:
            square[row : row + 2] = zero
        for k in range(0, d, 4):  # divides VECTOR
            r0, r1 = columns[k, j_start:j_stop], columns[k + 1, j_start:j_stop]
            r2, r3 = columns[k + 2, j_start:j_stop], columns[k + 3, j_start:j_stop]
            h0, h1, h2, h3 = columns[k, i], columns[k + 1, i], columns[k + 2, i], columns[k + 3, i]
            g0, g1, g2, g3 = columns[k, i + 1], columns[k + 1, i + 1], columns[k + 2, i + 1], columns[k + 3, i + 1]
            a0, a1, a2, a3 = a[k], a[k + 1], a[k + 2], a[k + 3]
            if square is None:
                for j in range(width):
                    s[j] += a0 * abs(h0 - r0[j]) + a1 * abs(h1 - r1[j]) + a2 * abs(h2 - r2[j]) + a3 * abs(h3 - r3[j])
                    t[j] += a0 * abs(g0 - r0[j]) + a1 * abs(g1 - r1[j]) + a2 * abs(g2 - r2[j]) + a3 * abs(g3 - r3[j])
            else:
                q, p = square[row], square[row + 1]
                for j in range(width):
                    e0, e1, e2, e3 = h0 - r0[j], h1 - r1[j], h2 - r2[j], h3 - r3[j]
                    s[j] += a0 * abs(e0) + a1 * abs(e1) + a2 * abs(e2) + a3 * abs(e3)
                    q[j] += e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3
                    e0, e1, e2, e3 = g0 - r0[j], g1 - r1[j], g2 - r2[j], g3 - r3[j]
                    t[j] += a0 * abs(e0) + a1 * abs(e1) + a2 * abs(e2) + a3 * abs(e3)
                    p[j] += e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3


@kernel
def _sums(chunks, first, last, mass, mirrored, q, by_row, by_column):  # type: ignore[no-untyped-def]
    # Each chunk of rows has sums over columns of its own, so that threads never meet.
    zero = mass.dtype.type(0)
    for chunk in range(first, last):
        c0, c1, c2 = by_column[chunk, 0], by_column[chunk, 1], by_column[chunk, 2]
        for row in range(chunks[chunk], chunks[chunk + 1]):
            m, n, square = mass[row], mirrored[row], q[row]
            s0 = s1 = s2 = zero
            for j in range(len(m)):
                s0 += m[j]
                s1 += m[j] * square[j]
                s2 += m[j] * m[j]
                c0[j] += n[j]
                c1[j] += n[j] * square[j]
                c2[j] += n[j] * n[j]
            by_row[0, row], by_row[1, row], by_row[2, row] = s0, s1, s2


@kernel
def _softmax_gradient(  # type: ignore[no-untyped-def]
    chunks, first, last, ends, i_start, j_start, factors, f, q, mass, mirrored, pull, back
):
    # dL/df_ij = S_ij (dL/dS_ij − mean_i) where the ReLU did not cut; the two directions of a pair are added up, unless
    # the block is its own mirror image. Leaves in ``back`` the weights of a pair in the gradient of the smoothness.
    smoothness, squares, sign, both = factors
    zero, two = f.dtype.type(0), f.dtype.type(2)
    inverse_j, mean_j = ends[0, j_start : j_start + f.shape[1]], ends[1, j_start : j_start + f.shape[1]]
    for row in range(chunks[first], chunks[last]):
        inverse, mean = ends[0, i_start + row], ends[1, i_start + row]
        f_i, q_i, mass_i, mirrored_i, pull_i, back_i = f[row], q[row], mass[row], mirrored[row], pull[row], back[row]
        for j in range(len(f_i)):
            S, T = mass_i[j] * inverse, mirrored_i[j] * inverse_j[j] * both
            smooth = smoothness * q_i[j]
            there = S * (pull_i[j] + smooth + two * squares * S - mean)
            back_again = T * (back_i[j] + smooth + two * squares * T - mean_j[j])
            pull_i[j] = sign * (there + back_again) if f_i[j] != zero else zero
            back_i[j] = two * smoothness * (S + T)


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
