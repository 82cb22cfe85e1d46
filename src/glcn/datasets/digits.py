"""scikit-learn's handwritten digits: 1797 images of 8 × 8 pixels."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits as sklearn_digits

from glcn.datasets.catalogue import CATALOGUE
from glcn.datasets.dataset import Dataset, Source
from glcn.datasets.splits import per_class_split


def load_digits(split: str | None, labels: int | None, seed: int, prepare: str | None) -> Dataset:
    """Load the digits that come with scikit-learn."""
    entry = CATALOGUE["digits"]
    if split not in (None, "random"):
        raise ValueError(f"split must be 'random' for digits, got {split!r}")
    labels = entry.labels[0] if labels is None else labels
    if labels < 10 or labels % 10:
        raise ValueError(f"labels must be a multiple of 10 (as many of each digit) for digits, got {labels}")
    data = sklearn_digits()
    y = data.target.astype(np.int64)
    rows = per_class_split(y, labels // 10, entry.num_validation, None, seed)
    description = (
        f"{labels // 10} images of each digit to fit, {entry.num_validation} for validation, the rest for test, "
        f"drawn by seed {seed}"
    )
    features = "64 grey values of 8 × 8 pixels, 0 to 16"
    source = Source("digits", data.data.astype(np.float32), y, None, entry.class_names, features, "range")
    return replace(source.divided(rows, "random", description, prepare), pictures=_pictures)


def _pictures() -> NDArray[np.uint8]:
    pictures: NDArray[np.uint8] = (255 - sklearn_digits().images * (255 / 16)).astype(np.uint8)  # ink on paper
    return pictures
