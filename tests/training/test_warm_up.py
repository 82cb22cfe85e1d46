import torch

from glcn.graph import CandidateGraph
from glcn.nn import GLCNPlus, link_loss
from glcn.training import TrainingData, warm_up_links


def test_edges_and_random_pairs_are_told_apart_and_nothing_else_learns():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(80, 6, generator=generator)
    x[:, 0] += 4 * (torch.arange(80) % 2)
    graph = CandidateGraph.knn(x.numpy(), 5)
    model = GLCNPlus(6, 5, 2, projection_channels=4, generator=generator)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    worse = link_loss(model.train().link_log_odds(x, graph, generator)).item()
    rows = torch.arange(80)
    data = TrainingData(x, graph, rows, rows, rows[:0])
    warm_up_links(model, data, steps=60, learning_rate=0.03, generator=generator)
    assert link_loss(model.link_log_odds(x, graph, generator)).item() < 0.8 * worse
    learned = {"scorer.projection", "scorer.attention", "scorer.loop", "scorer.offset"}
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]) != (name in learned), name


def test_a_graph_without_edges_teaches_nothing():
    model = GLCNPlus(3, 4, 2)
    before = model.scorer.projection.clone()
    rows = torch.arange(5)
    lonely = CandidateGraph.from_edge_index([[], []], 5)
    warm_up_links(model, TrainingData(torch.randn(5, 3), lonely, rows, rows, rows[:0]), steps=3, learning_rate=0.1)
    assert torch.equal(model.scorer.projection, before)
