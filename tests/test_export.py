import csv

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier, export


@pytest.fixture
def clf(blobs):
    X, _, few = blobs
    return GLCNClassifier(fixed_epochs=10, random_state=0).fit(X, few)


def test_all_of_it_is_the_learned_graph(clf):
    S = export.learned_graph(clf, loops=True)
    assert abs(S - clf.graph_).max() == 0
    without = export.learned_graph(clf)
    assert without.diagonal().sum() == 0
    assert abs((without + sparse.diags_array(clf.graph_.diagonal())) - clf.graph_).max() < 1e-7


@pytest.mark.parametrize(("threshold", "top"), [(0.1, None), (0.0, 3), (0.05, 2), (0.0, 1)])
def test_what_is_kept_is_the_greatest_of_each_row(clf, threshold, top):
    S = export.learned_graph(clf, threshold=threshold, top=top).toarray()
    whole = clf.graph_.toarray()
    np.fill_diagonal(whole, 0)
    for kept, row in zip(S, whole, strict=True):
        expected = np.sort(row[row >= max(threshold, 1e-12)])[::-1][:top]
        np.testing.assert_array_equal(np.sort(kept[kept > 0])[::-1], expected)
        assert (kept[kept > 0] == row[kept > 0]).all()


@pytest.mark.parametrize(
    ("choice", "message"), [({"threshold": 2.0}, "threshold must lie"), ({"top": 0}, "top must be")]
)
def test_bad_choices(clf, choice, message):
    with pytest.raises(ValueError, match=message):
        export.learned_graph(clf, **choice)


def test_networkx_and_pyg_hold_the_same_edges(clf, blobs):
    few = blobs[2]
    S = export.learned_graph(clf, top=4)
    graph = export.to_networkx(clf, top=4)
    assert abs(nx.to_scipy_sparse_array(graph, nodelist=[str(i) for i in range(len(few))]).T - S).max() < 1e-7
    labelled = int(np.flatnonzero(few >= 0)[0])
    assert graph.nodes[str(labelled)]["label"] == str(few[labelled])
    assert "label" not in graph.nodes[str(int(np.flatnonzero(few < 0)[0]))]
    pytest.importorskip("torch_geometric")
    data = export.to_pyg(clf, top=4)
    assert data.num_nodes == len(few)
    back = sparse.coo_array((data.edge_weight, (data.edge_index[1], data.edge_index[0])), shape=S.shape)
    assert abs(back - S).max() < 1e-7
    np.testing.assert_array_equal(data.y, few)


def test_files(clf, tmp_path):
    names = [f"=row {i}" for i in range(clf.graph_.shape[0])]
    classes = ["<b>", "zwei", "3\x00"]
    S = export.learned_graph(clf, top=3)
    for ending in export.ENDINGS:
        assert export.write_graph(tmp_path / f"graph{ending}", clf, names=names, classes=classes, top=3) == S.nnz
    graph = nx.read_graphml(tmp_path / "graph.graphml")
    assert graph.number_of_edges() == S.nnz
    assert set(nx.get_node_attributes(graph, "predicted").values()) <= {"<b>", "zwei", "3\ufffd"}
    assert abs(sparse.load_npz(tmp_path / "graph.npz") - S).max() == 0
    with (tmp_path / "graph.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == S.nnz
    assert rows[0]["source"].startswith("'=row ")
    heard, hears = (int(rows[0][end].removeprefix("'=row ")) for end in ("source", "target"))
    assert float(rows[0]["weight"]) == pytest.approx(S[hears, heard], rel=1e-5)


def test_bad_files_and_names(clf, tmp_path):
    with pytest.raises(ValueError, match=r"can not write a graph as '?\.png"):
        export.write_graph(tmp_path / "graph.png", clf)
    n = clf.graph_.shape[0]
    with pytest.raises(ValueError, match="names of rows must differ"):
        export.to_networkx(clf, names=["a"] * n)
    with pytest.raises(ValueError, match="GraphML can not hold"):
        export.write_graph(tmp_path / "g.graphml", clf, names=["\x01", "\x02", *map(str, range(n - 2))])
    assert not list(tmp_path.iterdir())
