import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.estimator.inputs import as_features, choose_device, class_weights, prior_on
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
