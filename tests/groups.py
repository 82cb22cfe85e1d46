"""Rows in groups, for classifiers to tell apart."""

import numpy as np

from glcn.estimator.validation import LabelledRows


def three_groups(labels_each):
    """Three well separated groups of 30 rows in 5 dimensions: X, y, y with −1 but for the first labels of each."""
    random = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    X = random.normal(size=(90, 5)) + 4 * np.eye(3, 5)[y]
    return X, y, np.where(np.arange(90) % 30 < labels_each, y, -1)


def labelled(y, num_train, num_validation):
    """Return codes of some rows, drawn at random, −1 for the others, and which of them are fitted and held out."""
    order = np.random.default_rng(1).permutation(len(y))
    rows = LabelledRows(np.sort(order[:num_train]), np.sort(order[num_train : num_train + num_validation]))
    codes = np.full(len(y), -1)
    codes[np.concatenate(rows)] = y[np.concatenate(rows)]
    return codes, rows
