import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import glcn.training.checkpoint
from glcn import GLCNClassifier
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
    "settings", [{}, {"batch_size": 30}, {"variant": "closeness"}], ids=["plus", "batches", "closeness"]
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
