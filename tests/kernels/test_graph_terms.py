import pytest
import torch

from glcn.kernels import graph_terms, reference


def inputs(graph):
    generator = torch.Generator().manual_seed(5)
    return (torch.rand(graph.num_edges, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(2))


@pytest.mark.parametrize("with_prior", [False, True])
def test_equals_reference_and_has_its_gradient(any_graph, with_prior):
    values, squares = inputs(any_graph)
    prior = torch.rand(any_graph.num_edges, dtype=torch.float64) if with_prior else None
    ours = graph_terms(values, squares, any_graph.pattern, prior)
    for term, plain in zip(ours, reference.graph_terms(values, squares, prior), strict=True):
        torch.testing.assert_close(term, plain)
    used = slice(0, 3 if with_prior else 2)
    assert torch.autograd.gradcheck(
        lambda v, q: tuple(graph_terms(v, q, any_graph.pattern, prior))[used], (values, squares)
    )


def test_sums_of_many_small_numbers_keep_their_digits():
    from glcn.graph import CandidateGraph

    graph = CandidateGraph.complete(1500)
    values = torch.full((graph.num_edges,), 0.1)
    terms = graph_terms(values, values, graph.pattern)
    assert terms.frobenius.item() == pytest.approx(graph.num_edges * 0.01, rel=1e-6)
