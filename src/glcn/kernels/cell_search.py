"""Nearest rows among those of a few cells, and among the neighbours of neighbours.

Rows are compared by ‖s_i·x_i − s_j·x_j‖², where the factors s are 1 (Euclidean) or 1/‖x‖ (the order of the cosine).
Lists are ordered by distance and then by row, and each is made by one thread from what no other changes, so the number
of threads never changes a bit of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.kernels.parallel import kernel

NOBODY = -1  # fills the places of a list for which no row was found
TILE = 64  # candidates that are compared at a time
BLOCK = 1024  # queries that share the candidates they are compared with
SLOTS = 2048  # of the set of rows already seen, a power of two
STRIDE = 32  # features after which a distance may turn out to be too large


class Rows(NamedTuple):
    """Rows of features, and the factors by which they are compared."""

    values: NDArray[np.float32]  # (n, p)
    scale: NDArray[np.float32]  # (n,)


class Groups(NamedTuple):
    """Rows by the cell that they are in."""

    indptr: NDArray[np.int64]  # (cells + 1,)
    rows: NDArray[np.int32]  # (n,)


class Centres(NamedTuple):
    """Where the cells are."""

    values: NDArray[np.float32]  # (cells, p)
    near: NDArray[np.int32]  # (cells, some) the nearest cells to each, itself first


class Lists(NamedTuple):
    """The nearest rows found so far, and their squared distances."""

    rows: NDArray[np.int32]  # (n, k)
    distances: NDArray[np.float32]  # (n, k)


@kernel
def search_cells(chunks, first, last, queries, asking, data, cells, centres, probes, itself, lists):  # type: ignore[no-untyped-def]
    """Fill the lists of the queries in some groups of ``asking``, those whose nearest cell is g.

    A query asks the ``probes`` nearest of the cells near[g], and more while these hold fewer rows than its list.
    ``itself`` says that query i is row i, which is not its own neighbour.
    """
    p, length, width = data.values.shape[1], lists.rows.shape[1], centres.near.shape[1]
    shifted = np.empty((BLOCK, p), np.float32)
    tile = np.empty((p, TILE), np.float32)
    norms, products = np.empty(TILE, np.float32), np.empty(TILE, np.float32)
    asked = np.empty((width, BLOCK), np.bool_)
    for g in range(chunks[first], chunks[last]):
        for start in range(asking.indptr[g], asking.indptr[g + 1], BLOCK):
            members = asking.rows[start : min(start + BLOCK, asking.indptr[g + 1])]
            for b in range(len(members)):
                i = members[b]
                lists.rows[i] = NOBODY
                lists.distances[i] = np.inf
                for f in range(p):  # seen from the centre, the squares of a difference lose no digits
                    shifted[b, f] = queries.values[i, f] * queries.scale[i] - centres.values[g, f]
                _choose_cells(b, shifted, g, centres, cells, probes, length + itself, asked)
            for c in range(width):
                if not asked[c, : len(members)].any():
                    continue
                cell = centres.near[g, c]
                for begin in range(cells.indptr[cell], cells.indptr[cell + 1], TILE):
                    candidates = cells.rows[begin : min(begin + TILE, cells.indptr[cell + 1])]
                    _gather(candidates, data, g, centres, tile, norms)
                    for b in range(len(members)):
                        if asked[c, b]:
                            _multiply(b, shifted, tile, products)
                            farthest = lists.distances[members[b], length - 1]
                            nearer = 0
                            for t in range(TILE):  # a sum, which vector units take, because most tiles have none
                                products[t] = norms[t] - 2 * products[t]
                                nearer += products[t] < farthest
                            if nearer:
                                _offer(candidates, products, itself, members[b], lists)
            for b in range(len(members)):
                _measure(members[b], queries, data, lists)


@kernel
def refine_lists(chunks, first, last, order, queries, data, graph, itself, lists, better):  # type: ignore[no-untyped-def]
    """Fill the lists ``better`` with the nearest among the listed rows and those that these list in ``graph``."""
    length = lists.rows.shape[1]
    seen, stamps = np.empty(SLOTS, np.int32), np.full(SLOTS, -1, np.int32)
    for place in range(chunks[first], chunks[last]):
        i = order[place]
        better.rows[i] = lists.rows[i]
        better.distances[i] = lists.distances[i]
        if itself:
            _is_new(i, place, seen, stamps)
        for a in range(length):
            if lists.rows[i, a] != NOBODY:
                _is_new(lists.rows[i, a], place, seen, stamps)
        for a in range(length):
            between = lists.rows[i, a]
            if between == NOBODY:
                break
            for b in range(graph.shape[1]):
                j = graph[between, b]
                if j == NOBODY or (itself and j == i):
                    continue
                if _is_new(j, place, seen, stamps):
                    distance = _distance(i, queries, j, data, better.distances[i, length - 1])
                    _insert(j, distance, i, better)


@kernel
def _choose_cells(b, shifted, g, centres, cells, probes, least, asked):  # type: ignore[no-untyped-def]
    """Mark the nearest cells to query b: ``probes`` of them, and more while they hold fewer than ``least`` rows."""
    width, p = centres.near.shape[1], shifted.shape[1]
    distance = np.empty(width, np.float32)
    for c in range(width):
        cell = centres.near[g, c]
        total = np.float32(0)
        for f in range(p):
            difference = shifted[b, f] + centres.values[g, f] - centres.values[cell, f]
            total += difference * difference
        distance[c] = total
        asked[c, b] = False
    rows = 0
    for count in range(width):
        if count >= probes and rows >= least:
            break
        chosen = np.argmin(distance) if count else np.int64(0)  # its own first, even if others have the same centre
        asked[chosen, b] = True
        distance[chosen] = np.inf
        rows += cells.indptr[centres.near[g, chosen] + 1] - cells.indptr[centres.near[g, chosen]]


@kernel
def _gather(candidates, data, g, centres, tile, norms):  # type: ignore[no-untyped-def]
    """Copy rows into the columns of a tile, seen from centre g; columns that are left over are infinitely far."""
    for t in range(TILE):
        norm = np.float32(0)
        if t < len(candidates):
            j = candidates[t]
            for f in range(data.values.shape[1]):
                value = data.values[j, f] * data.scale[j] - centres.values[g, f]
                tile[f, t] = value
                norm += value * value
        else:
            norm = np.float32(np.inf)
            for f in range(data.values.shape[1]):
                tile[f, t] = 0
        norms[t] = norm


@kernel
def _multiply(b, rows, tile, products):  # type: ignore[no-untyped-def]
    """Multiply row b with all columns of a tile, four features at a time: a quarter of the passes over the sums."""
    for t in range(TILE):
        products[t] = 0
    p = rows.shape[1]
    fours = p - p % 4
    for f in range(0, fours, 4):
        q0, q1, q2, q3 = rows[b, f], rows[b, f + 1], rows[b, f + 2], rows[b, f + 3]
        for t in range(TILE):
            products[t] += q0 * tile[f, t] + q1 * tile[f + 1, t] + q2 * tile[f + 2, t] + q3 * tile[f + 3, t]
    for f in range(fours, p):
        for t in range(TILE):
            products[t] += rows[b, f] * tile[f, t]


@kernel
def _offer(candidates, distance, itself, i, lists):  # type: ignore[no-untyped-def]
    """Put those candidates into list i that are nearer than its last."""
    for t in range(len(candidates)):
        if not (itself and candidates[t] == i):
            _insert(candidates[t], distance[t], i, lists)


@kernel
def _measure(i, queries, data, lists):  # type: ignore[no-untyped-def]
    """Put exact squared distances into list i, and order it by them."""
    found = lists.rows[i].copy()
    lists.rows[i] = NOBODY
    lists.distances[i] = np.inf
    for j in found:
        if j != NOBODY:
            _insert(j, _distance(i, queries, j, data, np.float32(np.inf)), i, lists)


@kernel
def _distance(i, queries, j, data, limit):  # type: ignore[no-untyped-def]
    """Return ‖s_i·x_i − s_j·x_j‖², or something above ``limit`` as soon as it is clear that it is above."""
    si, sj = queries.scale[i], data.scale[j]
    total = np.float32(0)
    p = data.values.shape[1]
    whole = p - p % STRIDE
    for start in range(0, whole, STRIDE):
        for f in range(start, start + STRIDE):
            difference = queries.values[i, f] * si - data.values[j, f] * sj
            total += difference * difference
        if total > limit:
            return total
    for f in range(whole, p):
        difference = queries.values[i, f] * si - data.values[j, f] * sj
        total += difference * difference
    return total


@kernel
def _insert(row, distance, i, lists):  # type: ignore[no-untyped-def]
    """Put a row into its place of list i, by distance and then by number, unless it is there; the last falls off."""
    rows, distances = lists.rows, lists.distances
    length = rows.shape[1]
    if not distance < np.inf:  # too far for a number
        return
    place = length
    while place > 0 and (
        distance < distances[i, place - 1] or (distance == distances[i, place - 1] and row < rows[i, place - 1])
    ):
        place -= 1
    if place == length or (place > 0 and rows[i, place - 1] == row):
        return
    for later in range(length - 1, place, -1):
        rows[i, later], distances[i, later] = rows[i, later - 1], distances[i, later - 1]
    rows[i, place], distances[i, place] = row, distance


@kernel
def _is_new(row, stamp, seen, stamps):  # type: ignore[no-untyped-def]
    """Whether a row was not seen before under this stamp; where many collide it may be said to be new again."""
    slot = (np.int64(row) * 40503) & (SLOTS - 1)
    for _ in range(16):
        if stamps[slot] != stamp:
            stamps[slot], seen[slot] = stamp, row
            return True
        if seen[slot] == row:
            return False
        slot = (slot + 1) & (SLOTS - 1)
    return True
