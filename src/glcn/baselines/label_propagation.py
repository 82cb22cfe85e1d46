"""Label propagation: the harmonic functions of Zhu, Ghahramani and Lafferty (2003)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg, splu

from glcn.baselines.edges import rows_to_one, squared_lengths, without_loops
from glcn.estimator.base import GraphClassifier

LARGEST_DIRECT = 20_000  # rows; a direct solve takes about a minute there


class LabelPropagation(GraphClassifier):
    """Give each unlabelled row the weighted mean of its neighbours' class probabilities.

    With W the edge weights, D their row sums, U the unlabelled and L the labelled rows, the probabilities solve
    (D_UU − W_UU) F_U = W_UL Y_L, by conjugate gradients on the sparse matrix. Rows of a part of the graph that holds no
    label get the share of the classes among the labels. Only the edges are looked at, unless ``width`` is set.

    Parameters
    ----------
    n_neighbors, metric
        The nearest-neighbour graph where ``fit`` is given none.
    width : float or None, default=None
        Multiply the weights by exp(−‖x_i − x_j‖² / σ²), σ being ``width`` times the root mean square length of the
        edges. None leaves them as they are.
    class_mass : bool, default=False
        Rescale the classes so that their total probability agrees with their share among the labels (the paper's class
        mass normalisation).
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        width: float | None = None,
        class_mass: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.width = width
        self.class_mass = class_mass

    def fit(self, X: Any, y: Any, *, graph: Any = None, validation: Any = None) -> "LabelPropagation":
        """Spread the labels over the graph; the arguments are those of ``GLCNClassifier.fit``."""
        problem = self._read(X, y, validation)
        X = problem.X
        known, candidates = self._joined(X, graph)
        W = without_loops(candidates)
        squares = squared_lengths(X, W) if self.width is not None else np.zeros(0)
        unit = float(squares.mean()) if squares.any() else 1.0
        W.data *= _affinity(squares, self.width, unit)

        codes = problem.labels.codes
        fitted = problem.rows.train
        Y = np.zeros((len(codes), len(problem.labels.classes)))
        Y[fitted, codes[fitted]] = 1.0
        prior = Y[fitted].mean(axis=0)
        F = harmonic(W, Y, fitted, prior)
        unlabelled = np.setdiff1d(np.arange(len(codes)), fitted)
        if self.class_mass and len(unlabelled):
            mass = prior / np.maximum(F[unlabelled].mean(axis=0), 1e-12)
            F[unlabelled] = rows_to_one(F[unlabelled] * mass)

        self._rows, self._known = known, X.copy()  # the caller may change X later
        self._width, self._unit, self._prior = self.width, unit, prior
        self._keep(problem, F)
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float64]:
        """Return the weighted mean of the neighbours' probabilities, (n_new, n_classes).

        ``edges`` are the known rows that each new row is joined with, as for ``GLCNClassifier``; left out, the nearest.
        """
        X = self._read_new(X)
        W = sparse.csr_array(self._edges_to_known(X, edges), dtype=np.float64)
        squares = squared_lengths(X, W, self._known) if self._width is not None else np.zeros(0)
        W.data *= _affinity(squares, self._width, self._unit)
        total = np.asarray(W.sum(axis=1)).ravel()
        F = np.where(total[:, None] > 0, W @ self.label_distributions_, self._prior)
        return rows_to_one(F)


def _affinity(squares: NDArray[np.float64], width: float | None, unit: float) -> Any:
    if width is None:
        return 1.0
    # The floor keeps a row that is far from all its neighbours joined with them.
    return np.maximum(np.exp(-squares / (width**2 * unit)), 1e-12)


def harmonic(W: Any, Y: NDArray[np.float64], labelled: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[Any]:
    """Return F (n, c): Y on the labelled rows, harmonic elsewhere, ``prior`` where no label can be reached."""
    _, part = connected_components(W, directed=False)
    reached = np.isin(part, part[labelled])
    is_labelled = np.zeros(len(part), bool)
    is_labelled[labelled] = True
    free = np.flatnonzero(reached & ~is_labelled)
    F = np.tile(prior, (len(part), 1))
    F[labelled] = Y[labelled]
    if len(free):
        degree = np.asarray(W.sum(axis=1)).ravel()[free]
        system = sparse.csr_array(sparse.diags_array(degree) - W[free][:, free])
        F[free] = _solve(system, W[free] @ np.where(is_labelled[:, None], Y, 0.0))
    return F


def _solve(system: Any, right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve by conjugate gradients, and directly where the weights are too far apart for them.

    A part of the graph that hangs on weak edges hardly shows in the residual, but each row must come out summing to 1.
    What the direct solve misses of that is rounding of the diagonal, which is the same for all classes.
    """
    for method, tolerance in ((_conjugate_gradients, 1e-4), (_direct, 0.1)):
        solution = method(system, right)
        if solution is not None and abs(solution.sum(axis=1) - 1).max() < tolerance:
            return rows_to_one(np.maximum(solution, 0.0))
    raise FloatingPointError(
        "the weights of the graph are too far apart for label propagation; try a larger width, or width=None"
    )


def _conjugate_gradients(system: Any, right: NDArray[np.float64]) -> NDArray[np.float64] | None:
    diagonal = system.diagonal()
    jacobi = LinearOperator(system.shape, matvec=lambda v: v.ravel() / diagonal, dtype=np.float64)
    solution = np.zeros_like(right)
    for column in np.flatnonzero(right.any(axis=0)):
        with np.errstate(all="ignore"):  # a singular system shows in the sums
            solution[:, column], failed = cg(system, right[:, column], rtol=1e-9, maxiter=10_000, M=jacobi)
        if failed:
            return None
    return solution


def _direct(system: Any, right: NDArray[np.float64]) -> NDArray[np.float64] | None:
    if len(right) > LARGEST_DIRECT:
        return None
    try:
        solution: NDArray[np.float64] = splu(sparse.csc_array(system), permc_spec="MMD_AT_PLUS_A").solve(right)
    except RuntimeError:  # singular
        return None
    return solution
