from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from glcn.datasets import from_arrays, read_own


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "id": ["a", "b", "c", "d"],
            "height": [1.0, 2.0, 3.0, 4.0],
            "width": [1, 0, 1, 0],
            "kind": ["10", None, "9", None],
        }
    )


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_tables(table, ending, tmp_path):
    path = tmp_path / f"flowers{ending}"
    if ending == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, sep="," if ending == ".csv" else "\t", index=False)
    data = read_own(path, label="kind", id_column="id")
    assert data.name == "flowers"
    assert data.class_names == ("9", "10")
    assert data.y.tolist() == [1, -1, 0, -1]
    assert data.visible_labels.tolist() == [1, -1, 0, -1]
    assert data.train.tolist() == [0, 2]
    assert data.ids.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(data.X, [[1, 1], [2, 0], [3, 1], [4, 0]])
    assert data.split_description == "2 labelled rows to fit, 2 others to predict"


@pytest.mark.parametrize(
    ("y", "names", "codes"),
    [
        ([3, -1, 12], ("3", "12"), [0, -1, 1]),
        ([1.0, np.nan, 2.0], ("1", "2"), [0, -1, 1]),
        (["x", "", "y"], ("x", "y"), [0, -1, 1]),
        (np.array(["x", None, "y"], dtype=object), ("x", "y"), [0, -1, 1]),
    ],
)
def test_labels_of_any_type(y, names, codes):
    data = from_arrays(np.eye(3), y)
    assert data.class_names == names
    assert data.y.tolist() == codes


def test_npz_files(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.arange(8).reshape(2, 2, 2), y=["a", "b"])
    data = read_own(tmp_path / "mine.npz")
    assert data.X.shape == (2, 4)
    assert data.class_names == ("a", "b")
    np.savez(tmp_path / "odd.npz", features=np.eye(2))
    with pytest.raises(ValueError, match="must hold arrays X and y, got features"):
        read_own(tmp_path / "odd.npz")


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_edge_lists(table, tmp_path, header, weighted):
    table.to_csv(tmp_path / "rows.csv", index=False)
    lines = [["a", "b", "0.5"], ["b", "a", "0.25"], ["a", "b", "0.5"], ["c", "d", "2"], ["c", "c", "1"]]
    lines = [["from", "to", "weight"], *lines] if header else lines
    (tmp_path / "edges.csv").write_text("".join(",".join(line[: 3 if weighted else 2]) + "\n" for line in lines))
    graph = read_own(tmp_path / "rows.csv", label="kind", id_column="id", edges=tmp_path / "edges.csv").graph
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 0.5 if weighted else 1
    expected[2, 3] = expected[3, 2] = 2 if weighted else 1
    np.testing.assert_array_equal(graph.toarray(), expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,zebra\na,b\n", "names 1 row that is not in the table, such as 'zebra'"),
        ("1,2\n", "names 2 rows that are not in the table"),
        ("", "is empty"),
        ("a,b\na,zebra\n", "names 1 row that is not in the table, such as 'zebra'"),
        ("a,b,-1\n", "is negative"),
        ("a,b,heavy\n", "no finite number"),
        ("a\nb\n", "two columns of row names"),
    ],
)
def test_bad_edge_lists(table, tmp_path, content, message):
    table.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "edges.csv").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_own(tmp_path / "rows.csv", label="kind", id_column="id", edges=tmp_path / "edges.csv")


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {}, r"say which column of rows.csv holds the labels"),
        ({}, {"label": "kinds"}, "no column 'kinds'; it has id, height, width, kind"),
        ({}, {"label": "Kind"}, "did you mean 'kind'"),
        ({}, {"label": "kind", "id_column": "name"}, "no column 'name'"),
        ({}, {"label": "kind", "labels_file": Path("y.txt")}, "both say where the labels are; choose one"),
        ({"id": ["a", "a", "b", "c"]}, {"label": "kind", "id_column": "id"}, "names some rows twice"),
        (
            {"kind": [None] * 4},
            {"label": "kind", "id_column": "id"},
            "at least two classes must have a label, got none",
        ),
    ],
)
def test_bad_tables(table, tmp_path, change, arguments, message):
    table.assign(**change).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=message):
        read_own(tmp_path / "rows.csv", **arguments)


def test_files_that_can_not_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_own(tmp_path / "none.csv", label="y")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(ValueError, match=r"empty.csv is empty"):
        read_own(tmp_path / "empty.csv", label="y")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ValueError, match=r"its ending must be one of .csv"):
        read_own(tmp_path / "notes.txt", label="y")


def test_labels_are_read_as_they_are_written(tmp_path):
    (tmp_path / "t.csv").write_text("name,x,kind\n01,1,None\n1,2,NA\n1.0,3,\n", encoding="utf-8-sig")
    with pytest.raises(ValueError, match=r"got none; .* \(1 label NA read as none; --keep-label NA makes it a class"):
        read_own(tmp_path / "t.csv", label="kind", id_column="name")
    data = read_own(tmp_path / "t.csv", label="kind", id_column="name", keep_labels=["None", "NA"])
    assert data.class_names == ("NA", "None")
    assert data.ids.tolist() == ["01", "1", "1.0"]
    (tmp_path / "numbers.csv").write_text("x,kind\n1,-1\n2,0\n3,1\n")
    assert read_own(tmp_path / "numbers.csv", label="kind").y.tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,kind\n", "no rows below its header"),
        ("x,kind\n1,a\n2,a\n", r"got one \('a'\); leave the cells of unlabelled rows empty"),
        (b"x,kind\n1,\xe9\n", "is not in UTF-8"),
    ],
)
def test_odd_tables(tmp_path, content, message):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message):
        read_own(path, label="kind")


def test_large_numbers_keep_their_differences():
    data = from_arrays(np.array([[1.7e9], [1.7e9 + 10], [1.7e9 + 20]]), ["a", "b", ""], prepare="standard")
    assert len(np.unique(data.X)) == 3
    with pytest.raises(ValueError, match="beyond 32-bit floats"):
        from_arrays(np.array([[1e300], [1.0]]), ["a", "b"])


def test_graphs_of_own_arrays():
    import networkx as nx

    data = from_arrays(np.eye(3), ["a", "b", ""], graph=nx.path_graph(3))
    np.testing.assert_array_equal(data.graph.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    with pytest.raises(ValueError, match="5 nodes but X has 3 rows"):
        from_arrays(np.eye(3), ["a", "b", ""], graph=sparse.eye_array(5))
    with pytest.raises(ValueError, match="empty or infinite cells"):
        from_arrays(np.array([[np.nan], [1.0]]), ["a", "b"])


def test_arrays_must_fit_together():
    with pytest.raises(ValueError, match="one row for each of the 3 labels"):
        from_arrays(np.eye(2), [0, 1, 2])
    with pytest.raises(ValueError, match="X must hold numbers"):
        from_arrays(np.array([["a"], ["b"]]), [0, 1])
    assert sparse.issparse(from_arrays(sparse.eye_array(3), [0, 1, -1]).X)


def test_the_encoder_makes_the_same_features_of_other_tables(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    data = read_own(tmp_path / "t.csv", label="kind", prepare="standard")
    assert data.encoder.titles == ["height", "width"]
    np.testing.assert_array_equal(data.encoder.transform(table), data.X)
    assert data.preparation.startswith("standard: ")
    assert "id: different in most rows, as names and remarks are; left out." in data.notes


@pytest.mark.parametrize(
    ("labels", "refused"),
    [
        ([f"p{row}" for row in range(30)], True),  # an id
        ([f"{row * 1.37:.2f}" for row in range(30)], True),  # a measurement
        ([f"{row * 1.37:.2f}" for row in range(12)] + [""] * 18, True),  # one that is known of some rows
        ([f"c{row}" for row in range(12)] + [""] * 18, False),  # one label of each class
        ([f"c{row % 12}" for row in range(30)], False),
    ],
)
def test_labels_that_are_no_classes(labels, refused, tmp_path, random):
    pd.DataFrame({"x": random.normal(size=30), "y": labels}).to_csv(tmp_path / "t.csv", index=False)
    if refused:
        with pytest.raises(ValueError, match=r"different values in \d+ labelled rows, as an id or a measurement has"):
            read_own(tmp_path / "t.csv", label="y")
    else:
        assert len(read_own(tmp_path / "t.csv", label="y").class_names) == 12


def test_slips_in_labels_are_said(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,Ulm\n2,ulm\n3,ulm\n4, Bonn \n5,Bonn\n")
    data = read_own(tmp_path / "t.csv", label="y")
    assert data.class_names == ("Bonn", "Ulm", "ulm")
    assert data.notes[-2:] == (
        "Class Ulm has one labelled row only.",
        "The classes Ulm, ulm differ in upper and lower case only.",
    )
    (tmp_path / "t.csv").write_text("x,y\n1,0\n2,1\n3,-1\n4,1\n5,0\n")
    assert read_own(tmp_path / "t.csv", label="y").notes[-1] == "The label -1 was read as none."


def test_labels_of_mixed_types_in_parquet_are_texts(tmp_path):
    pd.DataFrame({"x": [1.0, 2, 4], "y": [1.0, 2.0, None]}).to_parquet(tmp_path / "t.parquet")
    assert read_own(tmp_path / "t.parquet", label="y").class_names == ("1", "2")
    assert from_arrays(np.eye(3), np.array([1, "a", True], dtype=object)).class_names == ("1", "True", "a")


def own_labels(tmp_path, labels, **options):
    lines = ["size,kind", *(f"{row * row},{label}" for row, label in enumerate(labels))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return read_own(tmp_path / "t.csv", label="kind", **options)


def test_words_for_nothing_are_no_labels(tmp_path):
    words = ["NA", "NaN", "null", "None", "?", "n/a", ""]
    data = own_labels(tmp_path, ["a", "b"] * 4 + words)
    assert data.class_names == ("a", "b")
    assert len(data.train) == 8
    assert "1 label None read as none; --keep-label None makes it a class." in data.notes
    kept = own_labels(tmp_path, ["a", "b"] * 4 + words, keep_labels=["None"])
    assert kept.class_names == ("None", "a", "b")
    assert not any("label None" in note for note in kept.notes)
    with pytest.raises(ValueError, match="--keep-label maybe: no row has this label"):
        own_labels(tmp_path, ["a", "b"] * 4, keep_labels=["maybe"])


def test_spellings_of_numbers_and_mixed_kinds_of_labels_are_said(tmp_path):
    told = " ".join(own_labels(tmp_path, ["1", "1.0", "x"] * 4).notes)
    assert "The classes 1, 1.0 are the same number written differently, and count as different." in told
    assert "Some classes are numbers (1, 1.0) and others words (x)." in told
    assert "numbers" not in " ".join(own_labels(tmp_path, ["1", "2"] * 4).notes[1:])


def test_names_that_are_missing_and_columns_of_labels_are_said(tmp_path, random):
    (tmp_path / "t.csv").write_text("name,size,kind\na,1,x\n,2,y\nNA,3,x\n")
    with pytest.raises(ValueError, match=r"'name' of t\.csv is empty in row 1 .*or leave --id out to number them"):
        read_own(tmp_path / "t.csv", label="kind", id_column="name")
    np.savez(tmp_path / "a.npz", X=random.normal(size=(6, 2)), y=np.eye(6)[:, :3])
    with pytest.raises(ValueError, match=r"must have one label a row, got shape \(6, 3\); turn columns"):
        read_own(tmp_path / "a.npz")


def test_repeated_columns_of_parquet_are_said(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table([[1.0], [2.0], ["x"]], names=["p", "p", "y"]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"^t\.parquet has 2 columns named 'p'; rename all but one$"):
        read_own(tmp_path / "t.parquet", label="y")


def test_texts_of_parquet_that_are_none_are_said(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"p": ["red!", "blue"], "y": ["a", "b"]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"red!", b"re\xf0!"))
    with pytest.raises(ValueError, match=r"t\.parquet can not be read as a Parquet file \(.*\); write it anew"):
        read_own(path, label="y")
