"""The variant ``plus`` behind the classifier's face."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from glcn import GLCNClassifier
from glcn.estimator.attachment import given_in_batches
from glcn.estimator.building import class_shares
from glcn.estimator.variants import CONSISTENCY_WARM_UP, RowScale, row_scale
from glcn.exceptions import GraphCollapseWarning
from glcn.experiments.perturb import with_random_edges
from glcn.graph import CandidateGraph
from glcn.nn.plus import SMOOTHINGS
from groups import three_groups


def quick(**settings):
    defaults = {"n_neighbors": 5, "fixed_epochs": 60, "max_epochs": 100, "learning_rate": 0.03, "random_state": 0}
    return GLCNClassifier("plus", **(defaults | settings))


@pytest.fixture(scope="module")
def fitted():
    X, y, few = three_groups(labels_each=2)
    return quick().fit(X, few), X, y


def test_learns_from_few_labels(fitted):
    clf, X, y = fitted
    assert (clf.transduction_ == y).mean() > 0.95
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1, rtol=1e-5)
    assert (clf.predict(X + 0.01) == y).mean() > 0.95
    assert clf.hidden_.shape == (90, clf.settings_["hidden_units"])


def test_learned_graph_lives_on_the_candidates_and_its_rows_sum_to_one(fitted):
    clf, X, _ = fitted
    np.testing.assert_allclose(np.asarray(clf.graph_.sum(axis=1)).ravel(), 1, rtol=1e-5)
    assert ((clf.graph_ > 0) != (CandidateGraph.knn(X, 5).to_scipy() > 0)).nnz == 0


@pytest.mark.parametrize("normalization", ["symmetric", "rows"])
def test_a_new_row_that_equals_an_old_one_gets_its_label(blobs, normalization):
    """Joined as an old row without a label is, it gets the same probabilities, too."""
    X, _, few = blobs
    unlabelled = few < 0
    A = CandidateGraph.knn(X, 5).to_scipy()
    A.setdiag(0)
    A.eliminate_zeros()
    clf = quick(smoothing=0.5, added_neighbors=0, normalization=normalization).fit(X, few, graph=A)
    assert clf.model_.normalization == normalization
    found = clf.predict_proba(X[unlabelled], edges=A[unlabelled])
    np.testing.assert_allclose(found, clf.label_distributions_[unlabelled], atol=1e-5)


def test_new_rows_do_not_depend_on_each_other(fitted):
    clf, X, _ = fitted
    together = clf.predict_proba(X[:7] + 0.1)
    alone = np.concatenate([clf.predict_proba(X[[i]] + 0.1) for i in range(7)])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_a_fixed_graph_stays_as_it_was_given_and_nobody_warns(blobs):
    X, _, few = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = quick(learn_graph=False).fit(X, few)
    np.testing.assert_allclose(clf.graph_.data, CandidateGraph.knn(X, 5).uniform().numpy(), rtol=1e-5)


def test_weights_of_the_graph_count(blobs, random):
    X, _, few = blobs
    A = CandidateGraph.knn(X, 4).to_scipy()
    W = A * sparse.csr_array(random.random((90, 90)))
    first, second = (quick().fit(X, few, graph=graph).label_distributions_ for graph in (A, W.maximum(W.T)))
    assert not np.array_equal(first, second)


def test_random_edges_lose_their_weight():
    """Rows of a class share words; a third of the edges join random rows. The graph learns which."""
    random = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = (random.random((300, 60)) < np.where(np.arange(60) // 20 == y[:, None], 0.3, 0.05)).astype(float)
    same = sparse.triu(sparse.csr_array((y[:, None] == y) & (random.random((300, 300)) < 0.03)), k=1)
    true = sparse.csr_array(same + same.T).astype(float)
    noisy = with_random_edges(true, 0.5, random)
    few = np.where(np.arange(300) < 15, y, -1)
    clf = quick(fixed_epochs=100).fit(X, few, graph=noisy)
    rows, columns = noisy.nonzero()
    right = y[rows] == y[columns]
    weight = np.asarray(clf.graph_[rows, columns]).ravel()
    assert weight[right].mean() > 1.3 * weight[~right].mean()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_unit_of_the_features_does_not_matter(blobs, container):
    X, _, few = blobs
    A = CandidateGraph.knn(X, 5).to_scipy()
    first, second = (quick().fit(container(X * unit), few, graph=A) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(first.label_distributions_, second.label_distributions_, atol=1e-3)
    np.testing.assert_allclose(first.predict_proba(X[:5]), second.predict_proba(1024.0 * X[:5]), atol=1e-3)


@pytest.mark.parametrize(
    ("num_labels", "length"), [(1, 0.25), (4, 0.25), (10, 0.625), (40, 2.5), (64, 4.0), (1000, 10.0)]
)
def test_rows_are_the_longer_the_more_labels_there_are_for_each_feature(random, num_labels, length):
    X = random.normal(size=(50, 40)) * 7
    scaled = row_scale("plus", X, num_labels, "euclidean")(X)
    assert np.sqrt((scaled**2).sum(axis=1).mean()) == pytest.approx(length)
    by_direction = row_scale("plus", X, num_labels, "cosine")(X)
    np.testing.assert_allclose(np.linalg.norm(by_direction, axis=1), length)
    assert row_scale("paper", X, num_labels, "cosine") == RowScale()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_length_of_a_row_of_counts_does_not_matter(random, container):
    X = random.poisson(0.3, size=(60, 30)).astype(float)
    few = np.where(np.arange(60) % 6 == 0, np.arange(60) % 4, -1)
    A = CandidateGraph.knn(X, 5).to_scipy()
    longer = X * random.choice([1.0, 2.0, 4.0], size=(60, 1))
    first, second = (quick().fit(container(rows), few, graph=A) for rows in (X, longer))
    np.testing.assert_allclose(first.label_distributions_, second.label_distributions_, atol=1e-5)
    np.testing.assert_allclose(first.predict_proba(X[:5]), second.predict_proba(longer[:5]), atol=1e-5)


def test_validation_rows_weigh_the_views(blobs):
    """Where no label tells, both count alike; else the share is no worse than that."""
    X, y, few = blobs
    assert quick().fit(X, few).model_.shares.tolist() == [0.5, 0.5]
    labels, validation = few.copy(), np.arange(0, len(y), 4)
    validation = validation[few[validation] < 0]
    labels[validation] = y[validation]
    clf = quick().fit(X, labels, validation=validation)
    found, truth = {}, torch.from_numpy(y[validation])
    for share in (0.5, clf.model_.shares[0].item()):
        learned, alone = clf._known.samples[:, validation].softmax(dim=2)
        Z = share * learned + (1 - share) * alone
        found[share] = torch.nn.functional.nll_loss(Z.log(), truth).item()
    assert found[clf.model_.shares[0].item()] <= found[0.5]


def test_few_features_are_all_kept_unless_the_caller_says_otherwise(blobs, random):
    X, _, few = blobs
    wide = np.concatenate([X, random.normal(size=(90, 300))], axis=1)
    short = {"fixed_epochs": 2}
    assert quick(**short).fit(X, few).settings_["feature_dropout"] == 0
    assert quick(**short).fit(wide, few).settings_["feature_dropout"] == 0.25
    assert quick(**short, feature_dropout=0.3).fit(X, few).settings_["feature_dropout"] == 0.3


def test_rows_of_zeros(blobs):
    _, _, few = blobs
    with pytest.warns(GraphCollapseWarning, match="as good as uniform"):
        clf = quick().fit(np.zeros((90, 5)), few)
    assert np.isfinite(clf.label_distributions_).all()


def test_isolated_rows_and_a_graph_without_edges(blobs):
    X, y, few = blobs
    clf = quick(fixed_epochs=200).fit(X, few, graph=sparse.csr_array((90, 90)))
    assert np.isfinite(clf.label_distributions_).all()
    assert (clf.transduction_ == y).mean() > 0.8  # features alone


def test_without_a_graph_known_labels_reach_their_neighbours(blobs):
    X, _, few = blobs
    smooth, rough = (quick(smoothing=smoothing, n_hops=0).fit(X, few) for smoothing in (0.8, 0.0))
    S, n = smooth.graph_, len(X)
    first = rough.label_distributions_.copy()
    train = np.setdiff1d(np.flatnonzero(few >= 0), smooth.validation_rows_)
    first[train] = np.eye(3)[few[train]]
    expected = np.linalg.solve(np.eye(n) - 0.8 * S.toarray(), 0.2 * first)
    np.testing.assert_allclose(smooth.label_distributions_, expected, atol=1e-4)


def test_without_a_given_graph_rows_are_seen_by_themselves_and_the_answer_is_spread(blobs):
    X, y, few = blobs
    nearest = CandidateGraph.knn(X, 5)
    for graph in (None, nearest):  # neighbours tell nothing new
        clf = quick().fit(X, few, graph=graph)
        assert not clf.settings_["given_view"]
        assert clf.settings_["added_neighbors"] == 0
        assert clf.settings_["smoothing"] == 0.4, "no validation rows"
    held = quick(patience=5).fit(X, np.where(np.arange(len(y)) % 2, y, -1), validation=np.arange(1, 90, 4))
    assert held.settings_["smoothing"] in SMOOTHINGS
    given = quick().fit(X, few, graph=nearest.to_scipy())
    assert given.settings_["given_view"]
    assert given.settings_["smoothing"] == 0.0
    with pytest.raises(ValueError, match="given_view must be True or False, got 'both'"):
        quick(given_view="both").fit(X, few)
    with pytest.raises(ValueError, match='below 1, or "validation", got 1'):
        quick(smoothing=1).fit(X, few)


def test_the_best_weights_are_from_after_the_warm_up_of_the_consistency(blobs):
    X, y, few = blobs
    validation = few < 0
    labels = np.where(validation, y, few)
    settings = {"max_epochs": 210, "patience": 1}
    clf = quick(**settings).fit(X, labels, validation=validation)
    assert clf.settings_["min_epochs"] == CONSISTENCY_WARM_UP
    losses = clf.history_["validation_loss"]
    assert clf.best_epoch_ >= CONSISTENCY_WARM_UP > np.argmin(losses)
    assert losses[clf.best_epoch_] == min(losses[CONSISTENCY_WARM_UP:])
    without = quick(consistency_weight=0.0, **settings).fit(X, labels, validation=validation)
    assert without.best_epoch_ == np.argmin(without.history_["validation_loss"]) < CONSISTENCY_WARM_UP
    short = quick(max_epochs=CONSISTENCY_WARM_UP, patience=1).fit(X, labels, validation=validation)
    assert short.best_epoch_ == np.argmin(short.history_["validation_loss"]) < CONSISTENCY_WARM_UP
    given = quick(**settings).fit(X, labels, graph=CandidateGraph.knn(X, 5).to_scipy(), validation=validation)
    assert given.best_epoch_ == np.argmin(given.history_["validation_loss"]) < CONSISTENCY_WARM_UP


def test_the_first_epochs_that_count_can_be_named(blobs):
    X, y, few = blobs
    validation = few < 0
    clf = GLCNClassifier("closeness", min_epochs=30, max_epochs=35, random_state=0)
    clf.fit(X, np.where(validation, y, few), validation=validation)
    assert 30 <= clf.best_epoch_ <= 35
    clf.set_params(min_epochs=40).fit(X, np.where(validation, y, few), validation=validation)
    assert clf.best_epoch_ == 35, "the last weights, where none may be the best"


def test_no_hops_is_a_perceptron(blobs):
    X, _, few = blobs
    A = CandidateGraph.knn(X, 5).to_scipy()
    with_graph, without = (
        quick(n_hops=0, learn_graph=False, smoothing=0.0).fit(X, few, graph=g) for g in (A, sparse.eye_array(90))
    )
    np.testing.assert_array_equal(with_graph.label_distributions_, without.label_distributions_)


def test_class_shares_are_read_from_labels_that_are_a_sample():
    assert class_shares(torch.tensor([0] * 20 + [1] * 20 + [2] * 20), 3) is None  # so many of each on purpose
    assert class_shares(torch.tensor([0] * 20 + [1] * 19), 2) is None
    np.testing.assert_allclose(class_shares(torch.tensor([0] * 8 + [1] * 2), 2), [9 / 12, 3 / 12])


def test_history_has_every_term(fitted):
    clf, _, _ = fitted
    assert {"loss", "cross_entropy", "consistency", "link"} <= clf.history_.keys()
    assert clf.history_["link"][-1] < clf.history_["link"][0] or clf.history_["link"][0] < 1.0


def split_graph(y):
    """Join few of the rows, and these with their class."""
    A = sparse.lil_array((len(y), len(y)))
    for label in range(3):
        rows = np.flatnonzero(y == label)[:6]
        A[rows[:-1], rows[1:]] = A[rows[1:], rows[:-1]] = 1
    return A.tocsr()


def test_the_learned_graph_joins_rows_that_a_given_one_leaves_alone(blobs):
    X, y, few = blobs
    A = split_graph(y)
    clf = quick(fixed_epochs=60).fit(X, few, graph=A)
    assert clf.settings_["added_neighbors"] == 10
    assert (np.diff(clf.graph_.indptr) > 10).all()
    assert (clf.transduction_ == y).mean() > 0.9
    alone = quick(added_neighbors=0).fit(X, few, graph=A)
    assert clf.graph_.nnz > alone.graph_.nnz == A.nnz + len(y)


def test_no_more_neighbours_are_added_than_there_are_rows(blobs):
    X = blobs[0][:8]
    clf = quick().fit(X, np.array([0, 1, 0, 1, 0, 1, -1, -1]), graph=sparse.csr_array((8, 8)))
    assert clf.settings_["added_neighbors"] == 7


@pytest.mark.parametrize("options", [{"learn_graph": False}, {"batch_size": 8}, {"graph": "complete"}])
def test_where_no_neighbours_are_added(blobs, options):
    X, y, few = blobs
    graph = options.pop("graph", split_graph(y))
    assert quick(**options).fit(X, few, graph=graph).settings_["added_neighbors"] == 0


def test_new_rows_have_added_neighbours_too(blobs, tmp_path):
    """A row with given edges hears of its nearest rows, as the rows of the fit do; a saved model says the same."""
    X, y, few = blobs
    A = split_graph(y)
    clf = quick().fit(X, few, graph=A)
    new = X[:4] + 0.01
    found = clf.predict_proba(new, edges=A[:4])
    bare = clf._probabilities(new, given_in_batches(A[:4].astype(np.float32)))
    assert not np.array_equal(found, bare)
    clf.save(tmp_path / "model")
    np.testing.assert_array_equal(GLCNClassifier.load(tmp_path / "model").predict_proba(new, edges=A[:4]), found)


def test_a_graph_that_says_nothing_does_little_harm(random):
    """Random edges are outweighed by nearest rows and by features, where the given graph alone would mislead."""
    y = np.arange(400) % 4
    X = (random.normal(size=(4, 30)) * 0.6)[y] + random.normal(size=(400, 30))
    ends = random.integers(400, size=(2, 1200))
    A = sparse.csr_array((np.ones(1200), ends), shape=(400, 400))
    A = A.maximum(A.T)
    order = random.permutation(400)
    labels, held, test = np.full(400, -1), order[60:120], order[120:]
    labels[order[:120]] = y[order[:120]]
    options = [{}, {"added_neighbors": 0, "feature_view": False}]
    fits = [
        GLCNClassifier(max_epochs=150, random_state=0, **each).fit(X, labels, graph=A, validation=held)
        for each in options
    ]
    ours, given_alone = ((clf.transduction_[test] == y[test]).mean() for clf in fits)
    assert ours > given_alone + 0.05
