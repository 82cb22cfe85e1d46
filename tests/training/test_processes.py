import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("train_together.py")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def trained(launcher, out, settings):
    """What a training in processes of its own found: no thread count that another test left reaches it."""
    command = [*launcher, str(SCRIPT), str(out), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


def together(out, settings, *options):
    return trained([*TORCHRUN, *options], out, settings)


def alone(out, settings):
    return trained([sys.executable], out, settings | {"batch_shares": 2})


@pytest.mark.parametrize(
    "settings",
    [
        {"row_dropout": 0.0, "dropout": 0.0, "max_epochs": 25},
        # What is random depends on the step and the share, not on the process.
        pytest.param({"max_epochs": 25}, marks=pytest.mark.slow),
        pytest.param({"variant": "closeness", "max_epochs": 25}, marks=pytest.mark.slow),
    ],
    ids=["no dropout", "dropout", "closeness"],
)
def test_two_processes_learn_what_one_does_with_the_same_batch(tmp_path, settings):
    two, one = together(tmp_path / "two.json", settings), alone(tmp_path / "one.json", settings)
    assert two["history"].keys() == one["history"].keys()
    for name, losses in one["history"].items():
        assert len(losses) == 26
        assert two["history"][name] == pytest.approx(losses, abs=1e-5), name
    assert two["accuracy"] == pytest.approx(one["accuracy"], abs=0.005)


@pytest.mark.slow  # the command line has a test like it
def test_a_killed_worker_is_replaced_and_training_goes_on_from_the_checkpoint(tmp_path):
    settings = {"max_epochs": 60, "patience": 60}
    killed = together(tmp_path / "killed.json", settings | {"kill": 30}, "--max-restarts", "1")
    assert killed["restarts"] == 1
    whole = alone(tmp_path / "whole.json", settings)
    assert killed["history"]["loss"] == pytest.approx(whole["history"]["loss"], abs=1e-4)
    assert killed["accuracy"] == pytest.approx(whole["accuracy"], abs=0.005)
