import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.graph import CandidateGraph, NeighborSampler


@pytest.fixture
def graph(random):
    A = sparse.random_array((200, 200), density=0.03, rng=random)
    return CandidateGraph.from_scipy(A.maximum(A.T))


def neighbours(A, rows, hops):
    reached = set(rows)
    for _ in range(hops):
        reached |= {int(j) for i in reached for j in A[[i]].indices}
    return reached


def test_the_edges_are_those_among_the_rows_drawn(graph):
    nodes, part = NeighborSampler(graph, (3, 2)).draw(np.array([5, 17, 60]), 0)
    A = graph.to_scipy()
    assert nodes[:3].tolist() == [5, 17, 60]
    assert len(set(nodes)) == len(nodes)
    np.testing.assert_allclose(part.to_scipy().toarray(), A[nodes][:, nodes].toarray(), rtol=1e-6)
    rows, columns, reverse = part.pattern.rows, part.pattern.columns, part.pattern.reverse.long()
    assert torch.equal(rows[reverse], columns)
    assert torch.equal(columns[reverse], rows)
    assert all((part.pattern.indices[a:b].diff() > 0).all() for a, b in part.pattern.indptr.unfold(0, 2, 1).tolist())


def test_a_large_fanout_draws_whole_neighbourhoods(graph):
    A = graph.to_scipy()
    nodes, _ = NeighborSampler(graph, (1000, 1000)).draw(np.array([3, 90]), 0)
    assert set(nodes.tolist()) == neighbours(A, [3, 90], 2)


def test_a_fanout_bounds_what_is_drawn_and_draws_evenly(graph):
    A = graph.to_scipy()
    seed = int(np.diff(A.indptr).argmax())
    found = {int(j) for j in A[[seed]].indices} - {seed}
    counts = dict.fromkeys(found, 0)
    sampler = NeighborSampler(graph, (2,))
    draws = 3000
    for number in range(draws):
        nodes, _ = sampler.draw(np.array([seed]), number)
        assert len(nodes) == 3
        for j in nodes[1:].tolist():
            counts[j] += 1
    expected = 2 * draws / len(found)
    assert max(abs(count - expected) for count in counts.values()) < 5 * expected**0.5


def test_the_same_number_draws_the_same_rows_whatever_came_before(graph):
    sampler = NeighborSampler(graph, (3, 2))
    seeds = np.arange(20)
    first = sampler.draw(seeds, 7).nodes
    other = sampler.draw(seeds, 8).nodes
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(sampler.draw(seeds, 7).nodes, first)
    np.testing.assert_array_equal(NeighborSampler(graph, (3, 2)).draw(seeds, 7).nodes, first)


def test_rows_without_edges_and_unweighted_graphs():
    lonely = CandidateGraph.from_edge_index([[], []], 5)
    nodes, part = NeighborSampler(lonely, (4, 4)).draw(np.array([2, 0]), 0)
    assert nodes.tolist() == [2, 0]
    assert part.weights is None
    assert part.num_edges == 2
    with pytest.raises(ValueError, match="fanouts must be positive"):
        NeighborSampler(lonely, (3, 0))
