import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.estimator.graph_report import graph_report
from glcn.graph import CandidateGraph
from glcn.nn import LearnedGraph


def report(graph, values, labels, score=None):
    score = torch.ones(graph.num_edges) if score is None else score
    learned = LearnedGraph(torch.zeros(graph.num_nodes, 1), score, torch.zeros(graph.num_edges), values, graph.pattern)
    return graph_report(learned, graph, torch.tensor(labels))


def test_uniform_graph_is_collapsed():
    graph = CandidateGraph.complete(4)
    found = report(graph, graph.uniform(), [0, 0, 1, -1])
    assert found.distance_from_uniform == 0
    assert found.collapsed
    assert found.row_entropy == pytest.approx(np.log(4))
    assert found.describe().startswith("collapsed")


def test_numbers_of_a_graph_that_learned():
    graph = CandidateGraph.complete(3)
    S = torch.tensor([[0.2, 0.7, 0.1], [0.6, 0.2, 0.2], [0.25, 0.25, 0.5]])
    score = torch.where(graph.pattern.columns == 2, torch.tensor(0.0), torch.tensor(1.0))
    found = report(graph, S.reshape(-1), [0, 0, 1], score)
    U = np.full((3, 3), 1 / 3)
    assert found.distance_from_uniform == pytest.approx(np.abs(S.numpy() - U).sum() / 2 / 3)
    assert found.largest_change == pytest.approx(0.7 - 1 / 3)
    assert found.same_label_mass == pytest.approx((0.7 + 0.6) / (0.7 + 0.1 + 0.6 + 0.2 + 0.25 + 0.25))
    assert found.uniform_same_label_mass == pytest.approx(1 / 3)
    assert found.dead_edges == pytest.approx(2 / 6)  # (0, 2) and (1, 2); self-loops are not counted
    assert not found.collapsed
    assert "same-label weight 33.3% → 61.9%" in found.describe()
    assert "ReLU cut 33% of the scores" in found.describe()


def test_weight_that_left_the_same_label_is_said_to_have_fallen():
    graph = CandidateGraph.complete(3)
    S = torch.tensor([[0.2, 0.1, 0.7], [0.2, 0.2, 0.6], [0.25, 0.25, 0.5]])
    found = report(graph, S.reshape(-1), [0, 0, 1])
    assert found.same_label_fell
    assert found.describe().startswith("changed, but not for the better where labels are known: rows moved")
    assert "same-label weight fell, 33.3% → 14.3%" in found.describe()
    better = report(graph, S.reshape(-1), [0, 1, 0])
    assert not better.same_label_fell
    assert better.describe().startswith("learned")


def test_without_labelled_edges_or_any_edges():
    graph = CandidateGraph.complete(3)
    unknown = report(graph, graph.uniform(), [0, -1, -1])
    assert unknown.same_label_mass is None
    assert not unknown.same_label_fell
    alone = CandidateGraph.from_scipy(sparse.csr_array((3, 3)))
    found = report(alone, alone.uniform(), [0, 1, -1])
    assert not found.collapsed
    assert found.describe() == "no edges: every row stands alone"


def test_what_lies_on_edges_that_were_not_given():
    given = CandidateGraph.from_edge_index([[0, 1], [1, 0]], 3)
    assert report(given, given.uniform(), [0, 0, 1]).added_mass == 0
    wider = given.with_candidates(np.array([[1], [0], [1]]))
    S = torch.tensor([[0.5, 0.5, 0], [0.3, 0.3, 0.4], [0, 0.2, 0.8]])
    found = report(wider, S[wider.pattern.rows, wider.pattern.columns], [0, 0, 1])
    assert found.added_mass == pytest.approx((0.4 + 0.2) / 3)
    assert "20.0% lies on nearest rows that the graph did not join" in found.describe()
