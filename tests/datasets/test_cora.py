import numpy as np
import pytest

from glcn.datasets import load

COUNTS = [818, 180, 217, 426, 351, 418, 298]


def test_contents():
    data = load("cora")
    assert data.X.shape == (2708, 1433)
    assert np.bincount(data.y).tolist() == COUNTS
    assert data.class_names[0] == "Neural_Networks"
    assert data.graph.nnz == 2 * 5278
    assert (data.graph != data.graph.T).nnz == 0
    assert data.graph.diagonal().sum() == 0
    np.testing.assert_allclose(np.asarray(data.X.sum(axis=1)).ravel(), 1, rtol=1e-5)


def test_released_is_the_default_where_only_the_bundled_copy_is_here():
    data = load("cora")
    assert data.split == "released"
    assert (data.train.tolist(), data.validation.tolist()) == (list(range(140)), list(range(200, 500)))
    assert data.test.tolist() == list(range(500, 1500))
    assert np.bincount(data.y[data.train]).tolist() == [41, 8, 21, 28, 17, 11, 14]
    assert "not the Planetoid split" in data.split_description


def test_random_split():
    data = load("cora", split="random", seed=3)
    assert np.bincount(data.y[data.train]).tolist() == [20] * 7
    assert (len(data.validation), len(data.test)) == (500, 1000)
    assert "seed 3" in data.split_description


def test_other_splits_say_what_is_missing():
    with pytest.raises(FileNotFoundError, match=r"cora is not here: .*ind.cora.x.* GLCN_DATA .*glcn data fetch cora"):
        load("cora", split="public")
