import numpy as np
import pytest
from numpy.lib.format import open_memmap

from glcn.graph import CandidateGraph, StoredGraph, nearest_neighbors


@pytest.mark.parametrize(("n", "k"), [(2, 1), (40, 3), (3000, 12)])
def test_it_is_the_candidate_graph_of_the_same_neighbours(n, k, random, two_threads):
    X = random.normal(size=(n, 4))
    X[:2] = 0  # twins
    neighbors = nearest_neighbors(X, k)
    stored, candidate = StoredGraph.from_neighbors(neighbors.astype(np.int32)), CandidateGraph.from_neighbors(neighbors)
    np.testing.assert_array_equal(stored.indptr, candidate.pattern.indptr)
    np.testing.assert_array_equal(stored.indices, candidate.pattern.indices)
    assert (stored.num_nodes, stored.num_edges) == (candidate.num_nodes, candidate.num_edges)
    loaded = stored.to_candidate()
    assert loaded.of_neighbors
    assert loaded.weights is None
    np.testing.assert_array_equal(loaded.pattern.reverse, candidate.pattern.reverse)


def test_its_arrays_are_made_where_one_says(tmp_path, random):
    neighbors = nearest_neighbors(random.normal(size=(50, 2)), 4)

    def on_disk(name, shape, dtype):
        return open_memmap(tmp_path / f"{name}.npy", mode="w+", shape=shape, dtype=dtype)

    stored = StoredGraph.from_neighbors(neighbors, on_disk)
    assert isinstance(stored.indices, np.memmap)
    np.testing.assert_array_equal(np.load(tmp_path / "indices.npy"), StoredGraph.from_neighbors(neighbors).indices)
    assert stored.indptr.dtype == np.int64
    assert stored.indices.dtype == np.int32
    assert "num_nodes" not in repr(stored)
