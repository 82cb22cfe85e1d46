import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from glcn.cli import app


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["graph", *(str(word) for word in words)])


@pytest.fixture
def features(tmp_path, random):
    np.save(tmp_path / "X.npy", random.normal(size=(80, 5)))
    (tmp_path / "y.csv").write_text("red\n\nblue\n" + "\n" * 77)
    return "X.npy"


def test_build_and_show_print_the_same_table(command, features):
    built = command("build", features, "-o", "s", "--labels", "y.csv", "--n-neighbors", "6")
    assert built.exit_code == 0, built.output
    shown = command("show", "s", "--verify")
    assert shown.exit_code == 0, shown.output
    for words in ("80 × 5", "labelled rows", "2: blue, red", "6 neighbours a row, euclidean", "100.0%", "size on disk"):
        assert words in built.stdout
        assert words in shown.stdout
    assert "seconds" in built.stdout
    assert "all as they were built" in shown.stdout
    rows = [line for line in built.stdout.splitlines() if "│" in line and "seconds" not in line]
    assert rows == [line for line in command("show", "s").stdout.splitlines() if "│" in line]


def test_quiet_prints_the_folder_only(command, features):
    result = command("build", features, "-o", "s", "--quiet", "--metric", "cosine")
    assert (result.stdout, result.stderr) == ("s\n", "")
    assert "cosine" in command("show", "s").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "none.npy", "-o", "s"], "there is no file none.npy"),
        (["build", "X.npy", "-o", "X.npy"], "X.npy exists already"),
        (["build", "X.npy", "-o", "s", "--metric", "l1"], "metric must be one of"),
        (["build", "X.npy", "-o", "s", "--n-neighbors", "80"], "below the number of rows (80), got 80"),
        (["build", "X.npy", "-o", "s", "--labels", "none.csv"], "there is no file none.csv"),
        (["show", "s"], "there is no store in s"),
    ],
)
def test_mistakes_are_told_in_one_sentence(words, message, command, features):
    result = command(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_debug_shows_the_traceback(command, features):
    assert isinstance(command("build", "none.npy", "-o", "s", "--debug").exception, FileNotFoundError)


def test_after_ctrl_c_the_same_command_goes_on(command, features, monkeypatch):
    from glcn.graph.coarse import Cells

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Cells, "refine", interrupted)
        result = command("build", features, "-o", "s")
    assert result.exit_code == 130
    assert "run the same command again to go on from here" in result.stderr
    assert "Traceback" not in result.output
    again = command("build", features, "-o", "s", "--n-neighbors", "5")
    assert again.exit_code == 0
    assert "note: what was begun in s.partial was for another input or other settings (n_neighbors)" in again.stderr


def test_help_does_not_load_what_it_does_not_need():
    code = (
        "import sys; from typer.testing import CliRunner; from glcn.cli import app; "
        "assert CliRunner().invoke(app, ['graph', 'build', '--help']).exit_code == 0; "
        "assert not {'torch', 'numba', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_store_that_has_moved_is_named_to_predict(command, features, tmp_path, random):
    y = np.where(np.arange(80) < 40, "low", "high")
    np.save(tmp_path / "labels.npy", y)
    assert command("build", features, "-o", "s", "--labels", "labels.npy", "--quiet").exit_code == 0
    glcn = CliRunner()
    words = ["fit", "s", "--variant", "closeness", "--batch-size", "20", "--batch-shares", "2", "--max-epochs", "3"]
    fitted = glcn.invoke(app, [*words, "--out", "run", "-q"])
    assert fitted.exit_code == 0, fitted.output
    (tmp_path / "s").rename(tmp_path / "moved")
    np.save(tmp_path / "new.npy", random.normal(size=(3, 5)))
    lost = glcn.invoke(app, ["predict", "run", "new.npy"])
    assert lost.exit_code == 2
    assert "--store" in " ".join(lost.output.split())
    found = glcn.invoke(app, ["predict", "run", "new.npy", "--store", "moved", "-q"])
    assert found.exit_code == 0, found.output
    assert [line.split(",")[0] for line in found.stdout.splitlines()] == ["row", "0", "1", "2"]
