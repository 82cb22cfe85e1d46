import networkx as nx
import numpy as np
import pytest

from glcn.tables import read_edges, read_new_edges

NAMES = np.array(["a", "b", "c", "d"])


def written(tmp_path, content, name="edges.csv"):
    (tmp_path / name).write_text(content)
    return tmp_path / name


def test_one_symmetric_graph_whatever_the_direction(tmp_path):
    graph, notes = read_edges(written(tmp_path, "from,to,weight\na,b,1\nb,a,2\nc,c,5\nb,a,1\n"), NAMES)
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 2
    np.testing.assert_array_equal(graph.toarray(), expected)
    assert notes == [
        "The first line of edges.csv (from, to, weight) was taken for titles.",
        "1 edges of a row with itself were left out.",
        "2 edges were listed more than once, in either direction; the largest weight counts.",
        "2 rows have no edge and learn from their own features only.",
    ]


def test_parts_are_said(tmp_path):
    assert read_edges(written(tmp_path, "a\tb\nc\td\n", "e.tsv"), NAMES).notes == ["The graph falls into 2 parts."]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\na,zebra\n", "names 1 row that is not in the table, such as 'zebra'; remove these edges, or add the row"),
        ("a,b\nx,y\n", "names 2 rows that are not in the table, such as 'x', 'y'"),
        ("x,y,1\na,b,1\n", "names 2 rows"),
        ("a,a\n", "no edge between two rows"),
        ("a,b,0\n", "no edge between two rows"),
        ("a,b,-1\n", r"the weight in line 1 of edges.csv is negative; .* shift or drop these"),
        ("a,b,1\na,c,nan\n", "the weight in line 2 of edges.csv is no finite number"),
        ("a,b,1e39\n", "no finite number"),
        ("a,b\nb\n", "line 2 of edges.csv has 1 cells"),
        ("a\nb\n", "two columns of row names"),
        ("a,b,1,2\n", "two columns of row names"),
        ("", "is empty"),
        ("\n", "is empty"),
    ],
)
def test_mistakes(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_edges(written(tmp_path, content), NAMES)


def test_numbered_rows(tmp_path):
    numbers = np.arange(4).astype(str)
    with pytest.raises(ValueError, match=r"such as '8', '9'; .* rows are numbered from 0: name the column"):
        read_edges(written(tmp_path, "8,9\n0,1\n"), numbers, named=False)
    assert read_edges(written(tmp_path, "source,target\n0,1\n"), numbers).adjacency.nnz == 2


def test_graphml(tmp_path):
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=0.5)
    graph.add_edge("b", "a", weight=0.25)
    graph.add_edge("c", "d")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    A = read_edges(tmp_path / "g.graphml", NAMES).adjacency.toarray()
    assert A[0, 1] == A[1, 0] == 0.5
    assert A[2, 3] == A[3, 2] == 1
    nx.write_graphml(nx.MultiGraph([("a", "b"), ("a", "b"), ("c", "d")]), tmp_path / "m.graphml")
    assert read_edges(tmp_path / "m.graphml", NAMES).adjacency.nnz == 4


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph([("a", "zebra")]), "names 1 row that is not in the table, such as 'zebra'"),
        (nx.Graph([("a", "b", {"weight": -1.0})]), "the weight in the edge a–b of g.graphml is negative"),
        (nx.Graph([("a", "b", {"weight": "heavy"})]), "is no finite number"),
        (nx.empty_graph(["a", "b"]), "has no edges"),
    ],
)
def test_graphml_mistakes(tmp_path, graph, message):
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(ValueError, match=message):
        read_edges(tmp_path / "g.graphml", NAMES)


@pytest.mark.parametrize("content", ["no xml", "<a></a>", "<graphml>", "\0"])
def test_what_is_no_graphml(tmp_path, content):
    with pytest.raises(ValueError, match="can not be read as GraphML"):
        read_edges(written(tmp_path, content, "g.graphml"), NAMES)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("doctype", ['x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]', 'graphml SYSTEM "elsewhere.dtd"'])
def test_document_types_are_refused_in_any_encoding(tmp_path, encoding, doctype):
    bomb = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE {doctype}><graphml/>'
    (tmp_path / "g.graphml").write_bytes(bomb.encode(encoding))
    with pytest.raises(ValueError, match="has a DOCTYPE, which may define entities; write the graph without it"):
        read_edges(tmp_path / "g.graphml", NAMES)


def test_edges_of_new_rows(tmp_path):
    new = np.array(["x", "y", "z"])
    graph, notes = read_new_edges(written(tmp_path, "new,old,w\nx,a,1\nx,a,3\ny,d,2\n"), new, NAMES)
    np.testing.assert_array_equal(graph.toarray(), [[3, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    assert len(notes) == 3
    with pytest.raises(ValueError, match="must name the new row first"):
        read_new_edges(written(tmp_path, "a,x\n"), new, NAMES)
    with pytest.raises(ValueError, match="'q'; remove these edges"):
        read_new_edges(written(tmp_path, "x,a\nq,a\n"), new, NAMES)
    with pytest.raises(ValueError, match="not in the training table"):
        read_new_edges(written(tmp_path, "x,a\nx,q\n"), new, NAMES)
