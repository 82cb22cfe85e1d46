"""Fits on a store: rows and neighbours stay on disk, and so does what is kept of them."""

import shutil

import numpy as np
import pytest

from glcn import GLCNClassifier
from glcn.store import build_store

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")

SETTINGS = {"n_neighbors": 6, "metric": "euclidean", "random_state": 0, "validation_fraction": 0.0, "fixed_epochs": 40}


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    y = np.arange(1500) % 3
    X = random.normal(size=(1500, 8)).astype(np.float32)
    X[np.arange(1500), y] += 2.5
    return X, y, np.where(random.random(1500) < 0.1, y, -1)


@pytest.fixture(scope="module")
def store(table, tmp_path_factory):
    X, _, few = table
    folder = tmp_path_factory.mktemp("store")
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", few)
    return build_store(folder / "X.npy", folder / "store", labels=folder / "y.npy", n_neighbors=6)


@pytest.mark.parametrize("variant", ["plus", "closeness"])
def test_files_hold_what_memory_would(store, table, tmp_path, variant):
    X, y, _ = table
    on_disk = GLCNClassifier(variant, batch_size=100, work_dir=tmp_path, **SETTINGS).fit(store.X, store.y, graph=store)
    memory = GLCNClassifier(variant, batch_size=100, **SETTINGS).fit(store.X, store.y, graph=store.graph.to_candidate())
    np.testing.assert_array_equal(on_disk.label_distributions_, memory.label_distributions_)
    assert abs(on_disk.graph_ - memory.graph_).max() == 0
    assert (on_disk.transduction_ == y).mean() > 0.85
    assert {path.name for path in tmp_path.iterdir()} > {"embedding.npy", "logits.npy", "probabilities.npy"}
    assert on_disk.neighbor_recall_ == store.recall
    new = X[:200] + 0.01
    assert (on_disk.predict(new) == memory.predict(new)).mean() > 0.98  # other searches for neighbours


def test_a_small_store_may_be_trained_as_a_whole(store, table):
    clf = GLCNClassifier(**SETTINGS).fit(store.X, store.y, graph=store)
    assert clf.settings_["batch_size"] is None
    assert (clf.transduction_ == table[1]).mean() > 0.85


@pytest.mark.parametrize("variant", ["plus", "closeness"])
def test_a_saved_one_answers_alike_and_says_where_its_store_is_gone(store, table, tmp_path, variant):
    (tmp_path / "work").mkdir()
    clf = GLCNClassifier(variant, batch_size=100, work_dir=tmp_path / "work", **SETTINGS)
    moved = shutil.copytree(store.path, tmp_path / "store")
    opened = type(store).open(moved)
    clf.fit(opened.X, opened.y, graph=opened)
    clf.save(tmp_path / "model")
    expected = clf.predict_proba(table[0][:50] * 1.01), np.array(clf.label_distributions_)
    shutil.rmtree(tmp_path / "work")
    again = GLCNClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(table[0][:50] * 1.01), expected[0])
    np.testing.assert_array_equal(again.label_distributions_, expected[1])
    assert again.explain(3)[0].label == clf.explain(3)[0].label
    moved.rename(tmp_path / "elsewhere")
    with pytest.raises(
        FileNotFoundError, match=r"on which this model was fitted, is not there; say where it is now by store="
    ):
        GLCNClassifier.load(tmp_path / "model")
    found = GLCNClassifier.load(tmp_path / "model", store=tmp_path / "elsewhere")
    np.testing.assert_array_equal(found.predict_proba(table[0][:50] * 1.01), expected[0])
    np.save(tmp_path / "other.npy", table[0] + 1)
    build_store(tmp_path / "other.npy", tmp_path / "other")
    with pytest.raises(ValueError, match=r"is another store than the one on which this model was fitted; say where"):
        GLCNClassifier.load(tmp_path / "model", store=tmp_path / "other")


def test_other_rows_than_those_of_the_store_are_refused(store, table):
    with pytest.raises(ValueError, match="pass its own X"):
        GLCNClassifier(**SETTINGS).fit(table[0][:-1], table[2][:-1], graph=store)
