"""The learned graph for other tools: scipy, networkx, PyTorch Geometric, GraphML (Gephi) and a table of edges.

In all of them an edge leads from the row that is heard to the row that hears it, with its share as its weight.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from glcn.answers import STDOUT, terminal_safe
from glcn.escaping import csv_line
from glcn.estimator import GLCNClassifier
from glcn.whole_files import written_aside


def learned_graph(clf: GLCNClassifier, *, threshold: float = 0.0, top: int | None = None, loops: bool = False) -> Any:
    """Return S as a scipy CSR array, or the part of it that counts; its weights stay as they are.

    Parameters
    ----------
    clf
        A fitted classifier.
    threshold
        Least weight of an edge that is kept.
    top
        Most edges of a row that are kept, the greatest; None keeps all.
    loops
        Whether to keep what rows hear from themselves.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], as weights do, got {threshold}")
    if top is not None and top < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    S = sparse.csr_array(clf.graph_).tocoo()
    rows, columns, values = S.row, S.col, S.data
    kept = (values >= threshold) & (values > 0) & ((rows != columns) | loops)
    rows, columns, values = rows[kept], columns[kept], values[kept]
    order = np.lexsort((-values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    if top is not None:
        first = np.searchsorted(rows, rows)  # where the edges of each edge's row begin
        strong = np.arange(len(rows)) - first < top
        rows, columns, values = rows[strong], columns[strong], values[strong]
    return sparse.csr_array((values, (rows, columns)), shape=S.shape)


def to_networkx(
    clf: GLCNClassifier, *, names: Sequence[str] | None = None, classes: Sequence[str] | None = None, **choice: Any
) -> Any:
    """Return the learned graph as a networkx DiGraph with what is known of each row; see :func:`learned_graph`.

    ``names`` are those of the rows, ``classes`` those of ``clf.classes_``.
    """
    import networkx as nx

    S = learned_graph(clf, **choice).tocoo()
    names = [str(row) for row in range(S.shape[0])] if names is None else [str(name) for name in names]
    if len(set(names)) < len(names):
        raise ValueError("names of rows must differ from each other; leave them out to number the rows")
    titles = [str(label) for label in (clf.classes_ if classes is None else classes)]
    graph = nx.DiGraph()
    best = clf.label_distributions_.argmax(axis=1)
    for row, name in enumerate(names):
        about = {"predicted": titles[best[row]], "probability": float(clf.label_distributions_[row, best[row]])}
        if clf._codes[row] >= 0:
            about["label"] = titles[clf._codes[row]]
        graph.add_node(name, **about)
    edges = zip(S.col.tolist(), S.row.tolist(), S.data.tolist(), strict=True)
    graph.add_weighted_edges_from((names[heard], names[hears], weight) for heard, hears, weight in edges)
    return graph


def to_pyg(clf: GLCNClassifier, **choice: Any) -> Any:
    """Return the learned graph as PyTorch Geometric ``Data``; see :func:`learned_graph`.

    ``y`` holds class numbers, −1 where no label was given, ``predicted`` those of the answer.
    """
    from torch_geometric.data import Data

    S = learned_graph(clf, **choice).tocoo()
    X = clf._rows.X
    return Data(
        x=torch.from_numpy(np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32)),
        edge_index=torch.from_numpy(np.stack([S.col, S.row]).astype(np.int64)),
        edge_weight=torch.from_numpy(S.data.astype(np.float32)),
        y=torch.from_numpy(clf._codes),
        predicted=torch.from_numpy(clf.label_distributions_.argmax(axis=1)),
    )


def write_graph(
    target: str | Path,
    clf: GLCNClassifier,
    *,
    names: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    **choice: Any,
) -> int:
    """Write the learned graph as .graphml, .csv or .npz, whole or not at all, and return the number of edges.

    The target "-" is standard output, which gets a table of edges.
    """
    S = learned_graph(clf, **choice)
    if str(target) == STDOUT:
        _write_edges(terminal_safe(sys.stdout), S, names)
        return int(S.nnz)
    path = Path(target)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"can not write a graph as {ending or path.name!r}; choose one of {', '.join(ENDINGS)}")
    with written_aside(path) as aside:
        if ending == ".graphml":
            import networkx as nx

            nx.write_graphml(_for_xml(to_networkx(clf, names=names, classes=classes, **choice)), aside)
        elif ending == ".npz":
            with aside.open("wb") as file:
                sparse.save_npz(file, S)
        else:
            with aside.open("w", newline="", encoding="utf-8") as lines:
                _write_edges(lines.write, S, names)
    return int(S.nnz)


ENDINGS = (".graphml", ".csv", ".npz")


def _write_edges(write: Callable[[str], Any], S: Any, names: Sequence[str] | NDArray[Any] | None) -> None:
    S = S.tocoo()
    titles = range(S.shape[0]) if names is None else names
    write(csv_line(["source", "target", "weight"]))
    for heard, hears, weight in zip(S.col, S.row, S.data, strict=True):
        write(csv_line([titles[heard], titles[hears], f"{weight:.6g}"]))


def _for_xml(graph: Any) -> Any:
    """Replace characters that XML can not hold, which names from users' files may have."""
    import networkx as nx

    def plain(text: Any) -> Any:
        return "".join(each if each.isprintable() else "\ufffd" for each in text) if isinstance(text, str) else text

    renamed = nx.relabel_nodes(graph, {name: plain(name) for name in graph})
    if len(renamed) < len(graph):
        raise ValueError("names of rows differ only in characters that GraphML can not hold; write .csv instead")
    for _, about in renamed.nodes(data=True):
        about.update({key: plain(value) for key, value in about.items()})
    return renamed
