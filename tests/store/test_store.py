import json

import numpy as np
import pytest

from glcn.store import Store, StoreError, build_store
from glcn.store.format import SCHEMA, read_description, write_description
from stores import rows_and_labels


@pytest.fixture
def folder(tmp_path):
    X, y = rows_and_labels(60)
    np.savez(tmp_path / "a.npz", X=X, y=y.astype("U3"))
    return build_store(tmp_path / "a.npz", tmp_path / "s", n_neighbors=4).path


def rewritten(folder, **changes):
    """Write another description, with a checksum that fits."""
    whole = read_description(folder)
    for name in ("format", "schema"):
        whole.pop(name)
    write_description(folder, whole | changes)


def test_it_opens(folder):
    store = Store.open(str(folder), verify=True)
    assert (store.num_rows, store.num_features) == (60, 6)
    assert store.classes == (0, 10, 20, 30, 40)
    assert "array" not in repr(store)


def test_a_store_says_nothing_of_where_or_when_it_was_built(folder):
    text = (folder / "store.json").read_text()
    assert str(folder.parent) not in text
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", *[".npy"] * 9]


def test_a_missing_store(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no store in .*; build it again"):
        Store.open(tmp_path / "none")


@pytest.mark.parametrize("name", ["X", "y", "scale", "centroids", "cell_indptr", "cell_rows", "neighbors", "indptr"])
def test_missing_and_truncated_arrays(name, folder):
    path = folder / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(StoreError, match=rf"{name}.npy has .* bytes, expected .*; build it again with"):
        Store.open(folder)
    path.unlink()
    with pytest.raises(StoreError, match=rf"lacks {name}.npy; build it again"):
        Store.open(folder)


def test_an_array_of_another_kind(folder):
    path = folder / "y.npy"
    np.save(path, np.load(path).astype(np.float32))
    with pytest.raises(StoreError, match=r"holds float32 of shape \(60,\), expected int32 of shape \(60,\)"):
        Store.open(folder)
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(StoreError, match="can not be read as an array"):
        Store.open(folder)


def test_an_edited_array_is_found_by_its_checksum(folder):
    values = np.load(folder / "X.npy", mmap_mode="r+")
    values[17, 2] += 1
    values.flush()
    Store.open(folder)
    with pytest.raises(StoreError, match=r"X.npy was changed after it was built \(its checksum differs\); build"):
        Store.open(folder, verify=True)


@pytest.mark.parametrize("name", ["indptr", "cell_indptr"])
@pytest.mark.parametrize("place", [0, -1])
def test_ends_of_rows_that_do_not_fit_are_always_found(name, place, folder):
    values = np.load(folder / f"{name}.npy", mmap_mode="r+")
    values[place] += 1
    values.flush()
    with pytest.raises(StoreError, match="do not belong together; build it again"):
        Store.open(folder)


@pytest.mark.parametrize("part", [3, 10_000])
@pytest.mark.parametrize("name", ["indices", "neighbors", "cell_rows"])
@pytest.mark.parametrize("number", [-1, 1_900_000_000])
def test_rows_that_there_are_not_are_always_found(name, number, part, folder, monkeypatch):
    monkeypatch.setattr("glcn.store.store.PART", part)
    values = np.load(folder / f"{name}.npy", mmap_mode="r+")
    values.ravel()[-2] = number
    values.flush()
    with pytest.raises(StoreError, match=f"{name} in .* names rows that there are not; build it again"):
        Store.open(folder)


@pytest.mark.parametrize("part", [1, 10_000])
def test_rows_that_begin_after_they_end_are_always_found(part, folder, monkeypatch):
    monkeypatch.setattr("glcn.store.store.PART", part)
    values = np.load(folder / "indptr.npy", mmap_mode="r+")
    values[1] = 10**12
    values.flush()
    with pytest.raises(StoreError, match=r"indptr in .* does not rise; build it again"):
        Store.open(folder)


def test_an_edited_description(folder):
    path = folder / "store.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole | {"recall": 1.5}))
    with pytest.raises(StoreError, match=r"store.json was changed after it was built; build"):
        Store.open(folder)
    for text in ("{", "[]", "{}", "3"):
        path.write_text(text)
        with pytest.raises(StoreError, match=r"store.json can not be read; build"):
            Store.open(folder)


def test_a_description_that_lacks_something(folder):
    rewritten(folder, arrays={})
    with pytest.raises(StoreError, match="lacks 'X'; build it again"):
        Store.open(folder)


def test_a_newer_schema(folder):
    path = folder / "store.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": SCHEMA + 1}))
    with pytest.raises(StoreError, match=rf"by a newer glcn \(schema {SCHEMA + 1}, known {SCHEMA}\); update glcn"):
        Store.open(folder)
