"""What every classifier here shares: reading its inputs, predicting labels, scoring."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from glcn.estimator.attachment import given_edges, nearest_edges
from glcn.estimator.labels import EncodedLabels, encode_labels, is_labelled
from glcn.estimator.settings import check_settings
from glcn.estimator.validation import LabelledRows, divide
from glcn.graph import CandidateGraph, NeighborIndex, neighbor_index
from glcn.kernels.stopwatch import stage

_FEATURES = ("n_features_in_", "feature_names_in_")  # where scikit-learn notes what ``fit`` saw
_READING: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": False,  # looked at by itself, so that the error can name a place
}
_NUMBERS_AT_ONCE = 1 << 22


class Problem(NamedTuple):
    """What ``fit`` was asked, checked and in one form."""

    X: Any  # (n, p) array or scipy CSR
    labels: EncodedLabels
    rows: LabelledRows
    seed: int
    features: dict[str, Any]  # number of features, and their names where they have any


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of ``fit``, for new rows to be joined with."""

    X: Any  # (n, p), as they were given
    metric: str
    num_neighbors: int  # how many of them a new row is joined with
    index: NeighborIndex
    store: Path | None = None  # the folder that they are in, if they are on disk

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @classmethod
    def of(cls, X: Any, metric: str, num_neighbors: int) -> "KnownRows":
        """Index the rows."""
        return cls(X, metric, num_neighbors, neighbor_index(X, metric))


class TransductiveClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted on labelled and unlabelled rows together.

    Subclasses write ``fit`` and ``predict_proba``. Where they have no ``validation_fraction``, rows are held out only
    if the caller names them.
    """

    classes_: NDArray[Any]
    transduction_: NDArray[Any]
    label_distributions_: NDArray[Any]
    validation_rows_: NDArray[np.int64]

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[Any]:
        """Return the class probabilities of new rows, (n_new, n_classes)."""
        raise NotImplementedError

    def predict(self, X: Any, *, edges: Any = None) -> NDArray[Any]:
        """Return the labels of new rows, (n_new,); see :meth:`predict_proba`."""
        probabilities = self.predict_proba(X, edges=edges)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of :meth:`predict` on the rows of ``X`` that have a label in ``y``."""
        labelled = is_labelled(y)
        if not labelled.any():
            raise ValueError("y holds no label, so there is nothing to score")
        weight = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        truth = [label for label, known in zip(y, labelled, strict=True) if known]
        return float(accuracy_score(truth, self.predict(X)[labelled], sample_weight=weight))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transduction_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, y: Any, validation: Any, settings: Mapping[str, Any] | None = None) -> Problem:
        """Check the inputs of ``fit`` and the settings: the parameters, where none are given."""
        check_settings(self.get_params(deep=False) if settings is None else settings)
        reader = clone(self)  # notes the features in place of ``self``, which a refused fit leaves as it was
        X = _finite(validate_data(reader, X, ensure_min_samples=2, **_READING))
        labels = encode_labels(y, type(self).__name__)
        check_consistent_length(X, labels.codes)
        seed = int(check_random_state(getattr(self, "random_state", None)).randint(2**31 - 1))
        fraction = getattr(self, "validation_fraction", 0.0)
        rows = divide(labels.codes, validation, fraction, np.random.default_rng(seed))
        features = {name: value for name, value in vars(reader).items() if name in _FEATURES}
        return Problem(X, labels, rows, seed, features)

    def _read_new(self, X: Any) -> Any:
        """Check the rows given to a prediction."""
        check_is_fitted(self)
        return _finite(validate_data(self, X, reset=False, **_READING))

    def _keep(self, problem: Problem, distributions: NDArray[Any]) -> None:
        """Keep what was found out about the rows of ``fit``; last, so that a fit that fails changes nothing."""
        for name in _FEATURES:
            if name in problem.features:
                setattr(self, name, problem.features[name])
            elif hasattr(self, name):
                delattr(self, name)
        self.classes_ = problem.labels.classes
        self.validation_rows_ = problem.rows.validation
        self.label_distributions_ = distributions
        self.transduction_ = self.classes_[distributions.argmax(axis=1)]


class GraphClassifier(TransductiveClassifier):
    """A classifier that joins rows by a graph, and new rows with known ones; needs ``n_neighbors`` and ``metric``."""

    n_neighbors: int
    metric: str
    _rows: KnownRows

    def _joined(self, X: Any, graph: Any) -> tuple[KnownRows, CandidateGraph]:
        """Join the rows of ``fit``, by the caller's edges or with their nearest, and index them for new ones."""
        n = X.shape[0]
        complete = isinstance(graph, str)
        count = n if complete else min(self.n_neighbors, n)
        known = KnownRows.of(X.copy(), self.metric, count)  # the caller may change X later
        if graph is None:
            with stage("neighbour search"):
                candidates = CandidateGraph.from_neighbors(known.index.among(self.n_neighbors))
        else:
            candidates = CandidateGraph.coerce(graph, n)
        return known, candidates

    def _edges_to_known(self, X: Any, edges: Any) -> Any:
        """Return (n_new, n) edges of new rows to known ones: the caller's, or the nearest rows with weight 1."""
        if edges is not None:
            return given_edges(edges, X.shape[0], self._rows.index.num_rows)
        return nearest_edges(self._rows.index, X, self._rows.num_neighbors)


def _finite(X: Any) -> Any:
    """Return features that are finite as 32-bit floats; else say where the first one is that is not."""
    rows = max(1, _NUMBERS_AT_ONCE // max(1, X.shape[1]))
    for start in range(0, X.shape[0], rows):
        part = X[start : start + rows]
        values = (part.data if sparse.issparse(part) else part).ravel()
        with np.errstate(over="ignore"):
            bad = np.flatnonzero(~np.isfinite(values.astype(np.float32, copy=False)))
        if len(bad):
            row, column = _place(part, bad[0])
            raise ValueError(_complaint(values[bad[0]], f"row {start + row}, column {column}"))
    return X


def _place(part: Any, number: int) -> tuple[int, int]:
    """Return the row and column of a stored number."""
    if sparse.issparse(part):
        return int(np.searchsorted(part.indptr, number, side="right")) - 1, int(part.indices[number])
    row, column = divmod(int(number), part.shape[1])
    return row, column


def _complaint(value: float, place: str) -> str:
    if np.isfinite(value):
        return f"X holds values beyond the range of 32-bit floats (3.4e38), first in {place}; scale the features"
    what = "NaN" if np.isnan(value) else "infinity"
    remedy = "fill what is missing, for example by sklearn.impute.SimpleImputer, or leave such rows out"
    return f"X contains {what}, first in {place}; {remedy}"
