"""What ``fit`` puts together before anything is trained."""

import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier
from glcn.estimator import assembling
from glcn.estimator.assembling import Graphs, assemble
from glcn.estimator.variants import fitted_to, resolve
from glcn.graph import CandidateGraph, CompleteGraph
from glcn.training import SampledNeighborhoods, TrainingData
from groups import three_groups


def assembled(clf, graph=None, checkpoint=None):
    X, _, few = three_groups(5)
    given = clf.get_params(deep=False)
    settings = resolve(clf.variant, given, has_graph=graph is not None)
    problem = clf._read(X, few, None, settings)
    settings = fitted_to(settings, given, problem.X)
    return assemble(clf, problem, settings, Graphs(graph, None), validation_named=False, checkpoint=checkpoint)


def ring(n=90):
    there = np.arange(n)
    A = sparse.csr_array((np.full(n, 2.0), (there, (there + 1) % n)), shape=(n, n))
    return A + A.T


def test_without_a_graph_rows_are_joined_with_their_nearest():
    found = assembled(GLCNClassifier(n_neighbors=4, random_state=0))
    assert isinstance(found.source, TrainingData)
    assert found.joined.found is None
    assert found.space is None
    assert (found.settings["added_neighbors"], found.settings["edge_trust"]) == (0, False)
    assert found.source.graph is found.joined.candidates
    assert found.memory > 0


def test_a_given_graph_may_be_improved_unless_it_is_not_learned():
    found = assembled(GLCNClassifier(added_neighbors=3, random_state=0), ring())
    assert found.settings["added_neighbors"] == 3 == found.joined.found.added
    assert found.joined.candidates.num_edges > CandidateGraph.from_scipy(ring()).num_edges
    kept = assembled(GLCNClassifier(added_neighbors=3, learn_graph=False, random_state=0), ring())
    assert kept.settings["added_neighbors"] == 0
    assert kept.joined.found is None


def test_weights_of_a_graph_count_where_the_variant_says_so():
    weights = assembled(GLCNClassifier("closeness", random_state=0), ring()).source.graph.weights
    assert set(weights.tolist()) == {1.0, 2.0}, "self-loops have 1"
    assert assembled(GLCNClassifier("released", random_state=0), ring()).source.graph.weights is None


def test_all_pairs_of_many_rows_are_not_stored(monkeypatch):
    monkeypatch.setattr(assembling, "PAIRS_STORED", 80)
    found = assembled(GLCNClassifier("closeness", random_state=0), "complete")
    assert isinstance(found.joined.candidates, CompleteGraph)
    stored = assembled(GLCNClassifier("plus", random_state=0), "complete")
    assert isinstance(stored.joined.candidates, CandidateGraph), "plus has no other way"


def test_batches_are_sampled_and_answers_computed_in_blocks(tmp_path):
    found = assembled(GLCNClassifier(batch_size=20, work_dir=tmp_path, random_state=0))
    assert isinstance(found.source, SampledNeighborhoods)
    assert found.settings["batch_size"] == 20
    assert found.space.folder == tmp_path


def test_what_can_not_be_kept_is_refused_before_rows_are_joined(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no room")

    monkeypatch.setattr(assembling, "check_space", refuse)
    monkeypatch.setattr(GLCNClassifier, "_joined", lambda *_: pytest.fail("rows were joined"))
    with pytest.raises(OSError, match="no room"):
        assembled(GLCNClassifier(random_state=0), checkpoint=tmp_path / "state")
