from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from scipy import sparse

import glcn.training.checkpoint
from glcn import GLCNClassifier
from glcn.exceptions import CheckpointWarning
from glcn.state_file import write_state
from glcn.training import Checkpoint


class Killed(BaseException):
    """Stands for a death at a known moment."""


@pytest.fixture(autouse=True)
def after_each_step(monkeypatch):
    monkeypatch.setattr(glcn.training.checkpoint, "EVERY", 0.0)


def test_a_state_comes_back_as_it_was(tmp_path):
    state = {
        "epoch": 3,
        "weights": {"a": torch.randn(2, 3), "b": torch.arange(4, dtype=torch.uint8)},
        "by_number": {0: {"step": torch.tensor(2.0)}, 1: {"step": torch.tensor(2.5)}},
        "groups": [{"lr": 0.1, "betas": (0.9, 0.999), "params": [0, 1]}, {"name": "ä", "none": None}],
        "history": {"loss": [0.1, 1 / 3, float("inf")]},
    }
    kept = Checkpoint(tmp_path / "state", "purpose")
    assert kept.read() is None
    kept.write(state)
    found = Checkpoint(tmp_path / "state", "purpose").read()
    assert torch.equal(found["weights"]["a"], state["weights"]["a"])
    assert torch.equal(found["weights"]["b"], state["weights"]["b"])
    assert found["by_number"] == state["by_number"]
    assert found["groups"] == [{"lr": 0.1, "betas": [0.9, 0.999], "params": [0, 1]}, {"name": "ä", "none": None}]
    assert found["history"] == state["history"]
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_what_can_not_be_gone_on_with_is_said(tmp_path):
    path = tmp_path / "state"
    Checkpoint(path, "one").write({"epoch": 1, "weights": torch.ones(100)})
    with pytest.raises(ValueError, match="other data or with other settings"):
        Checkpoint(path, "another").read()
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ValueError, match=r"can not be read .* delete it to start anew"):
        Checkpoint(path, "one").read()
    save_file({"x": torch.ones(1)}, path)
    with pytest.raises(ValueError, match="can not be read"):
        Checkpoint(path, "one").read()
    write_state(path, {"schema": 99})
    with pytest.raises(ValueError, match="another version"):
        Checkpoint(path, "one").read()


@pytest.mark.parametrize(
    "settings",
    [{}, {"batch_size": 30}, {"variant": "closeness"}, {"rounds": 2, "min_epochs": 0}],
    ids=["plus", "batches", "closeness", "rounds"],
)
def test_a_training_that_died_ends_with_the_same_bits(tmp_path, blobs, settings):
    X, y, few = blobs
    validation = np.flatnonzero(few < 0)[:20]
    few[validation] = y[validation]

    def classifier():
        return GLCNClassifier(max_epochs=30, patience=12, random_state=0, **settings)

    whole = classifier().fit(X, few, validation=validation)

    def die(progress):
        if progress.epoch == dies_at:
            raise Killed

    for dies_at in (1, 7, 25):
        path = tmp_path / f"{dies_at}.safetensors"
        with pytest.raises(Killed):
            classifier().fit(X, few, validation=validation, callback=die, checkpoint=path)
        again = classifier().fit(X, few, validation=validation, checkpoint=path)
        assert again.history_ == whole.history_
        assert again.best_epoch_ == whole.best_epoch_
        np.testing.assert_array_equal(again.label_distributions_, whole.label_distributions_)


def test_a_finished_training_is_not_repeated(tmp_path, blobs):
    X, _, few = blobs
    path = tmp_path / "state"
    whole = GLCNClassifier(fixed_epochs=5, random_state=0).fit(X, few, checkpoint=path, checkpoint_every=1e9)
    epochs = []
    again = GLCNClassifier(fixed_epochs=5, random_state=0)
    again.fit(X, few, checkpoint=path, callback=epochs.append)
    assert epochs == []
    assert again.history_ == whole.history_
    assert again.n_iter_ == 5
    np.testing.assert_array_equal(again.label_distributions_, whole.label_distributions_)


def test_a_disk_that_fills_up_does_not_end_the_training(tmp_path, blobs, monkeypatch):
    X, _, few = blobs
    clf = GLCNClassifier(fixed_epochs=4, random_state=0)

    def full(*_):
        raise OSError("can not write the state: No space left on device")

    monkeypatch.setattr(glcn.training.checkpoint, "write_state", full)
    with pytest.warns(CheckpointWarning, match="No space left on device .training goes on") as told:
        clf.fit(X, few, checkpoint=tmp_path / "state")
    assert len(told) == 1
    assert clf.n_iter_ == 4


def test_too_small_a_disk_is_said_before_work(tmp_path, blobs, monkeypatch):
    X, _, few = blobs
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    epochs = []
    with pytest.raises(OSError, match=r"needs about 1 MB on disk in .*, and 1 MB are free; make room"):
        GLCNClassifier(random_state=0).fit(X, few, checkpoint=tmp_path / "state", callback=epochs.append)
    assert epochs == []


def test_another_graph_prior_or_row_is_refused(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 4))
    few = np.where(np.arange(1500) < 30, np.arange(1500) % 2, -1)
    ring = sparse.csr_array((np.ones(1500), (np.arange(1500), (np.arange(1500) + 1) % 1500)), (1500, 1500))
    ring = ring + ring.T

    def fit(X=X, graph=ring, prior=ring):
        clf = GLCNClassifier("closeness", prior_weight=0.1, fixed_epochs=1, random_state=0, validation_fraction=0)
        return clf.fit(X, few, graph=graph, prior=prior, checkpoint=tmp_path / "state")

    fit()
    fit()
    moved = X.copy()
    moved[601] += 1e-3  # one of those rows that no sample of a thousand has
    for change in ({"graph": ring * 2}, {"graph": ring @ ring}, {"prior": ring * 2}, {"X": moved}):
        with pytest.raises(ValueError, match="other data or with other settings"):
            fit(**change)


def test_another_training_is_refused(tmp_path, blobs):
    X, _, few = blobs
    path = tmp_path / "state"
    GLCNClassifier(fixed_epochs=3, random_state=0).fit(X, few, checkpoint=path)
    for changed in (
        lambda: GLCNClassifier(fixed_epochs=3, random_state=1).fit(X, few, checkpoint=path),
        lambda: GLCNClassifier(fixed_epochs=3, hidden_units=5, random_state=0).fit(X, few, checkpoint=path),
        lambda: GLCNClassifier(fixed_epochs=3, random_state=0).fit(X + 1, few, checkpoint=path),
        lambda: GLCNClassifier(fixed_epochs=3, random_state=0).fit(X, np.roll(few, 1), checkpoint=path),
    ):
        with pytest.raises(ValueError, match="other data or with other settings"):
            changed()
