import numpy as np
import pytest
import torch

from glcn import GLCNClassifier
from glcn.experiments import arms
from glcn.experiments.arms import Arm, Cosine, PaperScore, Shuffled, Uniform
from glcn.graph import CandidateGraph
from glcn.nn import PlusLoss

SETTINGS = {"variant": "plus", "max_epochs": 12, "hidden_units": 8, "n_hops": 2, "random_state": 0}
SETTINGS["added_neighbors"] = 0


@pytest.fixture(scope="module")
def table():
    """Two overlapping groups of rows, some labelled, and the graph of their nearest neighbours."""
    random = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = random.normal(size=(60, 8)) + 2.0 * y[:, None]
    labels = np.where(np.arange(60) < 20, y, -1)
    graph = CandidateGraph.knn(X, 4).to_scipy()
    return X, labels, graph


def fitted(kind, table, **more):
    X, labels, graph = table
    validation = np.arange(12, 20)
    return kind(**SETTINGS | more).fit(X, labels, graph=graph, validation=validation)


def test_an_arm_without_a_change_is_the_variant(table):
    ours = fitted(GLCNClassifier, table)
    np.testing.assert_array_equal(fitted(Arm, table).label_distributions_, ours.label_distributions_)


@pytest.mark.parametrize("kind", [Uniform, Shuffled, PaperScore, Cosine])
def test_an_arm_has_the_settings_of_the_variant_and_another_answer(table, kind):
    more = {"learn_graph": False} if kind is Uniform else {}
    ours, arm = fitted(GLCNClassifier, table, **more), fitted(kind, table, **more)
    assert arm.settings_ == ours.settings_
    assert not np.allclose(arm.label_distributions_, ours.label_distributions_, atol=1e-4)


def weights_of(clf, table):
    """Row-normalised weights of the arm's own view, dense."""
    return clf.graph_.toarray(), (table[2].toarray() > 0) | np.eye(60, dtype=bool)


@pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
def test_cosine_weights_are_cosines(table):
    S, edges = weights_of(fitted(Cosine, table), table)
    unit = table[0] / np.linalg.norm(table[0], axis=1, keepdims=True)
    W = np.where(edges, np.maximum(unit @ unit.T, arms.LEAST_ALIKE), 0.0)
    np.testing.assert_allclose(S, W / W.sum(axis=1, keepdims=True), atol=1e-5)


def test_shuffling_keeps_the_values_of_each_row():
    pattern = CandidateGraph.knn(np.random.default_rng(1).normal(size=(30, 3)), 5).pattern
    order = arms._shuffled_within_rows(pattern)
    assert sorted(order.tolist()) == list(range(pattern.num_edges))
    assert not torch.equal(order, torch.arange(pattern.num_edges))
    torch.testing.assert_close(pattern.rows[order], pattern.rows)


@pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
def test_the_papers_score_gives_far_rows_more(table):
    clf = fitted(PaperScore, table)
    score = clf._known.graph.score.numpy()
    S, rows = clf.graph_.data, np.repeat(np.arange(60), np.diff(clf.graph_.indptr))
    for row in range(60):
        there = rows == row
        assert (np.diff(S[there][np.argsort(score[there])]) >= -1e-7).all()


def test_the_papers_loss_is_the_literal_one(table):
    clf = fitted(Arm, table)
    X, _, graph = table
    candidates = CandidateGraph.from_scipy(graph)
    x = torch.from_numpy(clf._scale(X)).float()
    with torch.no_grad():
        output = clf.model_(x, candidates)
        found = arms._PaperLoss()._graph_loss(output, candidates).item()
    S, h = clf.graph_.toarray(), output.graph.embedding.numpy()
    squares = ((h[:, None] - h[None]) ** 2).sum(axis=2)
    assert found == pytest.approx(((S * squares).sum() + arms.SPARSITY * (S**2).sum()) / 60, rel=1e-4)
    assert isinstance(arms._PaperLoss(), PlusLoss)
