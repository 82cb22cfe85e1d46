from math import exp, log

import numpy as np
import pytest
import torch

import literal
from glcn.nn import GLCNPlus, LinkLogOdds, PlusLoss, Taught, link_loss
from glcn.nn.plus_loss import estimated_labels

LABELS = torch.tensor([0, 1, 2] * 4)
ROWS = torch.tensor([0, 4, 8, 11])


def trained_pass(graph, **settings):
    generator = torch.Generator().manual_seed(2)
    model = GLCNPlus(6, 5, 3, projection_channels=4, generator=generator, **settings).double()
    x = torch.randn(12, 6, dtype=torch.float64, generator=generator)
    return model, model.train()(x, graph, generator)


def test_every_term_equals_the_literal_loops(any_graph):
    """The features alone, the last of three passes, count half in the estimated labels."""
    _, output = trained_pass(any_graph)
    loss = PlusLoss(0.7, 0.4, temperature=0.5, warm_up=10)
    loss.start_epoch(5)
    terms = loss(output, any_graph, LABELS, ROWS)
    Z = output.samples.softmax(dim=2).tolist()
    mean = [[0.4 * p + 0.4 * q + 0.2 * r for p, q, r in zip(*rows, strict=True)] for rows in zip(*Z, strict=True)]
    target = literal.estimated_labels(mean, 0.5)
    labels = -sum(log(Z[t][i][LABELS[i]]) for t in range(3) for i in ROWS.tolist()) / 12
    consistency = sum((Z[t][i][c] - target[i][c]) ** 2 for t in range(3) for i in range(12) for c in range(3)) / 36
    link = sum(log(1 + exp(-f)) for f in output.links.edges.tolist()) / len(output.links.edges)
    link += sum(log(1 + exp(f)) for f in output.links.pairs.tolist()) / len(output.links.pairs)
    assert terms.cross_entropy.item() == pytest.approx(labels)
    assert terms.consistency.item() == pytest.approx(consistency)
    assert terms.link.item() == pytest.approx(link)
    assert terms.total.item() == pytest.approx(labels + 0.5 * 0.7 * consistency + 0.4 * link)


def test_what_an_earlier_network_taught_counts_as_much_as_labels(any_graph):
    _, output = trained_pass(any_graph)
    plain = PlusLoss()(output, any_graph, LABELS, ROWS)
    rows, classes = [1, 5], [2, 0]
    terms = PlusLoss(taught=Taught(torch.tensor(rows), torch.tensor(classes)))(output, any_graph, LABELS, ROWS)
    Z = output.samples.softmax(dim=2).tolist()
    misfit = -sum(log(Z[t][i][m]) for t in range(3) for i, m in zip(rows, classes, strict=True)) / 6
    assert plain.taught == 0
    assert terms.taught.item() == pytest.approx(misfit)
    assert terms.total.item() == pytest.approx(plain.total.item() + misfit)


def test_evaluation_is_judged_by_labels_alone(any_graph):
    model, _ = trained_pass(any_graph)
    output = model.eval()(torch.randn(12, 6, dtype=torch.float64), any_graph)
    terms = PlusLoss()(output, any_graph, LABELS, ROWS)
    assert terms.total == terms.cross_entropy
    expected = torch.nn.functional.cross_entropy(output.logits[ROWS], LABELS[ROWS])
    torch.testing.assert_close(terms.total, expected)


def test_a_single_random_pass_still_trains_the_graph(any_graph):
    _, output = trained_pass(any_graph, num_passes=1)
    terms = PlusLoss()(output, any_graph, LABELS, ROWS)
    assert terms.link > 0
    assert terms.consistency > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"given_view": False, "num_passes": 2}, [1 / 2, 1 / 2]),
        ({"given_view": False, "num_passes": 3}, [1 / 3, 1 / 3, 1 / 3]),
        ({"feature_view": False, "num_passes": 2}, [1 / 2, 1 / 2]),
        ({"learn_graph": False, "num_passes": 2}, [2 / 3, 1 / 3]),
        ({"num_passes": 6}, [2 / 10, 2 / 10, 2 / 10, 2 / 10, 1 / 10, 1 / 10]),
    ],
)
def test_what_each_pass_says_of_the_estimated_labels(any_graph, options, says):
    _, output = trained_pass(any_graph, **options)
    np.testing.assert_allclose(output.says.numpy(), says)


def test_no_gradient_flows_through_the_estimated_labels(any_graph):
    """With one pass repeated, passes and their mean agree, and only the sharpening pulls."""
    _, output = trained_pass(any_graph)
    samples = output.samples.detach().requires_grad_()
    loss = PlusLoss(1.0, 0.0, temperature=1.0, warm_up=1)
    loss.start_epoch(1)
    same = samples[:1].expand(3, -1, -1)
    loss(output._replace(samples=same), any_graph, LABELS, ROWS).consistency.backward()
    assert samples.grad.abs().max() < 1e-12


def test_sharpening_keeps_the_best_class_and_the_sum():
    p = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    q = estimated_labels(p, 0.3, None)
    assert (q.argmax(dim=1) == p.argmax(dim=1)).all()
    torch.testing.assert_close(q.sum(dim=1), torch.ones(2))
    assert (q.max(dim=1).values > p.max(dim=1).values).all()


def test_class_shares_are_met():
    p = torch.rand(400, 3, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    shares = torch.tensor([0.6, 0.3, 0.1])
    q = estimated_labels(p, 0.5, shares)
    np.testing.assert_allclose(q.mean(dim=0).numpy(), shares.numpy(), atol=0.02)


def test_unknown_class_shares_drift_less_than_sharpening_moves_them():
    p = torch.tensor([[0.6, 0.4]] * 90 + [[0.1, 0.9]] * 10)
    plain = literal.sharpened(p.tolist(), 0.3)
    before, after = p[:, 0].mean(), estimated_labels(p, 0.3, None)[:, 0].mean()
    assert before < after < np.mean([row[0] for row in plain])


def test_link_loss_rewards_telling_edges_from_pairs():
    apart = link_loss(LinkLogOdds(torch.full((5,), 3.0), torch.full((5,), -3.0)))
    alike = link_loss(LinkLogOdds(torch.zeros(5), torch.zeros(5)))
    assert apart < alike
    assert alike.item() == pytest.approx(2 * log(2))


def test_a_graph_without_edges_has_no_link_loss():
    assert link_loss(LinkLogOdds(torch.zeros(0), torch.ones(4))) == 0


def test_a_prior_is_refused(any_graph):
    _, output = trained_pass(any_graph)
    with pytest.raises(ValueError, match="no term for a prior"):
        PlusLoss()(output, any_graph, LABELS, ROWS, prior=object())
