"""What leads from one node to another besides their own edge, held to products of dense matrices."""

import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.graph import CandidateGraph
from glcn.kernels import parallel
from glcn.kernels.closed_paths import closed_paths, volumes


def random_graph(n, share, seed=0):
    A = np.triu(np.random.default_rng(seed).random((n, n)) < share, k=1)
    return (A | A.T).astype(float)


def literal(A, i, j):
    """Each count as sums over other nodes, with the edge between the two taken out."""
    A = A.copy()
    A[i, j] = A[j, i] = 0
    degree = A.sum(axis=1)
    common = [k for k in range(len(A)) if A[i, k] and A[k, j]]
    paths = sum(A[i, k] * A[k, m] * A[m, j] for k in range(len(A)) for m in range(len(A)))
    return len(common), sum(1 / degree[k] for k in common), paths / np.sqrt(max(degree[i] * degree[j], 1))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_counts_are_the_literal_sums(share):
    A = random_graph(14, share)
    graph = CandidateGraph.from_scipy(sparse.csr_array(A))
    i, j = (pairs.ravel() for pairs in np.meshgrid(range(14), range(14)))
    i, j = i[i != j].astype(np.int64), j[i != j].astype(np.int64)
    found = np.column_stack(closed_paths(graph.pattern, i, j))
    np.testing.assert_allclose(found, [literal(A, *pair) for pair in zip(i, j, strict=True)])


def test_any_number_of_threads_gives_the_same(monkeypatch):
    monkeypatch.setattr(parallel, "SERIAL_WORK", 0)
    graph = CandidateGraph.from_scipy(sparse.csr_array(random_graph(60, 0.2)))
    i, j = graph.pattern.rows.numpy(), graph.pattern.columns.numpy().astype(np.int64)
    threads = torch.get_num_threads()
    try:
        found = []
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(np.stack(closed_paths(graph.pattern, i[i != j], j[i != j])))
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(*found)


def test_volume_is_the_number_of_edges_of_all_neighbours():
    A = random_graph(20, 0.2)
    with_loops = A + np.eye(20)
    graph = CandidateGraph.from_scipy(sparse.csr_array(A))
    np.testing.assert_array_equal(volumes(graph.pattern), with_loops @ with_loops.sum(axis=1))


def test_no_pairs():
    graph = CandidateGraph.from_scipy(sparse.csr_array(random_graph(5, 0.5)))
    none = np.empty(0, np.int64)
    assert [len(part) for part in closed_paths(graph.pattern, none, none)] == [0, 0, 0]
