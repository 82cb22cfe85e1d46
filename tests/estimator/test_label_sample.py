"""Labels that are no sample of the rows are told from those that are."""

import numpy as np
import pytest

from glcn import GLCNClassifier
from glcn.estimator.label_sample import is_a_sample
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


@pytest.mark.parametrize("apart", [2.0, 0.5], ids=["classes apart", "classes that are hard to tell"])
def test_rows_drawn_alike_are_a_sample_however_uneven_the_classes(apart):
    X, y = groups(900, apart=apart)
    keep = drawn(y, [1.0, 0.5, 0.1])  # the classes themselves are uneven
    X, y = X[keep], y[keep]
    graph = CandidateGraph.knn(X, 10)
    for seed in range(10):
        train = drawn(y, [0.2] * 3, seed)
        assert is_a_sample(graph, known(y, train), LabelledRows(train, NOBODY), validation_named=False)


def test_a_class_that_was_labelled_more_readily_is_seen_without_other_labels():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    for seed in range(5):
        train = drawn(y, [0.5, 0.08, 0.08], seed)
        assert not is_a_sample(graph, known(y, train), LabelledRows(train, NOBODY), validation_named=False)


def test_named_validation_rows_are_counted():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    train = drawn(y, [0.3, 0.04, 0.04])
    rest = np.setdiff1d(np.arange(len(y)), train)
    fair = np.random.default_rng(1).choice(np.arange(len(y)), 200, replace=False)
    fair = np.setdiff1d(fair, train)
    codes = known(y, train, fair)
    assert not is_a_sample(graph, codes, LabelledRows(train, fair), validation_named=True)
    alike = rest[drawn(y[rest], [0.3, 0.04, 0.04], 2)]
    assert is_a_sample(graph, known(y, train, alike), LabelledRows(train, alike), validation_named=True)
    # held out of the same labels, they tell nothing: the rows without a label do
    held, fitted = train[::4], np.setdiff1d(train, train[::4])
    assert not is_a_sample(graph, known(y, train), LabelledRows(fitted, held), validation_named=False)


def test_as_many_labels_of_each_class_few_labels_and_no_other_rows_tell_nothing():
    X, y = groups()
    graph = CandidateGraph.knn(X, 10)
    even = np.sort(np.concatenate([np.flatnonzero(y == k)[:20] for k in range(3)]))
    assert is_a_sample(graph, known(y, even), LabelledRows(even, NOBODY), validation_named=False)
    few = np.concatenate([np.flatnonzero(y == 0)[:25], np.flatnonzero(y == 1)[:2], np.flatnonzero(y == 2)[:2]])
    assert is_a_sample(graph, known(y, few), LabelledRows(few, NOBODY), validation_named=False)
    every = np.arange(len(y))
    assert is_a_sample(graph, y, LabelledRows(every, NOBODY), validation_named=False)


def test_a_fit_weighs_the_classes_evenly_then_and_is_the_better_for_it():
    X, y = groups(apart=1.5)
    train = drawn(y, [0.5, 0.04, 0.04])
    codes = known(y, train)
    found = {
        weight: GLCNClassifier(class_weight=weight, max_epochs=60, fixed_epochs=60, random_state=0).fit(X, codes)
        for weight in ("auto", None)
    }
    assert {weight: clf.settings_["class_weight"] for weight, clf in found.items()} == {"auto": "balanced", None: None}
    assert not any(clf.settings_["fair_labels"] for clf in found.values())
    others = np.setdiff1d(np.arange(len(y)), train)
    right = {weight: (clf.transduction_ == y)[others].mean() for weight, clf in found.items()}
    assert right["auto"] > right[None] + 0.05
    sample = drawn(y, [0.2] * 3)
    fair = GLCNClassifier(max_epochs=5, fixed_epochs=5, random_state=0).fit(X, known(y, sample))
    assert fair.settings_["fair_labels"]
    assert fair.settings_["class_weight"] is None
    paper = GLCNClassifier(variant="closeness", max_epochs=5, fixed_epochs=5, random_state=0).fit(X, codes)
    assert paper.settings_["class_weight"] is None


def test_the_labels_of_the_released_split_pass_for_a_sample_by_its_validation_rows():
    from glcn.datasets import load

    data = load("cora", split="released")
    graph = CandidateGraph.from_scipy(data.graph)
    codes = known(data.y.astype(np.int64), data.train, data.validation)
    assert is_a_sample(graph, codes, LabelledRows(data.train, data.validation), validation_named=True)
