import numpy as np
import pytest

from glcn.datasets import load


def test_contents_and_split():
    data = load("digits", seed=1)
    assert data.X.shape == (1797, 64)
    assert data.X.max() == 1
    assert data.graph is None
    assert np.bincount(data.y[data.train]).tolist() == [10] * 10
    assert (len(data.validation), len(data.test)) == (100, 1597)
    assert np.bincount(load("digits", labels=50).y[load("digits", labels=50).train]).tolist() == [5] * 10


@pytest.mark.parametrize("labels", [0, 5, 15])
def test_bad_number_of_labels(labels):
    with pytest.raises(ValueError, match="multiple of 10"):
        load("digits", labels=labels)


def test_bad_split():
    with pytest.raises(ValueError, match="'random' for digits"):
        load("digits", split="released")
