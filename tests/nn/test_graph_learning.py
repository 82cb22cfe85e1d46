import numpy as np
import pytest
import torch
from scipy import sparse

import literal
from glcn.graph import CandidateGraph
from glcn.kernels import SparseFeatures
from glcn.nn import GraphLearning

SIGN = {"paper": 1, "closeness": -1}


def layer_and_input(similarity="paper", projection=4):
    generator = torch.Generator().manual_seed(0)
    layer = GraphLearning(6, projection, similarity, generator=generator).double()
    return layer, torch.randn(12, 6, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("similarity", ["paper", "closeness"])
@pytest.mark.parametrize("projection", [4, None])
def test_equals_the_literal_double_loop(any_graph, similarity, projection):
    layer, x = layer_and_input(similarity, projection)
    learned = layer(x, any_graph)
    h = x.tolist() if projection is None else literal.embedding(x.tolist(), layer.projection.tolist())
    A = any_graph.to_scipy().toarray().tolist()
    S = literal.learned_graph(h, layer.attention.tolist(), A, SIGN[similarity])
    ours = any_graph.to_scipy(learned.values).toarray()
    np.testing.assert_allclose(ours, S, atol=1e-6)
    embedding = learned.embedding.detach().numpy()
    np.testing.assert_allclose(embedding[:, : len(h[0])], h, atol=1e-12)
    assert not embedding[:, len(h[0]) :].any()  # columns that fill up vectors


def test_relabelling_nodes_permutes_the_graph(weighted_adjacency):
    layer, x = layer_and_input()
    order = np.random.default_rng(5).permutation(12)
    first = CandidateGraph.from_scipy(weighted_adjacency)
    second = CandidateGraph.from_scipy(weighted_adjacency[np.ix_(order, order)])
    S = first.to_scipy(layer(x, first).values).toarray()
    T = second.to_scipy(layer(x[order], second).values).toarray()
    np.testing.assert_allclose(T, S[np.ix_(order, order)], atol=1e-12)


def test_identical_rows_get_the_least_weight_in_the_paper_and_the_most_by_closeness():
    x = torch.tensor([[0.0], [0.0], [1.0], [2.0]])
    graph = CandidateGraph.complete(4)
    for similarity, pick in (("paper", np.argmin), ("closeness", np.argmax)):
        layer = GraphLearning(1, None, similarity)
        torch.nn.init.ones_(layer.attention)
        S = graph.to_scipy(layer(x, graph).values).toarray()
        assert pick(S[0][1:]) == 0


def test_sparse_features_give_the_same_graph(any_graph):
    layer, x = layer_and_input()
    compact = SparseFeatures.from_scipy(sparse.csr_array(x.numpy()), torch.float64)
    torch.testing.assert_close(layer(compact, any_graph).values, layer(x, any_graph).values)
    with pytest.raises(ValueError, match="needs dense features"):
        GraphLearning(6, None).double()(compact, any_graph)


def test_bad_similarity_repr_and_reset():
    with pytest.raises(ValueError, match="similarity must be one of"):
        GraphLearning(3, 2, "cosine")
    layer = GraphLearning(3, 2, "closeness", generator=torch.Generator().manual_seed(1))
    assert repr(layer) == "GraphLearning(3, 2, similarity='closeness')"
    before = [parameter.clone() for parameter in layer.parameters()]
    layer.reset_parameters(torch.Generator().manual_seed(1))
    assert all(torch.equal(*pair) for pair in zip(before, layer.parameters(), strict=True))
    layer.reset_parameters(torch.Generator().manual_seed(2))
    assert not any(torch.equal(*pair) for pair in zip(before, layer.parameters(), strict=True))


@pytest.mark.parametrize("convolution", ["GCNConv", "ChebConv", "GATConv"])
def test_drives_any_pyg_convolution(any_graph, convolution):
    from torch_geometric import nn as pyg

    layer, x = layer_and_input()
    layer, x = layer.float(), x.float()
    learned = layer(x, any_graph)
    edge_index = any_graph.to_edge_index()
    if convolution == "GCNConv":
        conv = pyg.GCNConv(6, 3, normalize=False, add_self_loops=False, bias=False)
        out = conv(x, edge_index, learned.values)
        dense = torch.from_numpy(any_graph.to_scipy(learned.values).toarray())
        torch.testing.assert_close(out, dense @ conv.lin(x))
    elif convolution == "ChebConv":
        out = pyg.ChebConv(6, 3, K=2)(x, edge_index, learned.values, lambda_max=torch.tensor(2.0))
    else:
        out = pyg.GATConv(6, 3, edge_dim=1, add_self_loops=False)(x, edge_index, learned.values[:, None])
    out.square().sum().backward()
    assert layer.projection.grad.abs().sum() > 0
    assert layer.attention.grad.abs().sum() > 0
