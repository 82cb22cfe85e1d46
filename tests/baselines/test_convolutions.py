import signal

import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.baselines import GATClassifier, GCNClassifier
from glcn.exceptions import TrainingInterruptedWarning
from glcn.graph import CandidateGraph

LABELS = np.array([0, 1, 2, 0, 1, 2, -1, -1, -1, -1, -1, -1])
BOTH = pytest.mark.parametrize("Method", [GCNClassifier, GATClassifier])


@pytest.fixture(name="X")
def features(random):
    return random.normal(size=(12, 4))


def quick(Method, **settings):
    defaults = {"hidden_units": 5, "fixed_epochs": 10, "max_epochs": 10, "learning_rate": 0.05, "random_state": 0}
    return Method(**(defaults | settings))


def with_loops(W):
    return np.where(np.eye(len(W)) * (W == 0), 1.0, W.astype(float))


def attached(W, edges):
    """Known rows first, which receive nothing from new ones; every new row has a self-loop."""
    n, new = len(W), len(edges)
    return np.block([[with_loops(W), np.zeros((n, new))], [edges, np.eye(new)]])


def softmax(logits):
    mass = np.exp(logits - logits.max(axis=1, keepdims=True))
    return mass / mass.sum(axis=1, keepdims=True)


def dense_gcn(model, X, A):
    """D^-½ A D^-½ σ(D^-½ A D^-½ X W⁰ + b⁰) W¹ + b¹."""
    root = np.sqrt(A.sum(axis=1))
    S = A / root[:, None] / root[None, :]
    for number, (weight, layer) in enumerate(zip(model.weights, model.layers, strict=True)):
        X = np.maximum(X, 0) if number else X
        X = S @ X @ weight.detach().numpy() + layer.convolution.bias.detach().numpy()
    return softmax(X)


def dense_gat(model, X, A):
    """Attention over all pairs, of which those without an edge weigh nothing."""
    for number, (weight, layer) in enumerate(zip(model.weights, model.layers, strict=True)):
        X = np.where(X > 0, X, np.exp(np.minimum(X, 0)) - 1) if number else X
        source, target = (a[0].detach().numpy() for a in (layer.convolution.att_src, layer.convolution.att_dst))
        H = (X @ weight.detach().numpy()).reshape(len(X), *source.shape)  # (n, heads, d)
        score = (H * target).sum(axis=2)[:, None] + (H * source).sum(axis=2)[None]  # (n, n, heads)
        mass = np.exp(np.where(score > 0, score, 0.2 * score)) * (A > 0)[:, :, None]
        out = np.einsum("ijh,jhd->ihd", mass / mass.sum(axis=1, keepdims=True), H)
        last = number == len(model.layers) - 1
        X = (out.mean(axis=1) if last else out.reshape(len(X), -1)) + layer.convolution.bias.detach().numpy()
    return softmax(X)


DENSE = {GCNClassifier: dense_gcn, GATClassifier: dense_gat}


@BOTH
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_rows_of_fit_get_what_the_formula_says(X, weighted_adjacency, Method, layers):
    clf = quick(Method, n_layers=layers).fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency))
    expected = DENSE[Method](clf.model_, X, with_loops(weighted_adjacency))
    np.testing.assert_allclose(clf.label_distributions_, expected, atol=1e-5)


@BOTH
def test_new_rows_get_what_the_formula_says(X, weighted_adjacency, Method, random):
    clf = quick(Method, n_neighbors=3).fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency))
    new = random.normal(size=(4, 4))
    given = random.random((4, 12)) * (random.random((4, 12)) < 0.5)
    given[3] = 0
    nearest = np.zeros((4, 12))
    for i in range(4):
        nearest[i, np.argsort(np.linalg.norm(X - new[i], axis=1))[:3]] = 1
    for edges, weights in ((sparse.csr_array(given), given), (None, nearest)):
        expected = DENSE[Method](clf.model_, np.vstack([X, new]), attached(weighted_adjacency, weights))[12:]
        np.testing.assert_allclose(clf.predict_proba(new, edges=edges), expected, atol=1e-5)


@BOTH
def test_a_new_row_joined_like_an_old_one_is_not_heard_by_the_others(X, weighted_adjacency, Method):
    clf = quick(Method).fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency))
    before = clf.label_distributions_.copy()
    alone = clf.predict_proba(X[:1], edges=np.array([[0], [5]]))
    together = clf.predict_proba(X[[0, 3]], edges=np.array([[0, 1, 1], [5, 5, 6]]))
    np.testing.assert_allclose(together[0], alone[0], atol=1e-6)
    np.testing.assert_array_equal(clf.label_distributions_, before)


@BOTH
def test_prediction_in_batches(X, weighted_adjacency, Method, monkeypatch):
    clf = quick(Method, n_neighbors=3).fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency))
    whole = clf.predict_proba(X)
    monkeypatch.setattr("glcn.estimator.attachment.EDGES_PER_BATCH", 6)
    np.testing.assert_allclose(clf.predict_proba(X), whole, atol=1e-6)


def test_weights_of_the_graph_count_for_gcn_only(X, weighted_adjacency):
    for Method, same in ((GCNClassifier, False), (GATClassifier, True)):
        weighted, plain = (
            quick(Method).fit(X, LABELS, graph=sparse.csr_array(W)).label_distributions_
            for W in (weighted_adjacency, (weighted_adjacency > 0).astype(float))
        )
        assert np.array_equal(weighted, plain) == same


@BOTH
def test_weights_below_the_range_of_floats_are_no_edges(X, weighted_adjacency, Method):
    W = weighted_adjacency.astype(float)
    assert W[11, 4] == 0
    W[11, 4] = W[4, 11] = 1e-60
    tiny, none = (
        quick(Method).fit(X, LABELS, graph=sparse.csr_array(graph)).label_distributions_
        for graph in (W, weighted_adjacency)
    )
    np.testing.assert_allclose(tiny, none, atol=1e-6)


@BOTH
def test_hidden_is_the_first_layer(X, weighted_adjacency, Method):
    clf = quick(Method).fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency))
    assert clf.hidden_.shape == (12, 5 * (8 if Method is GATClassifier else 1))
    assert (clf.hidden_ >= (-1 if Method is GATClassifier else 0)).all()


@BOTH
def test_sparse_and_dense_rows_train_alike(Method, random):
    X = random.random((40, 60)) * (random.random((40, 60)) < 0.1)
    y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    graph = CandidateGraph.knn(X, 4)
    dense, compact = (quick(Method, dropout=0.0).fit(rows, y, graph=graph) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.label_distributions_, compact.label_distributions_, atol=1e-4)
    for rows in (X[:5], sparse.csr_array(X[:5])):
        np.testing.assert_allclose(dense.predict_proba(rows), compact.predict_proba(rows), atol=1e-4)


@BOTH
def test_training_settings_reach_the_training(X, weighted_adjacency, Method):
    graph = sparse.csr_array(weighted_adjacency)
    base = quick(Method, dropout=0.0).fit(X, LABELS, graph=graph)
    assert base.n_iter_ == base.best_epoch_ == 10
    changes = [{"weight_decay": 0.5}, {"learning_rate": 0.001}, {"dropout": 0.3}, {"hidden_units": 3}, {"n_layers": 3}]
    changes += [{"heads": 2}, {"output_heads": 2}] if Method is GATClassifier else []
    for change in changes:
        other = quick(Method, **({"dropout": 0.0} | change)).fit(X, LABELS, graph=graph)
        assert not np.allclose(other.label_distributions_, base.label_distributions_)
    held = quick(Method, max_epochs=2000, patience=7, learning_rate=0.5).fit(
        X, LABELS, graph=graph, validation=[3, 4, 5]
    )
    assert held.n_iter_ == held.best_epoch_ + 7
    assert held.history_["validation_loss"][held.best_epoch_] == min(held.history_["validation_loss"])


@BOTH
def test_learns_from_few_labels(blobs, Method):
    X, y, few = blobs
    clf = quick(Method, n_neighbors=5, fixed_epochs=40).fit(X, few)
    assert (clf.transduction_ == y).mean() > 0.95
    assert (clf.predict(X + 0.01) == y).mean() > 0.95


@BOTH
def test_the_global_generators_are_left_alone(X, weighted_adjacency, Method):
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    quick(Method).fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency))
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])


@BOTH
def test_ctrl_c_keeps_what_was_trained(X, weighted_adjacency, Method):
    def interrupt(progress):
        if progress.epoch == 5:
            signal.raise_signal(signal.SIGINT)

    clf = quick(Method, fixed_epochs=10**6)
    with pytest.warns(TrainingInterruptedWarning, match="interrupted at epoch 5; the weights of epoch 5 were kept"):
        clf.fit(X, LABELS, graph=sparse.csr_array(weighted_adjacency), callback=interrupt)
    assert clf.interrupted_
    assert clf.label_distributions_.shape == (12, 3)
