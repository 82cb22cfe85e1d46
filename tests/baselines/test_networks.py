from dataclasses import replace
from itertools import chain
from math import exp, log, sqrt

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.nn.functional import elu
from torch_geometric.nn import GATConv, GCNConv

from glcn.baselines.networks import Edges, Logits, gat, gcn, label_loss, perceptron
from glcn.graph import symmetric_pattern
from glcn.kernels import SparseFeatures

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def small_gcn(dropout=0.0):
    return randomised(gcn([4, 5, 3], dropout, generator()))


def small_gat(dropout=0.0):
    return randomised(gat([4, 5, 3], 2, 3, dropout, generator()))


def small_perceptron(dropout=0.0):
    return randomised(perceptron([4, 5, 3], dropout, generator()))


def randomised(model):
    """In 64 bits, with biases that are not zero."""
    model.double().eval()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.normal_(generator=generator(number))
    return model


@pytest.fixture
def x(random):
    return torch.from_numpy(random.normal(size=(12, 4)))


@pytest.fixture(name="A")
def adjacency(weighted_adjacency):
    """With self-loops: node 0 has one of its own."""
    return np.where(np.eye(12) * (weighted_adjacency == 0), 1.0, weighted_adjacency.astype(float))


def normalised(A):
    degree = [sum(row) for row in A]
    return [[A[i][j] / sqrt(degree[i] * degree[j]) for j in range(len(A))] for i in range(len(A))]


def as_pairs(S):
    target, source = np.nonzero(S)
    return Edges(torch.from_numpy(np.stack([source, target])), torch.from_numpy(S[target, source]))


def as_sparse_tensor(S):
    return Edges(torch.from_numpy(S).to_sparse_csr(), None)


def pattern(A):
    return Edges(as_pairs(A).index, None)


def product(x, W):
    return [[sum(x[i][p] * W[p][q] for p in range(len(W))) for q in range(len(W[0]))] for i in range(len(x))]


def literal_gcn(x, S, weights, biases):
    """S relu(S X W⁰ + b⁰) W¹ + b¹, every sum written out."""
    for layer, (W, b) in enumerate(zip(weights, biases, strict=True)):
        if layer:
            x = [[max(0.0, value) for value in row] for row in x]
        message = product(x, W)
        x = [[sum(S[i][j] * message[j][q] for j in range(len(x))) + b[q] for q in range(len(b))] for i in range(len(x))]
    return x


def literal_gat_layer(x, A, W, b, a_source, a_target, *, concat):
    """h_i = Σ_j α_ij W x_j, α_ij ∝ exp LeakyReLU(a_targetᵀ W x_i + a_sourceᵀ W x_j) over the edges of i, by head."""
    n, heads, size = len(x), len(a_source), len(a_source[0])
    message = product(x, W)
    out = [[] for _ in range(n)]
    for i in range(n):
        for head in range(heads):
            columns = range(head * size, (head + 1) * size)
            mass = {}
            for j in range(n):
                if A[i][j] > 0:
                    score = sum(a_target[head][k] * message[i][q] for k, q in enumerate(columns))
                    score += sum(a_source[head][k] * message[j][q] for k, q in enumerate(columns))
                    mass[j] = exp(score if score > 0 else 0.2 * score)
            total = sum(mass.values())
            out[i].append([sum(m / total * message[j][q] for j, m in mass.items()) for q in columns])
    if concat:
        return [[value + b[q] for q, value in enumerate(chain(*by_head))] for by_head in out]
    return [[sum(head[q] for head in by_head) / heads + b[q] for q in range(size)] for by_head in out]


@pytest.mark.parametrize("form", [as_pairs, as_sparse_tensor])
def test_gcn_is_its_formula(x, A, form):
    model = small_gcn()
    S = np.array(normalised(A))
    weights = [weight.tolist() for weight in model.weights]
    biases = [layer.convolution.bias.tolist() for layer in model.layers]
    found = model(x, form(S))
    np.testing.assert_allclose(found.logits.detach(), literal_gcn(x.tolist(), S, weights, biases), atol=1e-10)
    first = np.array(literal_gcn(x.tolist(), S, weights[:1], biases[:1]))
    np.testing.assert_allclose(found.hidden.detach(), np.maximum(first, 0), atol=1e-10)


def test_gat_is_its_formula(x, A):
    model = small_gat()
    hidden = x.tolist()
    for number, (weight, layer) in enumerate(zip(model.weights, model.layers, strict=True)):
        convolution = layer.convolution
        hidden = literal_gat_layer(
            hidden,
            A,
            weight.tolist(),
            convolution.bias.tolist(),
            convolution.att_src[0].tolist(),
            convolution.att_dst[0].tolist(),
            concat=number == 0,
        )
        if number == 0:
            hidden = [[value if value > 0 else exp(value) - 1 for value in row] for row in hidden]
            first = hidden
    found = model(x, pattern(A))
    np.testing.assert_allclose(found.logits.detach(), hidden, atol=1e-10)
    np.testing.assert_allclose(found.hidden.detach(), first, atol=1e-10)
    assert found.hidden.shape == (12, 10)  # two heads side by side
    assert found.logits.shape == (12, 3)  # three heads averaged


def test_perceptron_is_its_formula_and_takes_no_edges(x, A):
    model = small_perceptron()
    biases = [layer.bias.tolist() for layer in model.layers]
    expected = literal_gcn(x.tolist(), np.eye(12), [weight.tolist() for weight in model.weights], biases)
    for edges in (pattern(A), pattern(np.zeros((12, 12)))):
        np.testing.assert_allclose(model(x, edges).logits.detach(), expected, atol=1e-10)


def copied(convolution, weight, layer):
    """One of PyTorch Geometric's convolutions, with its own weight matrix, set to the weights of ours."""
    convolution.double()
    with torch.no_grad():
        convolution.lin.weight.copy_(weight.T)
        for name, value in layer.convolution.named_parameters():
            convolution.get_parameter(name).copy_(value)
    return convolution


def test_gcn_and_its_gradient_are_those_of_pytorch_geometric(x, A, weighted_adjacency):
    model = small_gcn()
    first, second = (
        copied(GCNConv(*weight.shape), weight, layer) for weight, layer in zip(model.weights, model.layers, strict=True)
    )
    given = as_pairs(weighted_adjacency.astype(float))  # it adds the self-loops and normalises by itself
    expected = second(first(x, given.index, given.weight).relu(), given.index, given.weight)
    for form in (as_pairs, as_sparse_tensor):
        model.zero_grad()
        first.zero_grad()
        found = model(x, form(np.array(normalised(A)))).logits
        torch.testing.assert_close(found, expected)
        found.square().sum().backward()
        expected.square().sum().backward(retain_graph=True)
        torch.testing.assert_close(model.weights[0].grad, first.lin.weight.grad.T)
        torch.testing.assert_close(model.layers[0].convolution.bias.grad, first.bias.grad)


@pytest.mark.parametrize("kernels", [True, False])
def test_gat_and_its_gradient_are_those_of_pytorch_geometric(x, A, weighted_adjacency, kernels):
    model = small_gat()
    first = copied(GATConv(4, 5, heads=2), model.weights[0], model.layers[0])
    second = copied(GATConv(10, 3, heads=3, concat=False), model.weights[1], model.layers[1])
    given = pattern(weighted_adjacency).index
    expected = second(elu(first(x, given)), given)
    expected.square().sum().backward()
    edges = pattern(A)
    if kernels:
        edges = replace(edges, pattern=symmetric_pattern(sparse.csr_array(A)))
    found = model(x, edges).logits
    torch.testing.assert_close(found, expected)
    found.square().sum().backward()
    torch.testing.assert_close(model.weights[0].grad, first.lin.weight.grad.T)
    torch.testing.assert_close(model.layers[0].convolution.att_src.grad, first.att_src.grad)
    torch.testing.assert_close(model.layers[1].convolution.att_dst.grad, second.att_dst.grad)


@pytest.mark.parametrize("build", [small_gcn, small_gat, small_perceptron])
def test_sparse_features_give_the_same_output_and_gradient(A, random, build):
    X = random.normal(size=(12, 4)) * (random.random((12, 4)) < 0.4)
    edges = as_pairs(np.array(normalised(A))) if build is small_gcn else pattern(A)
    results = []
    for x in (torch.from_numpy(X), SparseFeatures.from_scipy(sparse.csr_array(X), torch.float64)):
        model = build()
        logits = model(x, edges).logits
        logits.square().sum().backward()
        results.append([logits, *(parameter.grad for parameter in model.parameters())])
    for dense, compact in zip(*results, strict=True):
        torch.testing.assert_close(dense, compact)


@pytest.mark.parametrize(
    ("build", "decayed"),
    [
        (small_gcn, {"weights.0", "layers.0.convolution.bias"}),
        (small_perceptron, {"weights.0", "layers.0.bias"}),
        (small_gat, None),
    ],
)
def test_weight_decay_acts_on_the_first_layer_and_in_gat_on_all(build, decayed):
    model = build()
    known = {id(parameter) for parameter in model.decayed_parameters()}
    names = {name for name, parameter in model.named_parameters() if id(parameter) in known}
    assert names == (decayed or set(model.state_dict()))


@pytest.mark.parametrize("build", [small_gcn, small_gat, small_perceptron])
def test_dropout_acts_while_training_only_and_repeats_by_seed(x, A, build):
    edges = as_pairs(np.array(normalised(A))) if build is small_gcn else pattern(A)
    plain, model = build(0.0), build(0.5)
    expected = plain(x, edges).logits

    def trained(seed):
        torch.manual_seed(seed)
        return model.train()(x, edges, generator(seed)).logits

    with torch.random.fork_rng(devices=[]):
        torch.testing.assert_close(plain.train()(x, edges, generator()).logits, expected)
        torch.testing.assert_close(model(x, edges).logits, expected)
        torch.testing.assert_close(trained(1), trained(1))
        assert not torch.allclose(trained(1), trained(2))
        assert not torch.allclose(trained(1), expected)


@pytest.mark.parametrize("sizes", [[999, 1], [1, 999, 1]])
def test_every_layer_drops_entries_of_its_input(sizes):
    """999 inputs of 1 meet weights of 1: what comes out is four times the number of those that were kept."""
    model = perceptron(sizes, 0.75, generator()).double().train()
    with torch.no_grad():
        for weight in model.weights:
            weight.fill_(1.0)
    x = torch.ones(1, sizes[0], dtype=torch.float64)
    if len(sizes) == 3:
        x.zero_()
        torch.nn.init.ones_(model.layers[0].bias)
    kept = model(x, pattern(np.zeros((1, 1))), generator()).logits.item() / 4
    assert 200 < kept < 300
    assert kept == int(kept)


@pytest.mark.parametrize("kernels", [True, False])
def test_attention_is_dropped_too(A, kernels):
    """With all messages alike, GAT without dropout of attention returns the message; with it, it does not."""
    model = small_gat(0.5).train()
    edges = replace(pattern(A), pattern=symmetric_pattern(sparse.csr_array(A)) if kernels else None)
    layer = model.layers[1]
    message = torch.ones(12, 9, dtype=torch.float64)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layer.convolution.bias.zero_()
        assert not torch.allclose(layer(message, edges), torch.ones(12, 3, dtype=torch.float64))
        layer.eval()
        torch.testing.assert_close(layer(message, edges), torch.ones(12, 3, dtype=torch.float64))


def test_weights_start_as_glorot_says_and_repeat_by_seed():
    first, second, other = (perceptron([300, 200, 3], 0.0, generator(seed)).weights[0] for seed in (0, 0, 1))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    bound = sqrt(6 / 500)
    assert 0.99 * bound < first.abs().max() <= bound
    assert not gcn([4, 3], 0.0, generator()).layers[0].convolution.bias.any()


def test_convolutions_hold_no_second_weight_matrix():
    assert sorted(name for name, _ in gcn([4, 5, 3], 0.0, generator()).named_parameters()) == [
        "layers.0.convolution.bias",
        "layers.1.convolution.bias",
        "weights.0",
        "weights.1",
    ]
    shapes = {name: tuple(value.shape) for name, value in gat([4, 5, 3], 2, 3, 0.0, generator()).named_parameters()}
    assert shapes == {
        "weights.0": (4, 10),
        "weights.1": (10, 9),
        "layers.0.convolution.att_src": (1, 2, 5),
        "layers.0.convolution.att_dst": (1, 2, 5),
        "layers.0.convolution.bias": (10,),
        "layers.1.convolution.att_src": (1, 3, 3),
        "layers.1.convolution.att_dst": (1, 3, 3),
        "layers.1.convolution.bias": (3,),
    }


@pytest.mark.parametrize("layers", [1, 3])
def test_any_number_of_layers(x, A, layers):
    sizes = [4, *[5] * (layers - 1), 3]
    builders = (gcn, perceptron, lambda sizes, *rest: gat(sizes, 2, 3, *rest))
    for model in (build(sizes, 0.0, generator()) for build in builders):
        assert model.double()(x, pattern(A)).logits.shape == (12, 3)
        assert len(model.weights) == len(model.layers) == layers


def test_loss_is_the_mean_cross_entropy_on_the_rows(random):
    logits = torch.from_numpy(random.normal(size=(6, 3)))
    targets = torch.tensor([0, 1, 2, -1, 1, 0])
    rows = [1, 2, 4]
    losses = []
    for i in rows:
        mass = [exp(value) for value in logits[i].tolist()]
        losses.append(-log(mass[targets[i]] / sum(mass)))
    output = Logits(logits, logits)
    found = label_loss(output, None, targets, torch.tensor(rows))
    assert found.total.item() == found.cross_entropy.item() == pytest.approx(sum(losses) / 3)
    weight = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64)
    weighted = label_loss(output, None, targets, torch.tensor(rows), class_weight=weight).total.item()
    assert weighted == pytest.approx((2 * losses[0] + 5 * losses[1] + 2 * losses[2]) / 9)


def test_edges_move_with_their_weights(A):
    moved = as_pairs(A).to("meta")
    assert moved.index.device.type == moved.weight.device.type == "meta"
    assert pattern(A).to("cpu").weight is None
