import signal
from unittest import mock

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from glcn import GLCNClassifier
from glcn.exceptions import GraphCollapseWarning, TrainingInterruptedWarning
from glcn.graph import CandidateGraph
from glcn.kernels import parallel, reference
from glcn.nn import GLCN
from groups import three_groups

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")


def quick(**settings):
    defaults = {"variant": "closeness", "n_neighbors": 5, "fixed_epochs": 60, "dropout": 0.2, "learning_rate": 0.02}
    return GLCNClassifier(**({"random_state": 0} | defaults | settings))


@pytest.fixture(scope="module")
def fitted():
    X, y, few = three_groups(labels_each=2)
    return quick().fit(X, few), X, y


@pytest.mark.parametrize("variant", ["closeness", "paper", "released"])
def test_learns_from_few_labels(blobs, variant):
    X, y, few = blobs
    clf = quick(variant=variant).fit(X, few)
    assert (clf.transduction_ == y).mean() > 0.95
    assert clf.label_distributions_.shape == (90, 3)
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1, rtol=1e-5)


def test_learned_graph_lives_on_the_candidates_and_its_rows_sum_to_one(fitted):
    clf, X, _ = fitted
    np.testing.assert_allclose(np.asarray(clf.graph_.sum(axis=1)).ravel(), 1, rtol=1e-5)
    candidates = CandidateGraph.knn(X, 5).to_scipy()
    assert ((clf.graph_ > 0) != (candidates > 0)).nnz == 0


@pytest.mark.parametrize(
    ("names", "unlabelled"),
    [
        (np.array(["ant", "bee", "cat"], dtype=object), None),
        (np.array(["ant", "bee", "cat"], dtype=object), np.nan),
        (np.array([10, 20, 30]), -1),
        (np.array([1.0, 2.0, 3.0]), np.nan),
    ],
)
def test_any_type_of_label(blobs, names, unlabelled):
    X, y, few = blobs
    labels = names[few].astype(object if unlabelled is None or names.dtype == object else names.dtype)
    labels[few < 0] = unlabelled
    clf = quick().fit(X, labels)
    assert clf.classes_.tolist() == names.tolist()
    assert (clf.transduction_ == names[y]).mean() > 0.95
    assert (clf.predict(X) == names[y]).mean() > 0.95


def test_data_frames_and_sparse_rows_give_the_same_bits(blobs):
    X, _, few = blobs
    plain = quick().fit(X, few)
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = quick().fit(frame, pd.Series(few))
    assert named.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(plain.label_distributions_, named.label_distributions_)
    # Dense values in a sparse container are taken as dense.
    np.testing.assert_array_equal(
        plain.label_distributions_, quick().fit(sparse.csr_array(X), few).label_distributions_
    )


def test_truly_sparse_rows_agree_with_dense_ones(random):
    X = random.random((80, 60)) * (random.random((80, 60)) < 0.08)
    y = np.full(80, -1)
    y[:20] = np.arange(20) % 2
    dense, compact = (quick(dropout=0.0).fit(each, y) for each in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.label_distributions_, compact.label_distributions_, atol=1e-4)
    np.testing.assert_allclose(dense.predict_proba(X), compact.predict_proba(sparse.csr_array(X)), atol=1e-4)


def test_given_graphs_of_every_kind(blobs):
    X, _, few = blobs
    A = CandidateGraph.knn(X, 4).to_scipy()
    A.setdiag(0)
    A.eliminate_zeros()
    expected = quick().fit(X, few, graph=A).label_distributions_
    for graph in (np.stack(A.nonzero()), nx.from_scipy_sparse_array(A), CandidateGraph.from_scipy(A)):
        np.testing.assert_array_equal(quick().fit(X, few, graph=graph).label_distributions_, expected)


def test_weights_of_the_graph_count_except_in_released(blobs, random):
    X, _, few = blobs
    A = CandidateGraph.knn(X, 4).to_scipy()
    W = A * sparse.csr_array(random.random((90, 90)))
    W = W.maximum(W.T)
    for variant, same in (("closeness", False), ("released", True)):
        first, second = (quick(variant=variant).fit(X, few, graph=graph).label_distributions_ for graph in (A, W))
        assert np.array_equal(first, second) == same


def test_complete_graph(blobs):
    X, _, few = blobs
    clf = quick().fit(X, few, graph="complete")
    assert clf.graph_.nnz == 90 * 90
    assert clf.predict_proba(X[:3]).shape == (3, 3)


@pytest.mark.parametrize("variant", ["paper", "released", "closeness"])
def test_all_pairs_in_blocks_learn_what_stored_ones_do(blobs, variant, monkeypatch):
    X, _, few = blobs
    settings = {"variant": variant, "dropout": 0.0, "fixed_epochs": 30}
    stored = quick(**settings).fit(X, few, graph="complete")
    monkeypatch.setattr("glcn.estimator.assembling.PAIRS_STORED", 80)
    blocks = quick(**settings).fit(X, few, graph="complete")
    assert blocks.graph_.nnz == 90 * blocks.n_neighbors
    np.testing.assert_allclose(blocks.label_distributions_, stored.label_distributions_, atol=1e-3)
    np.testing.assert_allclose(blocks.hidden_, stored.hidden_, atol=1e-2)
    np.testing.assert_allclose(blocks.predict_proba(X[:3] + 0.1), stored.predict_proba(X[:3] + 0.1), atol=1e-3)
    for name, value in vars(stored.graph_report_).items():
        assert getattr(blocks.graph_report_, name) == pytest.approx(value, abs=1e-3), name


def test_all_pairs_that_can_not_be_had_are_refused(blobs, monkeypatch):
    X, _, few = blobs
    monkeypatch.setattr("glcn.estimator.assembling.PAIRS_STORED", 80)
    with pytest.raises(ValueError, match="prior_weight needs stored edges"):
        quick(variant="closeness", prior_weight=1.0).fit(X, few, graph="complete")
    monkeypatch.setattr("glcn.graph.candidate.LARGEST_STORED", 80)
    with pytest.raises(ValueError, match="'closeness', 'paper' and 'released'"):
        quick(variant="plus").fit(X, few, graph="complete")


def test_prior_pulls_the_graph_towards_it(blobs):
    X, _, few = blobs
    prior = CandidateGraph.knn(X, 5).to_scipy()
    prior = prior / np.asarray(prior.sum(axis=1))[:, None]
    settings = {"graph_weight": 5.0, "sparsity_weight": 0.0}
    free = quick(**settings).fit(X, few)
    held = quick(**settings, prior_weight=1000.0).fit(X, few, prior=prior)
    gap = [abs(clf.graph_ - prior).sum() for clf in (free, held)]
    assert gap[1] < gap[0]
    with pytest.raises(ValueError, match="prior_weight needs a graph"):
        quick(prior_weight=1.0).fit(X, few)
    with pytest.raises(ValueError, match="prior= has no effect while prior_weight is 0"):
        quick().fit(X, few, prior=prior)


def test_a_given_graph_is_its_own_prior_as_given(blobs):
    """The self-loops that candidates get are no part of A in the β term."""
    X, _, few = blobs
    A = CandidateGraph.knn(X, 4).to_scipy()
    A.setdiag(0)
    A.eliminate_zeros()
    settings = {"prior_weight": 0.5, "fixed_epochs": 2}
    expected = quick(**settings).fit(X, few, graph=A, prior=A).history_["prior"]
    assert quick(**settings).fit(X, few, graph=A).history_["prior"] == expected
    assert quick(**settings).fit(X, few, graph=np.stack(A.nonzero())).history_["prior"] == expected


def test_prediction_of_new_rows_leaves_the_model_alone(fitted):
    clf, X, y = fitted
    before = [clf.label_distributions_.copy(), *(p.detach().clone() for p in clf.model_.parameters())]
    new = X + 0.01
    probabilities = clf.predict_proba(new)
    assert (clf.predict(new) == y).mean() > 0.95
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    after = [clf.label_distributions_, *clf.model_.parameters()]
    assert all(np.array_equal(a, b.detach() if torch.is_tensor(b) else b) for a, b in zip(before, after, strict=True))


def test_a_new_row_that_equals_an_old_one_gets_its_label(fitted):
    clf, X, _ = fitted
    assert (clf.predict(X) == clf.transduction_).mean() > 0.98


def test_prediction_does_not_depend_on_the_batch(fitted, monkeypatch):
    clf, X, _ = fitted
    whole = clf.predict_proba(X)
    monkeypatch.setattr("glcn.estimator.attachment.EDGES_PER_BATCH", 17)
    np.testing.assert_allclose(clf.predict_proba(X), whole, atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(X[4:5])[0], whole[4], atol=1e-6)


def test_the_caller_may_name_the_edges(fitted):
    clf, _, _ = fitted
    far = np.full((1, 5), 0.5)  # between the groups: its neighbours decide
    for label in range(3):
        rows = 30 * label + np.arange(8)
        pairs = np.stack([np.zeros(8, int), rows])
        matrix = sparse.csr_array((np.ones(8), pairs), shape=(1, 90))
        assert clf.predict(far, edges=pairs)[0] == label
        np.testing.assert_array_equal(clf.predict_proba(far, edges=matrix), clf.predict_proba(far, edges=pairs))
    alone = clf.predict_proba(far, edges=np.empty((2, 0), int))
    np.testing.assert_allclose(alone.sum(), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.zeros((3, 2), int), "integer pairs"),
        (np.array([[0], [90]]), "training rows 90 to 90, but there are 90"),
        (np.array([[1], [0]]), "new rows 1 to 1, but there are 1"),
        (sparse.csr_array((1, 7)), r"shape \(1, 90\)"),
        (sparse.csr_array(-np.eye(1, 90)), "finite weights of zero or more"),
    ],
)
def test_bad_edges(fitted, edges, message):
    clf, X, _ = fitted
    with pytest.raises(ValueError, match=message):
        clf.predict(X[:1], edges=edges)


def test_components_without_labels_and_isolated_rows_get_valid_probabilities(blobs):
    X, _, few = blobs
    few = few.copy()
    few[60:] = -1
    A = CandidateGraph.knn(X, 3).to_scipy().tolil()
    A[60:, :60] = A[:60, 60:] = 0
    A[89, :] = A[:, 89] = 0
    clf = quick().fit(X, few, graph=sparse.csr_array(A))
    assert np.isfinite(clf.label_distributions_).all()
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1, rtol=1e-5)
    assert clf.graph_[89, 89] == 1


def test_validation_rows_are_never_fitted(blobs):
    X, _, few = blobs
    mask = np.zeros(90, bool)
    mask[[2, 32, 62]] = True
    clf = quick(max_epochs=30).fit(X, few, validation=mask)
    assert clf.validation_rows_.tolist() == [2, 32, 62]
    by_number = quick(max_epochs=30).fit(X, few, validation=[2, 32, 62])
    np.testing.assert_array_equal(clf.label_distributions_, by_number.label_distributions_)
    assert "validation_loss" in clf.history_


def test_class_weight(random):
    X = random.normal(size=(60, 2))
    y = np.r_[np.zeros(50, int), np.ones(10, int)]
    plain, balanced = (quick(class_weight=weight).fit(X, y).label_distributions_ for weight in (None, "balanced"))
    assert balanced[:, 1].mean() > plain[:, 1].mean()
    heavy = quick(class_weight={0: 1.0, 1: 50.0}).fit(X, y).label_distributions_
    assert heavy[:, 1].mean() > balanced[:, 1].mean()


@pytest.mark.parametrize("variant", ["closeness", "plus"])
def test_same_seed_same_bits_other_seed_other_bits(blobs, variant):
    X, _, few = blobs
    first, second, third = (
        quick(variant=variant, random_state=seed).fit(X, few).label_distributions_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, third)


def test_pipeline_grid_search_and_clone(blobs):
    X, y, _ = blobs
    assert clone(quick(dropout=0.1)).get_params()["dropout"] == 0.1
    search = GridSearchCV(
        make_pipeline(StandardScaler(), quick(fixed_epochs=20)), {"glcnclassifier__hidden_units": [4, 8]}, cv=2
    )
    search.fit(X, y)
    assert search.best_score_ > 0.9


def test_duplicate_rows_and_constant_columns(blobs):
    X, y, few = blobs
    X = np.concatenate([X, X])
    X[:, 4] = 1
    clf = quick().fit(X, np.concatenate([few, few]))
    assert (clf.transduction_ == np.concatenate([y, y])).mean() > 0.95
    quick().fit(np.ones((20, 3)), np.arange(20) % 2)  # all rows alike: nothing to learn, nothing breaks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variant": "best"}, "variant must be one of"),
        ({"n_neighbors": 90}, r"n_neighbors must be below the number of rows \(90\), got 90"),
        ({"activation": "none"}, "activation must be one of"),
        ({"class_weight": {0: -1.0, 1: 1.0, 2: 1.0}}, "class_weight must hold finite numbers"),
        ({"device": "gpu"}, "device 'gpu' can not be used here"),
    ],
)
def test_bad_settings(blobs, change, message):
    X, _, few = blobs
    with pytest.raises(ValueError, match=message):
        quick(**change).fit(X, few)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "X contains NaN, first in row 30, column 2; fill what is missing"),
        (np.inf, "X contains infinity, first in row 30, column 2"),
        (1e300, "beyond the range of 32-bit floats"),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_bad_features(blobs, value, message, form, monkeypatch):
    monkeypatch.setattr("glcn.estimator.base._NUMBERS_AT_ONCE", 50)
    X, _, few = blobs
    X = X.copy()
    X[30, 2] = value
    with pytest.raises(ValueError, match=message):
        quick().fit(form(X), few)


def test_rows_and_labels_must_agree(blobs):
    X, _, few = blobs
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick().fit(X, few[:50])
    with pytest.raises(ValueError, match="graph has 4 nodes but X has 90 rows"):
        quick().fit(X, few, graph=sparse.eye_array(4))


def test_a_fit_uses_the_kernels_not_the_reference(blobs, monkeypatch, random):
    """Every public function of the reference is made to fail, and every kernel must have been called."""
    for name in ("edge_distances", "row_softmax", "graph_terms", "propagate", "sparse_matmul", "dropout"):
        monkeypatch.setattr(reference, name, mock.Mock(side_effect=AssertionError(f"reference.{name} was used")))
    called = set()
    run = parallel.run

    def spy(function, *arguments):
        called.add(f"{function.py_func.__module__}.{function.__name__}".removeprefix("glcn.kernels."))
        run(function, *arguments)

    monkeypatch.setattr(parallel, "run", spy)
    X = sparse.csr_array(random.random((90, 40)) * (random.random((90, 40)) < 0.1))
    quick(fixed_epochs=2).fit(X, blobs[2])
    assert called == {
        "edge_distances._forward",
        "edge_distances._backward",
        "row_softmax._forward",
        "row_softmax._backward",
        "graph_terms._forward",
        "graph_terms._backward",
        "propagate._backward",
        "csr_matmul._multiply",
        "sparse_features._multiply",
        "sparse_features._scatter",
        "dropout._mask",
    }


def test_collapse_warns_and_is_in_the_report(blobs):
    X, _, few = blobs
    with pytest.warns(GraphCollapseWarning, match="as good as uniform"):
        clf = quick(graph_weight=1e4, fixed_epochs=300).fit(X, few)
    assert clf.graph_report_.collapsed


def interrupt_at(epoch):
    """Send this process the signal of Ctrl-C once training has come so far."""
    return lambda progress: signal.raise_signal(signal.SIGINT) if progress.epoch == epoch else None


def test_ctrl_c_in_the_middle_of_a_fit(blobs):
    X, y, few = blobs
    with pytest.warns(TrainingInterruptedWarning, match="interrupted at epoch 80; the weights of epoch 80 were kept"):
        clf = quick(fixed_epochs=10**7).fit(X, few, callback=interrupt_at(80))
    assert clf.interrupted_
    assert (clf.transduction_ == y).mean() > 0.9


def test_ctrl_c_before_anything_was_trained_leaves_no_model(blobs):
    X, _, few = blobs
    clf = quick()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, few, callback=interrupt_at(0))
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_a_fit_that_fails_leaves_the_earlier_model(blobs):
    X, _, few = blobs
    clf = quick().fit(X, few)
    before = clf.predict_proba(X)
    with pytest.raises(FloatingPointError, match="training diverged"):
        clf.set_params(learning_rate=1e30).fit(X[::-1].copy(), few)
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_a_wrong_metric_is_noticed_before_training(blobs):
    X, _, few = blobs
    heard = []
    with pytest.raises(ValueError, match="metric"):
        quick(metric="cosin").fit(X, few, graph="complete", callback=heard.append)
    assert not heard


def test_callers_arrays_stay_as_they_are_and_are_not_shared(blobs):
    X, _, few = blobs
    given = X.copy()
    clf = quick().fit(given, few)
    before = clf.predict_proba(X)
    given[:] = 0
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    edges = sparse.csr_array((np.array([1.0, 0.0], np.float32), (np.array([0, 0]), np.array([3, 5]))), shape=(1, 90))
    clf.predict(X[:1], edges=edges)
    assert edges.nnz == 2


def test_score_counts_labelled_rows_only(fitted):
    clf, X, y = fitted
    partly = np.where(np.arange(90) % 3 == 0, y, -1)
    assert clf.score(X, partly) == (clf.predict(X) == y)[::3].mean()
    assert clf.score(X, np.where(partly < 0, None, partly)) == clf.score(X, partly)
    with pytest.raises(ValueError, match="nothing to score"):
        clf.score(X, np.full(90, -1))


def test_sparse_rows_without_projection(random):
    X = random.random((40, 60)) * (random.random((40, 60)) < 0.1)
    clf = quick(projection_size=None).fit(sparse.csr_array(X), np.arange(40) % 2)
    assert clf.predict(sparse.csr_array(X[:3])).shape == (3,)


def test_a_given_graph_on_fewer_rows_than_n_neighbors(blobs):
    X, y, _ = blobs
    rows = [0, 1, 2, 30, 31, 32]
    clf = quick(n_neighbors=10).fit(X[rows], y[rows], graph="complete")
    assert clf.predict(X[:4]).shape == (4,)


def test_weights_of_edges_count_at_prediction(fitted):
    clf, _, _ = fitted
    ends = (np.zeros(2, int), np.array([5, 65]))
    light, heavy = (sparse.csr_array((np.array(w), ends), shape=(1, 90)) for w in ([1.0, 9.0], [9.0, 1.0]))
    row = np.full((1, 5), 0.5)
    assert clf.predict_proba(row, edges=light)[0, 2] > clf.predict_proba(row, edges=heavy)[0, 2]


def test_training_settings_reach_the_training(blobs):
    X, _, few = blobs
    base = quick(dropout=0.0).fit(X, few)
    for change in ({"weight_decay": 0.5}, {"learning_rate": 0.001}, {"activation": "tanh"}, {"activation": "elu"}):
        assert not np.allclose(quick(dropout=0.0, **change).fit(X, few).label_distributions_, base.label_distributions_)
    held = {"validation": [2, 32, 62]}
    patient = quick(patience=7, max_epochs=5000, learning_rate=0.3).fit(X, few, **held)
    assert patient.n_iter_ == patient.best_epoch_ + 7
    still = quick(learning_rate_decay=1e-9, fixed_epochs=102).fit(X, few).history_["cross_entropy"]
    moving = quick(learning_rate_decay=1.0, fixed_epochs=102).fit(X, few).history_["cross_entropy"]
    assert still[:100] == moving[:100]
    assert still[102] != moving[102]


def test_labels_of_validation_rows_never_reach_the_weights(blobs):
    """With early stopping out of the way, other labels on the validation rows change no bit of the training loss."""
    X, _, few = blobs
    rows = [2, 32, 62]
    turned = few.copy()
    turned[rows] = few[rows][::-1]
    settings = {"max_epochs": 40, "patience": 1000}
    first, second = (quick(**settings).fit(X, labels, validation=rows) for labels in (few, turned))
    assert first.history_["loss"] == second.history_["loss"]
    assert first.history_["validation_loss"] != second.history_["validation_loss"]


def test_closeness_measures_smoothness_in_the_untrained_networks_own_unit(blobs):
    X, _, few = blobs
    graph = CandidateGraph.knn(X, 5)
    generator = torch.Generator().manual_seed(np.random.RandomState(0).randint(2**31 - 1))
    layer = GLCN(5, 30, 3, similarity="closeness", generator=generator).graph_learning
    for scale in (1.0, 0.01):
        learned = layer(torch.from_numpy((scale * X).astype(np.float32)), graph)
        between = learned.square[~graph.is_loop]
        expected = (learned.values * learned.square).sum() / 90 / between.mean()
        found = quick(fixed_epochs=1, dropout=0.0).fit(scale * X, few).history_["smoothness"][0]
        assert found == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize(("variant", "learns_from_labels"), [("paper", True), ("closeness", True), ("released", False)])
def test_which_loss_trains_the_graph(blobs, variant, learns_from_labels):
    """Without a graph loss, P moves only where labels reach it; the released code keeps them away."""
    X, _, few = blobs
    settings = {"variant": variant, "graph_weight": 0.0, "weight_decay": 0.0, "dropout": 0.0}
    short, longer = (quick(**settings, fixed_epochs=n).fit(X, few).model_ for n in (1, 30))
    moved = not torch.equal(short.graph_learning.projection, longer.graph_learning.projection)
    assert moved == learns_from_labels


def test_verbose_draws_a_bar_beside_the_callers_callback(blobs, monkeypatch):
    X, _, few = blobs
    bar, heard = mock.MagicMock(), []
    titled = mock.MagicMock(return_value=bar)
    monkeypatch.setattr("glcn.estimator.network.ProgressBar", titled)
    quick(verbose=True, fixed_epochs=3).fit(X, few, callback=heard.append)
    assert bar.__enter__.return_value.call_count == len(heard) == 4
    titled.assert_called_once_with(title="training")
