"""DeepWalk (Perozzi, Al-Rfou and Skiena, 2014): random walks, skip-gram, logistic regression."""

from typing import Any

import numpy as np
from joblib import Memory
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from glcn.baselines.edges import without_loops
from glcn.baselines.walks import uniform_walks
from glcn.estimator.base import GraphClassifier


class DeepWalk(GraphClassifier):
    """Embed the rows by where random walks on the graph lead, and classify the embedding.

    Walks step to each neighbour with the same probability; weights and features are not looked at, but for the search
    of neighbours where no graph is given. Skip-gram with hierarchical softmax by gensim (``pip install
    'glcn[baselines]'``). A new row gets the mean embedding of the rows that it is joined with: an addition of ours,
    DeepWalk itself knows no new rows.

    Parameters
    ----------
    n_neighbors, metric
        The nearest-neighbour graph where ``fit`` is given none.
    dimensions, walks_per_row, walk_length, window : int, default=128, 80, 40, 10
        Size of the embedding, walks from each row, rows in a walk, and reach of a row's context: the paper's values.
    C : float, default=1.0
        Inverse strength of the logistic regression's L2 penalty.
    memory : str or None, default=None
        Folder in which embeddings are kept, so that the same graph, settings and seed are embedded once.
    random_state : int, RandomState or None, default=None
        Seed of the walks and of the embedding.
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        dimensions: int = 128,
        walks_per_row: int = 80,
        walk_length: int = 40,
        window: int = 10,
        C: float = 1.0,
        memory: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.dimensions = dimensions
        self.walks_per_row = walks_per_row
        self.walk_length = walk_length
        self.window = window
        self.C = C
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, graph: Any = None, validation: Any = None) -> "DeepWalk":
        """Embed all rows and fit the classifier on the labelled ones; see ``GLCNClassifier.fit``."""
        problem = self._read(X, y, validation)
        X, labels, rows, seed, _ = problem
        known, candidates = self._joined(X, graph)
        W = without_loops(candidates)
        embedding = Memory(self.memory, verbose=0).cache(embed)(
            W.indptr.astype(np.int64),
            W.indices.astype(np.int64),
            self.dimensions,
            self.walks_per_row,
            self.walk_length,
            self.window,
            seed,
        )
        scaler = StandardScaler().fit(embedding)
        model = LogisticRegression(C=self.C, max_iter=2000)
        model.fit(scaler.transform(embedding[rows.train]), labels.codes[rows.train])
        self._rows = known
        self.embedding_, self._scaler, self._model = embedding, scaler, model
        self._keep(problem, self._classify(embedding))
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float64]:
        """Return the class probabilities of the mean embedding of each new row's neighbours, (n_new, n_classes)."""
        X = self._read_new(X)
        joined = self._edges_to_known(X, edges)
        joined.data[:] = 1.0
        count = np.diff(joined.indptr)[:, None]
        return self._classify((joined @ self.embedding_) / np.maximum(count, 1))

    def _classify(self, embedding: NDArray[Any]) -> NDArray[np.float64]:
        probabilities: NDArray[np.float64] = self._model.predict_proba(self._scaler.transform(embedding))
        return probabilities


def embed(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    dimensions: int,
    walks_per_row: int,
    walk_length: int,
    window: int,
    seed: int,
) -> NDArray[np.float32]:
    """Return the skip-gram embedding of the rows of a graph, (n, dimensions); one thread, so that a seed repeats."""
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise ImportError("DeepWalk needs gensim: pip install 'glcn[baselines]'") from error

    n = len(indptr) - 1
    names = np.array([str(row) for row in range(n)], dtype=object)
    model = Word2Vec(
        _Walks(indptr, indices, names, walks_per_row, walk_length, seed),
        vector_size=dimensions,
        window=window,
        sg=1,
        hs=1,
        negative=0,
        min_count=0,
        sample=0,
        workers=1,
        epochs=1,
        seed=seed,
    )
    embedding: NDArray[np.float32] = model.wv[names.tolist()]
    return embedding


class _Walks:
    """The walks as sentences, drawn anew each time they are read: they are never all held."""

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int64],
        names: NDArray[Any],
        walks_per_row: int,
        walk_length: int,
        seed: int,
    ) -> None:
        self.graph = (indptr, indices)
        self.names = names
        self.walks_per_row = walks_per_row
        self.walk_length = walk_length
        self.seed = seed

    def __iter__(self) -> Any:
        n = len(self.names)
        for turn in range(self.walks_per_row):
            starts = np.random.default_rng((self.seed, turn)).permutation(n)
            for walk in uniform_walks(*self.graph, starts, self.walk_length, self.seed + turn):
                yield self.names[walk].tolist()
