"""GCN and GAT behind the face of GLCNClassifier."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from glcn.baselines.networks import ConvolutionNetwork, Edges, gat, gcn, label_loss
from glcn.estimator.attachment import given_in_batches
from glcn.estimator.base import GraphClassifier
from glcn.estimator.inputs import as_features, training_features
from glcn.estimator.network import NetworkMixin
from glcn.graph import symmetric_pattern
from glcn.kernels import Features
from glcn.training import Callback, TrainingData


class _ConvolutionClassifier(NetworkMixin, GraphClassifier):
    """What GCN and GAT share."""

    hidden_units: int
    n_layers: int
    dropout: float

    def fit(
        self, X: Any, y: Any, *, graph: Any = None, validation: Any = None, callback: Callback | None = None
    ) -> "_ConvolutionClassifier":
        """Train on all rows and the labels that there are; see ``GLCNClassifier.fit``."""
        problem = self._read(X, y, validation)
        X, labels, rows, seed, _ = problem
        known, candidates = self._joined(X, graph)
        A = candidates.to_scipy()
        data = TrainingData(
            x=self._features(X),
            graph=self._edges(A),
            targets=torch.from_numpy(labels.codes),
            train_rows=torch.from_numpy(rows.train),
            validation_rows=torch.from_numpy(rows.validation),
        )
        sizes = [X.shape[1], *[self.hidden_units] * (self.n_layers - 1), len(labels.classes)]
        generator = torch.Generator().manual_seed(seed)
        with torch.random.fork_rng(devices=[]):  # PyTorch Geometric draws from the global generator
            torch.manual_seed(seed)
            model = self._network(sizes, generator)
            result = self._train(model, label_loss, data, self.get_params(deep=False), generator, callback)
        self.model_ = model
        self._record(result)
        self._rows, self._known, self._adjacency = known, X.copy(), A  # the caller may change X later
        with torch.no_grad():
            output = model(data.x, data.graph)
        self.hidden_ = output.hidden.numpy()
        self._keep(problem, output.logits.softmax(dim=1).numpy())
        self._warn_if_interrupted()
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float32]:
        """Return the class probabilities of new rows, (n_new, n_classes).

        Known rows send to new ones and receive nothing from them, so that predictions do not depend on each other.
        ``edges`` are the known rows that each new row is joined with, as for ``GLCNClassifier``; left out, the nearest.
        """
        X = self._read_new(X)
        joined = sparse.csr_array(self._edges_to_known(X, edges))
        return np.concatenate([self._attached(X[part], edges) for part, edges in given_in_batches(joined)])

    @torch.no_grad()
    def _attached(self, X: Any, joined: Any) -> NDArray[np.float32]:
        both = [self._known, X]
        table = sparse.vstack(both, format="csr") if any(map(sparse.issparse, both)) else np.vstack(both)
        loops = sparse.eye_array(X.shape[0], format="csr")
        A = sparse.csr_array(sparse.block_array([[self._adjacency, None], [joined, loops]]))
        logits = self.model_(as_features(table, compact=True), self._edges(A)).logits[self._rows.index.num_rows :]
        probabilities: NDArray[np.float32] = logits.softmax(dim=1).numpy()
        return probabilities

    def _features(self, X: Any) -> Features:
        """Return what the network is trained on."""
        return training_features(X, compact=True, device=self.device)

    def _edges(self, A: Any) -> Edges:
        """Turn rows that receive from columns into edges."""
        raise NotImplementedError

    def _network(self, sizes: list[int], generator: torch.Generator) -> ConvolutionNetwork:
        raise NotImplementedError


class GCNClassifier(_ConvolutionClassifier):
    """Graph convolutional network (Kipf and Welling, 2017), by PyTorch Geometric's ``GCNConv``.

    The defaults are those of its paper. Needs ``pip install 'glcn[baselines]'``.

    Parameters
    ----------
    n_neighbors, metric
        The nearest-neighbour graph where ``fit`` is given none.
    hidden_units, n_layers : int, default=16, 2
        Width of the hidden layers, and number of convolutions.
    dropout : float, default=0.5
        Probability of dropping an entry of a layer's input while training.
    weight_decay : float, default=5e-4
        L2 penalty on the first layer.
    learning_rate : float, default=0.01
        Step size of Adam.
    max_epochs, patience : int, default=200, 10
        With validation rows: the most epochs, and how many may pass without a lower validation loss.
    fixed_epochs : int, default=200
        Epochs without validation rows.
    validation_fraction, device, random_state, verbose
        As for ``GLCNClassifier``.
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        hidden_units: int = 16,
        n_layers: int = 2,
        dropout: float = 0.5,
        weight_decay: float = 5e-4,
        learning_rate: float = 0.01,
        max_epochs: int = 200,
        patience: int = 10,
        fixed_epochs: int = 200,
        validation_fraction: float = 0.1,
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
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

    def _edges(self, A: Any) -> Edges:
        """Return D^-½ A D^-½, D being what each row receives in all."""
        receives = np.asarray(A.sum(axis=1)).ravel()
        scale = 1.0 / np.sqrt(np.where(receives > 0, receives, 1.0))
        normalised = sparse.csr_array(sparse.diags_array(scale) @ A @ sparse.diags_array(scale))
        return Edges(_sparse_tensor(normalised), None)

    def _network(self, sizes: list[int], generator: torch.Generator) -> ConvolutionNetwork:
        return gcn(sizes, self.dropout, generator)


class GATClassifier(_ConvolutionClassifier):
    """Graph attention network (Veličković et al., 2018), by PyTorch Geometric's ``GATConv``.

    Its messages pass through our kernels, several times as fast. The defaults are those of its paper for Cora and
    Citeseer, but for a cap on the epochs; for Pubmed it sets ``output_heads=8, learning_rate=0.01,
    weight_decay=1e-3``. Weights of the graph are not looked at. Needs ``pip install 'glcn[baselines]'``.

    Parameters
    ----------
    n_neighbors, metric
        The nearest-neighbour graph where ``fit`` is given none.
    hidden_units, heads : int, default=8, 8
        Width of a head of the hidden layers, and number of heads, whose outputs are put side by side.
    output_heads : int, default=1
        Heads of the last layer, whose outputs are averaged.
    n_layers : int, default=2
        Number of convolutions.
    dropout : float, default=0.6
        Probability of dropping an entry of a layer's input, and an attention coefficient, while training.
    weight_decay : float, default=5e-4
        L2 penalty on all weights.
    learning_rate : float, default=0.005
        Step size of Adam.
    max_epochs, patience : int, default=3000, 100
        With validation rows: the most epochs, and how many may pass without a lower validation loss.
    fixed_epochs : int, default=200
        Epochs without validation rows.
    validation_fraction, device, random_state, verbose
        As for ``GLCNClassifier``.
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        hidden_units: int = 8,
        heads: int = 8,
        output_heads: int = 1,
        n_layers: int = 2,
        dropout: float = 0.6,
        weight_decay: float = 5e-4,
        learning_rate: float = 0.005,
        max_epochs: int = 3000,
        patience: int = 100,
        fixed_epochs: int = 200,
        validation_fraction: float = 0.1,
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.hidden_units = hidden_units
        self.heads = heads
        self.output_heads = output_heads
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

    def _edges(self, A: Any) -> Edges:
        A = sparse.csr_array(A, copy=True)
        A.eliminate_zeros()
        A.sort_indices()
        target, source = A.nonzero()
        by_columns = A.tocsc()
        mirrored = np.array_equal(A.indptr, by_columns.indptr) and np.array_equal(A.indices, by_columns.indices)
        index = torch.from_numpy(np.stack([source, target]).astype(np.int64))
        return Edges(index, None, symmetric_pattern(A) if mirrored else None)

    def _network(self, sizes: list[int], generator: torch.Generator) -> ConvolutionNetwork:
        return gat(sizes, self.heads, self.output_heads, self.dropout, generator)


def _sparse_tensor(A: Any) -> torch.Tensor:
    """Return A in the form with which PyTorch Geometric multiplies at once, without a message for each edge."""
    pointers, columns = (torch.from_numpy(array.astype(np.int64)) for array in (A.indptr, A.indices))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return torch.sparse_csr_tensor(
            pointers, columns, torch.from_numpy(A.data).float(), A.shape, check_invariants=False
        )
