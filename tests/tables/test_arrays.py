import io
import pickle

import numpy as np
import pytest
from scipy import sparse

from glcn.datasets import read_own
from glcn.tables import read_labels, read_table


class Bomb:
    """Tells when somebody unpickles it."""

    went_off = False

    def __reduce__(self):
        return (setattr, (Bomb, "went_off", True))


@pytest.mark.parametrize("kind", ["npy", "npz", "npz of y", "pickle", "sparse"])
def test_nothing_is_unpickled(kind, tmp_path):
    objects = np.array([[Bomb(), 1], [2, 3]], dtype=object)
    path = tmp_path / ("t.npy" if kind in ("npy", "pickle") else "t.npz")
    if kind == "npy":
        np.save(path, objects, allow_pickle=True)
    elif kind == "npz":
        np.savez(path, X=objects, y=[0, 1])
    elif kind == "npz of y":
        np.savez(path, X=np.eye(2), y=objects[0])
    elif kind == "sparse":
        np.savez(path, format=objects, shape=[2, 2], data=objects)
    else:
        path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="can not be read as"):
        read_table(path)
    with pytest.raises(ValueError, match="can not be read as"):
        read_own(path)
    assert not Bomb.went_off


def test_labels_are_not_unpickled(tmp_path):
    np.save(tmp_path / "y.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"can not be read as an .npy file of a plain array"):
        read_labels(tmp_path / "y.npy")
    assert not Bomb.went_off


def test_sparse_indices_outside_are_refused(tmp_path):
    np.savez(tmp_path / "t.npz", format=b"csr", shape=[2, 2], data=[1.0], indices=[10**6], indptr=[0, 1, 1])
    with pytest.raises(ValueError, match="can not be read as a sparse matrix"):
        read_table(tmp_path / "t.npz")


def test_labels_beside_the_matrix(tmp_path):
    X = np.arange(12.0).reshape(4, 3) ** 2
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", [0, 1, -1, 0])
    (tmp_path / "y.txt").write_text("a\nb\n\na\n")
    data = read_own(tmp_path / "X.npy", labels_file=tmp_path / "y.npy")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, -1, 0]
    assert read_own(tmp_path / "X.npy", labels_file=tmp_path / "y.txt").class_names == ("a", "b")
    with pytest.raises(ValueError, match=r"X.npy holds no labels; give them by --labels-file"):
        read_own(tmp_path / "X.npy")
    with pytest.raises(ValueError, match="no named columns, so --label can not be used; give labels by --labels-file"):
        read_own(tmp_path / "X.npy", label="2")
    np.save(tmp_path / "y.npy", [0, 1])
    with pytest.raises(ValueError, match=r"y.npy has 2 labels, and X.npy has 4 rows"):
        read_own(tmp_path / "X.npy", labels_file=tmp_path / "y.npy")


def test_a_million_sparse_columns(tmp_path):
    X = sparse.random_array((50, 1_000_000), density=2e-5, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "X.npz", X)
    (tmp_path / "y.txt").write_text("a\nb\n" * 25)
    data = read_own(tmp_path / "X.npz", labels_file=tmp_path / "y.txt", prepare="standard")
    assert sparse.issparse(data.X)
    assert data.X.nnz == X.nnz
    used = X[:, np.unique(X.indices)].toarray()
    np.testing.assert_allclose(data.X.toarray(), used / used.std(axis=0), rtol=1e-4)
    assert any("have no entry" in note for note in data.notes)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(["a"]), "must have a row for each thing"),
        (np.array([["a"]]), "must hold numbers"),
        (np.array([[1j]]), "must hold numbers"),
        (np.empty((0, 3)), "must have a row for each thing"),
    ],
)
def test_arrays_that_are_no_rows(tmp_path, array, message):
    np.save(tmp_path / "X.npy", array)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "X.npy")


def test_an_archive_under_the_wrong_name(tmp_path):
    content = io.BytesIO()
    np.savez(content, X=np.eye(2))
    (tmp_path / "X.npy").write_bytes(content.getvalue())
    with pytest.raises(ValueError, match=r"is an .npz archive"):
        read_table(tmp_path / "X.npy")
