"""Arrays that do not fit together are refused: the kernels would read memory that is not theirs."""

import pytest
import torch
from scipy import sparse

from glcn import kernels
from glcn.graph import CandidateGraph
from glcn.nn import GLCN


@pytest.fixture
def pattern():
    return CandidateGraph.complete(6).pattern


def test_shapes(pattern):
    edges, short = torch.ones(36), torch.ones(35)
    for call in (
        lambda: kernels.row_softmax(short, pattern),
        lambda: kernels.row_softmax(edges, pattern, short),
        lambda: kernels.propagate(short, torch.ones(6, 2), pattern),
        lambda: kernels.graph_terms(edges, short, pattern),
        lambda: kernels.graph_terms(edges, edges, pattern, short),
    ):
        with pytest.raises(ValueError, match=r"one entry for each of the 36 edges, got shape \(35,\)"):
            call()
    for rows in (5, 7):
        with pytest.raises(ValueError, match="one row for each of the graph's 6 nodes"):
            kernels.propagate(edges, torch.ones(rows, 2), pattern)
        with pytest.raises(ValueError, match="one row for each of the graph's 6 nodes"):
            GLCN(3, 4, 2)(torch.ones(rows, 3), CandidateGraph.complete(6))
    with pytest.raises(ValueError, match="a must have one entry for each of the 2 columns"):
        kernels.edge_distances(torch.ones(6, 2), torch.ones(3), pattern)
    with pytest.raises(ValueError, match="5 columns but the network was made for 3 features"):
        kernels.feature_products(kernels.SparseFeatures.from_scipy(sparse.eye_array(6, 5)), (torch.ones(3, 2),))


def test_second_derivatives_are_refused_not_lost(pattern):
    h = torch.randn(6, 2, requires_grad=True)
    squares = kernels.edge_distances(h, torch.ones(2), pattern).square
    (grad,) = torch.autograd.grad((squares**2).sum(), h, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


def test_an_offset_of_the_embedding_costs_no_digits(pattern):
    """dL/da depends on differences only, however far the rows are from the origin."""
    h = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    gradients = []
    for offset in (0.0, 1e4):
        shifted = (h + offset).float()
        a = torch.ones(4, requires_grad=True)
        (kernels.edge_distances(shifted, a, pattern).score * torch.arange(36)).sum().backward()
        exact = torch.ones(4, dtype=torch.float64, requires_grad=True)
        (kernels.reference.edge_distances(shifted.double(), exact, pattern)[0] * torch.arange(36)).sum().backward()
        gradients.append((a.grad - exact.grad).abs().max() / exact.grad.abs().max())
    assert max(gradients) < 1e-5
