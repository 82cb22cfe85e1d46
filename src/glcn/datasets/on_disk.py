"""A store on disk as a dataset."""

from pathlib import Path

import numpy as np

from glcn.datasets.dataset import Dataset
from glcn.store import Store


def is_store(path: str | Path) -> bool:
    """Whether a path is a folder that `glcn graph build` wrote."""
    return (Path(path) / "store.json").is_file()


def read_store(path: str | Path) -> Dataset:
    """Open a store; its rows and edges are not read before they are needed."""
    store = Store.open(path)
    if store.y is None or not store.num_labelled:
        raise ValueError(f"the store {store.path} has no labels to learn from; build it again with --labels")
    y = np.asarray(store.y, np.int64)
    labelled = np.flatnonzero(y >= 0)
    nobody = np.empty(0, np.int64)
    return Dataset(
        name=store.path.name,
        X=store.X,
        y=y,
        graph=store,
        train=labelled,
        validation=nobody,
        test=nobody,
        class_names=tuple(str(label) for label in store.classes),
        split="own",
        split_description=f"{len(labelled)} labelled rows to fit, {len(y) - len(labelled)} others to predict",
        features="as they were given to glcn graph build",
        preparation="none",
        fingerprint=store.fingerprint,
    )
