import pickle

import numpy as np
import pytest
from scipy import sparse

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


def test_released_split():
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


def test_fingerprints_tell_splits_apart_and_never_change():
    """If one of these changes, results that were published under it belong to another task."""
    assert load("cora").fingerprint == "0c438c5566911f8e"
    assert load("cora", split="random", seed=0).fingerprint != load("cora", split="random", seed=1).fingerprint
    assert load("cora", prepare="none").fingerprint != load("cora").fingerprint


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"split must be one of \('released', 'random'\) for cora"):
        load("cora", split="public")
    with pytest.raises(ValueError, match="leave labels= out"):
        load("cora", labels=10)
    with pytest.raises(ValueError, match="no dataset 'core'"):
        load("core")
    with pytest.raises(ValueError, match="prepare must be one of"):
        load("cora", prepare="whiten")


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore:Please import `csr_matrix`:DeprecationWarning")
def test_bundled_cora_is_planetoids_up_to_a_permutation(real_data):
    def read(part):
        with (real_data / f"planetoid/ind.cora.{part}").open("rb") as file:
            return pickle.load(file, encoding="latin1")

    test_index = np.loadtxt(real_data / "planetoid/ind.cora.test.index", dtype=int)
    order = np.load(real_data / "planetoid/cora_linqs_order.npz")["planetoid_index"]
    X = sparse.vstack([read("allx"), read("tx")]).tolil()
    X[test_index] = read("tx")
    neighbours = read("graph")
    rows = np.repeat(list(neighbours), [len(ends) for ends in neighbours.values()])
    A = sparse.csr_array((np.ones(len(rows)), (rows, np.concatenate(list(neighbours.values())))), shape=(2708, 2708))
    A = A.maximum(A.T)
    A.data[:] = 1
    A.setdiag(0)
    A.eliminate_zeros()

    data = load("cora", prepare="none")
    assert (sparse.csr_array(X)[order] != data.X).nnz == 0
    assert (A[order][:, order] != data.graph).nnz == 0
