import dataclasses

import numpy as np
import pytest

from glcn.datasets import load


def test_visible_labels_hide_the_test_rows():
    data = load("digits")
    visible = data.visible_labels
    assert (visible[data.test] == -1).all()
    np.testing.assert_array_equal(visible[data.train], data.y[data.train])
    np.testing.assert_array_equal(visible[data.validation], data.y[data.validation])


def test_datasets_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        load("digits").name = "other"
