"""Graphs made worse on purpose: random edges added, true edges removed, no graph at all."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

CHANGES = ("added_edges", "removed_edges", "no_graph")


def perturbed(graph: Any, changes: Mapping[str, Any], seed: int) -> Any:
    """Change a symmetric scipy graph without self-loops; the same seed gives the same graph.

    ``added_edges`` and ``removed_edges`` are shares of the number of edges; ``no_graph`` leaves nothing, so that each
    method looks for neighbours itself.
    """
    if changes.get("no_graph"):
        return None
    random = np.random.default_rng(seed)
    if share := changes.get("removed_edges", 0.0):
        graph = without_edges(graph, share, random)
    if share := changes.get("added_edges", 0.0):
        graph = with_random_edges(graph, share, random)
    return graph


def without_edges(graph: Any, share: float, random: np.random.Generator) -> Any:
    """Remove a share of the edges, drawn at random."""
    upper = sparse.triu(graph, k=1).tocoo()
    kept = np.sort(random.permutation(upper.nnz)[: upper.nnz - round(share * upper.nnz)])
    return _symmetric(upper.row[kept], upper.col[kept], upper.data[kept], graph.shape)


def with_random_edges(graph: Any, share: float, random: np.random.Generator) -> Any:
    """Add as many edges as ``share`` of those there are, between random pairs that have none, of the median weight."""
    n = graph.shape[0]
    upper = sparse.triu(graph, k=1).tocoo()
    wanted = round(share * upper.nnz)
    if wanted > n * (n - 1) // 2 - upper.nnz:
        raise ValueError(f"there are not {wanted} pairs of rows without an edge; add fewer")
    there = upper.row.astype(np.int64) * n + upper.col
    new = np.empty(0, np.int64)
    while len(new) < wanted:
        i, j = np.sort(random.integers(n, size=(2, 2 * (wanted - len(new)) + 16)), axis=0)
        found = np.setdiff1d((i * n + j)[i != j], there)  # sorted and without repeats
        new = np.union1d(new, random.permutation(found))
        new = random.permutation(new)[:wanted]
    rows, columns = np.divmod(new, n)
    weight = np.full(wanted, np.median(upper.data) if upper.nnz else 1.0)
    return _symmetric(
        np.concatenate([upper.row, rows]),
        np.concatenate([upper.col, columns]),
        np.concatenate([upper.data, weight]),
        graph.shape,
    )


def _symmetric(rows: Any, columns: Any, weights: Any, shape: tuple[int, int]) -> Any:
    half = sparse.csr_array((weights, (rows, columns)), shape=shape)
    return sparse.csr_array(half + half.T)
