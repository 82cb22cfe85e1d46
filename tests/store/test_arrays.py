import zipfile

import numpy as np
import pytest
from scipy import sparse

from glcn.store.arrays import arrays_in


def joined(array, size, start=0):
    blocks = list(array.blocks(size, start))
    assert all(len(block) <= size for _, block in blocks)
    assert [first for first, _ in blocks] == list(range(start, array.shape[0], size))
    return np.concatenate([block for _, block in blocks])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", ["<f8", ">f4", "i2", "?"])
@pytest.mark.parametrize("start", [0, 7, 12])
def test_a_member_of_an_archive_is_read_in_blocks(save, dtype, start, tmp_path, random):
    X = (10 * random.normal(size=(30, 4))).astype(dtype)
    save(tmp_path / "a.npz", X=X, y=np.arange(30))
    found = arrays_in(tmp_path / "a.npz")
    assert set(found) == {"X", "y"}
    np.testing.assert_array_equal(joined(found["X"], 5, start), X[start:])
    np.testing.assert_array_equal(joined(found["y"], 4), np.arange(30))


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_file_is_read_in_blocks(order, tmp_path, random):
    X = np.asarray(random.normal(size=(30, 4)), order=order)
    np.save(tmp_path / "a.npy", X)
    np.testing.assert_array_equal(joined(arrays_in(tmp_path / "a.npy")["X"], 8, 3), X[3:])


def test_an_archive_is_never_read_as_a_whole(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((100_000, 50)))
    largest = 0
    read = zipfile.ZipExtFile.read

    def watched(self, n=-1):
        nonlocal largest
        result = read(self, n)
        largest = max(largest, len(result))
        return result

    monkeypatch.setattr(zipfile.ZipExtFile, "read", watched)
    assert joined(arrays_in(tmp_path / "a.npz")["X"], 100, 80_000).shape == (20_000, 50)
    assert 0 < largest <= zipfile.ZipExtFile.MAX_SEEK_READ < 80_000 * 50 * 8


def test_objects_are_not_unpickled(tmp_path):
    objects = np.array([{"a": 1}, None], dtype=object)
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "a.npz", X=objects)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match=f"{name} holds Python objects, which are not read; save it as"):
            arrays_in(tmp_path / name)


def test_a_sparse_matrix_is_refused_with_a_remedy(tmp_path):
    for kind in ("csr", "coo"):
        sparse.save_npz(tmp_path / "a.npz", sparse.random(5, 5, 0.5, kind))
        with pytest.raises(ValueError, match=r"sparse matrix.*reduce it first, for example by .*TruncatedSVD"):
            arrays_in(tmp_path / "a.npz")


def test_damaged_files_are_named(tmp_path, random):
    np.save(tmp_path / "cut.npy", random.normal(size=(30, 4)))
    np.savez(tmp_path / "cut.npz", X=random.normal(size=(30, 4)))
    for name in ("cut.npy", "cut.npz"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:-300])
        with pytest.raises(ValueError, match=f"{name}.*write"):
            arrays_in(path)
    (tmp_path / "text.npy").write_text("hello, I am a text and no array at all")
    with pytest.raises(ValueError, match=r"text.npy is damaged or no .npy file"):
        arrays_in(tmp_path / "text.npy")


def test_a_member_that_ends_too_early(tmp_path, random):
    np.save(tmp_path / "X.npy", random.normal(size=(30, 4)))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", (tmp_path / "X.npy").read_bytes()[:-8])
    with pytest.raises(ValueError, match=r"X in a.npz ends too early; write the file again"):
        joined(arrays_in(tmp_path / "a.npz")["X"], 8)


def test_what_can_not_be_read(tmp_path, random):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        arrays_in(tmp_path / "a.npy")
    (tmp_path / "a.csv").write_text("1,2")
    with pytest.raises(ValueError, match=r"its ending must be .npy or .npz"):
        arrays_in(tmp_path / "a.csv")
    np.savez(tmp_path / "a.npz", X=np.asfortranarray(random.normal(size=(30, 4))))
    with pytest.raises(ValueError, match=r"stored by columns; save np.ascontiguousarray\(X\)"):
        arrays_in(tmp_path / "a.npz")
