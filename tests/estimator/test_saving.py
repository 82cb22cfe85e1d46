import errno
import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier

FEW = {"fixed_epochs": 8, "random_state": 0}


def fitted(blobs, *, compact=False, graph=None, **settings):
    X, _, few = blobs
    X = sparse.csr_matrix(np.where(X > 1.5, X, 0)) if compact else X
    return X, GLCNClassifier(**(FEW | settings)).fit(X, few, graph=graph)


@pytest.mark.parametrize(
    ("settings", "graph"),
    [
        ({}, None),
        ({"compact": True, "metric": "cosine"}, None),
        ({"variant": "closeness"}, None),
        ({"variant": "closeness", "projection_size": None}, None),
        ({"variant": "closeness"}, "complete"),
        ({"batch_size": 30}, None),
        ({"learn_graph": False}, None),
        ({"class_weight": {0: 1.0, 1: 2.0, 2: 1.0}, "n_passes": 1}, None),
    ],
)
@pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
def test_a_loaded_classifier_answers_bit_for_bit(blobs, tmp_path, settings, graph, monkeypatch):
    monkeypatch.setattr("glcn.estimator.assembling.PAIRS_STORED", 50)  # all pairs in blocks
    X, clf = fitted(blobs, graph=graph, **settings)
    clf.save(tmp_path / "model")
    again = GLCNClassifier.load(tmp_path / "model")
    new = X[:40] * 1.01
    np.testing.assert_array_equal(again.predict_proba(new), clf.predict_proba(new))
    edges = np.array([[0, 1, 1], [3, 4, 5]])
    np.testing.assert_array_equal(again.predict_proba(new[:2], edges=edges), clf.predict_proba(new[:2], edges=edges))
    np.testing.assert_array_equal(again.transduction_, clf.transduction_)
    np.testing.assert_array_equal(again.label_distributions_, clf.label_distributions_)
    np.testing.assert_allclose(again.hidden_, clf.hidden_, atol=1e-5)
    assert (again.graph_ != clf.graph_).nnz == 0
    assert again.get_params() == clf.get_params()
    assert again.settings_ == clf.settings_
    assert again.graph_report_ == clf.graph_report_
    assert again.history_ == clf.history_
    assert again.classes_.dtype == clf.classes_.dtype
    again.fit(X, blobs[2])  # it is a classifier like any other


@pytest.mark.parametrize(
    "names", [["röt", "=1+1", "<b>"], [True, False, True], [1.0, 2.0, 3.0], np.array([3, 1, 2], np.int8)]
)
def test_labels_of_any_type_come_back(blobs, tmp_path, names):
    X, _, few = blobs
    y = np.array([None if code < 0 else names[code] for code in few], dtype=object)
    clf = GLCNClassifier(**FEW).fit(X, y)
    clf.save(tmp_path / "model")
    again = GLCNClassifier.load(tmp_path / "model")
    assert again.predict(X[:20]).tolist() == clf.predict(X[:20]).tolist()
    assert again.classes_.dtype == clf.classes_.dtype


def test_names_of_columns_are_checked_after_loading(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, _, few = blobs
    table = pandas.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])
    GLCNClassifier(**FEW).fit(table, few).save(tmp_path / "model")
    again = GLCNClassifier.load(tmp_path / "model")
    again.predict(table[:3])
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(table[:3].rename(columns={"column 0": "another"}))


def test_it_loads_in_another_process_without_the_training_data(blobs, tmp_path):
    X, clf = fitted(blobs)
    clf.save(tmp_path / "model")
    np.save(tmp_path / "new.npy", X[:9])
    script = (
        "import sys, numpy as np; from glcn import GLCNClassifier; from pathlib import Path; here = Path(sys.argv[1]);"
        "np.save(here / 'out.npy', GLCNClassifier.load(here / 'model').predict_proba(np.load(here / 'new.npy')))"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), clf.predict_proba(X[:9]))


@pytest.fixture
def model(blobs, tmp_path):
    fitted(blobs)[1].save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
@pytest.mark.parametrize("keep", [0, 10, 0.5, -3])
def test_a_truncated_file_is_said(model, name, keep):
    content = (model / name).read_bytes()
    (model / name).write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    with pytest.raises(ValueError, match=r"damaged|can not be read"):
        GLCNClassifier.load(model)


def test_a_changed_file_is_said(model):
    content = bytearray((model / "model.safetensors").read_bytes())
    content[-5] ^= 1
    (model / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged or was changed"):
        GLCNClassifier.load(model)


def test_an_edited_description_is_said(model):
    path = model / "model.json"
    description = json.loads(path.read_text())
    description["classes"]["labels"][0] = 77
    path.write_text(json.dumps(description))
    with pytest.raises(ValueError, match="was changed after it was saved"):
        GLCNClassifier.load(model)


def test_a_newer_file_is_said(model):
    path = model / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 6}))
    with pytest.raises(ValueError, match="has schema 6, and this glcn reads 5"):
        GLCNClassifier.load(model)


def test_a_folder_without_a_model_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no saved model"):
        GLCNClassifier.load(tmp_path)


def test_nothing_is_overwritten_and_nothing_is_left_half_written(blobs, model, monkeypatch):
    _, clf = fitted(blobs)
    before = (model / "model.safetensors").read_bytes()
    with pytest.raises(FileExistsError, match="exists already"):
        clf.save(model)
    assert (model / "model.safetensors").read_bytes() == before

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("glcn.estimator.saving.write_state", full)
    with pytest.raises(OSError, match="No space left"):
        clf.save(model.with_name("other"))
    assert [path.name for path in model.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("change", ["truncated", "another shape", "missing"])
def test_changed_files_of_known_rows_are_said(blobs, tmp_path, change):
    X, _, few = blobs
    GLCNClassifier(**FEW, batch_size=30, work_dir=tmp_path / "work").fit(X, few).save(tmp_path / "model")
    GLCNClassifier.load(tmp_path / "model")
    path = tmp_path / "model/known/embedding.npy"
    content = path.read_bytes()
    path.unlink()  # it is the same file as that in the work folder
    if change != "missing":
        path.write_bytes(content[:-4] if change == "truncated" else content.replace(b"(90, ", b"(09, "))
    with pytest.raises(ValueError, match=r"known are missing or were changed after they were saved; take a copy"):
        GLCNClassifier.load(tmp_path / "model")


def test_a_full_disk_is_said_in_a_sentence(blobs, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match=r"can not write .*model\.safetensors: No space left on device; make room"):
        fitted(blobs)[1].save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_classifier_can_not_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        GLCNClassifier().save(tmp_path / "model")
