"""The scikit-learn face of the network."""

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from glcn.estimator.assembling import Graphs, assemble
from glcn.estimator.attachment import attachment, given_edges, given_in_batches, nearest_edges, nearest_in_batches
from glcn.estimator.base import GraphClassifier
from glcn.estimator.building import Parts, Plan, build, settled
from glcn.estimator.calibration import NOT_CALIBRATED, Calibration, calibrated
from glcn.estimator.edge_trust import EdgeTrust
from glcn.estimator.explaining import Explanation, explained, feature_weights
from glcn.estimator.graph_report import GraphReport, graph_report
from glcn.estimator.inputs import as_features, is_given
from glcn.estimator.label_next import LabelNext, label_next
from glcn.estimator.network import NetworkMixin
from glcn.estimator.purpose import Subject, purpose
from glcn.estimator.rounds import Learned, learn_in_rounds, path_of_round
from glcn.estimator.saving import load_classifier, save_classifier
from glcn.estimator.variants import AUTO, Auto, fitted_to, resolve, uses_weights
from glcn.exceptions import ColdStartWarning, GraphCollapseWarning
from glcn.graph import CandidateGraph, widened
from glcn.interrupts import held_interrupts
from glcn.kernels.stopwatch import stage
from glcn.nn import GLCNOutput, LearnedGraph, PlusOutput, Taught, Workspace, row_slices
from glcn.store import Store
from glcn.training import (
    Checkpoint,
    Progress,
    ProgressBar,
    TrainingData,
    current_processes,
)


class GLCNClassifier(NetworkMixin, GraphClassifier):
    """Classify rows when few of them are labelled, learning which rows should be neighbours.

    Bring features of different kinds to one scale (for example by StandardScaler); variants other than ``"plus"`` want
    them centred, too, because they have no bias, as in the paper. Ctrl-C ends ``fit`` with the best weights so far
    and a warning; in a search over settings it ends the fit at hand only.

    Parameters
    ----------
    variant : {"plus", "closeness", "paper", "released"}, default="plus"
        Which form of the network: ``"plus"`` is random propagation on a graph learned from edges, labels and estimated
        labels, ``"paper"`` the text of the paper, ``"released"`` the code of its authors, ``"closeness"`` the paper
        with a score that prefers near rows.
    n_neighbors : int, default=10
        Size of the nearest-neighbour graph where ``fit`` is given none, and number of training rows that a new row is
        joined with.
    metric : str, default="auto"
        Distance of that search; ``"auto"`` is ``"cosine"`` for features that are mostly zero and never negative, as
        counts of words are, else ``"euclidean"``. With ``"cosine"``, ``"plus"`` sees the direction of each row, not
        its length.
    hidden_units : int or "auto", default="auto"
        Width of the hidden layers. Here and below, ``"auto"`` is the variant's own: see ``settings_`` after a fit.
    n_layers : int or "auto", default="auto"
        Number of convolutions; not for ``"plus"``.
    projection_size : int, None or "auto", default="auto"
        Columns of the projection P in which the graph is learned; None learns it on the features themselves (not for
        ``"plus"``).
    activation : {"relu", "elu", "tanh"} or "auto", default="auto"
        σ of the hidden layers; not for ``"plus"``.
    graph_weight : float or "auto", default="auto"
        λ, the weight of the graph loss; in ``"plus"`` that of telling edges from random pairs.
    sparsity_weight, prior_weight : float or "auto", default="auto"
        γ, the weight of ‖S‖²_F inside the graph loss, and β, that of ‖S−A‖²_F; A is ``fit``'s ``prior``, or else its
        ``graph``. Not for ``"plus"``.
    learn_graph : bool or "auto", default="auto"
        False keeps the weights of the graph as they are. For ``"plus"`` only, as are the next thirteen.
    added_neighbors : int or "auto", default="auto"
        How many of its nearest rows each row may be joined with in the learned graph, besides the edges of a given one;
        how much these count is learned. ``"auto"`` is 10 where labels that spread over the graph find those of other
        rows better by them, or are fewer than 30, else none. No graph given, or training in batches, leaves it at none.
    edge_trust : bool or "auto", default="auto"
        Whether the edges of a given graph count by how likely they are meant, as told by how near their rows are and by
        what else joins these: edges that are meant close triangles, random ones do not. ``"auto"`` does so where a
        fifth of the edges or more look random and labels that spread over the graph, 30 at least, find those of other
        rows better by it. A graph that is not learned, not given, of fewer than 500 edges or too dense to walk on, and
        training in batches, have none; see ``settings_``.
    rounds : int or "auto", default="auto"
        How many networks are trained one after the other. Each further one is also taught by the half of the rows of
        each class that the one before it is surest of, and takes its place unless the validation rows are surely
        against it: then it is the last. ``"auto"`` is 3 with a given graph, else 1. Training in batches, or by several
        processes, has one.
    n_hops, n_passes : int or "auto", default="auto"
        How far rows hear of each other, and the number of random passes an epoch, dealt out to the views: the learned
        graph, then those of the next two that are wanted. Fewer passes than views leave the last views out.
    given_view, feature_view : bool or "auto", default="auto"
        Whether rows are also seen on the graph that ``fit`` is given, and by their own features alone. ``"auto"`` is
        True, but there is no view of a given graph where there is none.
    normalization : {"symmetric", "rows"} or "auto", default="auto"
        How the weights W become the graph S that messages travel on: D^-½ W D^-½, which is ``"auto"``, or D⁻¹W, so that
        a row receives the mean of its neighbours.
    consistency_weight, temperature : float or "auto", default="auto"
        Weight of the agreement of these passes on all rows, and T, below 1, that sharpens what they agree on.
    row_dropout, feature_dropout : float or "auto", default="auto"
        Probabilities that a random pass leaves out a row, and a feature; ``"auto"`` leaves out no feature where there
        are fewer than 200.
    smoothing : float, "validation" or "auto", default="auto"
        How much of the answer comes from neighbours in the learned graph at last, whose labels count where they are
        known; 0 leaves it as the network says. ``"validation"`` lets validation rows choose (0.4 without any), and is
        what ``"auto"`` does where ``fit`` is given no graph; it is 0 with one.
    dropout : float or "auto", default="auto"
        Probability of dropping an entry of a layer's input while training; in ``"plus"`` of the hidden layer.
    weight_decay : float or "auto", default="auto"
        L2 penalty on P, a and the first convolution; in ``"plus"`` on all but P and a.
    learning_rate : float or "auto", default="auto"
        Step size of Adam.
    learning_rate_decay : float or "auto", default="auto"
        Factor on the step size every 100 epochs.
    max_epochs, patience, min_epochs : int or "auto", default="auto"
        With validation rows: the most epochs, how many may pass without a lower validation loss, and how many come
        first whose weights are not kept and that patience does not count. ``"auto"`` has none of these, but 200 in
        ``"plus"`` without a given graph, if there are more epochs and some ``consistency_weight``.
    fixed_epochs : int or "auto", default="auto"
        Epochs without validation rows.
    calibrate : bool or "auto", default="auto"
        Whether probabilities are brought in line with how often they are right, by one temperature that is chosen on
        the validation rows, 30 at least; labels do not change by it. ``"auto"`` does it for ``"plus"``.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last one, where these fit: quick after some new labels.
        A warning says where they do not, as after a label of a new class.
    batch_size : int, None or "auto", default="auto"
        Seeds of the sampled neighbourhood that a step of training sees in place of all rows; an epoch is one step
        then. None trains on all rows at once, and so does ``"auto"`` up to 50,000 rows.
    batch_shares : int or "auto", default="auto"
        Parts that the seeds of a step are cut into, each with a neighbourhood of its own; their gradients are averaged.
        Processes that train together (torchrun) share them out; ``"auto"`` is one for each process.
    work_dir : str, Path or None, default=None
        Folder for what a fit on batches keeps of the rows (several times their size), as files that are mapped into
        memory; None keeps it in memory. Of several processes, only the first is fitted afterwards then.
    validation_fraction : float, default=0.1
        Share of the labelled rows, by class, that is held out for early stopping where ``fit`` is given no
        ``validation``. Nothing is held out where a class has fewer than 5 labels.
    class_weight : dict, "balanced", None or "auto", default="auto"
        Weights of the classes in the cross-entropy. ``"auto"`` is None, but in ``"plus"``, where the fitted labels are
        surely no sample of the rows since some classes were labelled more readily, each class counts by its share of
        the rows (``settings_["class_shares"]``). That is told by the validation rows that ``fit`` is given, where
        their labels surely differ, or else by what labels spread over the graph find on rows with a label and on
        rows without. Training in batches takes labels for a sample.
    device : str, default="auto"
        ``"auto"`` is the first CUDA device if there is one, else the CPU. CUDA is untested.
    random_state : int, RandomState or None, default=None
        Seed of everything random. The same seed gives the same bits on the same machine with as many threads.
    verbose : bool, default=False
        Whether ``fit`` draws a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    transduction_ : ndarray of shape (n_samples,)
        Predicted label of each row given to ``fit``, labelled or not.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Their probabilities.
    graph_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The learned graph S; each row sums to 1. Of ``graph="complete"`` on more than 4000 rows, the ``n_neighbors``
        greatest weights of each row.
    calibration_ : Calibration
        The temperature, and how far probabilities were off before and after, on validation rows.
    memory_estimate_ : int
        Bytes that the fit was expected to need on top of its inputs; ``fit`` refuses what the machine can not hold.
    settings_ : dict
        The settings in force, with the variant's own in place of "auto".
    graph_report_ : GraphReport
        How far S is from uniform, and whether it collapsed.
    neighbor_recall_ : float or None
        Share of the true nearest neighbours that the search found, 1 where it was exact (up to some 20,000 rows); None
        where ``fit`` was given a graph.
    hidden_ : ndarray of shape (n_samples, hidden_units)
        Each row as the first convolution sees it, for maps.
    history_ : dict of lists
        Every term of the loss, epoch by epoch; entry 0 belongs to the initial weights.
    round_ : int
        The round whose network was kept.
    n_iter_, best_epoch_ : int
        Epochs run in that round, and the one whose weights were kept.
    validation_rows_ : ndarray
        Labelled rows that were held out for early stopping.
    model_ : glcn.nn.GLCN or glcn.nn.GLCNPlus
        The network.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from glcn import GLCNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(150) if i % 10]] = -1  # keep every tenth label
    >>> clf = GLCNClassifier(random_state=0).fit(scale(X), few)
    >>> bool((clf.transduction_ == y).mean() > 0.9)
    True
    """

    def __init__(
        self,
        variant: str = "plus",
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        hidden_units: int | Auto = AUTO,
        n_layers: int | Auto = AUTO,
        projection_size: int | Auto | None = AUTO,
        activation: str = AUTO,
        graph_weight: float | Auto = AUTO,
        sparsity_weight: float | Auto = AUTO,
        prior_weight: float | Auto = AUTO,
        learn_graph: bool | Auto = AUTO,
        added_neighbors: int | Auto = AUTO,
        edge_trust: bool | Auto = AUTO,
        rounds: int | Auto = AUTO,
        n_hops: int | Auto = AUTO,
        n_passes: int | Auto = AUTO,
        given_view: bool | Auto = AUTO,
        feature_view: bool | Auto = AUTO,
        normalization: str = AUTO,
        consistency_weight: float | Auto = AUTO,
        temperature: float | Auto = AUTO,
        row_dropout: float | Auto = AUTO,
        feature_dropout: float | Auto = AUTO,
        smoothing: float | str = AUTO,
        dropout: float | Auto = AUTO,
        weight_decay: float | Auto = AUTO,
        learning_rate: float | Auto = AUTO,
        learning_rate_decay: float | Auto = AUTO,
        max_epochs: int | Auto = AUTO,
        patience: int | Auto = AUTO,
        min_epochs: int | Auto = AUTO,
        fixed_epochs: int | Auto = AUTO,
        calibrate: bool | Auto = AUTO,
        warm_start: bool = False,
        batch_size: int | Auto | None = AUTO,
        batch_shares: int | Auto = AUTO,
        work_dir: Any = None,
        validation_fraction: float = 0.1,
        class_weight: Any = AUTO,
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.hidden_units = hidden_units
        self.n_layers = n_layers
        self.projection_size = projection_size
        self.activation = activation
        self.graph_weight = graph_weight
        self.sparsity_weight = sparsity_weight
        self.prior_weight = prior_weight
        self.learn_graph = learn_graph
        self.added_neighbors = added_neighbors
        self.edge_trust = edge_trust
        self.rounds = rounds
        self.n_hops = n_hops
        self.n_passes = n_passes
        self.given_view = given_view
        self.feature_view = feature_view
        self.normalization = normalization
        self.consistency_weight = consistency_weight
        self.temperature = temperature
        self.row_dropout = row_dropout
        self.feature_dropout = feature_dropout
        self.smoothing = smoothing
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.learning_rate_decay = learning_rate_decay
        self.max_epochs = max_epochs
        self.patience = patience
        self.min_epochs = min_epochs
        self.fixed_epochs = fixed_epochs
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.batch_size = batch_size
        self.batch_shares = batch_shares
        self.work_dir = work_dir
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Any = None,
        prior: Any = None,
        validation: Any = None,
        callback: Callable[[Progress], None] | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float | None = None,
    ) -> "GLCNClassifier":
        """Learn a graph and a classifier from all rows and the labels that there are.

        Parameters
        ----------
        X : array, DataFrame or scipy.sparse matrix of shape (n_samples, n_features)
            Features of labelled and unlabelled rows.
        y : array of shape (n_samples,)
            Labels of any type; −1 in integers, None or NaN in any type say that a row has none.
        graph : optional
            Candidate edges: scipy.sparse (n, n), (2, E) ``edge_index``, networkx, PyTorch Geometric ``Data``,
            :class:`glcn.graph.CandidateGraph`, or ``"complete"`` for all pairs. Weights count. Left out, each row is
            joined with its nearest neighbours; a ``CandidateGraph.knn`` counts as left out, too, and so does an opened
            :class:`glcn.store.Store`, whose ``X`` and ``y`` are the other arguments then.
        prior : optional
            (n, n) matrix A that S should stay near to (``prior_weight``), where it is not ``graph`` itself.
        validation : optional
            Mask or numbers of labelled rows that are kept for early stopping and never fitted.
        callback : optional
            Called after each epoch with a :class:`glcn.training.Progress`.
        checkpoint : optional
            File that keeps the state of the training. Where it exists already, training goes on from it, to the same
            bits as one that was never interrupted. A disk without room for it, and for the fitted classifier, is said
            before work begins.
        checkpoint_every : optional
            Seconds between two states; left out, half a minute.

        Returns
        -------
        GLCNClassifier
            The estimator itself.
        """
        settings = resolve(self.variant, self.get_params(deep=False), has_graph=is_given(graph))
        problem = self._read(X, y, validation, settings)
        X, labels, rows, seed, _ = problem
        settings, joined, scale, source, space, memory = assemble(
            self,
            problem,
            fitted_to(settings, self.get_params(deep=False), X),
            Graphs(graph, prior),
            validation_named=validation is not None,
            checkpoint=checkpoint,
        )
        known, candidates, found = joined
        data = source.data
        fingerprint = ""
        if checkpoint is not None:
            given = candidates if graph is not None and not isinstance(graph, str | Store) else graph
            fingerprint = purpose(settings, Subject(X, labels.codes, rows, given, data.prior))

        def learn(number: int, taught: Taught | None) -> Learned:
            generator = torch.Generator().manual_seed(seed + number - 1)
            model, loss, answer, before_epoch = self._parts(
                Plan(settings, source, len(labels.classes), generator, space, taught)
            )
            if self.warm_start and number == 1:
                self._take_weights(model, labels.classes)
            kept = None
            if checkpoint is not None:
                kept = Checkpoint(path_of_round(Path(checkpoint), number), fingerprint, every=checkpoint_every)
            title = f"round {number} of {rounds}" if rounds > 1 else "training"
            result = self._train(model, loss, source, settings, generator, callback, before_epoch, kept, title)
            if not answers:
                return Learned(model, None, result, result.interrupted)
            # From here on, Ctrl-C could only lose what was learned.
            with held_interrupts() as held, torch.no_grad(), stage("final answer"), self._answer_bar(space):
                output = answer()
            return Learned(model, output, result, result.interrupted or held.pressed, number)

        answers = self.work_dir is None or current_processes().is_first  # only the first process writes there
        rounds = int(settings.get("rounds", 1))
        learned = learn_in_rounds(learn, rounds, data)
        if not answers:
            return self
        with held_interrupts() as held:
            model, output = learned.model, learned.output

            # All at the end: a fit that fails leaves what an earlier one learned as it was.
            self.model_ = model
            self.settings_: dict[str, Any] = {**settings, **settled(model)}
            self.round_ = learned.round
            self._record(learned.result)
            self._rows = known
            self._codes = labels.codes
            self._edge_weights = getattr(data.graph, "weights", None)
            self._given_weights = self._edge_weights if found is None else found.given_weights
            self._files = None if space is None else space.folder
            searched = graph is None or isinstance(graph, Store) or settings.get("added_neighbors", 0) > 0
            self.neighbor_recall_: float | None = known.index.recall if searched else None
            self.memory_estimate_ = memory
            self._scale = scale
            trust = None if found is None else found.trust
            self._keep(problem, self._read_off(data, output, space, trust))
        self.interrupted_ = learned.interrupted or held.pressed
        self._warn_if_interrupted(None if learned.result.interrupted or rounds == 1 else f"after round {self.round_}")
        self._warn_if_collapsed()
        return self

    def predict_proba(self, X: Any, *, edges: Any = None) -> NDArray[np.float32]:
        """Return the class probabilities of new rows, (n_new, n_classes); the fitted model does not change.

        Parameters
        ----------
        X : array, DataFrame or scipy.sparse matrix of shape (n_new, n_features)
            Rows that may never have been seen.
        edges : optional
            Training rows that each new row is joined with: scipy.sparse (n_new, n_samples), or (2, E) pairs
            (new row, training row). Left out, the nearest training rows are taken. Where the edges of ``fit`` count by
            the trust in them, these count by its mean.
        """
        X = self._read_new(X)
        index = self._rows.index
        if edges is None:
            return self._probabilities(X, nearest_in_batches(index, X, self._rows.num_neighbors))
        joined = given_edges(edges, X.shape[0], index.num_rows) * self.graph_report_.mean_trust
        if added := self.settings_.get("added_neighbors", 0):
            joined = widened(joined, nearest_edges(index, X, added))
        return self._probabilities(X, given_in_batches(joined))

    def explain(self, rows: Any, *, top: int = 10) -> list[Explanation]:
        """Tell why rows of ``fit`` were classified as they were.

        Parameters
        ----------
        rows : int or list of int
            Their numbers.
        top : int, default=10
            How many neighbours to name of each; the most telling come first.
        """
        check_is_fitted(self)
        return explained(self, rows, top)

    def label_next(self, count: int = 10, *, among: Any = None) -> list[LabelNext]:
        """Tell which unlabelled rows of ``fit`` to label next; the most useful come first.

        Useful is a row in doubt from which many others hear, unless one before it in the list says much the same.

        Parameters
        ----------
        count : int, default=10
            How many rows to name.
        among : list of int, optional
            Numbers of the rows to choose from; left out, all that have no label.
        """
        check_is_fitted(self)
        return label_next(self, count, among)

    def feature_weights(self) -> NDArray[np.float64]:
        """Return how much each feature counts in the distance by which the graph is learned; the weights sum to 1."""
        check_is_fitted(self)
        return feature_weights(self)

    def _probabilities(self, X: Any, joined: Iterable[tuple[slice, Any]]) -> NDArray[np.float32]:
        """Return the class probabilities of rows that come in batches, each with its edges to known rows."""
        # In double precision: the last digit of a single one depends on the company in which a row is computed.
        model = copy.deepcopy(self.model_).double()
        parts = [self._attached(model, X[part], part, edges) for part, edges in joined]
        return np.concatenate(parts)

    def save(self, folder: str | Path) -> None:
        """Write the fitted classifier into a new folder of safetensors and JSON, for :meth:`load`."""
        check_is_fitted(self)
        save_classifier(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, *, store: str | Path | None = None) -> "GLCNClassifier":
        """Read a classifier that :meth:`save` wrote, maybe on another machine; nothing in it is run.

        ``store`` says where the store is now on which it was fitted, if it was and the store has moved.
        """
        return load_classifier(cls, Path(folder), store)

    def _take_weights(self, model: Any, classes: NDArray[Any]) -> None:
        """Start from the weights of an earlier fit; say so where they are of another kind or for other classes."""
        earlier = getattr(self, "model_", None)
        if earlier is None:
            return
        known, wanted = earlier.state_dict(), model.state_dict()
        shapes = [{name: value.shape for name, value in weights.items()} for weights in (known, wanted)]
        if np.array_equal(self.classes_, classes) and shapes[0] == shapes[1]:
            model.load_state_dict(known)
            return
        what = "settings or features" if np.array_equal(self.classes_, classes) else "classes"
        warnings.warn(
            f"warm_start could not keep the weights of the last fit, which had other {what}; training starts anew",
            ColdStartWarning,
            stacklevel=3,
        )

    @contextmanager
    def _answer_bar(self, space: Workspace | None) -> Iterator[None]:
        """Show how far the answer is, where it goes by blocks and somebody wants to see it."""
        if not self.verbose or space is None:
            yield
            return
        with ProgressBar() as bar:
            space.report = bar.answering
            yield

    def _parts(self, plan: Plan) -> Parts:
        return build(plan)

    @property
    def hidden_(self) -> NDArray[np.float32]:
        """Each row as the first convolution sees it, for maps."""
        check_is_fitted(self)
        with torch.no_grad():
            hidden: NDArray[np.float32] = self.model_.first_hidden(self._known).numpy()
        return hidden

    @property
    def graph_(self) -> Any:
        """The learned graph S, (n_samples, n_samples)."""
        check_is_fitted(self)
        learned = self._known.graph
        if isinstance(learned, LearnedGraph):
            return CandidateGraph(learned.pattern).to_scipy(learned.values)
        values, columns = learned.strongest(self.n_neighbors)
        n, k = values.shape
        return sparse.csr_array((values.numpy().ravel(), columns.numpy().ravel(), range(0, n * k + 1, k)), (n, n))

    @torch.no_grad()
    def _read_off(
        self, data: TrainingData, output: GLCNOutput | PlusOutput, space: Workspace | None, trust: EdgeTrust | None
    ) -> NDArray[np.float32]:
        """Keep what the trained network says of the rows of ``fit``; returns their class probabilities."""
        self._known = output
        given = data.graph if trust is None else replace(data.graph, weights=self._given_weights)
        self.graph_report_: GraphReport = graph_report(output.graph, given, data.targets, trust)
        held = data.validation_rows
        found = calibrated(output.logits[held], data.targets[held]) if self.settings_["calibrate"] else NOT_CALIBRATED
        self.calibration_: Calibration = found
        probabilities = (space or Workspace()).empty("probabilities", *output.logits.shape)
        for part in row_slices(len(probabilities)):
            probabilities[part] = (output.logits[part] / found.temperature).softmax(dim=1)
        answer: NDArray[np.float32] = probabilities.numpy()
        return answer

    def _warn_if_collapsed(self) -> None:
        if self.graph_report_.collapsed and self.settings_.get("learn_graph", True):
            another = "try a smaller dropout or graph_weight, or another graph"
            by_formula = "this variant tends to it by its formula: try variant='plus'"
            remedy = by_formula if self.variant in ("paper", "released") else another
            warnings.warn(
                f"the learned graph is as good as uniform ({self.graph_report_.describe()}); {remedy}",
                GraphCollapseWarning,
                stacklevel=3,
            )

    @torch.no_grad()
    def _attached(self, model: Any, X: Any, part: slice, edges: Any) -> NDArray[np.float32]:
        x = as_features(self._scale(X), compact=self.settings_["projection_size"] is not None).double()
        joined = attachment(part, edges)
        weights = joined.weights if uses_weights(self.settings_["variant"]) else None
        logits = model.attach(x, self._known, joined.support, joined.pattern, weights)
        probabilities: NDArray[np.float32] = (logits / self.calibration_.temperature).softmax(dim=1).float().numpy()
        return probabilities
