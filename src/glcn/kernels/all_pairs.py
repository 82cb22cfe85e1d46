"""A graph learned on all pairs of rows, which no memory would hold.

Its weights are computed in square blocks wherever they are needed, and again in the backward pass.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from glcn.kernels.graph_terms import GraphTerms
from glcn.kernels.pair_blocks import PairBlocks, Product
from glcn.kernels.parallel import VECTOR
from glcn.kernels.stopwatch import timed


class AllPairs:
    r"""S_ij = softmax_j(±ReLU(aᵀ|h_i − h_j|)) over all pairs of rows, differentiable in ``h`` and ``a``.

    Parameters
    ----------
    h
        (n, d) embedded rows.
    a
        (d,) weights of the columns.
    sign
        1 gives far rows more weight, as in the paper, −1 near ones.
    """

    def __init__(self, h: Tensor, a: Tensor, sign: int) -> None:
        if h.ndim != 2 or a.shape != h.shape[1:]:
            raise ValueError(f"h must be (n, d) and a (d,), got {tuple(h.shape)} and {tuple(a.shape)}")
        if h.device.type != "cpu":
            raise ValueError("all pairs of many rows are computed on the CPU only; set device='cpu', or another graph")
        self.embedding = h
        self.a = a
        self.sign = sign
        self._opened: _Opened | None = None

    @timed("convolution")
    def propagate(self, x: Tensor, *, joint: bool = True) -> Tensor:
        """Return S·X, (n, m); unless ``joint``, no gradient goes through S."""
        if x.ndim != 2 or x.shape[0] != self.embedding.shape[0]:
            raise ValueError(f"x must have {self.embedding.shape[0]} rows, got shape {tuple(x.shape)}")
        if x.shape[1] % VECTOR:  # narrow products are cut in other ways by other numbers of threads
            return self.propagate(pad(x, (0, -x.shape[1] % VECTOR)), joint=joint)[:, : x.shape[1]].contiguous()
        if self._opened is None:
            return self._open(x, joint)
        opened = self._opened
        received: Tensor = _Propagate.apply(opened.handle if joint else opened.handle.detach(), x, opened.blocks)
        return received

    def terms(self, prior: Tensor | None = None) -> GraphTerms:
        """Return Σ S_ij ‖h_i − h_j‖² and ‖S‖²_F; there is no term for a prior."""
        if prior is not None:
            raise ValueError("a prior needs candidate edges that are stored")
        if self._opened is None:
            self._open(self.embedding.new_zeros(self.embedding.shape[0], 0), joint=True)
        return self._opened.terms  # type: ignore[union-attr]

    @torch.no_grad()
    def by_rows(self) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Go through S without gradients: some rows, their weights and their scores before the ReLU, both (b, n)."""
        for rows, score in PairBlocks(self.embedding.detach(), self.a.detach(), self.sign).scores_by_rows():
            yield rows, (self.sign * score.relu()).softmax(dim=1), score

    def strongest(self, k: int) -> tuple[Tensor, Tensor]:
        """Return the k greatest weights of each row and where they are, both (n, k), ordered by column."""
        found = [S.topk(min(k, S.shape[1]), dim=1) for _, S, _ in self.by_rows()]
        values, columns = torch.cat([each.values for each in found]), torch.cat([each.indices for each in found])
        columns, order = columns.sort(dim=1)
        return values.gather(1, order), columns

    def _open(self, x: Tensor, joint: bool) -> Tensor:
        h, a = self.embedding, self.a
        blocks = PairBlocks(h.detach(), a.detach(), self.sign)
        received, smoothness, frobenius, handle = _Open.apply(h, a, x, blocks, joint)
        self._opened = _Opened(GraphTerms(smoothness, frobenius, h.new_zeros(())), handle, blocks)
        return received  # type: ignore[no-any-return]


class _Opened(NamedTuple):
    """What the first pass over all pairs left."""

    terms: GraphTerms
    handle: Tensor  # empty; later products hang on it, so that their gradients arrive before those of h and a are due
    blocks: PairBlocks


def _backward_number() -> int:
    """Return a number that tells the backward pass at hand from others."""
    return torch._C._current_graph_task_id()


class _Open(torch.autograd.Function):
    @staticmethod
    def forward(  # h and a are in the blocks already; here they say where gradients go
        ctx: Any,
        h: Tensor,  # noqa: ARG004
        a: Tensor,  # noqa: ARG004
        x: Tensor,
        blocks: PairBlocks,
        joint: bool,
    ) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        x = x.detach()
        y, smoothness, squares = blocks.open(x)
        ctx.save_for_backward(x, y)
        ctx.blocks, ctx.joint = blocks, joint
        return y, smoothness, squares, x.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        blocks: PairBlocks = ctx.blocks
        x, y = ctx.saved_tensors
        grad_y, smoothness, squares, _ = gradients
        grad_y = torch.zeros_like(y) if grad_y is None else grad_y
        this = _backward_number()
        pending = [product for product in blocks.pending if product.backward == this]  # others never came here
        blocks.pending.clear()
        if not (ctx.needs_input_grad[0] or ctx.needs_input_grad[1]):
            return None, None, blocks.transposed_product(grad_y), None, None
        pending.append(Product(x, y, grad_y if ctx.joint else torch.zeros_like(y), this))
        weights = (0.0 if each is None else each.item() for each in (smoothness, squares))
        grad_h, grad_a, grad_x = blocks.gradients(pending, grad_y, *weights)
        return grad_h, grad_a, grad_x, None, None


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, handle: Tensor, x: Tensor, blocks: PairBlocks) -> Tensor:
        x = x.detach()
        y = blocks.product(x)
        ctx.save_for_backward(handle, x, y)
        ctx.blocks = blocks
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        handle, x, y = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            ctx.blocks.pending.append(Product(x, y, gradients[0], _backward_number()))
        grad_x = ctx.blocks.transposed_product(gradients[0]) if ctx.needs_input_grad[1] else None
        return torch.zeros_like(handle), grad_x, None
