import numpy as np
import pytest
import torch

import literal
from glcn.nn import EDGE_WEIGHTS, EdgeScorer
from glcn.nn.edge_scorer import MOST_PAIRS, degrees, symmetrically_normalized


def scorer_and_rows(weights="odds"):
    generator = torch.Generator().manual_seed(3)
    scorer = EdgeScorer(6, 4, weights=weights, generator=generator).double()
    with torch.no_grad():
        scorer.attention += 0.5 * torch.randn(4, dtype=torch.float64, generator=generator)
        scorer.loop += 0.7
    return scorer, torch.randn(12, 4, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("kind", EDGE_WEIGHTS)
def test_weights_equal_the_literal_ones_and_are_symmetric(any_graph, kind):
    scorer, h = scorer_and_rows(kind)
    weights = scorer(h, any_graph.pattern, any_graph.weights, any_graph.is_loop).weights
    W = any_graph.to_scipy(weights).toarray()
    A = any_graph.to_scipy().toarray().tolist()
    offset = scorer.offset.item() if kind == "probability" else None
    expected = literal.link_weights(h.tolist(), scorer.attention.tolist(), 0.7, A, offset)
    np.testing.assert_allclose(W, expected, atol=1e-6)
    np.testing.assert_allclose(W, W.T, atol=1e-12)


def test_a_probability_is_that_of_the_link_loss_and_only_edges_in_doubt_lose(weighted_graph):
    (odds, h), (probability, _) = scorer_and_rows(), scorer_and_rows("probability")
    between = ~weighted_graph.is_loop
    by_odds, by_probability = (
        scorer(h, weighted_graph.pattern, None, weighted_graph.is_loop).weights[between]
        for scorer in (odds, probability)
    )
    score = probability(h, weighted_graph.pattern, None, weighted_graph.is_loop).score
    log_odds = probability.log_odds(h, score, weighted_graph).edges
    torch.testing.assert_close(by_probability, log_odds.sigmoid())
    assert by_probability.max() / by_probability.min() < by_odds.max() / by_odds.min()


@pytest.mark.parametrize("kind", EDGE_WEIGHTS)
def test_weights_teach_the_attention_and_leave_the_offset_to_the_link_loss(weighted_graph, kind):
    scorer, h = scorer_and_rows(kind)
    scorer(h, weighted_graph.pattern, None, weighted_graph.is_loop).weights.sum().backward()
    assert scorer.attention.grad.abs().sum() > 0
    assert scorer.offset.grad is None


def test_other_weights_are_refused():
    with pytest.raises(ValueError, match="weights must be one of"):
        EdgeScorer(6, 4, weights="distance")


def test_symmetric_normalisation_equals_the_literal_one(any_graph):
    scorer, h = scorer_and_rows()
    weights = scorer(h, any_graph.pattern, any_graph.weights, any_graph.is_loop).weights
    S = symmetrically_normalized(weights, degrees(weights, any_graph.pattern), any_graph.pattern)
    W = any_graph.to_scipy(weights).toarray().tolist()
    np.testing.assert_allclose(any_graph.to_scipy(S).toarray(), literal.symmetrically_normalized(W), atol=1e-9)


def test_log_odds_of_edges_and_of_as_many_random_pairs(weighted_graph):
    scorer, h = scorer_and_rows()
    score = scorer(h, weighted_graph.pattern, None, weighted_graph.is_loop).score
    first, again = (scorer.log_odds(h, score, weighted_graph, torch.Generator().manual_seed(1)) for _ in range(2))
    between = ~weighted_graph.is_loop
    torch.testing.assert_close(first.edges, scorer.offset - score[between].relu())
    assert len(first.pairs) == int(between.sum()) <= MOST_PAIRS
    assert torch.equal(first.pairs, again.pairs)
    assert (first.pairs <= scorer.offset).all()


def test_it_starts_as_a_plain_distance():
    scorer = EdgeScorer(6, 4)
    assert (scorer.attention > 0).all()
    assert (scorer.attention == scorer.attention[0]).all()
    assert repr(scorer) == "EdgeScorer(6, 4, weights='odds')"
