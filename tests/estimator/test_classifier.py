import threading
import time
from unittest import mock

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from glcn import GLCNClassifier
from glcn.exceptions import GraphCollapseWarning, TrainingInterruptedWarning
from glcn.graph import CandidateGraph
from glcn.kernels import parallel, reference

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")


def quick(**settings):
    defaults = {"n_neighbors": 5, "fixed_epochs": 60, "dropout": 0.2, "learning_rate": 0.02, "random_state": 0}
    return GLCNClassifier(**(defaults | settings))


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    X = random.normal(size=(90, 5)) + 4 * np.eye(3, 5)[y]
    few = np.full(90, -1)
    few[[0, 1, 30, 31, 60, 61]] = [0, 0, 1, 1, 2, 2]
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


def test_prior_pulls_the_graph_towards_it(blobs):
    X, _, few = blobs
    prior = CandidateGraph.knn(X, 5).to_scipy()
    prior = prior / np.asarray(prior.sum(axis=1))[:, None]
    settings = {"graph_weight": 5.0, "sparsity_weight": 0.0}
    free = quick(**settings).fit(X, few, prior=prior)
    held = quick(**settings, prior_weight=1000.0).fit(X, few, prior=prior)
    gap = [abs(clf.graph_ - prior).sum() for clf in (free, held)]
    assert gap[1] < gap[0]
    with pytest.raises(ValueError, match="prior_weight needs a graph"):
        quick(prior_weight=1.0).fit(X, few)


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


def test_same_seed_same_bits_other_seed_other_bits(blobs):
    X, _, few = blobs
    first, second, third = (quick(random_state=seed).fit(X, few).label_distributions_ for seed in (0, 0, 1))
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
        ({"n_neighbors": 0}, "at least 1"),
        ({"dropout": 1.5}, "dropout must lie in"),
        ({"validation_fraction": 1.0}, "validation_fraction must lie in"),
        ({"activation": "none"}, "activation must be one of"),
        ({"n_layers": 0}, "num_layers must be at least 1"),
    ],
)
def test_bad_settings(blobs, change, message):
    X, _, few = blobs
    with pytest.raises(ValueError, match=message):
        quick(**change).fit(X, few)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "NaN"), (np.inf, "infinity"), (1e300, "beyond the range of 32-bit floats")],
)
def test_bad_features(blobs, value, message):
    X, _, few = blobs
    X = X.copy()
    X[3, 2] = value
    with pytest.raises(ValueError, match=message):
        quick().fit(X, few)


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
        "propagate._backward",
        "csr_matmul._multiply",
        "dropout._mask",
    }


def test_collapse_warns_and_is_in_the_report(blobs):
    X, _, few = blobs
    with pytest.warns(GraphCollapseWarning, match="as good as uniform"):
        clf = quick(graph_weight=1e4, fixed_epochs=300).fit(X, few)
    assert clf.graph_report_.collapsed


def test_ctrl_c_in_the_middle_of_a_fit(blobs):
    """A real interrupt signal from another thread ends fit with the best weights so far."""
    import signal

    X, y, few = blobs
    threading.Thread(target=lambda: (time.sleep(1.0), signal.raise_signal(signal.SIGINT))).start()
    with pytest.warns(TrainingInterruptedWarning, match="interrupted at epoch"):
        clf = quick(fixed_epochs=10**7).fit(X, few)
    assert clf.interrupted_
    assert (clf.transduction_ == y).mean() > 0.9


def test_verbose_draws_a_bar_beside_the_callers_callback(blobs, monkeypatch):
    X, _, few = blobs
    bar, heard = mock.MagicMock(), []
    monkeypatch.setattr("glcn.estimator.classifier.ProgressBar", lambda: bar)
    quick(verbose=True, fixed_epochs=3).fit(X, few, callback=heard.append)
    assert bar.__enter__.return_value.call_count == len(heard) == 4
