"""Networks in evaluation, layer by layer in blocks of rows: exact, and only blocks are held besides the results.

The results go where a workspace keeps them: into memory, or into files that are mapped into it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from glcn.graph import CandidateGraph, RowBlock, row_blocks
from glcn.kernels import propagate
from glcn.nn.edge_scorer import degrees
from glcn.nn.glcn import GLCN, GLCNOutput
from glcn.nn.graph_learning import LearnedGraph
from glcn.nn.plus import SMOOTHINGS, GLCNPlus, PlusOutput, View, blended, smoothing_rounds

ROWS_PER_BLOCK = 1 << 16


class Workspace:
    """Gives room for results: in memory, or as .npy files in a folder.

    ``report`` is told how many rows are done, and of how many, counted in each pass over the graph.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.report: Callable[[int, int], None] | None = None
        self._done = self._all = 0

    def begin(self, passes: int, graph: CandidateGraph) -> None:
        """Say how many passes over a graph will come."""
        self._done, self._all = 0, passes * graph.num_nodes

    def over(self, graph: CandidateGraph) -> Iterator[RowBlock]:
        """Pass over a graph, a block of rows at a time."""
        for block in row_blocks(graph):
            yield block
            self._done += block.rows.stop - block.rows.start
            if self.report is not None:
                self.report(self._done, self._all)

    def empty(self, name: str, *shape: int) -> Tensor:
        """Return room for float32 numbers that hold anything; a file of that name is replaced."""
        if self.folder is None:
            return torch.empty(shape)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.npy"
        return torch.from_numpy(np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape))

    def open(self, name: str) -> Tensor:
        """Return what was written to a file before; nothing that is changed in it reaches the file."""
        if self.folder is None:
            raise ValueError("a workspace in memory has no files")
        return torch.from_numpy(np.load(self.folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))


@torch.no_grad()
def glcn_in_blocks(model: GLCN, x: Any, graph: CandidateGraph, space: Workspace) -> GLCNOutput:
    """Return what ``model(x, graph)`` does; ``x`` gives some of its rows by ``x[slice]``."""
    n = graph.num_nodes
    space.begin(1 + len(model.weights), graph)
    widths = [weight.shape[1] for weight in model.weights]
    embedding = space.empty("embedding", n, model.graph_learning.width)
    messages = [space.empty(f"message-{layer}", n, width) for layer, width in enumerate(widths)]
    for rows in row_slices(n):
        embedding[rows], messages[0][rows] = model.first_products(x[rows], None)
    score, square, values = (space.empty(name, graph.num_edges) for name in ("score", "square", "values"))
    for block in space.over(graph):
        S = model.graph_learning.connect(embedding, block.pattern, block.weights)
        score[block.edges], square[block.edges], values[block.edges] = S.score, S.square, S.values
    logits = space.empty("logits", n, widths[-1])
    for layer, message in enumerate(messages):
        for block in space.over(graph):
            received = propagate(values[block.edges], message, block.pattern)
            if layer + 1 == len(messages):
                logits[block.rows] = received
            else:
                messages[layer + 1][block.rows] = model.next_message(received, model.weights[layer + 1], None)
    return GLCNOutput(logits, LearnedGraph(embedding, score, square, values, graph.pattern), tuple(messages))


@torch.no_grad()
def plus_in_blocks(model: GLCNPlus, x: Any, graph: CandidateGraph, space: Workspace) -> PlusOutput:
    """Return what ``model(x, graph)`` does; ``x`` gives some of its rows by ``x[slice]``."""
    n, width = graph.num_nodes, len(model.first_bias)
    rounds = sum(map(smoothing_rounds, (*(SMOOTHINGS if model.settles_smoothing else ()), model.smoothing)))
    space.begin(2 + model.num_graphs * model.num_hops + rounds, graph)
    h, product = space.empty("embedding", n, model.scorer.out_channels), space.empty("product", n, width)
    for rows in row_slices(n):
        h[rows], product[rows] = model.products(x[rows], 1, None)
    score, square, learned = (space.empty(name, graph.num_edges) for name in ("score", "square", "values"))
    degree = [space.empty(f"degree-{view}", n).fill_(1.0) for view in range(model.num_views)]
    for block in space.over(graph):
        edges = model.weigh(h, block.pattern, block.weights, block.is_loop)
        score[block.edges], square[block.edges], learned[block.edges] = edges.score, edges.square, edges.weights
        for view, W in enumerate(model.graph_weights(edges.weights, block.weights)):
            degree[view][block.rows] = degrees(W, block.pattern)
    views = [
        View(degree[view], tuple(_sums(model, view, degree[view], learned, product, graph, space)))
        for view in range(model.num_views)
    ]
    for block in space.over(graph):  # W is not needed any more: from here on it is D⁻¹W
        learned[block.edges] /= degree[0].index_select(0, block.pattern.rows)
    samples = space.empty("samples", model.num_views, n, len(model.second_bias))
    for rows in row_slices(n):
        samples[:, rows] = torch.cat([model.classify(view.sums[-1][rows], None) for view in views])
    logits = space.empty("logits", n, len(model.second_bias))
    graph_learned = LearnedGraph(h, score, square, learned, graph.pattern)
    return blend_in_blocks(model, PlusOutput(logits, samples, graph_learned, None, None, tuple(views)))


def _sums(
    model: GLCNPlus,
    view: int,
    degree: Tensor,
    learned: Tensor,
    product: Tensor,
    graph: CandidateGraph,
    space: Workspace,
) -> Iterator[Tensor]:
    """Give the partial sums of the hops, each (n, m)."""
    if view >= model.num_graphs:
        own = space.empty(f"view-{view}", *product.shape)
        for rows in row_slices(len(product)):
            own[rows] = model.unspread(product[rows])
        yield own
        return
    yield product
    last = product
    for hop in range(model.num_hops):
        following = space.empty(f"view-{view}-hops-{hop + 1}", *product.shape)
        for block in space.over(graph):
            W = model.graph_weights(learned[block.edges], block.weights)[view]
            S = model.normalized(W, degree, block.pattern)
            following[block.rows] = product[block.rows] + propagate(S, last, block.pattern)
        yield following
        last = following


def known_in_files(model: GLCN | GLCNPlus, graph: CandidateGraph, space: Workspace) -> GLCNOutput | PlusOutput:
    """Return what a pass in blocks left in the files of a workspace."""
    embedding, score, square, values = (space.open(name) for name in ("embedding", "score", "square", "values"))
    learned = LearnedGraph(embedding, score, square, values, graph.pattern)
    logits = space.open("logits")
    if isinstance(model, GLCN):
        return GLCNOutput(logits, learned, tuple(space.open(f"message-{layer}") for layer in range(len(model.weights))))
    product = space.open("product")
    views = []
    for view in range(model.num_views):
        if view < model.num_graphs:
            sums = (product, *(space.open(f"view-{view}-hops-{hop + 1}") for hop in range(model.num_hops)))
        else:
            sums = (space.open(f"view-{view}"),)
        views.append(View(space.open(f"degree-{view}"), sums))
    return PlusOutput(logits, space.open("samples"), learned, None, None, tuple(views))


@torch.no_grad()
def blend_in_blocks(model: GLCNPlus, output: PlusOutput) -> PlusOutput:
    """Write the logits anew, from the views in the shares that are settled now."""
    for rows in row_slices(len(output.logits)):
        output.logits[rows] = blended(output.samples[:, rows], model.shares)
    return output


@torch.no_grad()
def answer_in_blocks(
    model: GLCNPlus, output: PlusOutput, graph: CandidateGraph, targets: Tensor, rows: Tensor, space: Workspace
) -> PlusOutput:
    """Return what :meth:`GLCNPlus.settle_answer` does."""
    if not model.smoothing:
        return output
    n, c = output.logits.shape
    first, F, following = (space.empty(name, n, c) for name in ("first-answer", "answer", "next-answer"))
    for part in row_slices(n):
        first[part] = output.logits[part].softmax(dim=1)
    first[rows] = one_hot(targets[rows], c).to(first.dtype)
    for part in row_slices(n):
        F[part] = first[part]
    for _ in range(smoothing_rounds(model.smoothing)):
        for block in space.over(graph):
            heard = propagate(output.graph.values[block.edges], F, block.pattern)
            following[block.rows] = torch.lerp(first[block.rows], heard, model.smoothing)
        F, following = following, F
    for part in row_slices(n):
        output.logits[part] = F[part].clamp_min(torch.finfo(F.dtype).tiny).log()
    return output


def row_slices(n: int) -> Iterator[slice]:
    """Cut n rows into blocks."""
    for start in range(0, n, ROWS_PER_BLOCK):
        yield slice(start, min(start + ROWS_PER_BLOCK, n))
