import numpy as np
import pytest
import torch
from scipy import sparse

from glcn import GLCNClassifier
from glcn.estimator import inputs
from glcn.estimator.inputs import as_features, choose_device, class_weights, prior_on, training_features
from glcn.graph import CandidateGraph
from glcn.kernels import SparseFeatures


def test_features_are_compact_where_that_pays():
    thin, thick = sparse.csr_array(np.eye(20)), sparse.csr_array(np.ones((4, 4)))
    assert isinstance(as_features(thin, compact=True), SparseFeatures)
    assert isinstance(as_features(thin, compact=False), torch.Tensor)
    assert isinstance(as_features(thick, compact=True), torch.Tensor)
    X = np.ones((2, 2))
    as_features(X, compact=True)[:] = 7
    assert (X == 1).all()  # a copy


def test_training_leaves_out_the_zeros_of_dense_features_on_the_cpu():
    thin = np.eye(20, dtype=np.float32)
    features = training_features(thin, compact=True, device="cpu")
    assert isinstance(features, SparseFeatures)
    assert features.values.tolist() == [1] * 20
    for X, compact, device in ((thin, False, "cpu"), (thin, True, "meta"), (np.ones((4, 4)), True, "cpu")):
        assert isinstance(training_features(X, compact=compact, device=device), torch.Tensor)


def test_a_fit_without_the_zeros_is_the_fit_with_them(monkeypatch):
    X = np.random.default_rng(0).random((60, 40)).astype(np.float32)
    X[X < 0.9] = 0
    y = np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
    thin = GLCNClassifier(max_epochs=3, fixed_epochs=3, validation_fraction=0, dropout=0, random_state=0)
    answer = thin.fit(X, y).label_distributions_
    monkeypatch.setattr(inputs, "SPARSE_BELOW", 0.0)
    np.testing.assert_allclose(thin.fit(X, y).label_distributions_, answer, atol=1e-5)


def test_prior_is_none_at_weight_zero_else_the_callers_matrix():
    A = np.array([[0, 3.0], [3.0, 0]])
    graph = CandidateGraph.from_scipy(A)
    assert prior_on(graph, A, None, 0.0) is None
    for given in (A, sparse.csr_array(A), graph):
        assert sorted(prior_on(graph, given, None, 1.0).values.tolist()) == [0, 0, 3, 3]


def test_class_weights():
    classes, codes = np.array(["a", "b"]), np.array([0, 0, 0, 1])
    assert class_weights(None, classes, codes) is None
    assert class_weights("balanced", classes, codes).tolist() == pytest.approx([4 / 6, 2])
    assert class_weights({"a": 1, "b": 5}, classes, codes).tolist() == [1, 5]
    with pytest.raises(ValueError, match="not all zero"):
        class_weights({"a": 0, "b": 0}, classes, codes)


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in ("cpu", "cuda")
    with pytest.raises(ValueError, match="device 'warp' can not be used here"):
        choose_device("warp")
