"""GraphML files, read by networkx."""

from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

import numpy as np
from numpy.typing import NDArray


class GraphMLEdges(NamedTuple):
    """Ends and weights of the edges; a node is named by its id."""

    sources: list[str]
    targets: list[str]
    weights: NDArray[np.float64]
    places: list[str]


def read_graphml(path: Path) -> GraphMLEdges:
    """Read the edges of a GraphML file; ``weight`` is their weight where they have one, else 1."""
    import networkx as nx  # here, because few need it

    if b"<!ENTITY" in path.read_bytes():
        raise ValueError(f"{path.name} defines XML entities, which are not read; write the graph without them")
    try:
        graph = nx.read_graphml(path)
    except (ParseError, nx.NetworkXError, ValueError, KeyError, AttributeError, TypeError, StopIteration) as error:
        raise ValueError(f"{path.name} can not be read as GraphML ({error}); write it by nx.write_graphml") from error
    found = list(graph.edges(data="weight", default=1.0))
    if not found:
        raise ValueError(f"{path.name} has no edges; add some, or leave --graph out")
    places = [f"the edge {source!s}–{target!s}" for source, target, _ in found]
    weights = np.array([_weight(weight) for _, _, weight in found])
    return GraphMLEdges([str(edge[0]) for edge in found], [str(edge[1]) for edge in found], weights, places)


def _weight(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
