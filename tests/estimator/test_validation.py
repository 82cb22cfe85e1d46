import numpy as np
import pytest

from glcn.estimator.validation import divide

CODES = np.array([0] * 20 + [1] * 5 + [-1] * 10)


def draw(codes=CODES, validation=None, fraction=0.1):
    return divide(codes, validation, fraction, np.random.default_rng(0))


def test_a_fraction_of_each_class_is_held_out():
    rows = draw()
    assert np.bincount(CODES[rows.validation]).tolist() == [2, 1]
    assert sorted([*rows.train, *rows.validation]) == list(range(25))


def test_a_class_keeps_its_last_label():
    assert np.bincount(CODES[draw(fraction=0.99).train]).tolist() == [1, 1]


def test_nothing_is_held_out_where_a_class_has_fewer_than_five_labels():
    assert len(draw(np.array([0] * 20 + [1] * 4)).validation) == 0
    assert len(draw(fraction=0.0).validation) == 0


def test_the_callers_rows():
    mask = np.zeros(35, bool)
    mask[[3, 22]] = True
    for validation in (mask, [22, 3], np.array([3, 22, 3])):
        rows = draw(validation=validation)
        assert rows.validation.tolist() == [3, 22]
        assert len(rows.train) == 23


@pytest.mark.parametrize(
    ("validation", "error", "message"),
    [
        ([30], ValueError, "1 rows without a label"),
        ([99], ValueError, "rows 99 to 99, but X has 35"),
        ([-1], ValueError, "rows -1"),
        (np.zeros(4, bool), ValueError, "mask has 4 entries but X has 35 rows"),
        ([0.5], TypeError, "boolean mask or integer"),
        (np.zeros((2, 2)), ValueError, "shape"),
        (np.arange(35) % 2, ValueError, r"looks like a mask of 0 and 1; pass validation.astype\(bool\)"),
        (list(range(20, 25)), ValueError, "among the validation rows only"),
    ],
)
def test_rows_that_can_not_be_used(validation, error, message):
    with pytest.raises(error, match=message):
        draw(validation=validation)
