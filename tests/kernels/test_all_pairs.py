"""All pairs in blocks: equal to the dense reference, with its gradients, whatever the size of the blocks."""

import pytest
import torch

from glcn.graph import CandidateGraph
from glcn.kernels import AllPairs, graph_terms, pair_blocks, parallel, propagate, reference
from glcn.nn import GraphLearning


@pytest.fixture(params=[512, 7], ids=["one block", "many blocks"])
def block(request, monkeypatch):
    monkeypatch.setattr(pair_blocks, "BLOCK", request.param)


@pytest.fixture(params=[1, -1], ids=["paper", "closeness"])
def sign(request):
    return request.param


def inputs(n=23, d=5, dtype=torch.float64, m=3):
    generator = torch.Generator().manual_seed(0)
    shapes = ((n, d), (d,), (n, m), (m, 2))
    return [torch.randn(shape, generator=generator, dtype=dtype, requires_grad=True) for shape in shapes]


def two_layers(S, x, w, terms):
    """Return a number that hangs on two products with S and on both sums."""
    out = S.propagate(S.propagate(x).tanh() @ w)
    smoothness, frobenius, _ = terms(S)
    return out.sin().sum() + 0.3 * smoothness + 0.7 * frobenius


class Dense:
    def __init__(self, h, a, sign):
        self.S, self.terms = reference.all_pairs(h, a, sign)

    def propagate(self, x):
        return self.S @ x


@pytest.mark.parametrize(("n", "d"), [(23, 5), (40, 8), (16, 1)])
@pytest.mark.usefixtures("block")
def test_equal_to_the_reference(sign, n, d):
    h, a, x, w = inputs(n, d)
    ours = two_layers(AllPairs(h, a, sign), x, w, lambda S: S.terms())
    plain = two_layers(Dense(h, a, sign), x, w, lambda S: S.terms)
    torch.testing.assert_close(ours, plain)
    for name, first, second in zip(
        "haxw", *(torch.autograd.grad(loss, [h, a, x, w]) for loss in (ours, plain)), strict=True
    ):
        torch.testing.assert_close(first, second, msg=lambda text, name=name: f"gradient of {name}: {text}")


@pytest.mark.usefixtures("block")
def test_gradcheck(sign):
    def outputs(h, a, x):
        S = AllPairs(h, a, sign)
        return S.propagate(x), *S.terms()[:2]

    assert torch.autograd.gradcheck(outputs, inputs(12)[:3])


def test_equal_to_the_same_graph_with_stored_edges(sign):
    h, a, x, _ = (tensor.detach() for tensor in inputs())
    layer = GraphLearning(5, None, "paper" if sign > 0 else "closeness").double()
    layer.attention.data = a
    graph = CandidateGraph.complete(len(h))
    stored = layer.connect(h, graph.pattern)
    S = AllPairs(h, a, sign)
    torch.testing.assert_close(S.propagate(x), propagate(stored.values, x, graph.pattern))
    torch.testing.assert_close(S.terms(), graph_terms(stored.values, stored.square, graph.pattern))


@pytest.mark.usefixtures("block")
def test_without_joint_no_gradient_goes_through_the_graph(sign):
    h, a, x, w = inputs()
    S = AllPairs(h, a, sign)
    (S.propagate(S.propagate(x, joint=False) @ w, joint=False)).sin().sum().backward()
    assert not h.grad.any()
    assert not a.grad.any()
    assert x.grad.any()


def test_scores_far_beyond_what_exp_can_hold_and_a_far_off_embedding(sign):
    h, a, x, _ = inputs(dtype=torch.float32)
    far = AllPairs(h.detach() * 1e3 + 1e4, a.detach().abs(), sign)
    near = reference.all_pairs((h.detach() * 1e3 + 1e4).double(), a.detach().abs().double(), sign)
    for _ in range(2):  # the first product finds the softmax, later ones go by it
        torch.testing.assert_close(far.propagate(x).double(), near.S @ x.double(), atol=1e-3, rtol=1e-3)


def test_identical_rows_share_their_weight_and_have_no_gradient(sign):
    h = torch.ones(6, 3, requires_grad=True)
    S = AllPairs(h, torch.ones(3, requires_grad=True), sign)
    x = torch.arange(6.0)[:, None]
    out = S.propagate(x)
    torch.testing.assert_close(out, torch.full((6, 1), 2.5))
    (out.sum() + sum(S.terms()[:2])).backward()
    assert not h.grad.any()


@pytest.mark.usefixtures("block")
def test_rows_and_strongest_edges(sign):
    h, a, _, _ = (tensor.detach() for tensor in inputs())
    dense = reference.all_pairs(h, a, sign).S
    S = AllPairs(h, a, sign)
    torch.testing.assert_close(torch.cat([weights for _, weights, _ in S.by_rows()]), dense)
    values, columns = S.strongest(4)
    assert (columns.diff(dim=1) > 0).all()
    torch.testing.assert_close(values, dense.gather(1, columns))
    torch.testing.assert_close(values.sum(dim=1), dense.topk(4).values.sum(dim=1))


def test_a_backward_pass_that_stops_half_way_leaves_nothing_behind(sign):
    h, a, x, w = inputs()
    loss = two_layers(AllPairs(h, a, sign), x, w, lambda S: S.terms())
    torch.autograd.grad(loss, [w], retain_graph=True)
    again = torch.autograd.grad(loss, [h, a])
    alone = torch.autograd.grad(two_layers(AllPairs(h, a, sign), x, w, lambda S: S.terms()), [h, a])
    for first, second in zip(again, alone, strict=True):
        torch.testing.assert_close(first, second)


@pytest.mark.parametrize(("d", "m"), [(30, 3), (72, 16), (72, 1)])
def test_same_bits_with_one_and_two_threads(sign, d, m, two_threads, monkeypatch):
    monkeypatch.setattr(parallel, "SERIAL_WORK", 0)

    def everything():
        h, a, x, _ = inputs(1100, d, torch.float32, m)
        S = AllPairs(h, a * 0.1, sign)
        out = S.propagate(S.propagate(x).tanh())  # nothing that PyTorch itself might cut for its threads
        gradient = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
        smoothness, frobenius, _ = S.terms()
        return out, *torch.autograd.grad([out, smoothness, frobenius], [h, a, x], [gradient, *torch.ones(2)])

    in_threads = everything()
    torch.set_num_threads(1)
    assert all(torch.equal(ours, other) for ours, other in zip(in_threads, everything(), strict=True))


def test_wrong_shapes_and_priors_are_refused():
    h = torch.zeros(4, 3)
    with pytest.raises(ValueError, match=r"h must be \(n, d\)"):
        AllPairs(h, torch.zeros(2), 1)
    with pytest.raises(ValueError, match="x must have 4 rows"):
        AllPairs(h, torch.zeros(3), 1).propagate(torch.zeros(5, 2))
    with pytest.raises(ValueError, match="prior"):
        AllPairs(h, torch.zeros(3), 1).terms(torch.zeros(16))
