"""scikit-learn's handwritten digits: 1797 images of 8 × 8 pixels."""

import numpy as np
from sklearn.datasets import load_digits as sklearn_digits

from glcn.datasets.dataset import Dataset
from glcn.datasets.prepare import prepare_features
from glcn.datasets.splits import per_class_split

NUM_VALIDATION = 100


def load_digits(split: str | None, labels: int | None, seed: int, prepare: str | None) -> Dataset:
    """Load the digits that come with scikit-learn."""
    if split not in (None, "random"):
        raise ValueError(f"split must be 'random' for digits, got {split!r}")
    labels = 100 if labels is None else labels
    if labels < 10 or labels % 10:
        raise ValueError(f"labels must be a multiple of 10 (as many of each digit) for digits, got {labels}")
    data = sklearn_digits()
    y = data.target.astype(np.int64)
    rows = per_class_split(y, labels // 10, NUM_VALIDATION, None, seed)
    X, preparation = prepare_features(data.data.astype(np.float32), prepare or "range")
    description = (
        f"{labels // 10} images of each digit to fit, {NUM_VALIDATION} for validation, the rest for test, "
        f"drawn by seed {seed}"
    )
    names = tuple(str(digit) for digit in range(10))
    return Dataset("digits", X, y, None, *rows, names, "random", description, preparation)
