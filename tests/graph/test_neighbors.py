import numpy as np
import pytest

from glcn.graph import nearest_neighbors


def test_twins_are_neighbours_but_a_row_is_not_its_own():
    X = np.array([[0.0], [0.0], [1.0], [5.0]])
    neighbors = nearest_neighbors(X, 1)
    assert neighbors[:2].ravel().tolist() == [1, 0]
    assert (neighbors != np.arange(4)[:, None]).all()


@pytest.mark.parametrize(("k", "message"), [(0, "at least 1"), (4, r"below the number of rows \(4\), got 4; pass")])
def test_impossible_number_of_neighbours(k, message):
    with pytest.raises(ValueError, match=message):
        nearest_neighbors(np.zeros((4, 2)), k)
