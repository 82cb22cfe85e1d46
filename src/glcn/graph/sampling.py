"""Neighbourhoods of some rows, sampled from a graph that is too large to train on as a whole."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.graph.candidate import CandidateGraph
from glcn.kernels import Pattern
from glcn.kernels.parallel import kernel


class Neighborhood(NamedTuple):
    """Some rows of a graph and the edges among them."""

    nodes: NDArray[np.int64]  # (b,) their numbers in the whole graph, the seeds first and in their order
    graph: CandidateGraph  # on these rows


class NeighborSampler:
    """Draws neighbourhoods: seeds, some neighbours of each, some of theirs, and every edge among all of these.

    Which neighbours are drawn depends on the number of the draw, the row and its neighbours alone.

    Parameters
    ----------
    graph
        The whole graph.
    fanouts
        Neighbours drawn of each row: first of the seeds, then of those, and so on.
    """

    def __init__(self, graph: CandidateGraph, fanouts: Sequence[int]) -> None:
        if any(fanout < 1 for fanout in fanouts):
            raise ValueError(f"fanouts must be positive, got {tuple(fanouts)}")
        self.graph = graph
        self.fanouts = tuple(fanouts)
        self._place = np.full(graph.num_nodes, -1, np.int32)  # of each row among those drawn, else −1

    def draw(self, seeds: NDArray[np.int64], number: int) -> Neighborhood:
        """Draw the neighbourhood of different ``seeds``; the same ``number`` draws the same rows."""
        _, indptr, indices, _ = self.graph.pattern.arrays
        nodes = np.ascontiguousarray(seeds, np.int64)
        place = self._place
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        first = 0
        try:
            for hop, fanout in enumerate(self.fanouts):
                frontier = nodes[first:]
                first = len(nodes)
                room = np.empty(len(frontier) * fanout, np.int64)
                salt = np.uint64(number * len(self.fanouts) + hop)
                found = _expand(indptr, indices, frontier, fanout, salt, place, first, room)
                nodes = np.concatenate([nodes, room[:found]])
            weights = self.graph.weights
            pattern, chosen = self._induced(nodes)
        finally:
            place[nodes] = -1
        kept = None if weights is None else weights[torch.from_numpy(chosen)]
        return Neighborhood(nodes, CandidateGraph(pattern, kept))

    def _induced(self, nodes: NDArray[np.int64]) -> tuple[Pattern, NDArray[np.int64]]:
        _, indptr, indices, _ = self.graph.pattern.arrays
        counts = _count_edges(indptr, indices, nodes, self._place)
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        columns = np.empty(pointers[-1], np.int32)
        chosen = np.empty(pointers[-1], np.int64)
        _list_edges(indptr, indices, nodes, self._place, pointers, columns, chosen)
        reverse = np.empty_like(columns)
        _mirror(pointers, columns, reverse)
        pattern = Pattern(torch.from_numpy(pointers), torch.from_numpy(columns), torch.from_numpy(reverse))
        return pattern, chosen


@kernel
def _hash(a, b):  # type: ignore[no-untyped-def]
    # SplitMix64's finaliser on a mixture of two numbers.
    z = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _expand(indptr, indices, frontier, fanout, salt, place, count, found):  # type: ignore[no-untyped-def]
    # A reservoir for each row: every set of its neighbours is as likely as another.
    reservoir = np.empty(fanout, np.int64)
    new = 0
    for i in frontier:
        start, stop = indptr[i], indptr[i + 1]
        filled = 0
        seen = 0
        stream = _hash(salt, i)
        for e in range(start, stop):
            j = indices[e]
            if j == i:
                continue
            if filled < fanout:
                reservoir[filled] = j
                filled += 1
            else:
                slot = _hash(stream, seen) % np.uint64(seen + 1)
                if slot < np.uint64(fanout):
                    reservoir[slot] = j
            seen += 1
        for slot in range(filled):
            j = reservoir[slot]
            if place[j] < 0:
                place[j] = count + new
                found[new] = j
                new += 1
    return new


@kernel
def _count_edges(indptr, indices, nodes, place):  # type: ignore[no-untyped-def]
    counts = np.zeros(len(nodes), np.int64)
    for row, i in enumerate(nodes):
        for e in range(indptr[i], indptr[i + 1]):
            if place[indices[e]] >= 0:
                counts[row] += 1
    return counts


@kernel
def _list_edges(indptr, indices, nodes, place, pointers, columns, chosen):  # type: ignore[no-untyped-def]
    for row, i in enumerate(nodes):
        first = pointers[row]
        last = first
        for e in range(indptr[i], indptr[i + 1]):
            column = place[indices[e]]
            if column >= 0:
                columns[last] = column
                chosen[last] = e
                last += 1
        order = np.argsort(columns[first:last])
        columns[first:last] = columns[first:last][order]
        chosen[first:last] = chosen[first:last][order]


@kernel
def _mirror(pointers, columns, reverse):  # type: ignore[no-untyped-def]
    # Rows are read in order, so the entries of each column come in the order of its own row.
    following = pointers[:-1].copy()
    for row in range(len(pointers) - 1):
        for e in range(pointers[row], pointers[row + 1]):
            column = columns[e]
            reverse[e] = following[column]
            following[column] += 1
