"""Rows in groups, for classifiers to tell apart."""

import numpy as np


def three_groups(labels_each):
    """Three well separated groups of 30 rows in 5 dimensions: X, y, y with −1 but for the first labels of each."""
    random = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    X = random.normal(size=(90, 5)) + 4 * np.eye(3, 5)[y]
    return X, y, np.where(np.arange(90) % 30 < labels_each, y, -1)
