import numpy as np
import pytest
from scipy import sparse

from glcn.experiments.perturb import perturbed


@pytest.fixture
def graph(random):
    half = sparse.triu(sparse.random_array((60, 60), density=0.1, rng=random), k=1)
    half.data[:] = 1.0
    return sparse.csr_array(half + half.T)


def edges(graph):
    upper = sparse.triu(graph, k=1).tocoo()
    return set(zip(upper.row.tolist(), upper.col.tolist(), strict=True))


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_random_edges_are_added_to_those_there_are(graph, share):
    found = perturbed(graph, {"added_edges": share}, 0)
    assert edges(graph) < edges(found)
    assert len(edges(found)) == len(edges(graph)) + round(share * len(edges(graph)))
    assert abs(found - found.T).nnz == 0
    assert not found.diagonal().any()
    assert set(found.data) == {1.0}


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_edges_are_removed(graph, share):
    found = perturbed(graph, {"removed_edges": share}, 0)
    assert edges(found) <= edges(graph)
    assert len(edges(found)) == len(edges(graph)) - round(share * len(edges(graph)))
    assert found.shape == graph.shape


def test_the_seed_decides(graph):
    first, again, other = (perturbed(graph, {"added_edges": 0.5}, seed) for seed in (1, 1, 2))
    assert edges(first) == edges(again) != edges(other)


def test_nothing_to_do(graph):
    assert perturbed(graph, {}, 0) is graph
    assert perturbed(graph, {"added_edges": 0.0}, 0) is graph
    assert perturbed(graph, {"no_graph": True}, 0) is None


def test_weights_stay(graph):
    graph.data[:] = 2.5
    assert set(perturbed(graph, {"removed_edges": 0.2, "added_edges": 0.2}, 0).data) == {2.5}


def test_a_full_graph_takes_no_more():
    full = sparse.csr_array(np.ones((5, 5)) - np.eye(5))
    with pytest.raises(ValueError, match="add fewer"):
        perturbed(full, {"added_edges": 0.5}, 0)
