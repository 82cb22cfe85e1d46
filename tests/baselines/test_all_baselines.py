"""What all methods promise alike."""

import pickle
from inspect import signature

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
from sklearn.utils.estimator_checks import parametrize_with_checks

from glcn import GLCNClassifier, baselines
from glcn.baselines import LabelPropagation, LogisticClassifier, ManifoldRegularization
from glcn.estimator.base import GraphClassifier
from glcn.graph import CandidateGraph

CHEAP = {
    "n_neighbors": 5,
    "max_landmarks": 40,
    "dimensions": 8,
    "walks_per_row": 15,
    "walk_length": 10,
    "window": 3,
    "hidden_units": 16,
    "dropout": 0.2,
    "heads": 2,
    "learning_rate": 0.05,
    "max_epochs": 20,
    "fixed_epochs": 20,
    "random_state": 0,
}
METHODS = [getattr(baselines, name) for name in baselines.__all__]
WITH_GRAPH = [Method for Method in METHODS if issubclass(Method, GraphClassifier)]
TRAINED = [Method for Method in METHODS if "fixed_epochs" in signature(Method).parameters]
SEEDED = [Method for Method in METHODS if "random_state" in signature(Method).parameters]

every = pytest.mark.parametrize("Method", METHODS)
with_graph = pytest.mark.parametrize("Method", WITH_GRAPH)


def quick(Method, **settings):
    known = signature(Method).parameters
    return Method(**({name: value for name, value in CHEAP.items() if name in known} | settings))


def looks_at_edges(Method):
    return Method in WITH_GRAPH and Method is not ManifoldRegularization


def assert_distributions(found, rows, classes):
    assert found.shape == (rows, classes)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_all_methods_are_here():
    assert len(METHODS) == 7
    assert len(TRAINED) == 3
    assert len(WITH_GRAPH) == 5


@every
def test_the_face(blobs, Method):
    X, y, few = blobs
    clf = quick(Method)
    assert clf.fit(X, few, graph=CandidateGraph.knn(X, 5), validation=[2, 32, 62]) is clf
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.n_features_in_ == 5
    assert clf.validation_rows_.tolist() == [2, 32, 62]
    assert_distributions(clf.label_distributions_, 90, 3)
    np.testing.assert_array_equal(clf.transduction_, clf.label_distributions_.argmax(axis=1))
    assert (clf.transduction_ == y).mean() > 0.8
    new = X + 0.01
    assert_distributions(clf.predict_proba(new), 90, 3)
    np.testing.assert_array_equal(clf.predict(new), clf.predict_proba(new).argmax(axis=1))
    assert clf.score(new, y) == (clf.predict(new) == y).mean() > 0.8


@every
def test_fit_and_predict_take_what_those_of_glcn_take(Method):
    for name in ("fit", "predict", "predict_proba", "score"):
        ours, theirs = (signature(getattr(kind, name)).parameters for kind in (Method, GLCNClassifier))
        assert [*ours] == [parameter for parameter in theirs if parameter in ours]
        assert set(theirs) - set(ours) <= {"prior", "callback", "checkpoint", "checkpoint_every"}
    assert ("callback" in signature(Method.fit).parameters) == (Method in TRAINED)


@every
def test_text_labels_and_none(blobs, Method):
    X, _, few = blobs
    names = np.array(["ant", "bee", "cat"], dtype=object)
    text = names[few]
    text[few < 0] = None
    numbers, words = quick(Method).fit(X, few), quick(Method).fit(X, text)
    assert words.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(words.transduction_, names[numbers.transduction_])
    np.testing.assert_array_equal(words.predict(X), names[numbers.predict(X)])
    np.testing.assert_array_equal(words.label_distributions_, numbers.label_distributions_)


@every
def test_two_classes(blobs, Method):
    X, y, few = blobs
    clf = quick(Method).fit(X[:60], few[:60])
    assert_distributions(clf.label_distributions_, 60, 2)
    assert (clf.predict(X[:60]) == y[:60]).mean() > 0.8


@every
def test_data_frames(blobs, Method):
    X, _, few = blobs
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = quick(Method).fit(frame, pd.Series(few))
    assert named.feature_names_in_.tolist() == list("abcde")
    plain = quick(Method).fit(X, few)  # a data frame lies in memory by columns, so sums may round in another way
    np.testing.assert_allclose(named.label_distributions_, plain.label_distributions_, atol=1e-6)


@every
def test_sparse_rows_agree_with_dense_ones(Method, random):
    X = random.random((60, 40)) * (random.random((60, 40)) < 0.1)
    y = np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
    still = {"dropout": 0.0} if Method in TRAINED else {}
    graph = CandidateGraph.knn(X, 5)  # searches in sparse and in dense rows may break ties in other ways
    edges = sparse.csr_array(random.random((60, 60)) < 0.2)
    dense, compact = (quick(Method, **still).fit(rows, y, graph=graph) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.label_distributions_, compact.label_distributions_, atol=1e-4)
    for rows in (X, sparse.csr_array(X)):
        found = [clf.predict_proba(rows, edges=edges) for clf in (dense, compact)]
        np.testing.assert_allclose(*found, atol=1e-4)


@every
def test_a_batch_is_its_rows(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    new = X[::9] + 0.3
    edges = sparse.random_array((10, 90), density=0.05, rng=np.random.default_rng(3)).tocsr()
    for given in (None, edges):
        whole = clf.predict_proba(new, edges=given)
        one_by_one = [
            clf.predict_proba(new[i : i + 1], edges=None if given is None else given[i : i + 1]) for i in range(10)
        ]
        np.testing.assert_allclose(whole, np.concatenate(one_by_one), atol=1e-5)


@every
def test_prediction_leaves_the_fit_alone(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    before, labels = clf.predict_proba(X), clf.label_distributions_.copy()
    clf.predict(X[:5] + 1)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    np.testing.assert_array_equal(clf.label_distributions_, labels)


@every
def test_the_caller_may_name_the_edges(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    between = np.full((1, 5), 0.5)
    by_label = []
    for label in range(3):
        pairs = np.stack([np.zeros(8, int), 30 * label + np.arange(8)])
        matrix = sparse.csr_array((np.ones(8), pairs), shape=(1, 90))
        found = clf.predict_proba(between, edges=pairs)
        np.testing.assert_array_equal(clf.predict_proba(between, edges=matrix), found)
        by_label.append(found[0].argmax())
    assert (by_label == [0, 1, 2]) == looks_at_edges(Method)
    assert_distributions(clf.predict_proba(between, edges=np.empty((2, 0), int)), 1, 3)


@pytest.mark.parametrize("Method", [Method for Method in WITH_GRAPH if looks_at_edges(Method)])
def test_bad_edges(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    for edges, message in (
        (np.array([[0], [90]]), "training rows 90 to 90, but there are 90"),
        (sparse.csr_array((1, 7)), r"shape \(1, 90\)"),
        (sparse.csr_array(-np.eye(1, 90)), "finite weights of zero or more"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.predict(X[:1], edges=edges)


@every
def test_labels_of_validation_rows_are_never_fitted(blobs, Method):
    """They decide when to stop, where there is something to stop, and nothing else."""
    X, _, few = blobs
    rows = [2, 32, 62]
    turned, fitted_turned = few.copy(), few.copy()
    turned[rows] = few[rows][::-1]
    fitted_turned[[1, 31, 61]] = few[[61, 1, 31]]
    unstopped = {"patience": 1000} if Method in TRAINED else {}

    def course(labels, validation=rows):
        clf = quick(Method, **unstopped).fit(X, labels, validation=validation)
        return clf.history_["loss"] if Method in TRAINED else clf.label_distributions_.tolist()

    assert course(turned) == course(few)
    assert course(fitted_turned) != course(few)
    without = np.where(np.isin(np.arange(90), rows), -1, few)
    np.testing.assert_allclose(course(few), course(without, validation=None), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("Method", TRAINED)
def test_labels_of_validation_rows_decide_when_to_stop(blobs, Method):
    X, _, few = blobs
    rows = [2, 32, 62]
    turned = few.copy()
    turned[rows] = few[rows][::-1]
    right, wrong = (quick(Method, max_epochs=100).fit(X, labels, validation=rows) for labels in (few, turned))
    assert right.best_epoch_ > wrong.best_epoch_


@every
def test_clone_and_parameters(Method):
    clf = quick(Method)
    parameters = clf.get_params()
    assert clone(clf).get_params() == parameters
    assert set(parameters) == set(signature(Method).parameters)
    for name, value in parameters.items():
        assert clf.set_params(**{name: value}) is clf
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        clf.set_params(colour="red")
    with pytest.raises(NotFittedError):
        clf.predict(np.zeros((2, 5)))


@every
def test_pipeline_and_grid_search(blobs, Method):
    X, y, _ = blobs
    name, values = ("n_neighbors", [3, 5]) if Method in WITH_GRAPH else ("C", [0.1, 1.0])
    if Method is baselines.PerceptronClassifier:
        name, values = "hidden_units", [4, 8]
    grid = {f"{Method.__name__.lower()}__{name}": values}
    assert GridSearchCV(make_pipeline(StandardScaler(), quick(Method)), grid, cv=2).fit(X, y).best_score_ > 0.9


@every
def test_same_seed_same_bits(blobs, Method):
    X, _, few = blobs
    first = quick(Method).fit(X, few)
    torch.rand(7), np.random.rand(7)  # whatever others draw in between
    second = quick(Method).fit(X, few)
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    if Method in SEEDED:
        other = quick(Method, random_state=1).fit(X, few)
        assert not np.array_equal(first.label_distributions_, other.label_distributions_)


@every
def test_a_random_state_is_drawn_from_and_the_global_ones_are_not(blobs, Method):
    X, _, few = blobs
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    if Method in SEEDED:
        state = np.random.RandomState(0)
        first, second = (quick(Method, random_state=state).fit(X, few).label_distributions_ for _ in range(2))
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(first, quick(Method).fit(X, few).label_distributions_)
    else:
        quick(Method).fit(X, few)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])


@every
def test_a_second_fit_forgets_the_first(blobs, Method):
    X, _, few = blobs
    fresh = quick(Method).fit(X, few)
    again = quick(Method).fit(X[:60, :3], few[:60]).fit(X, few)
    np.testing.assert_array_equal(fresh.label_distributions_, again.label_distributions_)
    np.testing.assert_array_equal(fresh.predict_proba(X), again.predict_proba(X))


@every
def test_pickle(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    restored = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(restored.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(restored.transduction_, clf.transduction_)


@with_graph
def test_without_a_graph_the_nearest_neighbours_are_joined(blobs, Method):
    X, _, few = blobs
    found, expected = quick(Method).fit(X, few), quick(Method).fit(X, few, graph=CandidateGraph.knn(X, 5))
    np.testing.assert_array_equal(found.label_distributions_, expected.label_distributions_)
    other = quick(Method, n_neighbors=12).fit(X, few)
    assert not np.array_equal(found.label_distributions_, other.label_distributions_)
    cosine = quick(Method, metric="cosine").fit(X, few)
    assert not np.array_equal(found.label_distributions_, cosine.label_distributions_)


@with_graph
def test_given_graphs_of_every_kind(blobs, Method):
    X, _, few = blobs
    A = CandidateGraph.knn(X, 4).to_scipy()
    A.setdiag(0)
    A.eliminate_zeros()
    expected = quick(Method).fit(X, few, graph=A).label_distributions_
    for graph in (np.stack(A.nonzero()), nx.from_scipy_sparse_array(A), CandidateGraph.from_scipy(A), A.toarray()):
        np.testing.assert_array_equal(quick(Method).fit(X, few, graph=graph).label_distributions_, expected)


@with_graph
def test_complete_graph(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few, graph="complete")
    assert_distributions(clf.label_distributions_, 90, 3)
    assert_distributions(clf.predict_proba(X[:3]), 3, 3)
    if looks_at_edges(Method):  # a new row, too, is joined with all
        all_known = np.stack([np.zeros(90, int), np.arange(90)])
        np.testing.assert_allclose(clf.predict_proba(X[:1]), clf.predict_proba(X[:1], edges=all_known), atol=1e-6)


@every
def test_parts_without_labels_isolated_rows_and_no_edge_at_all(blobs, Method):
    X, _, few = blobs
    few = few.copy()
    few[60:] = -1
    A = CandidateGraph.knn(X, 3).to_scipy().tolil()
    A[60:, :60] = A[:60, 60:] = 0
    A[89, :] = A[:, 89] = 0
    for graph in (sparse.csr_array(A), sparse.csr_array((90, 90))):
        clf = quick(Method).fit(X, few, graph=graph)
        assert_distributions(clf.label_distributions_, 90, 2)
        assert_distributions(clf.predict_proba(X), 90, 2)


@every
def test_all_rows_labelled_and_one_label_a_class(blobs, Method):
    X, y, _ = blobs
    assert (quick(Method).fit(X, y).transduction_ == y).mean() > 0.9
    fewest = np.full(90, -1)
    fewest[[0, 30, 60]] = [0, 1, 2]
    assert_distributions(quick(Method).fit(X, fewest).label_distributions_, 90, 3)


@every
def test_twin_rows_and_constant_columns(blobs, Method):
    X, y, few = blobs
    X = np.concatenate([X, X])
    X[:, 4] = 1
    clf = quick(Method).fit(X, np.concatenate([few, few]))
    assert (clf.transduction_ == np.concatenate([y, y])).mean() > 0.6
    assert_distributions(quick(Method).fit(np.ones((20, 3)), np.arange(20) % 2).label_distributions_, 20, 2)


@every
@pytest.mark.parametrize(("value", "message"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_bad_features(blobs, Method, value, message):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    X = X.copy()
    X[80, 2] = value
    for call in (lambda: quick(Method).fit(X, few), lambda: clf.predict(X)):
        with pytest.raises(ValueError, match=message):
            call()


@every
def test_bad_labels(blobs, Method):
    X, _, few = blobs
    for y, message in (
        (np.full(90, -1), "y holds no label"),
        (np.where(few == 0, 0, -1), r"one class only \(0\)"),
        (few[:50], "inconsistent numbers of samples"),
        (None, f"This {Method.__name__} estimator requires y to be passed"),
    ):
        with pytest.raises(ValueError, match=message):
            quick(Method).fit(X, y)
    for validation, message in (
        ([5], "1 rows without a label"),
        ([0, 1, 2], "among the validation rows only"),
        ([90], "but X has 90 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            quick(Method).fit(X, few, validation=validation)


@every
def test_prediction_checks_the_number_of_columns(blobs, Method):
    X, _, few = blobs
    with pytest.raises(ValueError, match="X has 4 features, but"):
        quick(Method).fit(X, few).predict(X[:, :4])


@with_graph
def test_bad_graphs(blobs, Method):
    X, _, few = blobs
    with pytest.raises(ValueError, match="graph has 4 nodes but X has 90 rows"):
        quick(Method).fit(X, few, graph=sparse.eye_array(4))
    with pytest.raises(ValueError, match=r"n_neighbors must be below the number of rows \(90\), got 90"):
        quick(Method, n_neighbors=90).fit(X, few)
    with pytest.raises(ValueError, match="metric"):
        quick(Method, metric="cosin").fit(X, few)


BAD_SETTINGS = {
    "n_neighbors": [0, 2.5, True],
    "width": [0, -1.0, np.nan, np.inf],
    "ambient_weight": [0, -0.1],
    "intrinsic_weight": [-0.1, np.nan],
    "max_landmarks": [1, 10.0],
    "kernel": ["cosine"],
    "C": [0, -1, np.inf, "1"],
    "dimensions": [0],
    "walks_per_row": [0],
    "walk_length": [1],
    "window": [0],
    "heads": [0, 1.5],
    "output_heads": [0],
    "hidden_units": [0],
    "n_layers": [0],
    "dropout": [-0.1, 1.0],
    "weight_decay": [-1e-3],
    "learning_rate": [0, -1],
    "max_epochs": [0],
    "patience": [0],
    "fixed_epochs": [0],
    "validation_fraction": [-0.1, 1.0],
    "device": ["gpu"],
}
UNCHECKED = {"metric", "random_state", "verbose", "memory", "class_mass", "normalized"}


@every
def test_bad_settings(blobs, Method):
    X, _, few = blobs
    for name in set(signature(Method).parameters) - UNCHECKED:
        for value in BAD_SETTINGS[name]:
            with pytest.raises(ValueError, match="can not be used here" if name == "device" else f"{name} must be"):
                quick(Method, **{name: value}).fit(X, few)


@every
def test_a_fit_that_fails_leaves_the_earlier_one(blobs, Method):
    X, _, few = blobs
    clf = quick(Method).fit(X, few)
    before, labels = clf.predict_proba(X), clf.transduction_.copy()
    other = X[::-1].copy()
    with pytest.raises(ValueError, match="y holds no label"):
        clf.fit(other, np.full(90, -1))
    with pytest.raises(ValueError, match="rows without a label"):
        clf.fit(other, few, validation=[5])
    if Method in WITH_GRAPH:
        with pytest.raises(ValueError, match="graph has 4 nodes"):
            clf.fit(other, few, graph=sparse.eye_array(4))
    if Method in TRAINED:
        with pytest.raises(FloatingPointError, match="training diverged"):
            clone(clf).set_params(learning_rate=1e30).fit(other, few)
        with pytest.raises(FloatingPointError, match="training diverged"):
            clf.set_params(learning_rate=1e30).fit(other, few)
    for name in ("width", "kernel", "C", "heads"):
        if name in signature(Method).parameters:
            with pytest.raises(ValueError, match="must be"):
                clf.set_params(**{name: 0}).fit(other, few)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    np.testing.assert_array_equal(clf.transduction_, labels)


@every
def test_callers_arrays_stay_as_they_are_and_are_not_shared(blobs, Method):
    X, _, few = blobs
    settings = {"width": 1.0} if "width" in signature(Method).parameters else {}
    given, labels, graph = X.copy(), few.copy(), CandidateGraph.knn(X, 5).to_scipy()
    entries = graph.data.copy()
    clf = quick(Method, **settings).fit(given, labels, graph=graph)
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(labels, few)
    np.testing.assert_array_equal(graph.data, entries)
    before = clf.predict_proba(X)
    given[:] = 0
    graph.data[:] = 9
    np.testing.assert_array_equal(clf.predict_proba(X), before)


TEN_ROWS = "it has ten rows, and ten neighbours other than the row itself are asked for: the error says so"
MINUS_ONE = (
    "one of its targets holds only -1 and 1, and -1 means unlabelled here: the error that says so is on purpose "
    "(scikit-learn's own semi-supervised estimators are exempt by name, and with them our LabelPropagation)"
)


def expected_failures(estimator):
    failures = {}
    if not isinstance(estimator, LabelPropagation):
        failures["check_classifiers_classes"] = MINUS_ONE
    if isinstance(estimator, GraphClassifier):
        failures |= {"check_estimators_nan_inf": TEN_ROWS, "check_fit2d_1feature": TEN_ROWS}
    return failures


@parametrize_with_checks(
    [LabelPropagation(), ManifoldRegularization(max_landmarks=60, random_state=0), LogisticClassifier()],
    expected_failed_checks=expected_failures,
)
def test_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)
