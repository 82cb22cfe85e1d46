import numpy as np
import pytest
import torch

import literal
from glcn.graph import CandidateGraph
from glcn.kernels import Pattern
from glcn.nn import GLCNPlus


def network(seed=0, **settings):
    generator = torch.Generator().manual_seed(seed)
    model = GLCNPlus(6, 5, 3, projection_channels=4, generator=generator, **settings).double()
    with torch.no_grad():  # away from the symmetric start
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
    return model, torch.randn(12, 6, dtype=torch.float64, generator=generator)


def literal_output(model, x, graph):
    scorer = model.scorer
    h = literal.embedding(x.tolist(), scorer.projection.tolist())
    A = graph.to_scipy().toarray().tolist()
    W = literal.link_weights(h, scorer.attention.tolist(), scorer.loop.item(), A) if model.learn_graph else A
    tail = (model.first_bias.tolist(), model.second_weight.tolist(), model.second_bias.tolist())
    I = np.eye(len(A)).tolist()  # noqa: E741 the paper's symbol

    def classified(weights):
        if model.normalization == "rows":
            S = [[value / sum(row) for value in row] for row in weights]
        else:
            S = literal.symmetrically_normalized(weights)
        H = literal.mean_of_hops(S, literal.embedding(x.tolist(), model.first_weight.tolist()), model.num_hops)
        return np.array(literal.perceptron(H, *tail))

    graphs = (W, A, I) if model.learn_graph else (A, I)
    return W, sum(theta * classified(each) for theta, each in zip(model.shares.tolist(), graphs, strict=True))


@pytest.mark.parametrize(
    ("learn_graph", "shares"),
    [(True, (0.5, 0.5, 0.0)), (True, (0.0, 0.0, 1.0)), (True, (0.25, 0.5, 0.25)), (False, (0.75, 0.25))],
)
@pytest.mark.parametrize("normalization", ["symmetric", "rows"])
@pytest.mark.parametrize("num_hops", [0, 1, 4])
def test_equals_the_literal_network(any_graph, learn_graph, shares, num_hops, normalization):
    model, x = network(learn_graph=learn_graph, num_hops=num_hops, normalization=normalization)
    model.shares.copy_(torch.tensor(shares))
    model.eval()
    W, Z = literal_output(model, x, any_graph)
    output = model(x, any_graph)
    np.testing.assert_allclose(output.logits.softmax(dim=1).detach().numpy(), Z, atol=1e-6)
    shares = np.array(W) / np.sum(W, axis=1, keepdims=True)
    np.testing.assert_allclose(any_graph.to_scipy(output.graph.values).toarray(), shares, atol=1e-6)


def test_relabelling_nodes_permutes_the_output(weighted_adjacency):
    model, x = network()
    model.eval()
    order = np.random.default_rng(5).permutation(12)
    first = CandidateGraph.from_scipy(weighted_adjacency)
    second = CandidateGraph.from_scipy(weighted_adjacency[np.ix_(order, order)])
    torch.testing.assert_close(model(x[order], second).logits, model(x, first).logits[order])


def test_passes_differ_in_training_and_not_in_evaluation(any_graph):
    model, x = network(num_passes=3)
    samples = model.train()(x, any_graph, torch.Generator().manual_seed(1)).samples
    assert samples.shape == (3, 12, 3)
    assert not torch.allclose(samples[0], samples[1])
    assert model.eval()(x, any_graph).samples.shape == (3, 12, 3)


@pytest.mark.parametrize(
    ("num_passes", "dealt_out"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (4, [0, 0, 1, 2]), (5, [0, 0, 1, 1, 2])]
)
def test_without_anything_dropped_training_passes_equal_the_views_of_evaluation(any_graph, num_passes, dealt_out):
    """Passes are dealt out to the learned graph, the given one and the features alone."""
    model, x = network(row_dropout=0.0, feature_dropout=0.0, dropout=0.0, num_passes=num_passes)
    samples = model.train()(x, any_graph, torch.Generator().manual_seed(1)).samples
    views = model.eval()(x, any_graph).samples
    assert len(samples) == num_passes
    for sample, view in zip(samples, dealt_out, strict=True):
        torch.testing.assert_close(sample, views[view])


def test_a_view_of_the_given_graph_is_a_fixed_one(any_graph):
    model, x = network()
    fixed, _ = network(learn_graph=False)
    torch.testing.assert_close(model.eval()(x, any_graph).samples[1], fixed.eval()(x, any_graph).samples[0])


def test_the_share_is_the_one_with_the_lowest_loss(any_graph):
    model, x = network()
    output = model.eval()(x, any_graph)
    targets = torch.zeros(12, dtype=torch.long)
    for view, wanted in enumerate(np.eye(3).tolist()):
        output = output._replace(samples=torch.zeros(3, 12, 3, dtype=torch.float64))
        output.samples[view, :, 0] = 1.0  # the others do not know
        model.settle_shares(output, targets, torch.arange(12).repeat(3))
        assert model.shares.tolist() == wanted
        assert "shares" in model.state_dict()
    model.shares.copy_(torch.tensor([0.5, 0.5, 0.0]))
    for few in (0, 12):
        model.settle_shares(output, targets, torch.arange(few))
        assert model.shares.tolist() == [0.5, 0.5, 0.0], "without rows enough to go by they stay"


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        ({}, [0.5, 0.5, 0.0]),
        ({"num_passes": 7}, [0.5, 0.5, 0.0]),
        ({"num_passes": 2}, [0.5, 0.5]),
        ({"num_passes": 1}, [1.0]),
        ({"feature_view": False}, [0.5, 0.5]),
        ({"given_view": False}, [0.5, 0.5]),
        ({"given_view": False, "feature_view": False}, [1.0]),
        ({"learn_graph": False}, [1.0, 0.0]),
        ({"learn_graph": False, "given_view": False}, [0.5, 0.5]),
    ],
)
def test_views_and_their_usual_shares(any_graph, options, shares):
    """Beside a given graph the features alone teach, but do not answer."""
    model, x = network(**options)
    assert model.shares.tolist() == shares
    assert model.num_views == len(shares)
    assert len(model.train()(x, any_graph).samples) == model.num_passes
    assert len(model.eval()(x, any_graph).samples) == len(shares)


def test_a_share_that_may_be_better_by_chance_is_not_taken(any_graph):
    """One row speaks for the learned view, another nearly as loudly against it: that is not sure."""
    model, x = network()
    samples = torch.zeros(3, 12, 3, dtype=torch.float64)
    samples[0, 0, 0], samples[1, 1, 0] = 2.0, 1.5
    output = model.eval()(x, any_graph)._replace(samples=samples)
    model.settle_shares(output, torch.zeros(12, dtype=torch.long), torch.arange(12).repeat(3))
    assert model.shares.tolist() == [0.5, 0.5, 0.0]


def test_random_passes_are_right_on_average(any_graph):
    """Dropping rows and features leaves the hidden layer's input unbiased."""
    options = {"learn_graph": False, "feature_view": False, "num_passes": 4000}
    model, x = network(dropout=0.0, row_dropout=0.3, feature_dropout=0.2, **options)
    with torch.no_grad():
        model.first_bias.fill_(50.0)  # keeps the ReLU open, so that the network is linear in what is dropped
        samples = model.train()(x, any_graph, torch.Generator().manual_seed(1)).samples
        expected = model.eval()(x, any_graph).samples[0]
    np.testing.assert_allclose(samples.mean(dim=0).numpy(), expected.numpy(), atol=0.2)


def test_the_mean_of_the_passes_is_the_mean_of_their_probabilities(any_graph):
    model, x = network(num_passes=3)
    output = model.train()(x, any_graph, torch.Generator().manual_seed(1))
    torch.testing.assert_close(output.logits.softmax(dim=1), output.samples.softmax(dim=2).mean(dim=0))


def test_labels_shape_the_graph(any_graph):
    """The cross-entropy reaches P, a and the weight of the self-loops through S."""
    model, x = network()
    model.eval()(x, any_graph).logits.log_softmax(dim=1)[:, 0].sum().backward()
    for name in ("projection", "attention", "loop"):
        assert getattr(model.scorer, name).grad.abs().sum() > 0, name


def test_a_fixed_graph_is_not_learned(any_graph):
    model, x = network(learn_graph=False)
    output = model.train()(x, any_graph, torch.Generator().manual_seed(1))
    assert output.links is None
    output.logits.sum().backward()
    assert all(parameter.grad is None for parameter in model.scorer.parameters())


def test_gradients_of_the_whole_network(weighted_graph):
    model, x = network(num_hops=2)
    model.eval()
    names = [name for name, _ in model.named_parameters() if name != "scorer.offset"]
    parameters = [parameter for name, parameter in model.named_parameters() if name != "scorer.offset"]

    def run(*values):
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (x, weighted_graph)).logits

    assert torch.autograd.gradcheck(run, tuple(parameters))


@pytest.mark.parametrize("given_view", [True, False])
def test_a_new_row_that_equals_an_old_one_gets_its_probabilities(weighted_graph, given_view):
    """Joined as the old row is: with the same rows, and with a loop of the same weight."""
    model, x = network(smoothing=0.5, given_view=given_view)
    model.eval()
    labelled = torch.tensor([0, 7])
    known = model.settle_answer(model(x, weighted_graph), torch.arange(12) % 3, labelled)
    A = weighted_graph.to_scipy().toarray()
    row = 3
    neighbors = [j for j in range(12) if A[row, j] > 0 and j != row]
    pattern = Pattern(
        torch.tensor([0, 1 + len(neighbors)], dtype=torch.int32),
        torch.arange(1 + len(neighbors), dtype=torch.int32),
        table_size=1 + len(neighbors),
    )
    weights = torch.tensor([A[row, row], *A[row, neighbors]])
    found = model.attach(x[[row]], known, torch.tensor(neighbors), pattern, weights)
    torch.testing.assert_close(found[0].softmax(dim=0), known.logits[row].softmax(dim=0), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9])
def test_the_answer_is_spread_over_the_learned_graph_with_the_labels(any_graph, alpha):
    model, x = network(smoothing=alpha)
    output = model.eval()(x, any_graph)
    rows, targets = torch.tensor([2, 5]), torch.arange(12) % 3
    F = model.settle_answer(output, targets, rows).logits.softmax(dim=1).detach()
    first = output.logits.softmax(dim=1).detach()
    if alpha:
        first[rows] = torch.eye(3, dtype=torch.float64)[targets[rows]]
    S = torch.from_numpy(any_graph.to_scipy(output.graph.values).toarray()).double()
    expected = torch.linalg.solve(torch.eye(12, dtype=torch.float64) - alpha * S, (1 - alpha) * first)
    torch.testing.assert_close(F, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("learn_graph", [True, False])
def test_a_view_of_the_features_alone_is_a_perceptron(any_graph, learn_graph):
    model, x = network(learn_graph=learn_graph)
    model.eval()
    alone = torch.relu(x @ model.first_weight + model.first_bias) @ model.second_weight + model.second_bias
    torch.testing.assert_close(model(x, any_graph).samples[-1], alone)
    model.train()
    model.row_dropout, model.feature_dropout, model.dropout = 0.9, 0.0, 0.0
    torch.testing.assert_close(model(x, any_graph).samples[-1], alone, msg="its rows are never left out")


def test_validation_rows_choose_how_far_the_answer_is_spread(any_graph):
    model, _ = network(smoothing=None)
    targets, rows = torch.zeros(12, dtype=torch.long), torch.arange(12).repeat(3)
    assert model.smoothing == 0.4, "the usual value, until rows say otherwise"

    def logits(best):
        return lambda: -((model.smoothing - best) ** 2) * torch.tensor([[1.0, 0.0, 0.0]]).expand(12, 3)

    for best in (0.0, 0.8):
        model.settle_smoothing(logits(best), targets, rows)
        assert model.smoothing == best
    model.settle_smoothing(lambda: torch.zeros(12, 3), targets, rows)
    assert model.smoothing == 0.4, "nothing to choose between"
    fixed, _ = network(smoothing=0.3)
    fixed.settle_smoothing(logits(0.0), targets, rows)
    assert fixed.smoothing == 0.3


def test_loops_are_balanced(any_graph):
    model, x = network()
    model.balance_loops(x, any_graph)
    h = x @ model.scorer.projection
    weights = model.scorer(h, any_graph.pattern, None, any_graph.is_loop).weights
    torch.testing.assert_close(weights[any_graph.is_loop], weights[~any_graph.is_loop].mean().expand(12))


@pytest.mark.parametrize("name", ["row_dropout", "feature_dropout", "dropout"])
def test_probabilities_are_checked(name):
    with pytest.raises(ValueError, match=f"{name} must lie in"):
        GLCNPlus(6, 5, 3, **{name: 1.0})


def test_sparse_features_give_the_same(any_graph):
    from scipy import sparse

    from glcn.kernels import SparseFeatures

    model, x = network()
    model.eval()
    packed = SparseFeatures.from_scipy(sparse.csr_array(x.numpy()), torch.float64)
    torch.testing.assert_close(model(packed, any_graph).logits, model(x, any_graph).logits)


def test_it_says_what_it_is():
    assert "6 → 5 → 3, num_hops=8" in repr(GLCNPlus(6, 5, 3))


def wider_than(graph):
    return graph.with_candidates(np.arange(12)[:, None] * 5 % 12)


def test_candidates_that_were_not_given_take_part_by_a_learned_amount(weighted_graph):
    model, x = network(wider=True)
    wider = wider_than(weighted_graph)
    with torch.no_grad():
        model.scorer.amount.fill_(-0.7)
    model.eval()
    h = literal.embedding(x.tolist(), model.scorer.projection.tolist())
    A = wider.to_scipy().toarray()
    added = wider.to_scipy(torch.ones(wider.num_edges)).toarray() - (A > 0)
    assert added.sum() > 0
    loop, attention = model.scorer.loop.item(), model.scorer.attention.tolist()
    W = np.array(literal.link_weights(h, attention, loop, (A + np.exp(-0.7) * added).tolist()))
    output = model(x, wider)
    found = wider.to_scipy(output.graph.values).toarray()
    np.testing.assert_allclose(found, W / W.sum(axis=1, keepdims=True), atol=1e-6)
    torch.testing.assert_close(output.samples[1:], model(x, weighted_graph).samples[1:], msg="other views lack them")
    output.logits.log_softmax(dim=1)[:, 0].sum().backward()
    assert model.scorer.amount.grad.abs() > 0


def test_edges_are_told_from_random_pairs_by_the_given_ones_alone(weighted_graph):
    model, x = network(feature_dropout=0.0)
    few, many = (
        model.train().link_log_odds(x, graph, torch.Generator().manual_seed(1))
        for graph in (weighted_graph, wider_than(weighted_graph))
    )
    torch.testing.assert_close(few, many)
