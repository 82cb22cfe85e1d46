"""Kill trainings and saves, and see that nothing is lost: ``python scripts/kills.py [KILLS] [FIRST SEED]``.

Each trial forks a process that fits a small table with a checkpoint after each step and writes its run, kills it by
SIGKILL at a random moment, and starts it again until it ends. Two in three are killed at a moment uniform over the
whole run, the others while they write their results. In the end the run must hold the same bits as one that was never
killed, and a run that stood there before must still be whole. Each kill has a seed of its own: results/kills.jsonl has
them, with the moment and what was killed.
"""

import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from glcn import GLCNClassifier, runs
from glcn.datasets import from_arrays

RESULTS = Path(__file__).parents[1] / "results/kills.jsonl"
EPOCHS = 25


def table():
    """Return some rows in three classes, one in ten labelled."""
    made = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = made.normal(size=(400, 5))
    X[np.arange(400), y] += 3
    return from_arrays(X, np.where(made.random(400) < 0.1, y, -1))


def work(data, folder):
    """Fit and write a run, from the last checkpoint if there is one; returns the seconds of writing."""
    torch.set_num_threads(1)
    clf = GLCNClassifier(fixed_epochs=EPOCHS, validation_fraction=0.0, random_state=0)
    clf.fit(data.X, data.visible_labels, checkpoint=runs.checkpoint_of(folder), checkpoint_every=0.0)
    start = time.perf_counter()
    runs.write_run(folder, data, clf, runs.evaluate(data, clf))
    return time.perf_counter() - start


def contents(folder):
    """Return the bytes of everything in a run."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def is_saving(folder):
    """Whether the process that works now writes its results; those of an earlier one were removed before it began."""
    return runs.results_of(folder).exists() or folder.exists()


def kill(child, folder, seed, seconds, save_seconds):
    """Kill a working process at the moment that the seed says; returns what was killed, or None if it ended before."""
    chance = random.Random(seed)
    if seed % 3:
        moment = chance.uniform(0, seconds * 1.1)
    else:
        while child.is_alive() and not is_saving(folder):
            time.sleep(0.0005)
        moment = chance.uniform(0, save_seconds)
    child.join(moment)
    stage = "saving" if is_saving(folder) else "training"
    if not child.is_alive():
        return None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    if child.exitcode != -signal.SIGKILL:
        return None  # it ended in the meantime
    return {"seed": seed, "after": round(moment, 4), "killed": stage}


def main(kills, first):
    """Kill so often, and count; a seed whose moment comes too late is followed by the next one."""
    fork = multiprocessing.get_context("fork")
    data = table()
    root = Path(tempfile.mkdtemp(prefix="glcn-kills-"))
    work(data, root / "warm")  # compiles
    start = time.perf_counter()
    save_seconds = work(data, root / "whole")
    seconds = time.perf_counter() - start
    whole = contents(root / "whole")
    done, seed, trial = [], first, 0
    while len(done) < kills:
        trial += 1
        folder = root / f"run-{trial}"
        while not folder.exists():
            runs.begin_run(folder)
            child = fork.Process(target=work, args=(data, folder))
            child.start()
            if len(done) < kills:
                killed = kill(child, folder, seed, seconds, save_seconds)
                seed += 1
                done += [killed] if killed else []
            child.join()
            if child.exitcode not in (0, -signal.SIGKILL):
                sys.exit(f"trial {trial} failed: exit code {child.exitcode}")
        found = contents(folder)
        if found != whole:
            names = [name for name in found.keys() | whole.keys() if found.get(name) != whole.get(name)]
            sys.exit(f"trial {trial}: other bits than an undisturbed run in {', '.join(names)}")
        if contents(root / "whole") != whole:
            sys.exit(f"trial {trial}: an earlier run was changed")
        shutil.rmtree(folder)
    RESULTS.write_text("".join(json.dumps(each) + "\n" for each in done))
    in_save = sum(each["killed"] == "saving" for each in done)
    print(
        f"seeds {first} to {seed - 1}: {len(done) - in_save} kills in training, {in_save} while saving, {trial} runs, "
        "all to the same bits"
    )
    shutil.rmtree(root)


if __name__ == "__main__":
    main(*(int(word) for word in [*sys.argv[1:], *("200", "0")[len(sys.argv) - 1 :]]))
