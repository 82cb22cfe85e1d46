"""Manifold regularisation: the Laplacian regularised least squares of Belkin, Niyogi and Sindhwani (2006)."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from glcn.baselines.edges import laplacian, normalized_laplacian, rows_to_one, squared_lengths, without_loops
from glcn.estimator.base import GraphClassifier, Problem

ROWS_PER_BLOCK = 2_000


class ManifoldRegularization(GraphClassifier):
    r"""Fit a kernel machine that is smooth along the graph.

    With l labelled of n rows, one 0/1 target column a class and the graph Laplacian L, it minimises

    .. math:: \sum_{i \in L} (y_i - f(x_i))^2 + \gamma_A l \|f\|_K^2 + \frac{\gamma_I l}{n^2} f^\top L f

    over f(x) = Σ_m α_m K(x, z_m). The points z are all rows where there are at most ``max_landmarks`` of them, which is
    the paper's solution. Else they are the labelled rows (a draw of them where they are too many) and a random draw of
    the others: an approximation that never holds an n × n matrix.

    Parameters
    ----------
    n_neighbors, metric
        The nearest-neighbour graph where ``fit`` is given none.
    kernel : {"rbf", "linear"}, default="rbf"
        K. The linear one suits text-like rows.
    width : float, default=1.0
        Width σ of the rbf kernel exp(−‖x − z‖²/2σ²), in root mean square lengths of the edges.
    ambient_weight, intrinsic_weight : float, default=0.005, 0.045
        γ_A l and γ_I l/n², with the values of the paper's experiments.
    normalized : bool, default=True
        Use D^-½ L D^-½ in place of L, as the paper's experiments do.
    max_landmarks : int, default=2000
        Most points z.
    random_state : int, RandomState or None, default=None
        Seed of that draw.
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        kernel: Literal["rbf", "linear"] = "rbf",
        width: float = 1.0,
        ambient_weight: float = 0.005,
        intrinsic_weight: float = 0.045,
        normalized: bool = True,
        max_landmarks: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.width = width
        self.ambient_weight = ambient_weight
        self.intrinsic_weight = intrinsic_weight
        self.normalized = normalized
        self.max_landmarks = max_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, graph: Any = None, validation: Any = None) -> "ManifoldRegularization":
        """Solve for α; the arguments are those of ``GLCNClassifier.fit``."""
        if self.kernel not in ("rbf", "linear"):
            raise ValueError(f"kernel must be 'rbf' or 'linear', got {self.kernel!r}")
        problem = self._read(X, y, validation)
        X, labels, rows, *_ = problem
        _, candidates = self._joined(X, graph)
        W = without_loops(candidates)
        lengths = squared_lengths(X, W)
        unit = float(lengths.mean()) if lengths.any() else 1.0
        gamma = 1.0 / (2.0 * self.width**2 * unit) if self.kernel == "rbf" else None
        points = X[self._landmark_rows(problem)]
        L = normalized_laplacian(W) if self.normalized else laplacian(W)

        # f = K α = Φ β with Φ = K V Λ^-½ for the eigenvectors V of the landmarks' kernel: then ‖f‖²_K = ‖β‖², and the
        # system stays well conditioned where duplicate rows or few features make K singular.
        values, V = eigh(_kernel(points, points, gamma), driver="evd")
        kept = values > 1e-12 * values[-1]
        to_alpha = V[:, kept] / np.sqrt(values[kept])
        features = np.concatenate([_kernel(X[block], points, gamma) @ to_alpha for block in _blocks(X.shape[0])])
        Y = np.eye(len(labels.classes))[labels.codes[rows.train]]
        fitted = features[rows.train]
        system = fitted.T @ fitted + self.intrinsic_weight * (features.T @ (L @ features))
        system[np.diag_indices_from(system)] += self.ambient_weight
        beta = solve(system, fitted.T @ Y, assume_a="pos")

        self._points, self._gamma, self.coefficients_ = points, gamma, to_alpha @ beta
        self._keep(problem, rows_to_one(np.maximum(features @ beta, 0.0)))
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float64]:
        """Return f of new rows, cut at 0 and scaled to sum to 1, (n_new, n_classes); ``edges`` is not needed."""
        X = self._read_new(X)
        parts = [_kernel(X[block], self._points, self._gamma) @ self.coefficients_ for block in _blocks(X.shape[0])]
        return rows_to_one(np.maximum(np.concatenate(parts), 0.0))

    def _landmark_rows(self, problem: Problem) -> NDArray[np.int64]:
        n, fitted = problem.X.shape[0], problem.rows.train
        if n <= self.max_landmarks:
            return np.arange(n)
        random = np.random.default_rng(problem.seed)
        if len(fitted) >= self.max_landmarks:
            return np.sort(random.choice(fitted, self.max_landmarks, replace=False))
        others = random.choice(np.setdiff1d(np.arange(n), fitted), self.max_landmarks - len(fitted), replace=False)
        return np.sort(np.concatenate([fitted, others]))


def _kernel(X: Any, Z: Any, gamma: float | None) -> NDArray[np.float64]:
    """Return K(x, z) of all pairs: exp(−γ‖x − z‖²), or xᵀz where γ is None."""
    K = linear_kernel(X, Z) if gamma is None else rbf_kernel(X, Z, gamma=gamma)
    return np.asarray(K, dtype=np.float64)


def _blocks(num_rows: int) -> Iterator[slice]:
    for start in range(0, num_rows, ROWS_PER_BLOCK):
        yield slice(start, start + ROWS_PER_BLOCK)
