"""Whether nearest rows are added to a given graph, and its edges weighed by trust, is told by its labels."""

import numpy as np
import pytest
import torch

from glcn import GLCNClassifier
from glcn.estimator import label_trials
from glcn.estimator.label_trials import is_worth_adding
from glcn.graph import CandidateGraph
from groups import labelled


def blocks(seed=0, n=300, classes=3, degree=4, own=1.0):
    """Rows of some classes; each is joined with ``degree`` others, a share ``own`` of them of its own class."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    ends = np.repeat(np.arange(n), degree)
    others = random.integers(n, size=n * degree)
    fitting = np.array([random.choice(np.flatnonzero(y == y[i])) for i in ends])
    is_own = random.random(n * degree) < own
    there = np.stack([ends, np.where(is_own, fitting, others)])
    return y.astype(np.int64), np.hstack([there, there[::-1]])


def wider(edges, y, own):
    """Return a graph of these edges, and of weight 0 edges of which a share ``own`` joins rows of a class."""
    random = np.random.default_rng(3)
    fitting = np.array([random.choice(np.flatnonzero(y == label), size=6) for label in y])
    neighbors = np.where(random.random(fitting.shape) < own, fitting, random.integers(len(y), size=fitting.shape))
    return CandidateGraph.from_edge_index(edges, len(y)).with_candidates(neighbors)


@pytest.mark.parametrize("num_validation", [60, 0], ids=["by validation rows", "by fifths of the fitted rows"])
def test_good_neighbours_are_added_to_a_bad_graph_and_bad_ones_not_to_a_good_one(num_validation):
    y, random_edges = blocks(own=0.0)
    codes, rows = labelled(y, 60, num_validation)
    assert is_worth_adding(wider(random_edges, y, own=0.9), codes, rows)
    y, edges = blocks(own=0.95)
    codes, rows = labelled(y, 60, num_validation)
    assert not is_worth_adding(wider(edges, y, own=0.0), codes, rows)


def test_few_labels_can_not_tell():
    y, edges = blocks(own=0.95)
    codes, rows = labelled(y, 29, 29)
    assert is_worth_adding(wider(edges, y, own=0.0), codes, rows)


def test_rows_that_no_label_reaches_count_as_missed():
    y = np.array([0, 0, 1, 1])
    graph = CandidateGraph.from_edge_index(np.array([[0, 1], [1, 0]]), 4)
    known, sought = torch.tensor([0]), torch.tensor([1, 2, 3])
    misses = label_trials._misses(graph, graph.given_weights(), torch.from_numpy(y), known, sought)
    assert misses.tolist() == [0, 1, 1]


def test_spreading_is_the_closed_form(weighted_graph):
    n = weighted_graph.num_nodes
    targets = torch.arange(n) % 2
    known, sought = torch.arange(0, n // 2), torch.arange(n // 2, n)
    A = weighted_graph.to_scipy().toarray().astype(float)
    scale = A.sum(axis=1) ** -0.5
    Y = np.zeros((n, 2))
    Y[known, targets[known]] = 1
    Y[known] /= Y.sum(axis=0)
    F = np.linalg.solve(np.eye(n) - label_trials.HEARD * scale[:, None] * A * scale, Y)
    expected = (F.argmax(axis=1) != targets.numpy())[sought] | (F.max(axis=1) == 0)[sought]
    found = label_trials._misses(weighted_graph, weighted_graph.given_weights(), targets, known, sought)
    assert found.bool().tolist() == expected.tolist()


def test_a_number_is_obeyed_and_auto_asks_the_labels():
    y, edges = blocks(own=0.95)
    X = np.random.default_rng(4).normal(size=(len(y), 8)).astype(np.float32)  # says nothing
    codes, rows = labelled(y, 30, 60)
    fits = {
        added: GLCNClassifier(added_neighbors=added, max_epochs=3, random_state=0).fit(
            X, codes, graph=edges, validation=rows.validation
        )
        for added in ("auto", 5)
    }
    assert {added: clf.settings_["added_neighbors"] for added, clf in fits.items()} == {"auto": 0, 5: 5}
    assert fits["auto"].neighbor_recall_ is None
    assert (fits["auto"].graph_ > 0).sum() < (fits[5].graph_ > 0).sum()
