import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glcn.datasets.splits import per_class_split, plain_split


@settings(deadline=None)
@given(
    labels=st.lists(st.integers(0, 4), min_size=60, max_size=200),
    per_class=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_parts_never_overlap_and_training_is_stratified(labels, per_class, seed):
    y = np.array(labels + [0, 1, 2, 3, 4] * 4)
    split = per_class_split(y, per_class, 10, None, seed)
    together = np.concatenate(split)
    assert len(np.unique(together)) == len(together) == len(y)
    assert np.bincount(y[split.train]).tolist() == [per_class] * 5
    again = per_class_split(y, per_class, 10, None, seed)
    assert all(np.array_equal(*pair) for pair in zip(split, again, strict=True))


@settings(deadline=None)
@given(rows=st.integers(20, 300), train=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
def test_plain_parts_never_overlap_and_cover_all_rows(rows, train, seed):
    split = plain_split(rows, train, 10, seed)
    together = np.concatenate(split)
    assert sorted(together) == list(range(rows))
    assert (len(split.train), len(split.validation)) == (train, 10)
    again = plain_split(rows, train, 10, seed)
    assert all(np.array_equal(*pair) for pair in zip(split, again, strict=True))


def test_a_seed_means_the_same_rows_on_every_platform():
    y = np.arange(40) % 2
    assert per_class_split(y, 2, 3, 4, 0).train.tolist() == [2, 3, 23, 36]
    assert plain_split(30, 4, 2, 1).train.tolist() == [10, 17, 19, 21]
    assert per_class_split(y, 2, 3, 4, 7).validation.tolist() == [9, 23, 28]


def test_too_many_rows_asked_for():
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="11 labels a class were asked for, but the smallest class has 10"):
        per_class_split(y, 11, 1, None, 0)
    with pytest.raises(ValueError, match="only 10 rows are left"):
        per_class_split(y, 5, 5, 6, 0)
    with pytest.raises(ValueError, match="only 10 rows are left"):
        per_class_split(y, 5, 10, None, 0)
