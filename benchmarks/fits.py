"""Whole fits on Cora, each with the early stopping that belongs to it."""

from dataclasses import replace

import numpy as np
from race import Step
from sklearn.semi_supervised import LabelSpreading

from glcn import GLCNClassifier
from glcn.baselines import GATClassifier
from glcn.datasets import MissingDataError, load
from glcn.estimator.inputs import as_features


def cora():
    """Return the public split, or the bundled one."""
    try:
        return load("cora", split="public")
    except MissingDataError:
        return load("cora", split="released")


def plus_fit(quick: bool) -> Step:
    data = cora()
    settings = {"max_epochs": 5} if quick else {}

    def fit() -> None:
        clf = GLCNClassifier(random_state=0, **settings)
        clf.fit(data.X, data.visible_labels, graph=data.graph, validation=data.validation)

    return fit


class PyGGAT(GATClassifier):
    """GAT as everybody runs it: with dense features, and PyTorch Geometric's own messages."""

    def _features(self, X):
        return as_features(X, compact=False)

    def _edges(self, A):
        return replace(super()._edges(A), pattern=None)


def gat_fit(quick: bool) -> Step:
    """GAT by its paper: eight heads of eight units, dropout 0.6, rate 0.005, patience 100."""
    data = cora()
    X = np.asarray(data.X.toarray(), dtype=np.float32)
    settings = {"max_epochs": 5} if quick else {"max_epochs": 100_000}

    def fit() -> None:
        clf = PyGGAT(random_state=0, patience=100, **settings)
        clf.fit(X, data.visible_labels, graph=data.graph, validation=data.validation)

    return fit


def label_spreading_fit() -> Step:
    data = cora()
    X, y = data.X.toarray(), np.where(data.visible_labels < 0, -1, data.visible_labels)
    y[data.validation] = -1
    return lambda: LabelSpreading(kernel="knn", n_neighbors=7).fit(X, y)
