"""Did the graph learn anything? The health of a learned graph in numbers and words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from glcn.estimator.edge_trust import EdgeTrust
from glcn.graph import CandidateGraph, CompleteGraph, row_blocks
from glcn.kernels import AllPairs, row_softmax
from glcn.nn import LearnedGraph

COLLAPSED_BELOW = 0.01  # mean distance from uniform, as a share of a row's mass
FELL_BY = 0.0005  # of the mass between labelled rows, less than which is shown as no change


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
    added_mass
        Share of its mass that a row has on edges that were not given, on average.
    random_edges, mean_trust
        Share of the given edges that look like random pairs, and the mean trust by which edges count therefore; None
        and 1 where they are taken as given.
    dead_edges
        Share of the edges (self-loops aside) whose score the ReLU cut to zero.
    """

    distance_from_uniform: float
    largest_change: float
    row_entropy: float
    uniform_row_entropy: float
    same_label_mass: float | None
    uniform_same_label_mass: float | None
    added_mass: float
    dead_edges: float
    num_edges: int
    random_edges: float | None = None
    mean_trust: float = 1.0

    @property
    def collapsed(self) -> bool:
        """Whether the graph ended as good as uniform although it had edges to choose from."""
        return self.num_edges > 0 and self.distance_from_uniform < COLLAPSED_BELOW

    @property
    def same_label_fell(self) -> bool:
        """Whether weight went away from neighbours of the same label."""
        if self.same_label_mass is None or self.uniform_same_label_mass is None:
            return False
        return self.same_label_mass < self.uniform_same_label_mass - FELL_BY

    def describe(self) -> str:
        """Return one or two sentences for people."""
        if self.num_edges == 0:
            return "no edges: every row stands alone"
        moved = f"rows moved {self.distance_from_uniform:.1%} of their weight away from uniform"
        if self.collapsed:
            words = f"collapsed: {moved}, so nothing was learned about the neighbours"
        elif self.same_label_fell:
            words = f"changed, but not for the better where labels are known: {moved}"
        else:
            words = f"learned: {moved}"
        if self.same_label_mass is not None and self.uniform_same_label_mass is not None:
            fell = "fell, " if self.same_label_fell else ""
            words += f"; same-label weight {fell}{self.uniform_same_label_mass:.1%} → {self.same_label_mass:.1%}"
        if self.added_mass > 0:
            words += f"; {self.added_mass:.1%} lies on nearest rows that the graph did not join"
        if self.random_edges is not None:
            words += (
                f"; {self.random_edges:.0%} of the given edges look random, so edges count by how likely they are meant"
            )
        if self.dead_edges >= 0.005:
            words += f"; ReLU cut {self.dead_edges:.0%} of the scores"
        return words


class _Edges(NamedTuple):
    """Some of the edges, each entry one edge."""

    S: Tensor
    U: Tensor  # D⁻¹A
    score: Tensor
    rows: Tensor
    columns: Tensor


def graph_report(
    learned: LearnedGraph | AllPairs,
    graph: CandidateGraph | CompleteGraph,
    labels: Tensor,
    trust: EdgeTrust | None = None,
) -> GraphReport:
    """Judge ``learned`` on ``graph`` as given; ``labels`` (n,) are class numbers, negative where unknown."""
    moved = largest = entropy = uniform_entropy = added = 0.0
    known_mass = same_mass = known_uniform = same_uniform = 0.0
    num_edges = dead = 0
    for S, U, score, rows, columns in _parts(learned, graph):
        change = (S - U).abs()
        between = rows != columns
        known = between & (labels[rows] >= 0) & (labels[columns] >= 0)
        same = known & (labels[rows] == labels[columns])
        moved += change.sum().item() / 2
        added += S[U == 0].sum().item()
        largest = max(largest, change.max().item())
        entropy += torch.special.entr(S).sum().item()
        uniform_entropy += torch.special.entr(U).sum().item()
        known_mass, same_mass = known_mass + S[known].sum().item(), same_mass + S[same].sum().item()
        known_uniform, same_uniform = known_uniform + U[known].sum().item(), same_uniform + U[same].sum().item()
        num_edges += int(between.sum())
        dead += int((score[between] <= 0).sum())
    n = graph.num_nodes
    return GraphReport(
        distance_from_uniform=moved / n,
        largest_change=largest,
        row_entropy=entropy / n,
        uniform_row_entropy=uniform_entropy / n,
        same_label_mass=same_mass / known_mass if known_mass > 0 else None,
        uniform_same_label_mass=same_uniform / known_uniform if known_uniform > 0 else None,
        added_mass=added / n,
        dead_edges=dead / num_edges if num_edges else 0.0,
        num_edges=num_edges,
        random_edges=None if trust is None else trust.random_share,
        mean_trust=1.0 if trust is None else trust.mean,
    )


def _parts(learned: LearnedGraph | AllPairs, graph: CandidateGraph | CompleteGraph) -> Iterator[_Edges]:
    """Go through the edges, some rows at a time."""
    if isinstance(learned, LearnedGraph) and isinstance(graph, CandidateGraph):
        for block in row_blocks(graph):
            pattern, edges = block.pattern, block.edges
            U = row_softmax(torch.zeros(pattern.num_edges), pattern, block.weights)
            yield _Edges(
                learned.values[edges].double(), U.double(), learned.score[edges], pattern.rows, pattern.columns
            )
        return
    n = graph.num_nodes
    for part, S, score in learned.by_rows():  # type: ignore[union-attr]
        rows = torch.arange(part.start, part.stop).repeat_interleave(n)
        columns = torch.arange(n).repeat(part.stop - part.start)
        U = torch.full((len(rows),), 1 / n, dtype=torch.float64)
        yield _Edges(S.double().view(-1), U, score.view(-1), rows, columns)
