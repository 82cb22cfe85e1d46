"""All pairs of rows, without storing them."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class CompleteGraph:
    """The paper's A_ij = 1 for all pairs: nothing but the number of nodes.

    Networks compute what they need of it in blocks, so that memory grows with the number of rows and time with its
    square. :meth:`CandidateGraph.complete` stores all pairs, which is faster where there are few rows.
    """

    num_nodes: int

    @property
    def num_edges(self) -> int:
        """Number of pairs: both directions and the self-loops."""
        return self.num_nodes**2

    def unweighted(self) -> "CompleteGraph":
        """Return the graph itself: all its weights are 1."""
        return self

    def to(self, device: torch.device | str) -> "CompleteGraph":
        """Return the graph itself: it has nothing on a device."""
        del device
        return self
