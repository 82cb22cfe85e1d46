from itertools import pairwise

import numpy as np
import pytest
import torch

from glcn.graph import CandidateGraph, row_blocks
from glcn.nn import (
    GLCN,
    GLCNPlus,
    Workspace,
    answer_in_blocks,
    blend_in_blocks,
    glcn_in_blocks,
    plus_in_blocks,
)


@pytest.fixture(params=["memory", "files"])
def space(request, tmp_path):
    return Workspace(tmp_path if request.param == "files" else None)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("glcn.nn.blocks.ROWS_PER_BLOCK", 7)
    monkeypatch.setattr("glcn.nn.blocks.row_blocks", lambda graph: row_blocks(graph, 25))


def made(weighted):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5)).astype(np.float32)
    graph = CandidateGraph.knn(X, 4)
    if weighted:
        A = graph.to_scipy()
        A.data[:] = 0.5 + A.data / 3
        graph = CandidateGraph.from_scipy(A)
    return torch.from_numpy(X), graph


def test_blocks_hold_every_row_and_edge_once():
    _, graph = made(weighted=True)
    blocks = list(row_blocks(graph, 25))
    assert len(blocks) > 5
    for name in ("rows", "edges"):
        parts = [getattr(block, name) for block in blocks]
        assert parts[0].start == 0
        assert parts[-1].stop == (graph.num_nodes if name == "rows" else graph.num_edges)
        assert all(part.stop == following.start for part, following in pairwise(parts))
    assert torch.equal(torch.cat([block.pattern.rows for block in blocks]), graph.pattern.rows)
    assert torch.equal(torch.cat([block.pattern.columns for block in blocks]), graph.pattern.columns)
    assert torch.equal(torch.cat([block.is_loop for block in blocks]), graph.is_loop)
    assert torch.equal(torch.cat([block.weights for block in blocks]), graph.weights)


def test_a_row_with_more_edges_than_a_block_has_room_for():
    graph = CandidateGraph.complete(9)
    assert [block.rows for block in row_blocks(graph, 4)] == [slice(i, i + 1) for i in range(9)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("given_view", [True, False])
@pytest.mark.parametrize(("learn_graph", "num_passes"), [(True, 3), (True, 2), (True, 1), (False, 2)])
def test_plus_in_blocks_says_what_it_says_of_all_rows(space, weighted, learn_graph, num_passes, given_view):
    x, graph = made(weighted)
    options = {"learn_graph": learn_graph, "num_passes": num_passes, "given_view": given_view, "num_hops": 3}
    model = GLCNPlus(5, 8, 3, **options, smoothing=0.7, generator=torch.Generator().manual_seed(0)).eval()
    targets, rows = torch.arange(60) % 3, torch.arange(10)
    reports = []
    space.report = lambda done, total: reports.append((done, total))
    with torch.no_grad():
        whole = model(x, graph)
        blocks = plus_in_blocks(model, x, graph, space)
        for name in ("logits", "samples"):
            torch.testing.assert_close(getattr(blocks, name), getattr(whole, name))
        for name in ("embedding", "score", "square", "values"):
            torch.testing.assert_close(getattr(blocks.graph, name), getattr(whole.graph, name))
        for view, expected in zip(blocks.views, whole.views, strict=True):
            torch.testing.assert_close(view.degree, expected.degree)
            torch.testing.assert_close(view.sums, expected.sums)
        model.shares.copy_(torch.tensor([0.25, 0.5, 0.25][: len(model.shares)]))
        whole = model.settle_answer(model(x, graph), targets, rows)
        blocks = answer_in_blocks(model, blend_in_blocks(model, blocks), graph, targets, rows, space)
        torch.testing.assert_close(blocks.logits, whole.logits, atol=1e-5, rtol=1e-5)
    assert len({total for _, total in reports}) == 1
    assert reports[-1][0] == reports[-1][1]
    assert reports == sorted(reports)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("projection", [None, 6])
@pytest.mark.parametrize("layers", [1, 3])
def test_glcn_in_blocks_says_what_it_says_of_all_rows(space, weighted, projection, layers):
    x, graph = made(weighted)
    generator = torch.Generator().manual_seed(0)
    model = GLCN(5, 8, 3, num_layers=layers, projection_channels=projection, generator=generator).eval()
    reports = []
    space.report = lambda *counts: reports.append(counts)
    with torch.no_grad():
        whole, blocks = model(x, graph), glcn_in_blocks(model, x, graph, space)
    assert reports[-1] == (60 * (layers + 1), 60 * (layers + 1))
    torch.testing.assert_close(blocks.logits, whole.logits)
    torch.testing.assert_close(blocks.messages, whole.messages)
    for name in ("embedding", "score", "square", "values"):
        torch.testing.assert_close(getattr(blocks.graph, name), getattr(whole.graph, name))
