import numpy as np
import pytest
from scipy import sparse

from glcn.datasets.prepare import prepare_features

X = np.array([[1.0, -3.0], [0.0, 0.0], [2.0, 2.0]])


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", X),
        ("rows", [[0.25, -0.75], [0, 0], [0.5, 0.5]]),
        ("range", X / 3),
    ],
)
def test_what_each_does(wrap, name, expected):
    prepared, description = prepare_features(wrap(X), name)
    assert sparse.issparse(prepared) == (wrap is not np.asarray)
    np.testing.assert_allclose(prepared.toarray() if sparse.issparse(prepared) else prepared, expected)
    assert description.startswith(f"{name}: ")


def test_standard_centres_dense_features_only():
    dense, _ = prepare_features(X, "standard")
    np.testing.assert_allclose(dense.std(axis=0), 1, rtol=1e-6)
    np.testing.assert_allclose(dense.mean(axis=0), 0, atol=1e-6)
    compact, _ = prepare_features(sparse.csr_array(X), "standard")
    assert compact.nnz == 4


def test_steps_can_be_joined_and_components_counted(random):
    rows = random.random((30, 8)).astype(np.float32)
    prepared, description = prepare_features(rows, "standard+pca3")
    assert prepared.shape == (30, 3)
    assert prepared.dtype == np.float32
    assert "then the first 3 principal components" in description
    assert prepare_features(sparse.csr_array(rows), "pca2")[0].shape == (30, 2)
    np.testing.assert_allclose(np.linalg.norm(prepare_features(rows, "unit")[0], axis=1), 1, rtol=1e-6)
    with pytest.raises(ValueError, match="pca9 needs a number from 1 to 8"):
        prepare_features(rows, "pca9")
    with pytest.raises(ValueError, match="got 'pca'"):
        prepare_features(rows, "range+pca")
