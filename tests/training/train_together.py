"""A small training, alone or by torchrun: ``train_together.py OUT SETTINGS``, the settings as JSON."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import torch

import glcn.training.checkpoint
from glcn import GLCNClassifier
from glcn.training import as_torchrun_says, restarted


def data():
    random = np.random.default_rng(0)
    y = np.arange(900) % 3
    X = random.normal(size=(900, 6))
    X[np.arange(900), y] += 2
    few = np.where(random.random(900) < 0.15, y, -1)
    return X, y, few


def fit(out, *, kill=None, **settings):
    X, y, few = data()
    clf = GLCNClassifier(batch_size=120, validation_fraction=0.3, random_state=0, **settings)

    def watch(progress):
        if kill is not None and progress.epoch == kill and os.environ.get("RANK") == "1" and not restarted():
            os.kill(os.getpid(), signal.SIGKILL)

    checkpoint = None if kill is None else out.with_suffix(".safetensors")
    glcn.training.checkpoint.EVERY = 0.0  # after each step
    clf.fit(X, few, callback=watch, checkpoint=checkpoint)
    if os.environ.get("RANK", "0") == "0":
        accuracy = float((clf.transduction_ == y).mean())
        restarts = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        out.write_text(json.dumps({"history": clf.history_, "accuracy": accuracy, "restarts": restarts}))


if __name__ == "__main__":
    torch.set_num_threads(1)
    out, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    with as_torchrun_says():
        fit(out, **settings)
