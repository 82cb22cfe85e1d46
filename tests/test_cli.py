import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import sparse
from typer.testing import CliRunner

from glcn import __version__, datasets, runs
from glcn.cli import app


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_fit_shows_a_table_and_writes_a_run(command, tmp_path):
    result = command("fit", "digits", "--max-epochs", "30", "--seed", "2")
    assert result.exit_code == 0, result.output
    for words in ("1797 rows", "test accuracy", "validation accuracy", "learned graph", "results in"):
        assert words in result.output
    folder = tmp_path / "runs/digits-plus-seed2"
    assert sorted(path.name for path in folder.iterdir()) == [
        "graph.npz",
        "history.json",
        "manifest.json",
        "metrics.json",
        "model",
        "predictions.csv",
        "rows.json",
        "settings.json",
        "thumbnails.webp",
        "truth.json",
    ]
    data = datasets.load("digits", seed=2)
    metrics = json.loads((folder / "metrics.json").read_text())
    with (folder / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    hits = [rows[row]["predicted"] == str(data.y[row]) for row in data.test]
    assert metrics["accuracy"] == pytest.approx(np.mean(hits))
    assert metrics["fingerprint"] == data.fingerprint
    assert {row["role"] for row in rows} == {"train", "validation", "test"}
    graph = sparse.load_npz(folder / "graph.npz")
    np.testing.assert_allclose(np.asarray(graph.sum(axis=1)).ravel(), 1, rtol=1e-5)
    assert runs.load_run(folder).clf.model_.scorer.projection.shape == (64, 32)
    assert json.loads((folder / "settings.json").read_text())["parameters"]["random_state"] == 2


def test_a_second_run_gets_a_folder_of_its_own(command, tmp_path):
    for _ in range(2):
        assert command("fit", "digits", "--max-epochs", "1", "-q").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "digits-plus-seed0",
        "digits-plus-seed0-2",
    ]


def test_profile_shows_where_the_time_went(command, tmp_path):
    result = command("fit", "digits", "--max-epochs", "3", "--profile")
    assert result.exit_code == 0, result.output
    for words in ("where the time went", "backward", "optimiser", "evaluation", "bandwidth"):
        assert words in result.output
    profile = json.loads((tmp_path / "runs/digits-plus-seed0/profile.json").read_text())
    assert profile["total"] == pytest.approx(sum(profile["seconds"].values()), abs=0.01)


def test_quiet_prints_the_folder_only(command):
    result = command("fit", "digits", "--max-epochs", "1", "--quiet", "--out", "here")
    assert result.stdout == "here\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "corra"], "there is no dataset 'corra'; choose one of"),
        (["fit", "cora", "--variant", "x"], "variant must be one of"),
        (["fit", "cora", "--split", "planetoid"], "split must be one of"),
        (["fit", "digits", "--labels", "7"], "multiple of 10"),
    ],
)
def test_a_mistake_gets_one_sentence(command, words, message, tmp_path):
    result = command(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output
    assert not list(tmp_path.rglob("*.json"))


def test_debug_shows_the_traceback(command):
    assert isinstance(command("fit", "corra", "--debug").exception, ValueError)


def test_an_existing_folder_is_not_touched(command, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/precious.txt").write_text("keep")
    result = command("fit", "digits", "--out", "mine")
    assert result.exit_code == 2
    assert "mine exists already" in result.stderr
    assert (tmp_path / "mine/precious.txt").read_text() == "keep"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_can_not_be_written_is_said_before_training(command, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    result = command("fit", "digits", "--out", "locked/run")
    assert result.exit_code == 2
    assert "no files can be made in" in result.stderr


def test_ctrl_c_saves_the_best_so_far(tmp_path):
    # The signal is the process's own, at an epoch that is known: the rest is the command as it ships.
    code = (
        "import glcn.training.loop as loop, signal, sys; from glcn.cli import app\n"
        "judge, count = loop._evaluate, [0]\n"
        "def evaluate(*arguments):\n"
        "    count[0] += 1\n"
        "    if count[0] == 60: signal.raise_signal(signal.SIGINT)\n"
        "    return judge(*arguments)\n"
        "loop._evaluate = evaluate; sys.argv = ['glcn', 'fit', 'cora', '--out', 'run']; app()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130, done.stderr
    assert "(interrupted)" in done.stdout
    metrics = json.loads((tmp_path / "run/metrics.json").read_text())
    assert metrics["interrupted"] is True
    assert metrics["epochs"] == 59
    assert metrics["accuracy"] > 0.5


def test_version_and_help(command):
    assert command("--version").output == f"glcn {__version__}\n"
    assert "Train on a dataset" in command("fit", "--help").output


def test_fit_own_table_and_graph(command, tmp_path, random):
    groups = np.arange(60) % 2
    lines = ["name,kind,a,b"]
    for row, group in enumerate(groups):
        label = ("low", "high")[group] if row < 20 else ""
        lines.append(f"r{row},{label},{group + random.normal() / 4},{random.normal()}")
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    (tmp_path / "edges.csv").write_text("\n".join(f"r{row},r{(row + 2) % 60}" for row in range(60)))
    options = ["--label", "kind", "--id", "name", "--graph", "edges.csv"]
    result = command("fit", "mine.csv", *options, "--out", "run", "--max-epochs", "150")
    assert result.exit_code == 0, result.output
    assert "60 edges" in result.output
    assert "20 labelled rows to fit, 40 others to predict" in " ".join(result.output.split())
    with (tmp_path / "run/predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[33]["row"] == "r33"
    assert np.mean([row["predicted"] == ("low", "high")[group] for row, group in zip(rows, groups, strict=True)]) > 0.9
    assert json.loads((tmp_path / "run/metrics.json").read_text())["accuracy"] is None
    assert command("fit", "mine.csv", "--label", "sort").exit_code == 2


def test_options_that_do_not_belong_are_refused(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,kind\n1,a\n2,b\n")
    assert "--label, --graph can not be used with a named dataset" in " ".join(
        command("fit", "digits", "--label", "x", "--graph", "e.csv").stderr.split()
    )
    assert "--split can not be used with a file" in command("fit", "t.csv", "--label", "kind", "--split", "x").stderr
    (tmp_path / "plain").write_text("x")
    assert "its ending must be one of" in command("fit", "plain").stderr


def test_data_show_goes_on_past_a_damaged_file(command, data_folder):
    (data_folder / "mnist").mkdir(parents=True)
    (data_folder / "mnist/mnist.npz").write_bytes(b"damaged")
    result = command("data", "show")
    assert result.exit_code == 0
    assert "mnist.npz can not be read" in result.output
    assert datasets.load("digits").fingerprint in result.output


def test_data_list_and_show(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = command("data", "list")
    assert "bundled (released, random)" in listed.output
    assert "missing" in listed.output
    table = command("data", "show")
    assert table.exit_code == 0, table.output
    assert "not here: citeseer, pubmed, mnist, cifar10, svhn, scene15" in " ".join(table.output.split())
    assert datasets.load("cora").fingerprint in table.output
    one = command("data", "show", "cora", "--split", "random", "--seed", "4")
    assert "drawn by seed 4" in " ".join(one.output.split())
    assert datasets.load("cora", split="random", seed=4).fingerprint in one.output
    missing = command("data", "show", "svhn")
    assert missing.exit_code == 2
    assert "glcn data fetch svhn" in missing.stderr


def test_data_fetch_and_import_say_what_is_wrong(command, tmp_path):
    assert "is bundled" in command("data", "fetch", "digits").stderr
    assert "no file or folder" in command("data", "import", "mnist", tmp_path / "none").stderr


def test_features(command, tmp_path, random):
    np.savez(tmp_path / "images.npz", x=random.integers(0, 256, (3, 16, 16, 3), dtype=np.uint8), y=[0, 1, 0])
    result = command("features", "images.npz", "-o", "rows.npz", "--size", "32")
    assert result.exit_code == 0, result.output
    with np.load(tmp_path / "rows.npz") as archive:
        assert archive["x"].shape == (3, 1280)
        assert archive["y"].tolist() == [0, 1, 0]
    again = command("features", "images.npz", "-o", "rows.npz")
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_waiting_threads_give_their_core_away(monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "")  # so that it is put back afterwards
    monkeypatch.delenv("OMP_WAIT_POLICY")
    assert CliRunner().invoke(app, ["data", "list"]).exit_code == 0
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    CliRunner().invoke(app, ["data", "list"])
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"


@pytest.mark.parametrize(
    ("limits", "wish", "threads"),
    [({}, None, 1), ({"ROWS": 1000}, None, 2), ({"ENTRIES": 1000}, None, 2), ({}, "2", 2)],
    ids=["few", "many rows", "many entries", "as wished"],
)
def test_few_rows_are_left_to_one_thread(command, tmp_path, two_threads, monkeypatch, limits, wish, threads):
    for name, limit in limits.items():
        monkeypatch.setattr(sys.modules["glcn.cli.fit"], f"{name}_FOR_THREADS", limit)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if wish is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", wish)
    assert command("fit", "digits", "--max-epochs", "1", "-q").exit_code == 0
    settings = json.loads((tmp_path / "runs/digits-plus-seed0/settings.json").read_text())
    assert settings["threads"] == threads
    assert torch.get_num_threads() == 2
