from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.stats import chisquare

from glcn.baselines.walks import uniform_walks


def walks(adjacency, starts, length, seed=0):
    A = sparse.csr_array(adjacency)
    return uniform_walks(A.indptr.astype(np.int64), A.indices.astype(np.int64), np.asarray(starts), length, seed)


def test_every_step_is_an_edge_and_isolated_rows_stay(weighted_adjacency):
    found = walks(weighted_adjacency, np.arange(12), 50)
    assert found.shape == (12, 50)
    np.testing.assert_array_equal(found[:, 0], np.arange(12))
    assert (found[11] == 11).all()
    for walk in found[:11]:
        assert all(weighted_adjacency[a, b] > 0 for a, b in pairwise(walk))
    assert set(found[:11].ravel()) == set(range(11))


def test_same_seed_same_walks(weighted_adjacency):
    first, second, other = (walks(weighted_adjacency, np.arange(11), 30, seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_steps_are_uniform_whatever_the_weights_and_the_step(weighted_adjacency):
    W = weighted_adjacency
    found = walks(W, np.repeat(np.arange(11), 4000), 6)
    steps = {"first": found[:, :2], "later": np.concatenate([found[:, s : s + 2] for s in range(1, 5)])}
    for pairs in steps.values():
        for row in range(11):
            taken = np.bincount(pairs[pairs[:, 0] == row, 1], minlength=12)[W[row] > 0]
            if len(taken) > 1:
                assert chisquare(taken).pvalue > 1e-5


def test_a_walk_may_be_one_row_long_and_there_may_be_none():
    A = np.ones((2, 2)) - np.eye(2)
    np.testing.assert_array_equal(walks(A, [1, 0, 1], 1), [[1], [0], [1]])
    np.testing.assert_array_equal(walks(A, [0], 5), [[0, 1, 0, 1, 0]])
    assert walks(A, np.empty(0, np.int64), 5).shape == (0, 5)
