import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from glcn import GLCNClassifier
from glcn.exceptions import GraphCollapseWarning
from glcn.graph import CandidateGraph, Prior
from glcn.training import SampledNeighborhoods, TrainingData


def data_on(graph, x, train, validation, **more):
    targets = torch.arange(graph.num_nodes) % 3
    return TrainingData(x, graph, targets, torch.as_tensor(train), torch.as_tensor(validation), **more)


@pytest.fixture
def data(random):
    X = random.normal(size=(300, 4)).astype(np.float32)
    return data_on(CandidateGraph.knn(X, 5), torch.from_numpy(X), np.arange(0, 90, 2), np.arange(100, 150))


def test_labelled_rows_take_turns_and_their_labels_come_along(data):
    source = SampledNeighborhoods(data, 20, seed=0)
    assert source.steps_per_pass == 4
    for turn in range(2):
        seen = []
        for step in range(4 * turn, 4 * turn + 4):
            (batch,) = source.batches(step)
            rows = batch.x[batch.train_rows]
            found = [int((data.x == row).all(dim=1).nonzero().item()) for row in rows]
            assert len(found) in (11, 12)
            assert torch.equal(batch.targets[batch.train_rows], data.targets[found])
            assert not len(batch.validation_rows)
            seen += found
        assert sorted(seen) == data.train_rows.tolist()


def test_every_validation_row_is_judged_once_a_pass_and_in_the_same_company(data):
    source = SampledNeighborhoods(data, 20, seed=0)
    parts = list(source.judged(0))
    assert sum(len(part.validation_rows) for part in parts) == 50
    rows = torch.cat([part.x[part.validation_rows] for part in parts])
    assert torch.equal(rows, data.x[data.validation_rows])
    for part, again in zip(parts, source.judged(4), strict=True):
        assert torch.equal(part.x, again.x)
    assert source.judged(3) is None


def test_the_same_seed_draws_the_same_batches(data):
    first, same, other = (SampledNeighborhoods(data, 20, seed).batches(4)[0].x for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert first.shape != other.shape or not torch.equal(first, other)


def test_a_prior_is_refused(data):
    prior = Prior(torch.zeros(data.graph.num_edges), 0.0)
    with_prior = data_on(data.graph, data.x, data.train_rows, data.validation_rows, prior=prior)
    with pytest.raises(ValueError, match="batch_size=None"):
        SampledNeighborhoods(with_prior, 20, seed=0)


@pytest.mark.parametrize("variant", ["plus", "closeness", "paper", "released"])
@pytest.mark.parametrize("compact", [False, True], ids=["dense", "sparse"])
def test_batches_learn_as_all_rows_do(variant, compact):
    random = np.random.default_rng(0)
    y = np.arange(600) % 3
    X = random.normal(size=(600, 40)) * (random.random((600, 40)) < 0.12)
    X[np.arange(600), y] += 3
    X = sparse.csr_array(X) if compact else X
    few = np.where(random.random(600) < 0.1, y, -1)
    clf = GLCNClassifier(variant, batch_size=64, fixed_epochs=150, validation_fraction=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphCollapseWarning)  # some variants tend to it
        clf.fit(X, few)
    assert (clf.transduction_ == y).mean() > 0.95
    assert (clf.predict(X[:50]) == y[:50]).mean() > 0.9


def test_small_data_is_trained_as_a_whole(blobs):
    X, _, few = blobs
    auto, whole = (
        GLCNClassifier(batch_size=size, fixed_epochs=5, random_state=0).fit(X, few).label_distributions_
        for size in ("auto", None)
    )
    np.testing.assert_array_equal(auto, whole)


def test_large_data_is_not(monkeypatch, blobs):
    X, _, few = blobs
    monkeypatch.setattr("glcn.estimator.batching.WHOLE_UP_TO", 80)
    monkeypatch.setattr("glcn.estimator.batching.SEEDS", 30)
    clf = GLCNClassifier(fixed_epochs=5, random_state=0).fit(X, few)
    whole = GLCNClassifier(batch_size=None, fixed_epochs=5, random_state=0).fit(X, few)
    assert not np.array_equal(clf.label_distributions_, whole.label_distributions_)
    with pytest.raises(ValueError, match="batch_size must be"):
        GLCNClassifier(batch_size=1).fit(X, few)
    monkeypatch.setattr("glcn.estimator.assembling.PAIRS_STORED", 80)
    with pytest.raises(ValueError, match="no neighbourhoods to sample"):
        GLCNClassifier("closeness", batch_size=30).fit(X, few, graph="complete")


def test_validation_rows_stop_training_in_batches(blobs):
    X, y, few = blobs
    validation = np.flatnonzero(few < 0)[:20]
    few[validation] = y[validation]
    clf = GLCNClassifier(batch_size=30, max_epochs=400, patience=20, random_state=0).fit(X, few, validation=validation)
    assert clf.n_iter_ < 400
    assert len(clf.history_["validation_loss"]) == clf.n_iter_ + 1
    assert (clf.transduction_ == y).mean() > 0.9
