import weakref

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from glcn.exceptions import AsymmetricGraphWarning
from glcn.graph import CandidateGraph, nearest_neighbors, suitable_metric


def test_reverse_points_at_the_mirror_edge(any_graph):
    pattern = any_graph.pattern
    mirror = pattern.reverse.long()
    assert torch.equal(pattern.rows[mirror], pattern.columns)
    assert torch.equal(pattern.columns[mirror], pattern.rows)
    assert pattern.indices.dtype == pattern.indptr.dtype == pattern.reverse.dtype == torch.int32


def test_from_scipy_keeps_weights_and_adds_self_loops(weighted_adjacency, weighted_graph):
    expected = weighted_adjacency.copy()
    np.fill_diagonal(expected, np.where(np.diag(expected) > 0, np.diag(expected), 1))
    np.testing.assert_array_equal(weighted_graph.to_scipy().toarray(), expected)
    assert expected[0, 0] == 0.5
    assert weighted_graph.to_scipy().toarray()[11].nonzero()[0].tolist() == [11]


def test_asymmetric_graph_becomes_the_maximum_with_a_warning():
    A = sparse.csr_array(np.array([[0, 2.0, 0], [1, 0, 0], [0, 3, 0]]))
    with pytest.warns(AsymmetricGraphWarning, match="max"):
        graph = CandidateGraph.from_scipy(A)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), [[1, 2, 0], [2, 1, 3], [0, 3, 1]])


def test_stored_zeros_are_no_edges_and_the_input_is_left_alone():
    A = sparse.csr_array((np.array([0.0, 0.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2))
    assert CandidateGraph.from_scipy(A).num_edges == 2
    assert A.nnz == 2


@pytest.mark.parametrize(
    ("weight", "message"), [(-1.0, "negative weights"), (np.nan, "NaN or infinite"), (np.inf, "NaN or infinite")]
)
def test_bad_weights(weight, message):
    A = np.zeros((3, 3))
    A[0, 1] = A[1, 0] = weight
    with pytest.raises(ValueError, match=message):
        CandidateGraph.from_scipy(sparse.csr_array(A))


def test_not_square_and_not_numbers():
    with pytest.raises(ValueError, match="square"):
        CandidateGraph.from_scipy(sparse.csr_array((2, 3)))
    with pytest.raises(TypeError, match="real numbers"):
        CandidateGraph.from_scipy(sparse.csr_array(np.eye(2, dtype=complex)))


def test_every_kind_of_input_gives_the_same_graph(random):
    pairs = np.array([[0, 1, 2, 0], [1, 2, 3, 3]])
    both = np.concatenate([pairs, pairs[::-1]], axis=1)
    A = sparse.csr_array((np.ones(8), both), shape=(5, 5))
    network = nx.Graph()
    network.add_nodes_from(range(5))
    network.add_edges_from(pairs.T.tolist())
    data = Data(edge_index=torch.from_numpy(both), num_nodes=5)
    expected = CandidateGraph.from_scipy(A)
    for given in (A, A.toarray(), both, torch.from_numpy(both), both.tolist(), network, data, expected):
        graph = CandidateGraph.coerce(given, 5)
        assert torch.equal(graph.pattern.indices, expected.pattern.indices)
        assert torch.equal(graph.pattern.indptr, expected.pattern.indptr)
        assert graph.weights is None


def test_row_is_the_node_that_receives():
    with pytest.warns(AsymmetricGraphWarning):
        CandidateGraph.from_edge_index([[0], [1]], 2)
    graph = CandidateGraph.from_edge_index([[0, 1], [1, 0]], 2, [5.0, 5.0])
    source, target = graph.to_edge_index()
    assert torch.equal(target, graph.pattern.rows)
    assert torch.equal(source, graph.pattern.columns)


def test_weights_from_networkx_and_pyg():
    network = nx.Graph()
    network.add_edge("a", "b", weight=0.25)
    assert CandidateGraph.from_networkx(network).to_scipy()[0, 1] == 0.25
    ends = torch.tensor([[0, 1], [1, 0]])
    for data in (
        Data(edge_index=ends, edge_weight=torch.tensor([0.25, 0.25]), num_nodes=2),
        Data(edge_index=ends, edge_attr=torch.tensor([[0.25], [0.25]]), num_nodes=2),
    ):
        assert CandidateGraph.from_pyg(data).to_scipy()[0, 1] == 0.25
    with pytest.raises(ValueError, match="no weight an edge"):
        CandidateGraph.from_pyg(Data(edge_index=ends, edge_attr=torch.ones(2, 3), num_nodes=2))


def test_repeated_edges_count_once_and_their_weights_add_up():
    ends = np.array([[0, 0, 1, 1], [1, 1, 0, 0]])
    assert CandidateGraph.from_edge_index(ends, 2).weights is None
    assert CandidateGraph.from_edge_index(ends, 2, np.ones(4)).to_scipy()[0, 1] == 2


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        (np.zeros((3, 4), int), ValueError, r"shape \(2, E\)"),
        (np.zeros((2, 4)), TypeError, "integers"),
        (np.array([[0], [9]]), ValueError, "nodes 0 to 9, but there are 5 rows"),
        (np.array([[-1], [0]]), ValueError, "nodes -1 to 0"),
    ],
)
def test_bad_edge_index(edges, error, message):
    with pytest.raises(error, match=message):
        CandidateGraph.from_edge_index(edges, 5)


def test_coerce_refuses_what_it_can_not_read():
    with pytest.raises(ValueError, match="'complete'"):
        CandidateGraph.coerce("full", 3)
    with pytest.raises(TypeError, match="can not read a graph from dict"):
        CandidateGraph.coerce({}, 3)
    with pytest.raises(ValueError, match="2 nodes but X has 3 rows"):
        CandidateGraph.coerce(sparse.eye_array(2), 3)


def test_knn_is_the_union_of_both_choices(random):
    X = random.normal(size=(40, 3))
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    chosen = np.zeros((40, 40), bool)
    np.put_along_axis(chosen, distance.argsort(axis=1)[:, :4], True, axis=1)
    expected = chosen | chosen.T | np.eye(40, dtype=bool)
    np.testing.assert_array_equal(CandidateGraph.knn(X, 4).to_scipy().toarray() > 0, expected)


def test_knn_takes_sparse_rows_and_cosine(random):
    X = random.random((30, 6)) * (random.random((30, 6)) < 0.5) + 0.01
    for metric in ("euclidean", "cosine"):
        dense, compact = CandidateGraph.knn(X, 3, metric), CandidateGraph.knn(sparse.csr_array(X), 3, metric)
        assert torch.equal(dense.pattern.indices, compact.pattern.indices)


def test_complete_joins_all_pairs_and_refuses_the_impossible():
    graph = CandidateGraph.complete(4)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"50,?000.* rows has .* edges"):
        CandidateGraph.complete(50_000)


def test_no_edges_at_all():
    graph = CandidateGraph.from_edge_index(np.empty((2, 0), int), 3)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), np.eye(3))
    assert "num_nodes=3, num_edges=3, unweighted" in repr(graph)


def test_networkx_nodes_that_are_row_numbers_are_these_rows():
    network = nx.Graph()
    network.add_nodes_from([2, 0, 1])
    network.add_edge(0, 1)
    np.testing.assert_array_equal(
        CandidateGraph.coerce(network, 3).to_scipy().toarray(), [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    )
    letters = nx.Graph([("b", "a"), ("a", "c")])
    assert CandidateGraph.from_networkx(letters).to_scipy()[0, 2] == 0  # b and c, in order of insertion

    class Special(nx.Graph):
        pass

    assert CandidateGraph.coerce(Special([(0, 1)]), 2).num_edges == 4


def test_rounding_is_no_asymmetry():
    A = np.array([[0, 0.1], [0.1 + 1e-17, 0]])
    A[0, 1] = np.nextafter(0.1, 1)
    CandidateGraph.from_scipy(A)


def test_what_can_not_be_read_is_said():
    with pytest.raises(ValueError, match="has no edge_index"):
        CandidateGraph.coerce(Data(x=torch.ones(3, 1)), 3)
    with pytest.raises(TypeError, match="sparse tensor"):
        CandidateGraph.coerce(torch.eye(3).to_sparse(), 3)
    with pytest.raises(ValueError, match=r"shape \(2, E\), got \(4, 2\); pass its transpose"):
        CandidateGraph.coerce(np.zeros((4, 2), int), 5)
    with pytest.raises(ValueError, match="cross-validation"):
        CandidateGraph.coerce(sparse.csr_array((2, 5)), 2)


@pytest.mark.parametrize(
    ("X", "metric"),
    [
        (np.array([[0, 0, 3], [1, 0, 0], [0, 2, 0]]), "cosine"),
        (np.array([[0, 0, 3], [-1, 0, 0], [0, 2, 0]]), "euclidean"),
        (np.array([[1, 0, 3], [1, 4, 0], [5, 2, 0]]), "euclidean"),
        (np.zeros((3, 2)), "cosine"),
    ],
)
def test_the_metric_suits_the_features(X, metric):
    """Counts of what is there are compared by direction, places by distance; stored zeros are zeros."""
    assert suitable_metric(X) == metric
    stored = sparse.csr_array(X)
    assert suitable_metric(stored) == metric
    stored.data[:] = 0
    assert suitable_metric(stored) == "cosine"


def test_automatic_neighbours_are_those_of_the_suitable_metric():
    random = np.random.default_rng(0)
    words = sparse.csr_array(random.poisson(0.2, size=(40, 30)).astype(float))
    for X in (words, random.normal(size=(40, 3))):
        chosen = CandidateGraph.knn(X, 3, suitable_metric(X)).pattern.indices
        assert torch.equal(CandidateGraph.knn(X, 3, "auto").pattern.indices, chosen)
    far = CandidateGraph.knn(words, 3, "euclidean").pattern.indices
    near = CandidateGraph.knn(words, 3, "cosine").pattern.indices
    assert far.shape != near.shape or not torch.equal(far, near)


def test_candidates_are_added_with_a_weight_of_zero(random):
    A = sparse.random_array((30, 30), density=0.05, rng=random)
    given = CandidateGraph.from_scipy(A + A.T)
    neighbors = nearest_neighbors(random.normal(size=(30, 3)), 4)
    wider = given.with_candidates(neighbors)
    weights, before = wider.to_scipy().toarray(), given.to_scipy().toarray()
    np.testing.assert_array_equal(weights, before)
    joined = (before > 0) | CandidateGraph.from_neighbors(neighbors).to_scipy().toarray().astype(bool)
    np.testing.assert_array_equal(wider.to_scipy(torch.ones(wider.num_edges)).toarray() > 0, joined)
    rows, columns = wider.pattern.rows, wider.pattern.columns
    assert wider.is_given.tolist() == [before[i, j] > 0 and i != j for i, j in zip(rows, columns, strict=True)]
    torch.testing.assert_close(rows[wider.pattern.reverse], columns)
    torch.testing.assert_close(wider.to_scipy(wider.uniform()).toarray(), given.to_scipy(given.uniform()).toarray())
    np.testing.assert_array_equal(wider.as_given.to_scipy().toarray(), before)
    assert wider.as_given.num_edges == given.num_edges
    assert given.as_given is given
    alive = weakref.ref(given)
    del given
    assert alive() is None  # at once: nothing in it points back at it


def test_candidates_of_a_graph_without_weights():
    chain = CandidateGraph.from_edge_index([[0, 1], [1, 0]], 3)
    wider = chain.with_candidates(np.array([[1], [0], [1]]))
    assert wider.to_scipy().toarray().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert wider.num_edges == chain.num_edges + 2
