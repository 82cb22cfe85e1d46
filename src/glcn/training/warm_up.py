"""A head start for a learned graph, before labels come in."""

import torch
from torch.optim import Adam

from glcn.kernels.stopwatch import stage
from glcn.nn import GLCNPlus, link_loss
from glcn.training.data import Source
from glcn.training.processes import current_processes


def warm_up_links(
    model: GLCNPlus,
    source: Source,
    *,
    steps: int,
    learning_rate: float,
    generator: torch.Generator | None = None,
) -> None:
    """Teach the edge scorer of ``model`` to tell edges from random pairs, for some steps, and nothing else."""
    graph = source.data.graph
    if graph.num_edges == graph.num_nodes:  # self-loops alone
        return
    processes = current_processes()
    optimizer = Adam(model.scorer.parameters(), lr=learning_rate, fused=True)
    model.train()
    with stage("head start"):
        for step in range(steps):
            optimizer.zero_grad(set_to_none=True)
            parts = source.batches(step)
            for part in parts:
                if part.noise is not None and generator is not None:
                    generator.manual_seed(part.noise)
                loss = link_loss(model.link_log_odds(part.x, part.graph, generator))
                (loss / len(parts)).backward()  # type: ignore[no-untyped-call]
            processes.average_gradients(model.scorer)
            optimizer.step()
        part = source.batches(0)[0]
        model.balance_loops(part.x, part.graph)
