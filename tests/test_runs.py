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
    with pytest.raises(PermissionError, match="can not write into"):
        runs.check_target(tmp_path / "file/run")


def test_what_a_killed_writer_left_does_not_reach_the_run(fitted, tmp_path):
    data, clf = fitted
    aside = runs.unfinished(tmp_path / "run")
    (aside / "model").mkdir(parents=True)
    (aside / "model/model.json").write_text("half")
    (aside / ".model.partial").mkdir()
    (aside / ".checkpoint.safetensors.123.partial").write_bytes(b"half")
    runs.write_run(tmp_path / "run", data, clf, runs.evaluate(data, clf))
    assert not list((tmp_path / "run").rglob("*.partial"))
    assert (runs.load_run(tmp_path / "run").clf.transduction_ == clf.transduction_).all()
