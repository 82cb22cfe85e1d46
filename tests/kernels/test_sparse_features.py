import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.kernels import SparseFeatures, feature_products, reference


@pytest.fixture
def matrix(random):
    return sparse.random_array((9, 6), density=0.3, rng=random, format="csr")


@pytest.fixture
def weight():
    return torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)


def test_equals_dense_product_and_reference(matrix, weight):
    x = SparseFeatures.from_scipy(matrix, torch.float64)
    expected = torch.from_numpy(matrix.toarray()) @ weight
    torch.testing.assert_close(feature_products(x, (weight,))[0], expected)
    torch.testing.assert_close(reference.sparse_matmul(x.indptr, x.indices, x.values, weight), expected)


@pytest.mark.parametrize("rows", [9, 40], ids=["gathered", "scattered"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 3])
def test_products_and_gradients_with_and_without_dropout(random, weight, rows, count, padding):
    """Wide matrices and tall ones have kernels of their own for the gradient."""
    matrix = sparse.random_array((rows, 6), density=0.3, rng=random, format="csr")
    x = SparseFeatures.from_scipy(matrix, torch.float64)
    for probability in (0.0, 0.5):

        def products(w, p=probability):
            weights = (w, 2 * w[:, :3], w[:, 1:])[:count]
            return feature_products(x, weights, p, torch.Generator().manual_seed(2), padding=padding)

        assert [out.shape[1] for out in products(weight)] == [4 + padding, 3, 3][:count]
        assert torch.autograd.gradcheck(products, weight)
    dense = torch.from_numpy(matrix.toarray())
    weights = (weight, 2 * weight[:, :3], weight[:, 1:])[:count]
    torch.testing.assert_close(products(weight, 0.0), feature_products(dense, weights, padding=padding))


def test_dropout_acts_on_stored_entries(matrix):
    x = SparseFeatures.from_scipy(matrix, torch.float64)
    dropped = feature_products(x, (torch.eye(6, dtype=torch.float64),), 0.5, torch.Generator().manual_seed(2))[
        0
    ].numpy()
    kept = dropped != 0
    assert 0 < kept.sum() < matrix.nnz
    np.testing.assert_allclose(dropped[kept], 2 * matrix.toarray()[kept])


def test_dense_features_take_the_same_call(matrix, weight):
    dense = torch.from_numpy(matrix.toarray())
    torch.testing.assert_close(feature_products(dense, (weight,))[0], dense @ weight)
    first, second = feature_products(dense, (weight, weight[:, :1]), 0.5, torch.Generator().manual_seed(3))
    torch.testing.assert_close(first[:, :1], second)  # one and the same dropout


def test_duplicates_are_summed_and_the_input_is_copied():
    coo = sparse.coo_array((np.array([1.0, 2.0]), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    x = SparseFeatures.from_scipy(coo)
    assert x.values.tolist() == [3.0]
    csr = sparse.csr_array(np.eye(2, dtype=np.float32))
    x = SparseFeatures.from_scipy(csr)
    csr.data[:] = 7
    assert x.values.tolist() == [1.0, 1.0]
    assert x.shape == (2, 2)


def test_empty_rows_and_columns_give_zero():
    x = SparseFeatures.from_scipy(sparse.csr_array((3, 4)))
    assert feature_products(x, (torch.ones(4, 2),))[0].eq(0).all()


def test_the_gradient_of_tall_features_is_the_sum_of_several_parts(random, two_threads, monkeypatch):
    """Its bits do not depend on the number of threads."""
    monkeypatch.setattr("glcn.kernels.sparse_features._ENTRIES_PER_SUM", 16)
    monkeypatch.setattr("glcn.kernels.parallel.SERIAL_WORK", 0)
    matrix = sparse.random_array((2000, 30), density=0.2, rng=random, format="csr")
    x = SparseFeatures.from_scipy(matrix)
    assert len(x.parts) == 9
    weight = torch.randn(30, 5, generator=torch.Generator().manual_seed(1), requires_grad=True)

    def gradient():
        return torch.autograd.grad(feature_products(x, (weight,))[0].sin().sum(), weight)[0]

    in_threads = gradient()
    torch.set_num_threads(1)
    assert torch.equal(in_threads, gradient())
    dense = torch.from_numpy(matrix.toarray()).float()
    expected = torch.autograd.grad((dense @ weight).sin().sum(), weight)[0]
    torch.testing.assert_close(in_threads, expected, rtol=1e-4, atol=1e-4)
