import dataclasses

import numpy as np
import pytest
from scipy import sparse

from glcn.datasets import from_arrays, load


def test_visible_labels_hide_the_test_rows():
    data = load("digits")
    visible = data.visible_labels
    assert (visible[data.test] == -1).all()
    np.testing.assert_array_equal(visible[data.train], data.y[data.train])
    np.testing.assert_array_equal(visible[data.validation], data.y[data.validation])


def test_datasets_are_frozen():
    data = load("cora", split="released")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    for array in (data.y, data.train, data.validation, data.test):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_fingerprint_sees_the_width_of_sparse_features_and_the_names_of_classes():
    wide, narrow = (sparse.csr_array((np.ones(2), ([0, 1], [0, 1])), shape=(2, width)) for width in (2, 5))
    found = {from_arrays(X, y).fingerprint for X in (wide, narrow) for y in (["a", "b"], ["x", "y"])}
    assert len(found) == 4
