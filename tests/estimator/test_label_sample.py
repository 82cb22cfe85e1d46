"""Labels that are no sample of the rows are told from those that are."""

import numpy as np
import pytest

from glcn import GLCNClassifier
from glcn.estimator.label_sample import shares_beyond_labels
from glcn.estimator.validation import LabelledRows
from glcn.graph import CandidateGraph

NOBODY = np.empty(0, np.int64)


def groups(n=600, classes=3, apart=2.0, seed=0):
    """Rows of classes that overlap, in two dimensions."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    angle = 2 * np.pi * y / classes
    X = apart * np.stack([np.cos(angle), np.sin(angle)], axis=1) + random.normal(size=(n, 2))
    return X, y.astype(np.int64)


def drawn(y, chances, seed=0):
    """Return rows that were labelled, those of class k with the chance ``chances[k]``."""
    random = np.random.default_rng(seed)
    return np.flatnonzero(random.random(len(y)) < np.asarray(chances)[y])


def known(y, *rows):
    codes = np.full(len(y), -1)
    codes[np.concatenate(rows)] = y[np.concatenate(rows)]
    return codes


def shares(graph, y, train, validation=NOBODY, *, named=False):
    rows = LabelledRows(np.sort(train), np.sort(validation))
    return shares_beyond_labels(graph, known(y, train, validation), rows, validation_named=named)


def of_rows(y):
    return np.bincount(y) / len(y)


@pytest.mark.parametrize("apart", [2.0, 0.5], ids=["classes apart", "classes that are hard to tell"])
def test_rows_drawn_alike_are_a_sample_however_uneven_the_classes(apart):
    X, y = groups(900, apart=apart)
    keep = drawn(y, [1.0, 0.5, 0.1])  # the classes themselves are uneven
    X, y = X[keep], y[keep]
    graph = CandidateGraph.knn(X, 10)
    for seed in range(10):
        assert shares(graph, y, drawn(y, [0.2] * 3, seed)) is None


def test_so_are_those_of_many_classes_most_of_them_rare():
    random = np.random.default_rng(0)
    chances = 1 / np.arange(1, 61) ** 1.2
    y = np.sort(random.choice(60, size=2000, p=chances / chances.sum()))
    X = np.column_stack([np.cos(y), np.sin(y)]) + 0.3 * random.normal(size=(2000, 2))
    graph = CandidateGraph.knn(X, 10)
    drawn_alike = [random.choice(2000, size=80, replace=False) for _ in range(60)]
    assert all(shares(graph, y, train) is None for train in drawn_alike)


def test_a_class_that_was_labelled_more_readily_is_seen_without_other_labels():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    for seed in range(5):
        found = shares(graph, y, drawn(y, [0.5, 0.08, 0.08], seed))
        np.testing.assert_allclose(found, of_rows(y), atol=0.15)
        assert found.sum() == pytest.approx(1)


def test_also_a_rare_one():
    X, y = groups(4000, classes=2, apart=1.0)
    keep = drawn(y, [1.0, 0.08])
    X, y = X[keep], y[keep]
    graph = CandidateGraph.knn(X, 10)
    train = drawn(y, [0.05, 0.6])
    assert np.bincount(y[train])[1] > 5 * of_rows(y)[1] * len(train) / 1.5
    np.testing.assert_allclose(shares(graph, y, train), of_rows(y), atol=0.1)


def test_named_validation_rows_are_counted():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    train = drawn(y, [0.3, 0.04, 0.04])
    rest = np.setdiff1d(np.arange(len(y)), train)
    fair = np.random.default_rng(1).choice(rest, 200, replace=False)
    counted = np.bincount(y[fair]) + 1
    np.testing.assert_allclose(shares(graph, y, train, fair, named=True), counted / counted.sum())


def test_validation_rows_that_were_labelled_as_readily_do_not_hide_it():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    train = drawn(y, [0.3, 0.04, 0.04])
    rest = np.setdiff1d(np.arange(len(y)), train)
    alike = rest[drawn(y[rest], [0.3, 0.04, 0.04], 2)]
    for named in (True, False):
        np.testing.assert_allclose(shares(graph, y, train, alike, named=named), of_rows(y), atol=0.15)
    # nor do few of them, held out of the same labels
    assert shares(graph, y, np.setdiff1d(train, train[::4]), train[::4]) is not None


def test_a_sample_with_validation_rows_of_a_sample_is_one():
    X, y = groups(900)
    keep = drawn(y, [1.0, 0.5, 0.1])
    X, y = X[keep], y[keep]
    graph = CandidateGraph.knn(X, 10)
    for seed in range(10):
        train, validation = np.split(np.random.default_rng(seed).permutation(len(y))[:200], [80])
        assert shares(graph, y, train, validation, named=True) is None


def test_as_many_validation_rows_of_each_class_tell_nothing_of_fair_labels():
    X, y = groups(1500)
    keep = drawn(y, [1.0, 0.5, 0.2])
    X, y = X[keep], y[keep]
    graph = CandidateGraph.knn(X, 10)
    train = drawn(y, [0.2] * 3)
    rest = np.setdiff1d(np.arange(len(y)), train)
    even = np.concatenate([rest[y[rest] == k][:30] for k in range(3)])
    assert shares(graph, y, train, even, named=True) is None
    readily = drawn(y, [0.05, 0.05, 0.6])
    rest = np.setdiff1d(np.arange(len(y)), readily)
    even = np.concatenate([rest[y[rest] == k][:30] for k in range(3)])
    assert shares(graph, y, readily, even, named=True) is not None


def test_as_many_labels_of_each_class_few_labels_and_no_other_rows_tell_nothing():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    assert shares(graph, y, np.concatenate([np.flatnonzero(y == k)[:20] for k in range(3)])) is None
    few = [np.flatnonzero(y == 0)[:25], np.flatnonzero(y == 1)[:2], np.flatnonzero(y == 2)[:2]]
    assert shares(graph, y, np.concatenate(few)) is None
    assert shares(graph, y, np.arange(len(y))) is None


def test_a_graph_without_edges_tells_nothing():
    _, y = groups()
    alone = CandidateGraph.from_edge_index(np.empty((2, 0), np.int64), len(y))
    assert shares(alone, y, drawn(y, [0.5, 0.08, 0.08])) is None


def fitted(weight, X, codes, **settings):
    return GLCNClassifier(class_weight=weight, max_epochs=60, fixed_epochs=60, random_state=0, **settings).fit(X, codes)


@pytest.mark.parametrize("chances", [[0.5, 0.04, 0.04], [0.04, 0.5, 0.5]], ids=["one class", "two classes"])
def test_classes_count_by_their_share_of_the_rows_then_and_a_fit_is_the_better_for_it(chances):
    X, y = groups(apart=1.5)
    train = drawn(y, chances)
    codes = known(y, train)
    found = {weight: fitted(weight, X, codes) for weight in ("auto", None)}
    even, uneven = found["auto"].settings_, found[None].settings_
    assert (uneven["class_shares"], uneven["class_weight"]) == (None, None)
    rows_fitted = np.setdiff1d(train, found["auto"].validation_rows_)
    labels = np.bincount(y[rows_fitted]) / len(rows_fitted)
    weights = [even["class_weight"][label] for label in range(3)]
    np.testing.assert_allclose(weights, np.array(even["class_shares"]) / labels)
    others = np.setdiff1d(np.arange(len(y)), train)
    right = {weight: (clf.transduction_ == y)[others].mean() for weight, clf in found.items()}
    assert right["auto"] > right[None] + 0.05


def test_a_sample_other_variants_and_batches_are_left_alone():
    X, y = groups()
    fair, unfair = known(y, drawn(y, [0.2] * 3)), known(y, drawn(y, [0.5, 0.04, 0.04]))
    quick = {"max_epochs": 5, "fixed_epochs": 5, "random_state": 0}
    fits = [GLCNClassifier(**quick).fit(X, fair), GLCNClassifier(batch_size=50, **quick).fit(X, unfair)]
    for clf in [*fits, GLCNClassifier("closeness", **quick).fit(X, unfair)]:
        assert clf.settings_["class_weight"] is None
        assert clf.settings_.get("class_shares") is None


@pytest.mark.parametrize("names", [np.arange(3), np.array(["a", "b", "c"]), np.array([0.0, 1.0, 2.0])], ids=repr)
def test_a_fit_that_evened_out_is_saved_and_has_checkpoints(tmp_path, names):
    X, y = groups()
    codes = known(y, drawn(y, [0.5, 0.04, 0.04]))
    labels = [None if code < 0 else names[code].item() for code in codes]
    clf = GLCNClassifier(fixed_epochs=20, max_epochs=20, random_state=0)
    clf.fit(X, labels, checkpoint=tmp_path / "state")
    assert set(clf.settings_["class_weight"]) == set(names.tolist())
    clf.save(tmp_path / "model")
    again = GLCNClassifier.load(tmp_path / "model")
    assert again.settings_ == clf.settings_
    assert again.class_weight == "auto"
    np.testing.assert_array_equal(again.predict(X[:20]), clf.predict(X[:20]))


@pytest.mark.parametrize("weight", ["fair", 3, np.ones(3)])
def test_what_is_no_weight_of_classes_is_refused(weight):
    X, y = groups()
    with pytest.raises(ValueError, match='class_weight must be a dict, "balanced" or "auto" or None'):
        GLCNClassifier(class_weight=weight).fit(X, y)


def test_neither_the_labels_nor_the_validation_rows_of_the_released_split_are_a_sample():
    from glcn.datasets import load

    data = load("cora", split="released")
    graph = CandidateGraph.from_scipy(data.graph)
    y = data.y.astype(np.int64)
    found, fitted = shares(graph, y, data.train, data.validation, named=True), of_rows(y[data.train])
    assert np.abs(found - of_rows(y)).sum() < np.abs(fitted - of_rows(y)).sum() / 2
