import pytest
import torch

from glcn.kernels import Pattern, edge_distances, reference


def inputs(graph, dtype=torch.float64, d=5):
    generator = torch.Generator().manual_seed(3)
    h = torch.randn(graph.num_nodes, d, dtype=dtype, generator=generator, requires_grad=True)
    a = torch.randn(d, dtype=dtype, generator=generator, requires_grad=True)
    return h, a


def test_equals_reference(any_graph):
    h, a = inputs(any_graph)
    for ours, plain in zip(
        edge_distances(h, a, any_graph.pattern), reference.edge_distances(h, a, any_graph.pattern), strict=True
    ):
        torch.testing.assert_close(ours, plain)


def test_gradient(any_graph):
    h, a = inputs(any_graph)
    assert torch.autograd.gradcheck(lambda h, a: tuple(edge_distances(h, a, any_graph.pattern)), (h, a))


@pytest.mark.parametrize("used", [0, 1])
def test_gradient_of_one_output_alone(any_graph, used):
    h, a = inputs(any_graph)
    assert torch.autograd.gradcheck(lambda h, a: edge_distances(h, a, any_graph.pattern)[used], (h, a))


def test_identical_rows_have_zero_score_and_zero_gradient(any_graph):
    h = torch.ones(any_graph.num_nodes, 4, dtype=torch.float64, requires_grad=True)
    a = torch.rand(4, dtype=torch.float64, requires_grad=True)
    score, square = edge_distances(h, a, any_graph.pattern)
    (score.sum() + square.sum()).backward()
    assert score.eq(0).all()
    assert h.grad.eq(0).all()  # sign(0) = 0
    assert a.grad.eq(0).all()


def test_nan_is_not_hidden(any_graph):
    h, a = inputs(any_graph)
    h = h.detach().clone()
    h[0, 0] = torch.nan
    score, _ = edge_distances(h, a, any_graph.pattern)
    assert score[any_graph.pattern.rows == 0].isnan().all()


def test_pattern_without_reverse_goes_forward_only():
    pattern = Pattern(torch.tensor([0, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), table_size=2)
    h = torch.tensor([[0.0], [2.0]], requires_grad=True)
    score, square = edge_distances(h, torch.ones(1), pattern)
    assert score.tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="no backward pass"):
        square.sum().backward()
