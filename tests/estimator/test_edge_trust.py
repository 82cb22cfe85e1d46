"""Edges count by how likely they are meant: random ones join rows that are unlike, and close no triangles."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from glcn import GLCNClassifier
from glcn.datasets import load
from glcn.estimator import edge_trust as module
from glcn.estimator.edge_trust import edge_trust
from glcn.estimator.graph_report import graph_report
from glcn.estimator.label_trials import RANDOM_EDGES, is_worth_weighing
from glcn.experiments.perturb import with_random_edges
from glcn.graph import CandidateGraph
from glcn.report.graph_view import moved_shares
from groups import labelled


def circles(seed=0, n=600, size=12, classes=4):
    """Rows in circles of friends, each of one class: most pairs of a circle are joined, and features say little."""
    random = np.random.default_rng(seed)
    circle = random.permutation(np.arange(n) // size)
    y = circle % classes
    joined = np.triu((circle[:, None] == circle) & (random.random((n, n)) < 0.5), k=1)
    X = (random.normal(size=(n, 8)) + 1.5 * np.eye(classes, 8)[y]).astype(np.float32)
    return X, y, sparse.csr_array((joined | joined.T).astype(np.float32))


def noisy(graph, share, seed=0):
    return sparse.csr_array(with_random_edges(graph, share, np.random.default_rng(seed)))


def trust_in(graph, X):
    return edge_trust(CandidateGraph.from_scipy(graph), X, "euclidean", 0)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_share_of_random_edges_is_found(share):
    X, _, graph = circles()
    found = trust_in(noisy(graph, share), X)
    assert found.random_share == pytest.approx(share / (1 + share), abs=0.06)


def test_random_edges_count_little_and_others_much():
    X, _, clean = circles()
    graph = CandidateGraph.from_scipy(noisy(clean, 1.0))
    found = edge_trust(graph, X, "euclidean", 0)
    i, j = graph.pattern.rows.numpy(), graph.pattern.columns.numpy()
    is_meant, between = clean.toarray()[i, j] > 0, i != j
    values = found.values.numpy()
    assert values[is_meant].mean() > 0.85
    assert values[~is_meant & between].mean() < 0.3
    assert (values[~between] == 1).all()
    assert values.min() >= module.LEAST_TRUST
    assert found.mean == pytest.approx(values[between].mean(), abs=1e-6)
    assert (found.values == found.values[graph.pattern.reverse]).all()


def test_the_same_seed_gives_the_same_and_sparse_features_do_as_dense_ones():
    X, _, graph = circles()
    noise = noisy(graph, 0.5)
    found = [trust_in(noise, features).values for features in (X, X, sparse.csr_array(X))]
    assert (found[0] == found[1]).all()
    assert (found[0] - found[2]).abs().max() < 1e-5


def test_few_edges_and_too_much_work_have_no_trust(monkeypatch):
    X, _, graph = circles()
    few = sparse.csr_array(graph[:100, :100])
    assert few.nnz / 2 < module.FEWEST_EDGES
    assert trust_in(few, X[:100]) is None
    monkeypatch.setattr(module, "MOST_WORK", 100)
    assert trust_in(graph, X) is None


def test_candidates_that_were_not_given_are_no_edges_to_judge():
    X, _, graph = circles()
    wider = CandidateGraph.from_scipy(graph).with_candidates(
        np.random.default_rng(0).integers(len(X), size=(len(X), 3))
    )
    assert edge_trust(wider, X, "euclidean", 0) is None


def test_another_metric_is_used_for_pairs_where_it_is_known():
    X, _, graph = circles()
    noise = CandidateGraph.from_scipy(noisy(graph, 1.0))
    found = {metric: edge_trust(noise, X, metric, 0).values for metric in ("euclidean", "manhattan", "chebyshev")}
    assert not (found["manhattan"] == found["euclidean"]).all()
    assert (found["chebyshev"] == found["euclidean"]).all()


@pytest.mark.parametrize("alone", [60, 300])
def test_rows_without_an_edge_change_nothing(alone):
    X, _, graph = circles()
    noise = noisy(graph, 1.0)
    wider = sparse.block_diag([noise, sparse.csr_array((alone, alone))], format="csr")
    rows = np.concatenate([X, np.random.default_rng(0).normal(size=(alone, X.shape[1]))])
    usual, found = trust_in(noise, X), trust_in(wider, rows)
    assert found.random_share == pytest.approx(usual.random_share)
    assert found.mean == pytest.approx(usual.mean)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_features_of_pairs_are_compared_in_parts_of_any_size(monkeypatch, metric, kind):
    X, _, graph = circles()
    candidates = CandidateGraph.from_scipy(noisy(graph, 1.0))
    i, j = candidates.pattern.rows.numpy()[:21], candidates.pattern.columns.numpy()[:21]
    at_once = module._evidence(candidates, kind(X), metric, i, j)
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 20 * X.shape[1])  # leaves one pair for the last part
    np.testing.assert_allclose(module._evidence(candidates, kind(X), metric, i, j), at_once)


def test_odds_of_many_edges_are_learned_from_a_sample(monkeypatch):
    X, _, graph = circles()
    noise = noisy(graph, 1.0)
    monkeypatch.setattr(module, "MOST_SAMPLED", 600)
    assert trust_in(noise, X).random_share == pytest.approx(0.5, abs=0.15)


def test_labels_ask_for_trust_where_edges_are_random_and_not_where_few_are_or_none_can_tell():
    X, y, clean = circles()
    graphs = {share: CandidateGraph.from_scipy(noisy(clean, share)) for share in (0.0, 1.0)}
    trusts = {share: edge_trust(graph, X, "euclidean", 0) for share, graph in graphs.items()}
    assert trusts[0.0].random_share < RANDOM_EDGES
    codes, rows = labelled(y, 60, 120)
    assert not is_worth_weighing(graphs[0.0], trusts[0.0], codes, rows)
    assert is_worth_weighing(graphs[1.0], trusts[1.0], codes, rows)
    codes, rows = labelled(y, 29, 29)
    assert not is_worth_weighing(graphs[1.0], trusts[1.0], codes, rows)


@pytest.fixture(scope="module")
def fits():
    X, y, clean = circles()
    codes, rows = labelled(y, 60, 120)
    graph = noisy(clean, 1.0)
    return (
        X,
        y,
        graph,
        {
            trust: GLCNClassifier(edge_trust=trust, max_epochs=60, random_state=0).fit(
                X, codes, graph=graph, validation=rows.validation
            )
            for trust in ("auto", False)
        },
    )


def test_a_fit_gains_by_it_and_says_so(fits):
    _, y, _, found = fits
    accuracy = {trust: (clf.transduction_ == y).mean() for trust, clf in found.items()}
    assert accuracy["auto"] > accuracy[False] + 0.05
    assert found["auto"].settings_["edge_trust"] is True
    assert found[False].settings_["edge_trust"] is False
    report = found["auto"].graph_report_
    assert report.random_edges == pytest.approx(0.5, abs=0.06)
    assert "% of the given edges look random" in report.describe()
    assert found[False].graph_report_.random_edges is None
    assert found[False].graph_report_.mean_trust == 1
    assert "look random" not in found[False].graph_report_.describe()


def test_the_report_compares_with_the_graph_as_it_was_given(fits):
    _, _, graph, found = fits
    clf = found["auto"]
    given = CandidateGraph.from_scipy(graph)
    if clf.settings_["added_neighbors"]:
        given = given.with_candidates(clf._rows.index.among(10))
    again = graph_report(clf._known.graph, given, torch.from_numpy(clf._codes))
    assert again.distance_from_uniform == pytest.approx(clf.graph_report_.distance_from_uniform)


@pytest.mark.parametrize("added_neighbors", ["auto", 0])
def test_a_saved_model_keeps_it(added_neighbors, fits, tmp_path):
    X, y, graph, found = fits
    clf = found["auto"]
    if added_neighbors != "auto":
        clf = clone(clf).set_params(added_neighbors=added_neighbors, max_epochs=2)
        clf.fit(X, labelled(y, 60, 120)[0], graph=graph)
    assert clf.settings_["edge_trust"]
    clf.save(tmp_path / "model")
    again = GLCNClassifier.load(tmp_path / "model")
    assert again.graph_report_ == clf.graph_report_
    assert moved_shares(again).mean() == pytest.approx(clf.graph_report_.distance_from_uniform, abs=1e-6)
    edges = sparse.csr_array(graph[:5])
    np.testing.assert_array_equal(again.predict_proba(X[:5], edges=edges), clf.predict_proba(X[:5], edges=edges))


def test_edges_of_new_rows_count_by_the_mean_trust(fits, monkeypatch):
    X, _, graph, found = fits
    clf = found["auto"]
    edges = sparse.csr_array(graph[:5])
    usual = clf.predict_proba(X[:5], edges=edges)
    trust = clf.graph_report_.mean_trust
    assert trust < 0.9
    monkeypatch.setattr(clf, "graph_report_", replace(clf.graph_report_, mean_trust=1.0))
    np.testing.assert_array_equal(clf.predict_proba(X[:5], edges=edges * trust), usual)
    assert not np.allclose(clf.predict_proba(X[:5], edges=edges), usual)


@pytest.mark.parametrize("options", [{"learn_graph": False}, {"batch_size": 128}])
def test_a_graph_that_is_not_learned_and_batches_have_none(options):
    X, y, clean = circles()
    codes, rows = labelled(y, 60, 120)
    clf = GLCNClassifier(max_epochs=2, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, codes, graph=noisy(clean, 1.0), validation=rows.validation)
    assert clf.settings_["edge_trust"] is False


def test_another_word_is_refused():
    X, y, clean = circles()
    codes, _ = labelled(y, 60, 120)
    with pytest.raises(ValueError, match="edge_trust must be True or False"):
        GLCNClassifier(edge_trust="yes").fit(X, codes, graph=clean)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_random_edges_are_told_on_cora(share):
    data = load("cora")
    graph = CandidateGraph.from_scipy(noisy(data.graph, share))
    found = edge_trust(graph, data.X, "cosine", 0)
    i, j = graph.pattern.rows.numpy(), graph.pattern.columns.numpy()
    is_meant, between = data.graph.toarray()[i, j] > 0, i != j
    if share == 0:
        assert found.random_share < RANDOM_EDGES / 2 + 0.01
        assert found.mean > 0.85
    else:
        assert found.random_share == pytest.approx(0.5, abs=0.07)
        assert roc_auc_score(is_meant[between], found.values.numpy()[between]) > 0.88
