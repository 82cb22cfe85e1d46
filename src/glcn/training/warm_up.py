"""A head start for a learned graph, before labels come in."""

import torch
from torch.optim import Adam

from glcn.graph import CandidateGraph
from glcn.kernels import Features
from glcn.kernels.stopwatch import stage
from glcn.nn import GLCNPlus, link_loss


def warm_up_links(
    model: GLCNPlus,
    x: Features,
    graph: CandidateGraph,
    *,
    steps: int,
    learning_rate: float,
    generator: torch.Generator | None = None,
) -> None:
    """Teach the edge scorer of ``model`` to tell edges from random pairs, for some steps, and nothing else."""
    if graph.is_loop.all():
        return
    optimizer = Adam(model.scorer.parameters(), lr=learning_rate, fused=True)
    model.train()
    with stage("head start"):
        for _ in range(steps):
            loss = link_loss(model.link_log_odds(x, graph, generator))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        model.balance_loops(x, graph)
