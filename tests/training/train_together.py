"""A small training, alone or by torchrun: ``train_together.py OUT SETTINGS``, the settings as JSON.

With ``"double": true`` a network is trained in double precision; else a classifier is fitted, in single precision.
"""

import json
import os
import signal
import sys
import weakref
from pathlib import Path

import numpy as np
import torch
from torch import distributed

import glcn.training.checkpoint
from glcn import GLCNClassifier
from glcn.graph import CandidateGraph
from glcn.nn import GLCNPlus, PlusLoss
from glcn.training import (
    SampledNeighborhoods,
    TrainingData,
    TrainingSettings,
    as_torchrun_says,
    train,
    warm_up_links,
)


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
        if kill is not None and progress.epoch == kill and os.environ.get("RANK") == "1" and not restarts():
            os.kill(os.getpid(), signal.SIGKILL)

    checkpoint = None if kill is None else out.with_suffix(".safetensors")
    glcn.training.checkpoint.EVERY = 0.0  # after each step
    clf.fit(X, few, callback=watch, checkpoint=checkpoint)
    write(out, clf.history_, float((clf.transduction_ == y).mean()))


def fit_in_double(out, *, max_epochs, batch_shares=None):
    """Without dropout, and in numbers whose rounding can not grow to what a test sees."""
    X, y, few = data()
    labelled = np.flatnonzero(few >= 0)
    rows = TrainingData(
        x=torch.from_numpy(X),
        graph=CandidateGraph.knn(X, 10),
        targets=torch.from_numpy(y),
        train_rows=torch.from_numpy(labelled[::2].copy()),
        validation_rows=torch.from_numpy(labelled[1::2].copy()),
    )
    source = SampledNeighborhoods(rows, 120, 0, shares=batch_shares)
    generator = torch.Generator().manual_seed(0)
    none = {"row_dropout": 0.0, "feature_dropout": 0.0, "dropout": 0.0}
    model = GLCNPlus(6, 16, 3, projection_channels=8, generator=generator, **none).double()
    loss = PlusLoss(warm_up=10)
    warm_up_links(model, source, steps=20, learning_rate=0.01, generator=generator)
    settings = TrainingSettings(learning_rate=0.01, max_epochs=max_epochs)
    done = train(model, loss, source, settings, generator=generator, before_epoch=loss.start_epoch)
    with torch.no_grad():
        logits = model(rows.x, rows.graph).logits
    write(out, done.history, float((logits.argmax(dim=1) == rows.targets).double().mean()))


def restarts():
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


def write(out, history, accuracy):
    if os.environ.get("RANK", "0") == "0":
        out.write_text(json.dumps({"history": history, "accuracy": accuracy, "restarts": restarts()}))


if __name__ == "__main__":
    torch.set_num_threads(1)
    out, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    with as_torchrun_says():
        group = weakref.ref(distributed.group.WORLD) if distributed.is_initialized() else lambda: None
        (fit_in_double if settings.pop("double", False) else fit)(out, **settings)
    assert group() is None, "the group of processes is still alive: its threads may abort an interpreter that ends"
