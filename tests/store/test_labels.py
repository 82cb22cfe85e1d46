import numpy as np
import pytest

from glcn.store import labels
from glcn.store.labels import label_blocks, write_codes


def coded(path, count):
    codes = np.full(count, -7, np.int32)
    return write_codes(label_blocks(path), codes, path.name), codes.tolist()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(labels, "BLOCK", 2)


@pytest.mark.parametrize(
    ("values", "classes", "codes"),
    [
        (np.array([7, -1, 3, 7, 3], np.int16), [3, 7], [1, -1, 0, 1, 0]),
        (np.array([7.0, np.nan, 3, 7, -1]), [3, 7], [1, -1, 0, 1, -1]),
        (np.array(["cat", "", "ant ", "cat", "b,c"]), ["ant", "b,c", "cat"], [2, -1, 0, 2, 1]),
        (np.array([b"10", b"", b"9", b"-1", b"9"]), [9, 10], [1, -1, 0, -1, 0]),
        (np.array([-1, -1, -1, -1, -1]), [], [-1] * 5),
    ],
)
def test_labels_of_an_array(values, classes, codes, tmp_path):
    np.save(tmp_path / "y.npy", values)
    assert coded(tmp_path / "y.npy", 5) == (classes, codes)


@pytest.mark.parametrize("name", ["y.csv", "y.txt"])
@pytest.mark.parametrize(
    ("text", "classes", "codes"),
    [
        ("b\n\na\nb\n", ["a", "b"], [1, -1, 0, 1]),
        ("10\r\n9\r\n\r\n-1", [9, 10], [1, 0, -1, -1]),
        ("\ufeff1\nx\n1\n\n", ["1", "x"], [0, 1, 0, -1]),
    ],
)
def test_labels_of_a_text(name, text, classes, codes, tmp_path):
    (tmp_path / name).write_bytes(text.encode())
    assert coded(tmp_path / name, 4) == (classes, codes)


def test_quotes_in_a_table(tmp_path):
    (tmp_path / "y.csv").write_text('"one, two"\nthree\n""\n')
    assert coded(tmp_path / "y.csv", 3) == (["one, two", "three"], [0, 1, -1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label\na\nb\n", r"y.csv has 3 labels, but there are 2 rows; it may have a header"),
        ("a\n", "y.csv has 1 labels, but there are 2 rows"),
        ("a\n1,2\n", "one label a line, got 2 cells in line 2"),
    ],
)
def test_texts_that_are_no_labels(text, message, tmp_path):
    (tmp_path / "y.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        coded(tmp_path / "y.csv", 2)


def test_files_that_are_no_labels(tmp_path):
    (tmp_path / "y.txt").write_bytes(b"\xff\xfe\n")
    with pytest.raises(ValueError, match="is not in UTF-8"):
        coded(tmp_path / "y.txt", 1)
    np.save(tmp_path / "y.npy", [0.5, 1])
    with pytest.raises(ValueError, match=r"has the label 0.5; labels are classes"):
        coded(tmp_path / "y.npy", 2)
    np.save(tmp_path / "y.npy", np.eye(2))
    with pytest.raises(ValueError, match="one number or text a row, got shape"):
        coded(tmp_path / "y.npy", 2)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        label_blocks(tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"must be .npy, .csv or .txt"):
        label_blocks(tmp_path / "y.json")
