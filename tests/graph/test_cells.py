import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.graph import CellIndex, NeighborIndex, cells, coarse
from glcn.graph.neighbors import ExactIndex


@pytest.fixture
def small_cells(monkeypatch):
    """Cells of some 50 rows, so that a few thousand rows have many."""
    monkeypatch.setattr(coarse, "ROWS_PER_CELL", 50)


def mixture(random, n=3000, p=19):
    """Overlapping groups, each of few dimensions, far away from zero."""
    groups = 12
    maps = random.normal(size=(groups, 5, p))
    group = np.arange(n) % groups
    inner = np.einsum("nd,ndp->np", random.normal(size=(n, 5)), maps[group])
    return (100 + 2 * random.normal(size=(groups, p))[group] + inner + 0.2 * random.normal(size=(n, p))).astype("f4")


def shared(found, true):
    return (found[:, :, None] == true[:, None]).any(axis=2).mean()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_it_finds_what_an_exact_search_finds(metric, small_cells, random):
    X = mixture(random)
    if metric == "cosine":
        X = (X - 100) * random.uniform(0.1, 10, size=(len(X), 1)).astype(np.float32)
    index: NeighborIndex = CellIndex.build(X, 10, metric)
    exact = ExactIndex(X, metric)
    assert index.cells.count > 30
    assert index.num_rows == len(X)
    found = index.among(10)
    assert found.dtype == np.int64
    assert (found != np.arange(len(X))[:, None]).all()
    assert all(len(set(row)) == 10 for row in found)
    assert shared(found, exact.among(10)) > 0.98
    assert abs(index.recall - shared(found, exact.among(10))) < 0.02
    np.testing.assert_array_equal(index.among(3), found[:, :3])

    new = X[:300] * np.float32(1.0001)
    assert shared(index.nearest(new, 4), exact.nearest(new, 4)) > 0.97
    assert shared(index.nearest(new, 25), exact.nearest(new, 25)) > 0.9
    np.testing.assert_array_equal(index.nearest(sparse.csr_array(new[:9]), 4), index.nearest(new, 4)[:9])
    assert index.nearest(new[:0], 4).shape == (0, 4)


def test_few_rows_are_one_cell_and_searched_exactly(random):
    X = random.normal(size=(300, 7)).astype(np.float32)
    index = CellIndex.build(X, 6)
    assert index.recall == 1
    np.testing.assert_array_equal(index.among(6), ExactIndex(X, "euclidean").among(6))
    np.testing.assert_array_equal(index.nearest(X + 0.1, 6), ExactIndex(X, "euclidean").nearest(X + 0.1, 6))


def test_twins_come_first_by_number(random):
    X = random.normal(size=(40, 3)).astype(np.float32)
    X[[3, 20, 31]] = X[8]
    index = CellIndex.build(X, 4)
    assert index.among(3)[8].tolist() == [3, 20, 31]
    assert index.among(3)[20].tolist() == [3, 8, 31]
    assert index.nearest(X[[8]], 4)[0].tolist() == [3, 8, 20, 31]


def test_refinement_raises_the_recall(small_cells, random, monkeypatch):
    X = mixture(random)
    monkeypatch.setattr(coarse, "PROBES", 2)
    after = CellIndex.build(X, 10).recall
    monkeypatch.setattr(cells, "ROUNDS", 0)
    assert CellIndex.build(X, 10).recall + 0.05 < after


def test_the_number_of_threads_changes_nothing(small_cells, random, two_threads, monkeypatch):
    monkeypatch.setattr("glcn.kernels.parallel.SERIAL_WORK", 0)
    X = mixture(random)
    two = CellIndex.build(X, 10)
    new = two.nearest(X[:100] + 1, 5)
    torch.set_num_threads(1)
    one = CellIndex.build(X, 10)
    np.testing.assert_array_equal(one.neighbors, two.neighbors)
    np.testing.assert_array_equal(one.nearest(X[:100] + 1, 5), new)


def test_the_company_of_a_new_row_changes_nothing(small_cells, random):
    X = mixture(random)
    index = CellIndex.build(X, 5)
    together = index.nearest(X[:60] + 1, 5)
    apart = np.concatenate([index.nearest(X[[row]] + 1, 5) for row in range(60)])
    np.testing.assert_array_equal(together, apart)


def test_rows_on_disk_give_the_same(small_cells, random, tmp_path):
    X = mixture(random, 500)
    np.save(tmp_path / "X.npy", X)
    on_disk = CellIndex.build(np.load(tmp_path / "X.npy", mmap_mode="r"), 5)
    np.testing.assert_array_equal(on_disk.neighbors, CellIndex.build(X, 5).neighbors)


def test_many_equal_rows_do_not_make_a_cell_that_is_too_large(small_cells, random, monkeypatch):
    monkeypatch.setattr(coarse, "LARGEST_CELL", 100)
    X = mixture(random, 1500)
    X[:900] = X[0]
    index = CellIndex.build(X, 5)
    sizes = np.diff(index.cells.indptr)
    assert sizes.max() <= 100
    assert sizes.min() > 0
    assert sizes.sum() == 1500
    assert index.recall > 0.97


def test_rows_of_zeros_are_neighbours_by_the_cosine(random):
    X = random.normal(size=(30, 4)).astype(np.float32)
    X[[4, 9]] = 0
    index = CellIndex.build(X, 1, "cosine")
    assert index.among(1)[[4, 9], 0].tolist() == [9, 4]


def test_a_list_that_was_not_filled_is_searched_exactly(small_cells, random, monkeypatch):
    """One cell around each row holds fewer rows than are wanted."""
    monkeypatch.setattr(coarse, "NEAR_CELLS", 1)
    X = mixture(random, 400)
    index = CellIndex.build(X, 120)
    assert (index.neighbors >= 0).all()
    assert all(len(set(row)) == 120 for row in index.neighbors)
    assert (index.nearest(X[:3], 200) >= 0).all()


def test_what_can_not_be_searched_is_refused(random):
    X = random.normal(size=(30, 4)).astype(np.float32)
    with pytest.raises(ValueError, match="metric must be one of"):
        CellIndex.build(X, 3, "manhattan")
    with pytest.raises(ValueError, match=r"below the number of rows \(30\), got 30; pass"):
        CellIndex.build(X, 30)
    index = CellIndex.build(X, 3)
    with pytest.raises(ValueError, match="lists 3 neighbours of each row, got k=4; build it with n_neighbors=4"):
        index.among(4)
    with pytest.raises(ValueError, match="must have the 4 features of the index, got shape"):
        index.nearest(X[:, :2], 1)
    with pytest.raises(ValueError, match="from 1 to the number of rows"):
        index.nearest(X, 31)
