import numpy as np
from scipy import sparse

from glcn.estimator import attachment as module
from glcn.estimator.attachment import attachment, batches, nearest_edges, nearest_in_batches
from glcn.graph import neighbor_index


def test_pattern_points_into_new_rows_then_support():
    edges = sparse.csr_array(np.array([[0, 1.0, 0, 0, 1], [0, 0, 0, 0, 1]], np.float32))
    joined = attachment(slice(0, 2), edges)
    assert joined.support.tolist() == [1, 4]
    assert joined.pattern.num_columns == 4
    assert joined.pattern.indptr.tolist() == [0, 3, 5]
    assert joined.pattern.indices.tolist() == [0, 2, 3, 1, 3]  # itself, then known rows 1 and 4 (or 4 alone)
    assert joined.weights is None


def test_nearest_edges():
    index = neighbor_index(np.array([[0.0], [1.0], [5.0]]))
    np.testing.assert_array_equal(nearest_edges(index, np.array([[4.0]]), 2).toarray(), [[0, 1, 1]])


def test_batches_bound_the_number_of_edges():
    assert list(batches(7, 4, 10)) == [slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 7)]
    assert list(batches(2, 100, 10)) == [slice(0, 1), slice(1, 2)]


def test_batches_of_searched_rows_are_those_of_one_search(monkeypatch, random):
    index, X = neighbor_index(random.normal(size=(30, 2))), random.normal(size=(11, 2))
    whole = nearest_edges(index, X, 3).toarray()
    monkeypatch.setattr(module, "EDGES_PER_SEARCH", 15)
    monkeypatch.setattr(module, "EDGES_PER_BATCH", 6)
    parts = list(nearest_in_batches(index, X, 3))
    assert [len(range(11)[part]) for part, _ in parts] == [2, 2, 1, 2, 2, 1, 1]
    for part, edges in parts:
        np.testing.assert_array_equal(edges.toarray(), whole[part])
