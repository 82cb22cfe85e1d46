import pickle

import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier
from glcn.graph import nearest_neighbors, neighbor_index, neighbors
from glcn.graph.neighbors import ApproximateIndex, ExactIndex


def test_twins_are_neighbours_but_a_row_is_not_its_own():
    X = np.array([[0.0], [0.0], [1.0], [5.0]])
    found = nearest_neighbors(X, 1)
    assert found[:2].ravel().tolist() == [1, 0]
    assert (found != np.arange(4)[:, None]).all()


@pytest.mark.parametrize("kind", [ExactIndex, ApproximateIndex])
@pytest.mark.parametrize(("k", "message"), [(0, "at least 1"), (4, r"below the number of rows \(4\), got 4; pass")])
def test_impossible_number_of_neighbours(kind, k, message):
    with pytest.raises(ValueError, match=message):
        kind(np.zeros((4, 2)), "euclidean").among(k)


@pytest.mark.parametrize(
    ("shape", "metric", "kind"),
    [
        ((20_000, 3), "euclidean", ExactIndex),
        ((20_001, 400), "euclidean", ExactIndex),
        ((30_000, 300), "euclidean", ApproximateIndex),
        ((30_000, 300), "cosine", ApproximateIndex),
        ((30_000, 300), "nan_euclidean", ExactIndex),  # not known to pynndescent
    ],
)
def test_the_search_is_exact_while_that_is_quick(shape, metric, kind):
    assert isinstance(neighbor_index(np.broadcast_to(np.float32(1), shape), metric), kind)


def test_sparse_rows_are_searched_by_what_they_hold():
    assert isinstance(neighbor_index(sparse.csr_array((30_000, 300)), "cosine"), ExactIndex)


def test_the_approximate_search_is_near_the_exact_one(monkeypatch, random):
    """All of it in one test: compiling the search takes a minute, and each test process would do so again."""
    centres = random.normal(size=(20, 8))
    y = np.arange(1500) % 20
    X = centres[y] + 0.5 * random.normal(size=(1500, 8))
    X[7] = X[8] = X[9]
    exact = ExactIndex(X, "euclidean")
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 1000)
    monkeypatch.setattr(neighbors, "EXACT_WORK", 0)
    index = neighbor_index(X)
    assert isinstance(index, ApproximateIndex)
    found = index.among(5)
    assert (found != np.arange(1500)[:, None]).all()
    hits = (found[:, :, None] == exact.among(5)[:, None]).any(axis=2).mean()
    assert hits > 0.98
    assert 0.95 < index.recall <= 1
    np.testing.assert_array_equal(neighbor_index(X).among(5), found)

    new = X[:200] + 0.01
    known = index.nearest(new, 3)
    assert (known[:, :, None] == exact.nearest(new, 3)[:, None]).any(axis=2).mean() > 0.95
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(index)).nearest(new, 3), known)

    few = np.where(np.arange(1500) < 200, y, -1)
    clf = GLCNClassifier(fixed_epochs=3, max_epochs=3, n_neighbors=5, random_state=0).fit(X, few)
    assert clf.neighbor_recall_ == index.recall
    assert clf.predict(X[:50]).shape == (50,)
    given = clf.graph_ > 0
    assert GLCNClassifier(max_epochs=3, random_state=0).fit(X, few, graph=given).neighbor_recall_ == index.recall
    alone = GLCNClassifier(max_epochs=3, added_neighbors=0, random_state=0).fit(X, few, graph=given)
    assert alone.neighbor_recall_ is None


def test_a_list_that_was_not_filled_is_searched_exactly(random):
    X = random.normal(size=(50, 3))
    index = ApproximateIndex(X, "euclidean")

    class Unfinished:
        indices = np.concatenate([np.arange(50)[:, None], ExactIndex(X, "euclidean").among(29)], axis=1)
        indices[4, 2:] = -1
        neighbor_graph = (indices, np.zeros((50, 30)))

    index.__dict__["_search"] = Unfinished
    np.testing.assert_array_equal(index.among(6), ExactIndex(X, "euclidean").among(6))
