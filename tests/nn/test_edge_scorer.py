import numpy as np
import torch

import literal
from glcn.nn import EdgeScorer
from glcn.nn.edge_scorer import MOST_PAIRS, degrees, symmetrically_normalized


def scorer_and_rows():
    generator = torch.Generator().manual_seed(3)
    scorer = EdgeScorer(6, 4, generator=generator).double()
    with torch.no_grad():
        scorer.attention += 0.5 * torch.randn(4, dtype=torch.float64, generator=generator)
        scorer.loop += 0.7
    return scorer, torch.randn(12, 4, dtype=torch.float64, generator=generator)


def test_weights_equal_the_literal_ones_and_are_symmetric(any_graph):
    scorer, h = scorer_and_rows()
    weights = scorer(h, any_graph.pattern, any_graph.weights, any_graph.is_loop).weights
    W = any_graph.to_scipy(weights).toarray()
    A = any_graph.to_scipy().toarray().tolist()
    np.testing.assert_allclose(W, literal.link_weights(h.tolist(), scorer.attention.tolist(), 0.7, A), atol=1e-6)
    np.testing.assert_allclose(W, W.T, atol=1e-12)


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
    assert repr(scorer) == "EdgeScorer(6, 4)"
