"""Did the graph learn anything? The health of a learned graph in numbers and words."""

from dataclasses import dataclass

import torch
from torch import Tensor

from glcn.graph import CandidateGraph
from glcn.nn import LearnedGraph

COLLAPSED_BELOW = 0.01  # mean distance from uniform, as a share of a row's mass


@dataclass(frozen=True)
class GraphReport:
    """How a learned graph S differs from the uniform one D⁻¹A.

    Attributes
    ----------
    distance_from_uniform
        Share of its mass that a row moved, on average: ½ Σ_j |S_ij − (D⁻¹A)_ij|.
    largest_change
        The largest |S_ij − (D⁻¹A)_ij|.
    row_entropy, uniform_row_entropy
        Mean entropy of the rows of S and of D⁻¹A, in nats.
    same_label_mass, uniform_same_label_mass
        Share of the mass between different labelled rows that joins rows of one label, under S and under D⁻¹A; None
        where no edge joins two labelled rows.
    dead_edges
        Share of the edges (self-loops aside) whose score the ReLU cut to zero.
    """

    distance_from_uniform: float
    largest_change: float
    row_entropy: float
    uniform_row_entropy: float
    same_label_mass: float | None
    uniform_same_label_mass: float | None
    dead_edges: float
    num_edges: int

    @property
    def collapsed(self) -> bool:
        """Whether the graph ended as good as uniform although it had edges to choose from."""
        return self.num_edges > 0 and self.distance_from_uniform < COLLAPSED_BELOW

    def describe(self) -> str:
        """Return one or two sentences for people."""
        if self.num_edges == 0:
            return "no edges: every row stands alone"
        moved = f"rows moved {self.distance_from_uniform:.1%} of their weight away from uniform"
        if self.collapsed:
            words = f"collapsed: {moved}, so nothing was learned about the neighbours"
        else:
            words = f"learned: {moved}"
        if self.same_label_mass is not None and self.uniform_same_label_mass is not None:
            words += f"; same-label weight {self.uniform_same_label_mass:.1%} → {self.same_label_mass:.1%}"
        if self.dead_edges > 0:
            words += f"; ReLU cut {self.dead_edges:.0%} of the scores"
        return words


def graph_report(learned: LearnedGraph, graph: CandidateGraph, labels: Tensor) -> GraphReport:
    """Judge ``learned`` on ``graph``; ``labels`` (n,) are class numbers, negative where unknown."""
    S, U = learned.values.double(), graph.uniform().double()
    rows, columns = graph.pattern.rows, graph.pattern.columns
    change = (S - U).abs()
    between = ~graph.is_loop
    known = between & (labels[rows] >= 0) & (labels[columns] >= 0)
    same = known & (labels[rows] == labels[columns])
    num_edges = int(between.sum())
    return GraphReport(
        distance_from_uniform=change.sum().item() / 2 / graph.num_nodes,
        largest_change=change.max().item(),
        row_entropy=_mean_entropy(S, graph),
        uniform_row_entropy=_mean_entropy(U, graph),
        same_label_mass=_share(S, same, known),
        uniform_same_label_mass=_share(U, same, known),
        dead_edges=(learned.score[between] <= 0).double().mean().item() if num_edges else 0.0,
        num_edges=num_edges,
    )


def _mean_entropy(values: Tensor, graph: CandidateGraph) -> float:
    return float(torch.special.entr(values).sum()) / graph.num_nodes


def _share(values: Tensor, part: Tensor, whole: Tensor) -> float | None:
    total = values[whole].sum().item()
    return values[part].sum().item() / total if total > 0 else None
