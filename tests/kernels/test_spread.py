import pytest
import torch

from glcn.kernels import Pattern, reference, spread


def inputs(graph):
    generator = torch.Generator().manual_seed(7)
    values = torch.rand(graph.num_edges, dtype=torch.float64, generator=generator, requires_grad=True)
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    return values, x


@pytest.mark.parametrize("hops", [0, 1, 4])
def test_equals_dense_powers(any_graph, hops):
    values, x = inputs(any_graph)
    S = torch.from_numpy(any_graph.to_scipy(values).toarray())
    expected = [sum(torch.linalg.matrix_power(S, k) @ x for k in range(last + 1)) for last in range(hops + 1)]
    for run in (spread, reference.spread):
        found = run(values, x, any_graph.pattern, hops)
        assert len(found) == hops + 1
        torch.testing.assert_close(torch.stack(found), torch.stack(expected))


@pytest.mark.parametrize("wanted", [(-1,), (0, 1, 2, 3), (1,)], ids=["the last", "all", "one between"])
def test_gradient(any_graph, wanted):
    def some(values, x):
        sums = spread(values, x, any_graph.pattern, 3)
        return tuple(sums[number] for number in wanted)

    values, x = inputs(any_graph)
    assert torch.autograd.gradcheck(some, (values, x))
    assert torch.autograd.gradcheck(lambda x: some(values.detach(), x), x)


def test_a_graph_of_new_rows_alone_is_refused():
    pattern = Pattern(
        torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), table_size=5, first_row=3
    )
    with pytest.raises(ValueError, match=r"each of the graph's 5 nodes must have a row; rows are 3 to 4"):
        spread(torch.ones(2), torch.ones(5, 2), pattern, 1)


def test_pattern_without_reverse_goes_forward_only():
    pattern = Pattern(torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([1, 0], dtype=torch.int32))
    x = torch.tensor([[1.0], [3.0]], requires_grad=True)
    last = spread(torch.tensor([0.5, 0.5]), x, pattern, 2)[-1]
    torch.testing.assert_close(last.detach(), torch.tensor([[2.75], [4.25]]))
    with pytest.raises(ValueError, match="no backward pass"):
        last.sum().backward()
