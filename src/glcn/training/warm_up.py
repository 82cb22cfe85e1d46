"""A head start for a learned graph, before labels come in."""

import torch
from torch.optim import Adam

from glcn.kernels.stopwatch import stage
from glcn.nn import GLCNPlus, link_loss
from glcn.training.loop import Source


def warm_up_links(
    model: GLCNPlus,
    source: Source,
    *,
    steps: int,
    learning_rate: float,
    generator: torch.Generator | None = None,
) -> None:
    """Teach the edge scorer of ``model`` to tell edges from random pairs, for some steps, and nothing else."""
    if source.data.graph.is_loop.all():
        return
    optimizer = Adam(model.scorer.parameters(), lr=learning_rate, fused=True)
    model.train()
    with stage("head start"):
        for step in range(steps):
            part = source.batch(step)
            loss = link_loss(model.link_log_odds(part.x, part.graph, generator))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        part = source.batch(0)
        model.balance_loops(part.x, part.graph)
