import numpy as np
import pandas as pd
import pytest

from glcn.estimator.labels import encode_labels


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([3, -1, 5, 3], [3, 5], [0, -1, 1, 0]),
        ([0.0, np.nan, 1.0], [0.0, 1.0], [0, -1, 1]),
        ([-1.0, np.nan, 1.0], [-1.0, 1.0], [0, -1, 1]),
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        (["b", None, "a", np.nan], ["a", "b"], [1, -1, 0, -1]),
        ([1, None, 2], [1, 2], [0, -1, 1]),
        (["b", float("nan"), "a"], ["a", "b"], [1, -1, 0]),
        (pd.Series([1, pd.NA, -1, 2], dtype="Int64"), [1, 2], [0, -1, -1, 1]),
        ([True, False], [False, True], [1, 0]),
        ([True, None, False], [False, True], [1, -1, 0]),
        (pd.Series([1, pd.NA, 2], dtype="Int64"), [1, 2], [0, -1, 1]),
        (pd.Series(["x", None, "y"], dtype="category"), ["x", "y"], [0, -1, 1]),
        (pd.Series(["x", None, "y"]), ["x", "y"], [0, -1, 1]),
    ],
)
def test_every_way_to_write_labels(y, classes, codes):
    encoded = encode_labels(y)
    assert encoded.classes.tolist() == classes
    assert [type(label) for label in encoded.classes.tolist()] == [type(label) for label in classes]
    assert encoded.codes.tolist() == codes


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([-1, -1], "y holds no label"),
        (np.array([None, None], dtype=object), "y holds no label"),
        ([2, 2, -1], "one class only"),
        ([-1, 1, 1], "only -1 and 1, and -1 means unlabelled"),
        ([-1.0, 0.0, 2.0], "-1 among floating-point labels"),
        ([0.0, np.inf], "infinite"),
        ([0.5, 1.5], "Unknown label type: continuous"),
        (np.array(["a", 1, 2], dtype=object), "mix types \\(numbers and text\\)"),
        (["ant", -1, "bee"], "mix types \\(numbers and text\\)"),
        (np.array([True, "a"], dtype=object), "mix types \\(text and truth values\\)"),
    ],
)
def test_labels_that_can_not_be_used(y, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y)
