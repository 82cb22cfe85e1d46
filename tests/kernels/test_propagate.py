import pytest
import torch

from glcn.kernels import Pattern, propagate, reference


def inputs(graph):
    generator = torch.Generator().manual_seed(6)
    values = torch.rand(graph.num_edges, dtype=torch.float64, generator=generator, requires_grad=True)
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    return values, x


def test_equals_dense_product(any_graph):
    values, x = inputs(any_graph)
    dense = torch.from_numpy(any_graph.to_scipy(values).toarray())
    torch.testing.assert_close(propagate(values, x, any_graph.pattern), dense @ x)
    torch.testing.assert_close(reference.propagate(values, x, any_graph.pattern), dense @ x)


def test_gradient(any_graph):
    assert torch.autograd.gradcheck(lambda s, x: propagate(s, x, any_graph.pattern), inputs(any_graph))


def test_gradient_of_x_alone(any_graph):
    values, x = inputs(any_graph)
    assert torch.autograd.gradcheck(lambda x: propagate(values.detach(), x, any_graph.pattern), x)


def test_pattern_without_reverse_goes_forward_only():
    pattern = Pattern(torch.tensor([0, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), table_size=2)
    x = torch.tensor([[1.0], [3.0]], requires_grad=True)
    out = propagate(torch.tensor([0.5, 0.5]), x, pattern)
    assert out.item() == 2
    with pytest.raises(ValueError, match="no backward pass"):
        out.sum().backward()
