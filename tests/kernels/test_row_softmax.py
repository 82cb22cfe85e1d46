import pytest
import torch

from glcn.kernels import reference, row_softmax


def logits_of(graph):
    generator = torch.Generator().manual_seed(4)
    return torch.randn(graph.num_edges, dtype=torch.float64, generator=generator, requires_grad=True)


@pytest.mark.parametrize("rectified", [0, 1, -1])
def test_equals_reference(any_graph, rectified):
    logits = logits_of(any_graph)
    ours = row_softmax(logits, any_graph.pattern, any_graph.weights, rectified=rectified)
    torch.testing.assert_close(ours, reference.row_softmax(logits, any_graph.pattern, any_graph.weights, rectified))


@pytest.mark.parametrize("sign", [1, -1])
def test_rectified_logits_are_those_of_a_relu(any_graph, sign):
    logits = logits_of(any_graph)
    by_hand = row_softmax(sign * logits.relu(), any_graph.pattern, any_graph.weights)
    torch.testing.assert_close(row_softmax(logits, any_graph.pattern, any_graph.weights, rectified=sign), by_hand)
    broken = logits.detach().clone()
    broken[0] = torch.nan
    assert row_softmax(broken, any_graph.pattern, rectified=sign)[any_graph.pattern.rows == 0].isnan().all()


def test_rows_sum_to_one(any_graph):
    values = row_softmax(logits_of(any_graph), any_graph.pattern, any_graph.weights)
    sums = torch.zeros(any_graph.num_nodes, dtype=torch.float64).index_add(0, any_graph.pattern.rows, values)
    torch.testing.assert_close(sums, torch.ones_like(sums))
    assert (values >= 0).all()


@pytest.mark.parametrize("rectified", [0, 1, -1])
def test_gradient(any_graph, rectified):
    def values(x):
        return row_softmax(x, any_graph.pattern, any_graph.weights, rectified=rectified)

    assert torch.autograd.gradcheck(values, logits_of(any_graph))


def test_huge_logits_stay_finite(any_graph):
    values = row_softmax(logits_of(any_graph).detach().float() * 1e4, any_graph.pattern, any_graph.weights)
    assert values.isfinite().all()
