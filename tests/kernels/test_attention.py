import pytest
import torch

from glcn.kernels import Pattern, attention, propagate_heads, reference

SLOPE = 0.2


def scores(graph, heads=3):
    generator = torch.Generator().manual_seed(7)
    return [
        torch.randn(graph.num_nodes, heads, dtype=torch.float64, generator=generator, requires_grad=True)
        for _ in range(2)
    ]


def messages(graph, heads=3):
    generator = torch.Generator().manual_seed(8)
    weights = torch.rand(graph.num_edges, heads, dtype=torch.float64, generator=generator, requires_grad=True)
    x = torch.randn(graph.num_nodes, heads * 2, dtype=torch.float64, generator=generator, requires_grad=True)
    return weights, x


def test_attention_equals_its_reference_and_sums_to_one(any_graph):
    source, target = scores(any_graph)
    found = attention(source, target, any_graph.pattern, SLOPE)
    torch.testing.assert_close(found, reference.attention(source, target, any_graph.pattern, SLOPE))
    for head in found.unbind(dim=1):
        rows = torch.from_numpy(any_graph.to_scipy(head.detach()).toarray()).sum(dim=1)
        torch.testing.assert_close(rows, torch.ones_like(rows))


def test_attention_is_its_formula_on_an_edge():
    pattern = Pattern(torch.tensor([0, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), table_size=2)
    source, target = torch.tensor([[1.0], [-3.0]]), torch.tensor([[0.5], [9.0]])
    expected = torch.tensor([1.5, -2.5 * SLOPE]).softmax(dim=0)
    torch.testing.assert_close(attention(source, target, pattern, SLOPE)[:, 0], expected)


def test_large_scores_do_not_overflow(any_graph):
    source, target = (1e4 * each for each in scores(any_graph))
    assert attention(source, target, any_graph.pattern, SLOPE).isfinite().all()


def test_gradient_of_attention(any_graph):
    assert torch.autograd.gradcheck(lambda s, t: attention(s, t, any_graph.pattern, SLOPE), scores(any_graph))


def test_heads_pass_what_their_matrices_say(any_graph):
    weights, x = messages(any_graph)
    found = propagate_heads(weights, x, any_graph.pattern)
    dense = [torch.from_numpy(any_graph.to_scipy(head.detach()).toarray()) for head in weights.unbind(dim=1)]
    expected = torch.cat([A @ part for A, part in zip(dense, x.chunk(3, dim=1), strict=True)], dim=1)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(reference.propagate_heads(weights, x, any_graph.pattern), expected)


def test_gradient_of_messages(any_graph):
    assert torch.autograd.gradcheck(lambda w, x: propagate_heads(w, x, any_graph.pattern), messages(any_graph))


def test_threads_change_no_bit(any_graph, monkeypatch):
    monkeypatch.setattr("glcn.kernels.parallel.SERIAL_WORK", 0)
    monkeypatch.setattr("glcn.kernels.pattern.ENTRIES_PER_CHUNK", 4)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            source, target, (weights, x) = *scores(any_graph), messages(any_graph)
            found = attention(source, target, any_graph.pattern, SLOPE)
            passed = propagate_heads(weights * found, x, any_graph.pattern)
            passed.sin().sum().backward()
            results.append([passed.detach(), *(each.grad for each in (source, target, weights, x))])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, two) for one, two in zip(*results, strict=True))


def test_what_does_not_fit_is_refused(any_graph):
    weights, x = messages(any_graph)
    with pytest.raises(ValueError, match="a column for each head"):
        propagate_heads(weights[1:], x, any_graph.pattern)
    with pytest.raises(ValueError, match="divides the 5 columns"):
        propagate_heads(weights, x[:, :5], any_graph.pattern)
    with pytest.raises(ValueError, match="source must have one row"):
        attention(x[1:], x, any_graph.pattern, SLOPE)


def test_pattern_without_reverse_goes_forward_only():
    pattern = Pattern(torch.tensor([0, 1], dtype=torch.int32), torch.tensor([0], dtype=torch.int32))
    source = torch.zeros(1, 1, requires_grad=True)
    with pytest.raises(ValueError, match="no backward pass"):
        attention(source, source, pattern, SLOPE).sum().backward()
