import numpy as np
from scipy import sparse

from glcn.baselines.edges import laplacian, normalized_laplacian, rows_to_one, squared_lengths, without_loops


def test_without_loops(weighted_graph, weighted_adjacency):
    W = without_loops(weighted_graph)
    np.fill_diagonal(weighted_adjacency, 0)
    np.testing.assert_array_equal(W.toarray(), weighted_adjacency)
    assert W.nnz == np.count_nonzero(weighted_adjacency)
    assert weighted_graph.is_loop.sum() == 12  # the graph itself keeps its own


def test_squared_lengths_by_a_double_loop(weighted_graph, random):
    W = without_loops(weighted_graph)
    X, Z = random.normal(size=(2, 12, 4))
    for others in (X, Z):
        expected = [sum((X[i] - others[j]) ** 2) for i in range(12) for j in range(12) if W[i, j]]
        other = None if others is X else Z
        np.testing.assert_allclose(squared_lengths(X, W, other), expected)
        compact = squared_lengths(sparse.csr_array(X), W, None if other is None else sparse.csr_array(Z))
        np.testing.assert_allclose(compact, expected)


def test_laplacians_by_a_double_loop(weighted_graph):
    W = without_loops(weighted_graph)
    dense, degree = W.toarray(), W.toarray().sum(axis=1)
    for i in range(12):
        for j in range(12):
            entry = (degree[i] if i == j else 0) - dense[i, j]
            np.testing.assert_allclose(laplacian(W)[i, j], entry, atol=1e-12)
            scaled = entry / np.sqrt(degree[i] * degree[j]) if degree[i] and degree[j] else 0
            np.testing.assert_allclose(normalized_laplacian(W)[i, j], scaled, atol=1e-12)
    assert degree[11] == 0


def test_rows_to_one():
    F = rows_to_one(np.array([[1.0, 3.0], [0.0, 0.0], [1e-300, 0.0]]))
    np.testing.assert_array_equal(F, [[0.25, 0.75], [0.5, 0.5], [1, 0]])
