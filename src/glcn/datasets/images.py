"""MNIST, CIFAR-10, SVHN and Scene15: images as rows of features."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.catalogue import CATALOGUE, Entry
from glcn.datasets.dataset import Dataset, Source
from glcn.datasets.folder import MissingDataError, data_folder, locate
from glcn.datasets.splits import frozen_random, plain_split
from glcn.tables.arrays import read_arrays

PER_CLASS = 1000  # images of each digit in the fixed draw from MNIST
_NOT_THE_PAPERS = "not the descriptor of the GLCN paper, so absolute accuracies can not be compared with its tables"
_ABOUT = {
    "pixels": "grey or colour values of the pixels, 0 to 255",
    "efficientnet_lite0": "1280 means of the last feature map of EfficientNet-Lite0, which was trained on ImageNet; "
    + _NOT_THE_PAPERS,
    "hog": "900 histograms of oriented gradients of the grey image (cells of 4 × 4 and of 8 × 8 pixels); "
    + _NOT_THE_PAPERS,
    "cnn": "64 outputs of a small network trained on 7000 other SVHN digits and stopped early by hand, with the labels "
    "of these 10,000 in view, at about the paper's level: agreement with published numbers on it is no evidence",
}
_PREPARE = {"pixels": "range"}  # others: standard


def load_image_set(
    name: str, split: str | None, labels: int | None, seed: int, prepare: str | None, descriptor: str | None
) -> Dataset:
    """Load an image set: ``labels`` rows drawn at random to fit, a fixed number for validation, the rest for test."""
    entry = CATALOGUE[name]
    if split not in (None, "random"):
        raise ValueError(f"split must be 'random' for {name}, got {split!r}")
    labels = entry.labels[0] if labels is None else labels
    source = _read(entry, descriptor or entry.descriptors[0])
    rows = plain_split(len(source.y), labels, entry.num_validation, seed)
    description = (
        f"{labels} images drawn at random to fit, {entry.num_validation} for validation, the rest for test, "
        f"drawn by seed {seed}"
    )
    dataset = source.divided(rows, "random", description, prepare)
    if not (data_folder() / entry.images).is_file():
        return dataset
    return replace(dataset, pictures=partial(_pictures, entry))


def descriptor_path(entry: Entry, descriptor: str) -> str:
    """Return where a descriptor's rows lie in the data folder."""
    return entry.images if descriptor == "pixels" else f"{entry.name}/{entry.name}_{descriptor}.npz"


def found_descriptors(entry: Entry) -> list[str]:
    """Return the descriptors of a dataset that are in the data folder."""
    prefix = f"{entry.name}_"
    files = (data_folder() / entry.name).glob(f"{prefix}*.npz")
    images = Path(entry.images).name
    names = sorted(path.stem.removeprefix(prefix) for path in files if path.name != images)
    return [*names, "pixels"] if (data_folder() / entry.images).is_file() else names


def _read(entry: Entry, descriptor: str) -> Source:
    found = found_descriptors(entry)
    if descriptor != "pixels" and descriptor not in (*entry.descriptors, *found):
        choices = tuple(dict.fromkeys([*entry.descriptors, *found]))
        raise ValueError(f"descriptor must be one of {choices} for {entry.name}, got {descriptor!r}")
    if descriptor not in found and "pixels" in found:
        raise MissingDataError(_how_to_describe(entry, descriptor))
    (path,) = locate(entry.name, descriptor_path(entry, descriptor))
    X, y = _rows_and_labels(entry, path)
    if descriptor != "pixels" and "pixels" in found and entry.name != "mnist":
        _, labels = _rows_and_labels(entry, data_folder() / entry.images, labels_only=True)
        if not np.array_equal(y, labels):
            raise ValueError(
                f"{path.name} does not belong to {Path(entry.images).name}: their labels differ; "
                "describe the images anew"
            )
    names = entry.class_names
    about = _ABOUT.get(descriptor, f"the rows of {path.name}; {_NOT_THE_PAPERS}")
    X = X.reshape(len(X), -1)
    return Source(entry.name, X, y, None, names, f"{descriptor}: {about}", _PREPARE.get(descriptor, "standard"))


def _rows_and_labels(entry: Entry, path: Path, *, labels_only: bool = False) -> tuple[NDArray[Any], NDArray[np.int64]]:
    arrays = read_arrays(path, only=("y",) if labels_only else None)
    if entry.name == "mnist" and "x_train" in arrays:
        return _mnist_draw(arrays)
    if "y" not in arrays or not ("x" in arrays or labels_only):
        raise ValueError(f"{path.name} must hold arrays x and y, got {', '.join(arrays) or 'nothing'}")
    return arrays.get("x", np.empty(0)), arrays["y"].astype(np.int64)


def _pictures(entry: Entry) -> NDArray[np.uint8]:
    """Return the images that the rows are features of."""
    pictures, _ = _rows_and_labels(entry, data_folder() / entry.images)
    pixels: NDArray[np.uint8] = np.asarray(pictures, np.uint8)
    return pixels


def _how_to_describe(entry: Entry, descriptor: str) -> str:
    folder = data_folder()
    target = folder / descriptor_path(entry, descriptor)
    kind = " --kind hog" if descriptor == "hog" else ""
    return (
        f"the images of {entry.name} are here, but their descriptor {descriptor} is not: run `glcn features "
        f"{folder / entry.images} -o {target}{kind}`, or ask for descriptor 'pixels'"
    )


def _mnist_draw(arrays: dict[str, NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Take 1000 of each digit from training and test images together: one draw, the same for every seed."""
    X = np.concatenate([arrays["x_train"], arrays["x_test"]])
    y = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.int64)
    random = frozen_random(0)
    fewest = int(np.bincount(y).min())
    drawn = [random.permutation(np.flatnonzero(y == digit))[: min(PER_CLASS, fewest)] for digit in range(10)]
    rows = np.sort(np.concatenate(drawn))
    return X[rows], y[rows]
