import numpy as np
import pytest
import torch

import literal
from glcn.graph import CandidateGraph
from glcn.nn import GLCN, GLCNLoss

SIGN = {"paper": 1, "closeness": -1}


def network(**settings):
    generator = torch.Generator().manual_seed(0)
    model = GLCN(6, 5, 3, projection_channels=4, generator=generator, **settings).double()
    return model, torch.randn(12, 6, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("similarity", ["paper", "closeness"])
@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_equals_the_literal_network(any_graph, similarity, num_layers):
    model, x = network(similarity=similarity, num_layers=num_layers)
    layer = model.graph_learning
    h = literal.embedding(x.tolist(), layer.projection.tolist())
    A = any_graph.to_scipy().toarray().tolist()
    S = literal.learned_graph(h, layer.attention.tolist(), A, SIGN[similarity])
    Z = literal.network(x.tolist(), S, [weight.tolist() for weight in model.weights])
    np.testing.assert_allclose(model(x, any_graph).logits.softmax(dim=1).detach().numpy(), Z, atol=1e-6)


def test_relabelling_nodes_permutes_the_output(weighted_adjacency):
    model, x = network()
    order = np.random.default_rng(5).permutation(12)
    first = CandidateGraph.from_scipy(weighted_adjacency)
    second = CandidateGraph.from_scipy(weighted_adjacency[np.ix_(order, order)])
    torch.testing.assert_close(model(x[order], second).logits, model(x, first).logits[order])


def test_without_projection(any_graph):
    model = GLCN(6, 5, 3, projection_channels=None)
    assert model(torch.randn(12, 6), any_graph).logits.shape == (12, 3)


@pytest.mark.parametrize("joint", [True, False])
def test_who_learns_from_the_labels(any_graph, joint):
    """The paper trains everything on one loss; the released code keeps the labels from P and a."""
    model, x = network(joint=joint)
    model(x, any_graph).logits.square().sum().backward()
    reached = model.graph_learning.attention.grad is not None
    assert reached == joint
    assert all(weight.grad.abs().sum() > 0 for weight in model.weights)


def test_released_graph_learns_from_the_graph_loss(any_graph):
    model, x = network(joint=False)
    output = model(x, any_graph)
    loss = GLCNLoss(1.0, -0.01, smoothness="trace")
    terms = loss(output, any_graph, torch.zeros(12, dtype=torch.long), torch.arange(3))
    terms.total.backward()
    assert model.graph_learning.projection.grad.abs().sum() > 0
    assert model.graph_learning.attention.grad.abs().sum() > 0


def test_dropout_is_for_training_only_and_follows_the_generator(any_graph):
    model, x = network(dropout=0.5)
    first, second = (model(x, any_graph, torch.Generator().manual_seed(1)).logits for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, model(x, any_graph, torch.Generator().manual_seed(2)).logits)
    model.eval()
    assert torch.equal(model(x, any_graph).logits, model(x, any_graph).logits)


def test_attaching_a_twin_with_its_twins_edges_gives_its_twins_logits(weighted_graph):
    """A new row with the features and edges of a known one, to the same neighbours, is classified alike."""
    model, x = network()
    model.eval()
    known = model(x, weighted_graph)
    row = 3
    edges = (weighted_graph.pattern.rows == row).nonzero().ravel()
    support = weighted_graph.pattern.columns[edges]
    others = support != row
    table = torch.where(others, 1 + torch.arange(len(support)), 0).to(torch.int32)  # the twin is table row 0
    from glcn.kernels import Pattern

    pattern = Pattern(torch.tensor([0, len(support)], dtype=torch.int32), table, table_size=1 + len(support))
    logits = model.attach(x[row : row + 1], known, support, pattern, weighted_graph.weights[edges])
    torch.testing.assert_close(logits[0], known.logits[row])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_layers": 0}, "num_layers must be at least 1"),
        ({"dropout": 1.0}, "dropout must lie in"),
        ({"activation": "swish"}, "activation must be one of"),
    ],
)
def test_bad_arguments(settings, message):
    with pytest.raises(ValueError, match=message):
        GLCN(3, 4, 2, **settings)


def test_repr_and_reset():
    model, _ = network(dropout=0.5)
    assert "6 → 5 → 3, dropout=0.5, activation='relu', joint=True" in repr(model)
    assert "GraphLearning(6, 4, similarity='paper')" in repr(model)
    before = model.weights[0].clone()
    model.reset_parameters(torch.Generator().manual_seed(9))
    assert not torch.equal(model.weights[0], before)
