"""Runs that die: killed for real, and gone on with."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from typer.testing import CliRunner

from glcn import runs
from glcn.cli import app
from glcn.runs import checkpoint_of, load_run, unfinished
from glcn.store import build_store

GLCN = [sys.executable, "-m", "glcn"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "glcn"]
QUICK = ("--max-epochs", "40", "--checkpoint-every", "0", "-q")


def run(*words, cwd):
    done = subprocess.run([*GLCN, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def wait_for(path, child):
    limit = time.monotonic() + 120
    while not path.exists():
        assert child.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < limit, f"{path} never came"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    random = np.random.default_rng(0)
    y = np.arange(1200) % 3
    X = random.normal(size=(1200, 6)).astype(np.float32)
    X[np.arange(1200), y] += 2.5
    np.savez(folder / "rows.npz", X=X, y=np.where(random.random(1200) < 0.2, y, -1))
    return build_store(folder / "rows.npz", folder / "store", n_neighbors=8).path, y


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    run("fit", "digits", *QUICK, "--out", "whole", cwd=tmp_path)
    child = subprocess.Popen([*GLCN, "fit", "digits", *QUICK, "--out", "killed"], cwd=tmp_path)
    wait_for(checkpoint_of(tmp_path / "killed"), child)
    child.kill()
    child.wait()
    assert not (tmp_path / "killed").exists()
    again = subprocess.run(
        [*GLCN, "fit", "digits", *QUICK, "--out", "killed"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "add --resume" in again.stderr
    run("fit", "digits", *QUICK, "--out", "killed", "--resume", cwd=tmp_path)
    assert (tmp_path / "killed/predictions.csv").read_bytes() == (tmp_path / "whole/predictions.csv").read_bytes()
    model = "model/model.safetensors"
    assert (tmp_path / "killed" / model).read_bytes() == (tmp_path / "whole" / model).read_bytes()
    assert not unfinished(tmp_path / "killed").exists()


@pytest.mark.parametrize("moment", ["evaluate", "write_run"])
def test_ctrl_c_at_the_end_waits_until_the_run_is_written(tmp_path, monkeypatch, moment):
    monkeypatch.chdir(tmp_path)
    whole = getattr(runs, moment)

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return whole(*arguments)

    monkeypatch.setattr(runs, moment, interrupted)
    done = CliRunner().invoke(app, ["fit", "digits", "--max-epochs", "2", "--out", "run"])
    assert done.exit_code == 130, done.output
    assert "results in run" in done.output
    assert load_run(tmp_path / "run").metrics["epochs"] == 2


def test_a_full_disk_at_the_end_is_said_and_the_run_resumes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    words = ["fit", "digits", "--max-epochs", "2", "--out", "run"]
    with monkeypatch.context() as patch:
        patch.setattr(runs, "write_manifest", full)
        done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "can not write run: No space left" in done.stderr
    assert "what was learned is kept in run.partial: repeat the command with --resume" in done.stderr
    again = CliRunner().invoke(app, [*words, "--resume", "--verbose"])
    assert again.exit_code == 0, again.output
    assert "epoch " not in again.output  # nothing was left to train
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_place_that_can_not_be_written_is_said_before_anything_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["fit", "missing.csv", "--out", str(tmp_path / "file/run")])
    assert done.exit_code == 2
    assert "file/run: no files can be made" in " ".join(done.stderr.split()).replace("\n", "")


def test_resume_finds_the_run_by_itself_and_says_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nothing = CliRunner().invoke(app, ["fit", "digits", "--resume"])
    assert nothing.exit_code == 2
    assert "no unfinished run" in nothing.output
    unfinished(tmp_path / "runs/digits-plus-seed0").mkdir(parents=True)  # killed before its first checkpoint
    done = CliRunner().invoke(app, ["fit", "digits", "--resume", "--max-epochs", "2"])
    assert done.exit_code == 0, done.output
    assert load_run(tmp_path / "runs/digits-plus-seed0").metrics["epochs"] == 2


def test_fit_predict_and_explain_on_a_store(store, tmp_path):
    folder, truth = store
    run("fit", folder, "--max-epochs", "40", "--batch-size", "100", "--out", "run", cwd=tmp_path)
    loaded = load_run(tmp_path / "run")
    assert (loaded.clf.transduction_ == truth).mean() > 0.85
    assert loaded.settings["fingerprint"]
    assert not (tmp_path / "run/work").exists()
    np.save(tmp_path / "new.npy", np.load(folder / "X.npy")[:20])
    run("predict", "run", "new.npy", "-o", "answers.csv", cwd=tmp_path)
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 21
    why = json.loads(run("explain", "run", "--row", "5", "--json", cwd=tmp_path).stdout)
    assert why[0]["row"] == "5"
    options = CliRunner().invoke(app, ["fit", str(folder), "--label", "x"])
    assert options.exit_code == 2
    assert "is a store" in options.output


def test_torchrun_goes_on_after_a_worker_was_killed(store, tmp_path):
    folder, truth = store
    words = ["fit", str(folder), "--batch-size", "100", "--max-epochs", "40"]
    often = ["--checkpoint-every", "0", "--out", "run"]
    command = [*TORCHRUN[:-2], "--max-restarts", "2", *TORCHRUN[-2:], *words, *often]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with (tmp_path / "log").open("w") as log:
        job = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        wait_for(checkpoint_of(tmp_path / "run"), job)
        os.kill(psutil.Process(job.pid).children()[-1].pid, signal.SIGKILL)
        assert job.wait(timeout=240) == 0, (tmp_path / "log").read_text()[-3000:]
    killed = load_run(tmp_path / "run")
    run(*words, "--out", "alone", cwd=tmp_path)
    alone = load_run(tmp_path / "alone")
    accuracy = [(each.clf.transduction_ == truth).mean() for each in (killed, alone)]
    assert accuracy[0] == pytest.approx(accuracy[1], abs=0.02)
    assert len(killed.clf.history_["loss"]) == killed.metrics["epochs"] + 1


@pytest.mark.slow
def test_two_machines_go_on_after_a_worker_was_killed(store, tmp_path):
    # Each machine has a torchrun of its own, which counts its own restarts only.
    folder, _ = store
    meeting = ["--nnodes", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{free_port()}"]
    words = ["fit", str(folder), "--batch-size", "100", "--max-epochs", "40", "--checkpoint-every", "0", "--out", "run"]
    launcher = [sys.executable, "-m", "torch.distributed.run", *meeting, "--nproc-per-node", "1", "--max-restarts", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    jobs = [subprocess.Popen([*launcher, "-m", "glcn", *words], cwd=tmp_path, env=environment) for _ in range(2)]
    try:
        wait_for(checkpoint_of(tmp_path / "run"), jobs[0])
        os.kill(psutil.Process(jobs[1].pid).children()[-1].pid, signal.SIGKILL)
        assert [job.wait(timeout=240) for job in jobs] == [0, 0]
    finally:
        for job in jobs:
            job.kill()
    assert load_run(tmp_path / "run").metrics["epochs"] > 0


def free_port():
    with socket.socket() as place:
        place.bind(("localhost", 0))
        return place.getsockname()[1]


def test_compare_says_that_a_store_is_not_for_it(store):
    done = CliRunner().invoke(app, ["compare", str(store[0])])
    assert done.exit_code == 2
    assert "is a store" in done.output


def test_a_fit_that_is_refused_leaves_nothing_to_resume(store, tmp_path):
    done = CliRunner().invoke(app, ["fit", str(store[0]), "--variant", "nonsense", "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []
