from math import exp

import numpy as np
import pytest
from scipy import sparse

from glcn.baselines import LabelPropagation
from glcn.baselines import label_propagation as source

LABELS = np.array([0, 1, 2, 0, -1, -1, -1, -1, -1, -1, -1, -1])
PRIOR = [0.5, 0.25, 0.25]


@pytest.fixture(name="X")
def features(random):
    return random.normal(size=(12, 3))


def fit(X, W, y=LABELS, **settings):
    return LabelPropagation(**settings).fit(X, y, graph=sparse.csr_array(W))


def dense_solution(W, y):
    """(D_UU − W_UU)⁻¹ W_UL Y_L, over the unlabelled rows that have an edge."""
    D = np.diag(W.sum(axis=1))
    L = np.flatnonzero(y >= 0)
    U = np.flatnonzero((y < 0) & W.any(axis=1))
    Y = np.eye(y.max() + 1)[y[L]]
    return U, np.linalg.solve((D - W)[np.ix_(U, U)], W[np.ix_(U, L)] @ Y)


def iterated(W, y, rounds=3000):
    """Each row again and again gets the weighted mean of the others; labelled rows keep their labels."""
    n, c = len(y), y.max() + 1
    F = [[1 / c] * c if y[i] < 0 else [float(y[i] == k) for k in range(c)] for i in range(n)]
    for _ in range(rounds):
        for i in range(n):
            total = sum(W[i])
            if y[i] < 0 and total > 0:
                F[i] = [sum(W[i][j] * F[j][k] for j in range(n)) / total for k in range(c)]
    return np.array(F)


def gaussian(W, X, width):
    """W_ij exp(−‖x_i − x_j‖² / σ²), σ² being width² times the mean squared length of the edges."""
    n = len(X)
    square = [[float(sum((X[i] - X[j]) ** 2)) for j in range(n)] for i in range(n)]
    lengths = [square[i][j] for i in range(n) for j in range(n) if W[i, j] > 0 and i != j]
    variance = width**2 * sum(lengths) / len(lengths)
    return np.array([[W[i, j] * exp(-square[i][j] / variance) for j in range(n)] for i in range(n)])


def test_is_the_dense_solution(X, weighted_adjacency):
    U, expected = dense_solution(weighted_adjacency.astype(float), LABELS)
    F = fit(X, weighted_adjacency).label_distributions_
    np.testing.assert_allclose(F[U], expected, atol=1e-8)
    np.testing.assert_array_equal(F[:4], np.eye(3)[LABELS[:4]])


def test_is_the_limit_of_plain_iteration(X, weighted_adjacency):
    expected = iterated(weighted_adjacency.astype(float).tolist(), LABELS, rounds=300)
    expected[11] = PRIOR
    np.testing.assert_allclose(fit(X, weighted_adjacency).label_distributions_, expected, atol=1e-8)


def test_a_chain_between_two_labels_is_linear():
    n = 400
    chain = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    y = np.full(n, -1)
    y[[0, -1]] = [0, 1]
    F = LabelPropagation().fit(np.zeros((n, 1)), y, graph=chain).label_distributions_
    np.testing.assert_allclose(F[:, 1], np.linspace(0, 1, n), atol=1e-6)


def test_parts_without_a_label_get_the_class_prior(X, weighted_adjacency):
    W = weighted_adjacency.copy()
    W[8:, :8] = W[:8, 8:] = 0
    W[8, 9] = W[9, 8] = 1
    clf = fit(X, W)
    np.testing.assert_array_equal(clf.label_distributions_[8:], [PRIOR] * 4)
    np.testing.assert_array_equal(fit(X, np.zeros((12, 12))).label_distributions_[4:], [PRIOR] * 8)


def test_self_loops_change_nothing(X, weighted_adjacency):
    W = weighted_adjacency.copy()
    np.fill_diagonal(W, 7)
    expected = fit(X, weighted_adjacency).label_distributions_
    np.testing.assert_allclose(fit(X, W).label_distributions_, expected, atol=1e-12)


@pytest.mark.parametrize("width", [0.5, 1.0, 3.0])
def test_width(X, weighted_adjacency, width):
    U, expected = dense_solution(gaussian(weighted_adjacency, X, width), LABELS)
    for rows in (X, sparse.csr_array(X)):
        F = fit(rows, weighted_adjacency, width=width).label_distributions_
        np.testing.assert_allclose(F[U], expected, atol=1e-6)


def test_a_wide_width_is_none_and_equal_rows_have_no_unit(X, weighted_adjacency):
    expected = fit(X, weighted_adjacency).label_distributions_
    np.testing.assert_allclose(fit(X, weighted_adjacency, width=1e4).label_distributions_, expected, atol=1e-6)
    alike = fit(np.ones((12, 2)), weighted_adjacency, width=0.3)
    np.testing.assert_allclose(alike.label_distributions_, expected, atol=1e-12)


def test_class_mass_normalisation(X, weighted_adjacency):
    """Row i chooses the class with the largest q_c F_ic / Σ_u F_uc."""
    F = fit(X, weighted_adjacency).label_distributions_
    found = fit(X, weighted_adjacency, class_mass=True).label_distributions_
    for i in range(4, 12):
        scaled = [PRIOR[c] * F[i, c] / sum(F[u, c] for u in range(4, 12)) for c in range(3)]
        np.testing.assert_allclose(found[i], np.array(scaled) / sum(scaled), atol=1e-12)
    np.testing.assert_array_equal(found[:4], F[:4])


def test_class_mass_without_unlabelled_rows_or_without_a_class_among_them(X, weighted_adjacency):
    y = np.arange(12) % 3
    found = fit(X, weighted_adjacency, y, class_mass=True).label_distributions_
    np.testing.assert_array_equal(found, np.eye(3)[y])
    W = np.zeros((12, 12))
    W[0, 4:] = W[4:, 0] = 1  # no row can hear of classes 1 and 2
    np.testing.assert_array_equal(fit(X, W, class_mass=True).label_distributions_[4:], [[1, 0, 0]] * 8)


def hanging(weak):
    """A triangle 3, 4, 5 that hangs on labelled rows by two weak edges, the second twice as strong as the first."""
    W = np.zeros((6, 6))
    for i, j, weight in [(0, 2, 1), (1, 2, 1), (3, 4, 1), (4, 5, 1), (3, 5, 1), (0, 3, weak), (1, 4, 2 * weak)]:
        W[i, j] = W[j, i] = weight
    return LabelPropagation().fit(np.zeros((6, 1)), [0, 1, -1, -1, -1, -1], graph=sparse.csr_array(W))


@pytest.mark.parametrize("weak", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_group_that_hangs_on_weak_edges_still_listens_to_them(weak):
    F = hanging(weak).label_distributions_
    np.testing.assert_allclose(F[3:], [[1 / 3, 2 / 3]] * 3, rtol=1e-6, atol=weak)
    np.testing.assert_allclose(F[2], 0.5, atol=1e-12)


def test_weights_that_rounding_swallows_are_refused(monkeypatch):
    with pytest.raises(FloatingPointError, match=r"too far apart .* try a larger width"):
        hanging(1e-20)
    monkeypatch.setattr(source, "LARGEST_DIRECT", 1)
    hanging(1e-3)
    with pytest.raises(FloatingPointError, match="too far apart"):
        hanging(1e-9)


@pytest.mark.parametrize("width", [None, 0.8])
def test_a_new_row_gets_the_weighted_mean_of_its_neighbours(X, weighted_adjacency, random, width):
    clf = fit(X, weighted_adjacency, width=width, n_neighbors=3)
    F = clf.label_distributions_
    lengths = [sum((X[i] - X[j]) ** 2) for i in range(12) for j in range(12) if weighted_adjacency[i, j] and i != j]
    new = random.normal(size=(5, 3))
    given = random.random((5, 12)) * (random.random((5, 12)) < 0.4)
    given[4] = 0
    nearest = np.zeros((5, 12))
    for i in range(5):
        nearest[i, np.argsort(np.linalg.norm(X - new[i], axis=1))[:3]] = 1
    for edges, weights in ((None, nearest), (sparse.csr_array(given), given.astype(np.float32))):
        found = clf.predict_proba(new, edges=edges)
        for i in range(5):
            w = [weights[i, j] for j in range(12)]
            if width is not None:
                sigma_squared = width**2 * np.mean(lengths)
                w = [w[j] * exp(-sum((new[i] - X[j]) ** 2) / sigma_squared) for j in range(12)]
            expected = sum(w[j] * F[j] for j in range(12)) / sum(w) if sum(w) else PRIOR
            np.testing.assert_allclose(found[i], expected, atol=1e-7)
