from math import exp

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from glcn.baselines import ManifoldRegularization
from glcn.baselines import manifold as source

LABELS = np.array([0, 1, 2, 0, 1, -1, -1, -1, -1, -1, -1, -1])


@pytest.fixture(name="X")
def features(random):
    return random.normal(size=(12, 3))


def fit(X, W, y=LABELS, **settings):
    return ManifoldRegularization(**settings).fit(X, y, graph=sparse.csr_array(W))


def loopless(W):
    return W.astype(float) * (1 - np.eye(len(W)))


def gram(A, B, sigma_squared=None):
    """xᵀz, or exp(−‖x − z‖²/2σ²)."""
    if sigma_squared is None:
        return np.array([[sum(x * z) for z in B] for x in A])
    return np.array([[exp(-sum((x - z) ** 2) / (2 * sigma_squared)) for z in B] for x in A])


def mean_square(X, W):
    lengths = [sum((X[i] - X[j]) ** 2) for i in range(len(X)) for j in range(len(X)) if W[i, j] > 0]
    return sum(lengths) / len(lengths)


def dense_laplacian(W, normalized):
    degree = W.sum(axis=1)
    L = np.diag(degree) - W
    root = np.sqrt(np.where(degree > 0, degree, 1))
    return L / root[:, None] / root[None, :] if normalized else L


def to_distributions(f):
    f = np.maximum(f, 0)
    total = f.sum(axis=1, keepdims=True)
    return np.where(total > 0, f / np.where(total > 0, total, 1), 1 / f.shape[1])


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize(("gamma_A", "gamma_I"), [(0.01, 1.0), (0.3, 0.0), (0.001, 20.0)])
def test_is_the_closed_form_of_the_paper(X, weighted_adjacency, normalized, gamma_A, gamma_I):
    """α = (JK + γ_A l I + γ_I l/n² LK)⁻¹ Y; our weights are γ_A l and γ_I l/n²."""
    W, n, labels = loopless(weighted_adjacency), 12, 5
    K = gram(X, X, 0.7**2 * mean_square(X, W))
    L = dense_laplacian(W, normalized)
    J = np.diag((LABELS >= 0).astype(float))
    Y = np.array([[float(LABELS[i] == k) for k in range(3)] for i in range(n)])
    alpha = np.linalg.solve(J @ K + gamma_A * labels * np.eye(n) + gamma_I * labels / n**2 * L @ K, Y)
    clf = fit(
        X,
        W,
        width=0.7,
        normalized=normalized,
        ambient_weight=gamma_A * labels,
        intrinsic_weight=gamma_I * labels / n**2,
    )
    np.testing.assert_allclose(K @ clf.coefficients_, K @ alpha, atol=1e-5)
    np.testing.assert_allclose(clf.label_distributions_, to_distributions(K @ alpha), atol=1e-4)


def test_the_defaults_are_the_papers():
    settings = ManifoldRegularization().get_params()
    assert (settings["ambient_weight"], settings["intrinsic_weight"], settings["normalized"]) == (0.005, 0.045, True)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_landmarks_minimise_the_same_objective(X, weighted_adjacency, kernel):
    """Σ_i (y_i − f(x_i))² + γ_A l ‖f‖² + γ_I l/n² fᵀLf over f = Σ_m α_m K(·, z_m), by a generic optimiser."""
    W = loopless(weighted_adjacency)
    clf = fit(
        X, W, kernel=kernel, max_landmarks=7, ambient_weight=0.2, intrinsic_weight=0.3, normalized=False, random_state=3
    )
    Z = clf._points
    sigma_squared = mean_square(X, W) if kernel == "rbf" else None
    K, K_ZZ = gram(X, Z, sigma_squared), gram(Z, Z, sigma_squared)
    labelled = range(5)
    for c in range(3):

        def objective(alpha, c=c):
            f = K @ alpha
            fit_term = sum((float(LABELS[i] == c) - f[i]) ** 2 for i in labelled)
            smooth = 0.5 * sum(W[i, j] * (f[i] - f[j]) ** 2 for i in range(12) for j in range(12))
            return fit_term + 0.2 * alpha @ K_ZZ @ alpha + 0.3 * smooth

        best = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-6})
        np.testing.assert_allclose(K @ clf.coefficients_[:, c], K @ best.x, atol=2e-3)
        assert objective(clf.coefficients_[:, c]) <= best.fun + 1e-9


def test_landmarks_are_all_fitted_rows_and_a_draw_of_the_others(X, weighted_adjacency):
    def landmarks(seed, most, y=LABELS):
        points = fit(X, weighted_adjacency, y, max_landmarks=most, random_state=seed)._points
        return {next(i for i in range(12) if np.array_equal(X[i], point)) for point in points}

    draws = [landmarks(seed, 8) for seed in range(20)]
    assert all(len(draw) == 8 and draw >= set(range(5)) for draw in draws)
    assert set.union(*draws) == set(range(12))
    assert landmarks(0, 12) == landmarks(0, 100) == set(range(12))
    everywhere = np.arange(12) % 2
    assert len(landmarks(0, 6, everywhere)) == 6


def test_validation_rows_are_no_more_likely_landmarks_than_others(X, weighted_adjacency):
    clf = ManifoldRegularization(max_landmarks=4, random_state=0)
    clf.fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency), validation=[0])
    np.testing.assert_array_equal(clf._points, X[1:5])


def test_twin_rows_make_the_kernel_singular_and_nothing_breaks(X, weighted_adjacency):
    X = X.copy()
    X[5:9] = X[0]
    X[9] = X[1]
    F = fit(X, weighted_adjacency, ambient_weight=0.01).label_distributions_
    np.testing.assert_allclose(F[5:9], [F[0]] * 4, atol=1e-6)
    assert fit(np.ones((12, 2)), weighted_adjacency).label_distributions_.shape == (12, 3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_of_zeros(weighted_adjacency, kernel):
    F = fit(np.zeros((12, 3)), weighted_adjacency, kernel=kernel).label_distributions_
    np.testing.assert_allclose(F.sum(axis=1), 1)
    if kernel == "linear":
        np.testing.assert_array_equal(F, 1 / 3)  # f is 0 everywhere


def test_smoothness_pulls_neighbours_together(X, weighted_adjacency):
    W = loopless(weighted_adjacency)
    gap = []
    for weight in (0.0, 0.1, 10.0):
        clf = fit(X, W, normalized=False, intrinsic_weight=weight)
        f = gram(X, X, mean_square(X, W)) @ clf.coefficients_
        gap.append(sum(W[i, j] * sum((f[i] - f[j]) ** 2) for i in range(12) for j in range(12)))
    assert gap[0] > gap[1] > gap[2]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_new_row_is_read_off_the_kernel(X, weighted_adjacency, random, kernel):
    W = loopless(weighted_adjacency)
    clf = fit(X, W, kernel=kernel, width=0.6)
    new = random.normal(size=(7, 3))
    expected = gram(new, X, 0.6**2 * mean_square(X, W) if kernel == "rbf" else None) @ clf.coefficients_
    np.testing.assert_allclose(clf.predict_proba(new), to_distributions(expected), atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(X), clf.label_distributions_, atol=1e-6)


def test_the_kernel_is_computed_in_blocks_of_rows(X, weighted_adjacency, monkeypatch):
    whole = fit(X, weighted_adjacency)
    monkeypatch.setattr(source, "ROWS_PER_BLOCK", 5)
    np.testing.assert_allclose(fit(X, weighted_adjacency).label_distributions_, whole.label_distributions_, atol=1e-6)
    np.testing.assert_allclose(whole.predict_proba(X), whole.label_distributions_, atol=1e-6)


def test_sparse_rows_give_the_same(X, weighted_adjacency):
    X = X * (X > 0)
    for kernel in ("rbf", "linear"):
        dense, compact = (fit(rows, weighted_adjacency, kernel=kernel) for rows in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(dense.label_distributions_, compact.label_distributions_, atol=1e-6)


def test_an_unknown_kernel(X, weighted_adjacency):
    with pytest.raises(ValueError, match="kernel must be 'rbf' or 'linear', got 'cosine'"):
        fit(X, weighted_adjacency, kernel="cosine")
