import numpy as np
import pytest
import torch

import literal
from glcn.graph import Prior
from glcn.nn import GLCN, GLCNLoss

LABELS = [0, 1, 2] * 4
ROWS = [0, 4, 8, 11]
WEIGHTS = {"graph_weight": 0.3, "sparsity_weight": 0.7, "prior_weight": 0.2}


def case(graph):
    generator = torch.Generator().manual_seed(2)
    model = GLCN(6, 5, 3, projection_channels=4, generator=generator).double()
    x = torch.randn(12, 6, dtype=torch.float64, generator=generator)
    h = literal.embedding(x.tolist(), model.graph_learning.projection.tolist())
    A = graph.to_scipy().toarray().tolist()
    S = literal.learned_graph(h, model.graph_learning.attention.tolist(), A, 1)
    Z = literal.network(x.tolist(), S, [weight.tolist() for weight in model.weights])
    return model(x, graph), h, S, Z


def test_every_term_equals_the_literal_loops(any_graph):
    output, h, S, Z = case(any_graph)
    A = np.random.default_rng(3).random((12, 12)).astype(np.float32)
    terms = GLCNLoss(**WEIGHTS)(
        output, any_graph, torch.tensor(LABELS), torch.tensor(ROWS), prior=Prior.on(any_graph, A)
    )
    expected = {
        "cross_entropy": literal.cross_entropy(Z, LABELS, ROWS),
        "smoothness": literal.smoothness(S, h),
        "sparsity": literal.squared_norm(S),
        "prior": literal.squared_distance(S, A.tolist()),
    }
    for name, value in expected.items():
        assert getattr(terms, name).item() == pytest.approx(value, abs=1e-6), name
    graph_loss = expected["smoothness"] + 0.7 * expected["sparsity"] + 0.2 * expected["prior"]
    assert terms.total.item() == pytest.approx(expected["cross_entropy"] + 0.3 * graph_loss, abs=1e-6)


def test_means_and_units(any_graph):
    output, h, S, Z = case(any_graph)
    loss = GLCNLoss(**WEIGHTS, label_reduction="mean", graph_reduction="mean", smoothness_unit=4.0)
    terms = loss(output, any_graph, torch.tensor(LABELS), torch.tensor(ROWS))
    assert terms.cross_entropy.item() == pytest.approx(literal.cross_entropy(Z, LABELS, ROWS) / 4)
    assert terms.smoothness.item() == pytest.approx(literal.smoothness(S, h) / 12 / 4)
    assert terms.sparsity.item() == pytest.approx(literal.squared_norm(S) / 12)
    assert terms.prior.item() == 0


def test_trace_form(any_graph):
    output, h, S, _ = case(any_graph)
    terms = GLCNLoss(smoothness="trace")(output, any_graph, torch.tensor(LABELS), torch.tensor(ROWS))
    assert terms.smoothness.item() == pytest.approx(literal.trace_smoothness(S, h))


def test_zero_graph_weight_leaves_the_cross_entropy(any_graph):
    output, *_ = case(any_graph)
    terms = GLCNLoss(0.0)(output, any_graph, torch.tensor(LABELS), torch.tensor(ROWS))
    assert terms.total.item() == terms.cross_entropy.item()


def test_class_weights(any_graph):
    output, _, _, Z = case(any_graph)
    weight = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    terms = GLCNLoss(0.0)(output, any_graph, torch.tensor(LABELS), torch.tensor(ROWS), class_weight=weight)
    expected = sum(weight[LABELS[i]].item() * literal.cross_entropy(Z, LABELS, [i]) for i in ROWS)
    assert terms.cross_entropy.item() == pytest.approx(expected)


def test_repr():
    assert repr(GLCNLoss(0.5, 0.25)) == "GLCNLoss(λ=0.5, γ=0.25, β=0.0, labels by sum, graph by sum, pairwise)"
