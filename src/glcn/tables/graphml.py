"""GraphML files, read by networkx."""

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

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

    if _has_doctype(path.read_bytes()):
        raise ValueError(f"{path.name} has a DOCTYPE, which may define entities; write the graph without it")
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


class _Enough(Exception):  # noqa: N818 it is no error
    """Nothing more is to be read."""


def _has_doctype(content: bytes) -> bool:
    """Whether a file declares a document type, in whatever encoding: the parser that will read it is asked."""
    found = []

    def stop(*_: object) -> None:
        raise _Enough

    def note(*_: object) -> None:
        found.append(True)
        raise _Enough

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = note, stop
    with suppress(_Enough, expat.ExpatError, ValueError):  # what is no XML is said later
        parser.Parse(content, True)
    return bool(found)


def _weight(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
