"""Two methods that look at each row by itself: what they reach, no graph is needed for."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from glcn.baselines.networks import Edges, label_loss, perceptron
from glcn.estimator.base import TransductiveClassifier
from glcn.estimator.inputs import as_features, training_features
from glcn.estimator.network import NetworkMixin
from glcn.kernels import Features
from glcn.training import Callback, TrainingData


class LogisticClassifier(TransductiveClassifier):
    """Logistic regression on the labelled rows, by scikit-learn.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty.
    """

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any, *, graph: Any = None, validation: Any = None) -> "LogisticClassifier":
        """Fit the labelled rows; ``graph`` is taken, so that all methods are called alike, and not looked at."""
        problem = self._read(X, y, validation)
        fitted = problem.rows.train
        model = LogisticRegression(C=self.C, max_iter=5000)
        model.fit(problem.X[fitted], problem.labels.codes[fitted])
        self._model = model
        self._keep(problem, model.predict_proba(problem.X))
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float64]:
        """Return the class probabilities of new rows, (n_new, n_classes); ``edges`` is not looked at."""
        X = self._read_new(X)
        probabilities: NDArray[np.float64] = self._model.predict_proba(X)
        return probabilities


class PerceptronClassifier(NetworkMixin, TransductiveClassifier):
    """A multilayer perceptron on the labelled rows, trained as GCN is.

    Parameters
    ----------
    hidden_units, n_layers : int, default=64, 2
        Width of the hidden layers, and number of layers.
    dropout : float, default=0.5
        Probability of dropping an entry of a layer's input while training.
    weight_decay : float, default=5e-4
        L2 penalty on the first layer.
    learning_rate : float, default=0.01
        Step size of Adam.
    max_epochs, patience : int, default=1000, 100
        With validation rows: the most epochs, and how many may pass without a lower validation loss.
    fixed_epochs : int, default=200
        Epochs without validation rows.
    validation_fraction, device, random_state, verbose
        As for ``GLCNClassifier``.
    """

    def __init__(
        self,
        *,
        hidden_units: int = 64,
        n_layers: int = 2,
        dropout: float = 0.5,
        weight_decay: float = 5e-4,
        learning_rate: float = 0.01,
        max_epochs: int = 1000,
        patience: int = 100,
        fixed_epochs: int = 200,
        validation_fraction: float = 0.1,
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hidden_units = hidden_units
        self.n_layers = n_layers
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.fixed_epochs = fixed_epochs
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, *, graph: Any = None, validation: Any = None, callback: Callback | None = None
    ) -> "PerceptronClassifier":
        """Train on the labelled rows; ``graph`` is taken, so that all methods are called alike, and not looked at."""
        problem = self._read(X, y, validation)
        X, labels, rows, seed, _ = problem
        x = as_features(X, compact=True)
        seen = np.concatenate([rows.train, rows.validation])  # no other row has a part in training
        data = TrainingData(
            x=training_features(X[seen], compact=True, device=self.device),
            graph=_NO_EDGES,
            targets=torch.from_numpy(labels.codes[seen]),
            train_rows=torch.arange(len(rows.train)),
            validation_rows=torch.arange(len(rows.train), len(seen)),
        )
        generator = torch.Generator().manual_seed(seed)
        sizes = [X.shape[1], *[self.hidden_units] * (self.n_layers - 1), len(labels.classes)]
        model = perceptron(sizes, self.dropout, generator)
        result = self._train(model, label_loss, data, self.get_params(deep=False), generator, callback)
        self.model_ = model
        self._record(result)
        self._keep(problem, self._classify(x))
        self._warn_if_interrupted()
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float32]:
        """Return the class probabilities of new rows, (n_new, n_classes); ``edges`` is not looked at."""
        return self._classify(as_features(self._read_new(X), compact=True))

    @torch.no_grad()
    def _classify(self, x: Features) -> NDArray[np.float32]:
        logits = self.model_(x, _NO_EDGES).logits
        probabilities: NDArray[np.float32] = logits.softmax(dim=1).numpy()
        return probabilities


_NO_EDGES = Edges(torch.empty((2, 0), dtype=torch.int64), None)
