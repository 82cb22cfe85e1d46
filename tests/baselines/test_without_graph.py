import signal

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from glcn.baselines import LogisticClassifier, PerceptronClassifier
from glcn.exceptions import TrainingInterruptedWarning
from glcn.graph import CandidateGraph


def quick(**settings):
    defaults = {"hidden_units": 8, "fixed_epochs": 30, "max_epochs": 30, "learning_rate": 0.02, "random_state": 0}
    return PerceptronClassifier(**(defaults | settings))


def softmax(logits):
    mass = np.exp(logits - logits.max(axis=1, keepdims=True))
    return mass / mass.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_logistic_regression_minimises_its_loss_on_the_labelled_rows(blobs, C):
    """C Σ_i −log softmax(W x_i + b)_{y_i} + ½‖W‖², by a generic optimiser."""
    X, _, few = blobs
    shown = np.flatnonzero(few >= 0)

    def objective(flat):
        W, b = flat[:15].reshape(5, 3), flat[15:]
        probabilities = softmax(X[shown] @ W + b)
        return -C * np.log(probabilities[range(9), few[shown]]).sum() + 0.5 * (W**2).sum()

    best = minimize(objective, np.zeros(18), method="BFGS", options={"gtol": 1e-6}).x
    clf = LogisticClassifier(C=C).fit(X, few)
    expected = softmax(X @ best[:15].reshape(5, 3) + best[15:])
    np.testing.assert_allclose(clf.label_distributions_, expected, atol=2e-3)
    np.testing.assert_array_equal(clf.predict_proba(X), clf.label_distributions_)


def test_perceptron_is_its_formula(blobs):
    X, _, few = blobs
    clf = quick(n_layers=3).fit(X, few)
    hidden = X
    for number, (weight, layer) in enumerate(zip(clf.model_.weights, clf.model_.layers, strict=True)):
        hidden = np.maximum(hidden, 0) if number else hidden
        hidden = hidden @ weight.detach().numpy() + layer.bias.detach().numpy()
    np.testing.assert_allclose(clf.label_distributions_, softmax(hidden), atol=1e-5)
    np.testing.assert_allclose(clf.predict_proba(X[:4]), softmax(hidden)[:4], atol=1e-5)


def test_perceptron_learns_from_few_labels(blobs):
    X, y, few = blobs
    assert (quick().fit(X, few).transduction_ == y).mean() > 0.9


@pytest.mark.parametrize("clf", [LogisticClassifier(), quick()])
def test_neither_the_graph_nor_rows_without_a_label_have_a_part(blobs, clf):
    X, _, few = blobs
    new = X[:10] + 0.5
    expected = clf.fit(X, few).predict_proba(new)
    other = np.where(few[:, None] < 0, 100 * X[::-1], X)
    np.testing.assert_array_equal(clf.fit(other, few).predict_proba(new), expected)
    np.testing.assert_array_equal(clf.fit(X, few, graph=CandidateGraph.knn(X, 7)).predict_proba(new), expected)
    np.testing.assert_array_equal(clf.fit(X[few >= 0], few[few >= 0]).predict_proba(new), expected)
    np.testing.assert_array_equal(clf.predict_proba(new, edges=np.array([[0], [1]])), expected)


def test_rows_that_are_validated_have_a_part_in_stopping_only(blobs):
    X, _, few = blobs
    rows = [2, 32, 62]
    held = quick(max_epochs=500, patience=5, learning_rate=0.3).fit(X, few, validation=rows)
    assert held.n_iter_ == held.best_epoch_ + 5
    without = few.copy()
    without[rows] = -1
    stopped = quick(fixed_epochs=held.n_iter_, learning_rate=0.3).fit(X, without)
    np.testing.assert_allclose(held.history_["loss"], stopped.history_["loss"], rtol=1e-3)


def test_training_settings_reach_the_training(blobs):
    X, _, few = blobs
    base = quick(dropout=0.0).fit(X, few)
    assert base.n_iter_ == base.best_epoch_ == 30
    for change in (
        {"weight_decay": 0.5},
        {"learning_rate": 0.001},
        {"dropout": 0.3},
        {"hidden_units": 3},
        {"n_layers": 1},
    ):
        other = quick(**({"dropout": 0.0} | change)).fit(X, few)
        assert not np.allclose(other.label_distributions_, base.label_distributions_)


def test_truly_sparse_rows_agree_with_dense_ones(random):
    X = random.random((40, 60)) * (random.random((40, 60)) < 0.1)
    y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    for clf in (LogisticClassifier(), quick(dropout=0.0)):
        dense = clf.fit(X, y).label_distributions_
        np.testing.assert_allclose(clf.fit(sparse.csr_array(X), y).label_distributions_, dense, atol=1e-4)


def test_a_row_beyond_32_bits_is_noticed_even_without_a_label(blobs):
    X, _, few = blobs
    clf = quick().fit(X, few)
    before = clf.predict_proba(X)
    far = X[::-1].copy()
    far[50, 0] = 1e300
    assert few[50] == -1
    with pytest.raises(ValueError, match="beyond the range of 32-bit floats"):
        clf.fit(far, few)
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_ctrl_c_keeps_what_was_trained(blobs):
    X, _, few = blobs

    def interrupt(progress):
        if progress.epoch == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(TrainingInterruptedWarning, match="interrupted at epoch 5; the weights of epoch 5 were kept"):
        clf = quick(fixed_epochs=10**6).fit(X, few, callback=interrupt)
    assert clf.interrupted_
