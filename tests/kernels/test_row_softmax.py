import torch

from glcn.kernels import reference, row_softmax


def logits_of(graph):
    generator = torch.Generator().manual_seed(4)
    return torch.randn(graph.num_edges, dtype=torch.float64, generator=generator, requires_grad=True)


def test_equals_reference(any_graph):
    logits = logits_of(any_graph)
    ours = row_softmax(logits, any_graph.pattern, any_graph.weights)
    torch.testing.assert_close(ours, reference.row_softmax(logits, any_graph.pattern, any_graph.weights))


def test_rows_sum_to_one(any_graph):
    values = row_softmax(logits_of(any_graph), any_graph.pattern, any_graph.weights)
    sums = torch.zeros(any_graph.num_nodes, dtype=torch.float64).index_add(0, any_graph.pattern.rows, values)
    torch.testing.assert_close(sums, torch.ones_like(sums))
    assert (values >= 0).all()


def test_gradient(any_graph):
    weights = any_graph.weights
    assert torch.autograd.gradcheck(lambda x: row_softmax(x, any_graph.pattern, weights), logits_of(any_graph))


def test_huge_logits_stay_finite(any_graph):
    values = row_softmax(logits_of(any_graph).detach().float() * 1e4, any_graph.pattern, any_graph.weights)
    assert values.isfinite().all()
