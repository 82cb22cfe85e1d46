import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from glcn import GLCNClassifier, datasets, runs

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")


@pytest.fixture(scope="module")
def fitted():
    data = datasets.load("digits")
    return data, GLCNClassifier(max_epochs=1, random_state=0).fit(
        data.X, data.visible_labels, validation=data.validation
    )


def test_a_run_appears_whole_or_not_at_all(fitted, tmp_path, monkeypatch):
    data, clf = fitted
    metrics = runs.evaluate(data, clf)

    def full(*_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(runs.sparse, "save_npz", full)
        with pytest.raises(OSError, match="No space left"):
            runs.write_run(tmp_path / "run", data, clf, metrics)
    assert list(tmp_path.iterdir()) == []
    runs.write_run(tmp_path / "run", data, clf, metrics)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_appeared_meanwhile_is_not_overwritten(fitted, tmp_path):
    data, clf = fitted
    (tmp_path / "run").mkdir()
    (tmp_path / "run/precious.txt").write_text("keep")
    with pytest.raises(OSError, match=r"not empty|exists"):
        runs.write_run(tmp_path / "run", data, clf, runs.evaluate(data, clf))
    assert (tmp_path / "run/precious.txt").read_text() == "keep"


def test_free_path_and_targets(tmp_path):
    assert runs.free_path(tmp_path, "a") == tmp_path / "a"
    (tmp_path / "a").mkdir()
    (tmp_path / "a-2").mkdir()
    assert runs.free_path(tmp_path, "a") == tmp_path / "a-3"
    runs.check_target(tmp_path / "new/deep")
    with pytest.raises(FileExistsError, match="choose another --out"):
        runs.check_target(tmp_path / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(PermissionError, match=r"no files can be made in .*file; choose another --out"):
        runs.check_target(tmp_path / "file/run")


def test_what_a_killed_writer_left_does_not_reach_the_run(fitted, tmp_path):
    data, clf = fitted
    aside = runs.unfinished(tmp_path / "run")
    (aside / "results/model").mkdir(parents=True)
    (aside / "results/model/model.json").write_text("half")
    (aside / "results/.tmpAbCdEf").write_text("half")
    (aside / ".checkpoint.safetensors.123.partial").write_bytes(b"half")
    runs.begin_run(tmp_path / "run")
    assert list(aside.iterdir()) == []
    runs.write_run(tmp_path / "run", data, clf, runs.evaluate(data, clf))
    assert not [path for path in (tmp_path / "run").rglob("*") if path.name.startswith(".")]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "run").rglob("*") if path.is_file()} == {
        0o666 & ~current_umask()
    }
    assert (runs.load_run(tmp_path / "run").clf.transduction_ == clf.transduction_).all()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("broken", ["write_manifest", "_write_json", "Path.rename"])
def test_a_full_disk_keeps_what_was_learned(fitted, tmp_path, monkeypatch, broken):
    data, clf = fitted
    folder, metrics = tmp_path / "run", runs.evaluate(data, clf)
    runs.begin_run(folder)
    runs.checkpoint_of(folder).write_bytes(b"the state")
    with monkeypatch.context() as patch:
        patch.setattr(f"pathlib.{broken}" if "." in broken else f"glcn.runs.{broken}", full)
        with pytest.raises(OSError, match=r"can not write .*run: No space left.*; make room .*with --resume"):
            runs.write_run(folder, data, clf, metrics)
    assert not folder.exists()
    assert [path.name for path in runs.unfinished(folder).iterdir()] == ["checkpoint.safetensors"]
    runs.write_run(folder, data, clf, metrics)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_it_is_said_where_nothing_could_be_kept(fitted, tmp_path, monkeypatch):
    data, clf = fitted
    monkeypatch.setattr("glcn.runs.write_manifest", full)
    with pytest.raises(OSError, match="what was learned could not be kept"):
        runs.write_run(tmp_path / "run", data, clf, runs.evaluate(data, clf))


def test_the_state_is_removed_after_the_rename_only(fitted, tmp_path, monkeypatch):
    data, clf = fitted
    folder = tmp_path / "run"
    runs.begin_run(folder)
    runs.checkpoint_of(folder).write_bytes(b"the state")
    there = []
    rename = Path.rename
    monkeypatch.setattr(
        Path, "rename", lambda self, to: there.append(runs.checkpoint_of(folder).exists()) or rename(self, to)
    )
    runs.write_run(folder, data, clf, runs.evaluate(data, clf))
    assert there == [True, True]  # of the model, and of all results
    assert not runs.is_begun(folder)


@pytest.fixture(scope="module")
def written(fitted, tmp_path_factory):
    data, clf = fitted
    folder = tmp_path_factory.mktemp("written") / "run"
    runs.write_run(folder, data, clf, runs.evaluate(data, clf))
    return folder


CHECKED = ("settings.json", "metrics.json", "rows.json", "truth.json", "history.json", "thumbnails.webp")


@pytest.fixture
def copied(written, tmp_path):
    return shutil.copytree(written, tmp_path / "run")


@pytest.mark.parametrize("name", [*CHECKED, "manifest.json", "model/model.json", "model/model.safetensors"])
@pytest.mark.parametrize("change", ["edited", "truncated", "missing"])
def test_a_changed_run_is_said(copied, name, change):
    path = copied / name
    content = bytearray(path.read_bytes())
    half = len(content) // 2
    content[half] ^= 1
    if change == "missing":
        path.unlink()
    else:
        path.write_bytes(content[:half] if change == "truncated" else content)
    with pytest.raises((ValueError, FileNotFoundError), match=r"damaged|was changed|missing|no saved model"):
        runs.load_run(copied)


def test_a_newer_run_is_said(copied):
    path = copied / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 99}))
    with pytest.raises(ValueError, match="has schema 99, and this glcn reads 1; use the glcn that wrote it"):
        runs.load_run(copied)


def test_files_that_people_touch_may_change(copied):
    (copied / "predictions.csv").unlink()
    (copied / "report.html").write_text("a page")
    (copied / "map.npz").write_bytes(b"a map")
    assert runs.load_run(copied).metrics["dataset"] == "digits"
