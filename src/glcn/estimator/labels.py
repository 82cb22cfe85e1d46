"""From whatever users write as labels to class numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

UNLABELLED = -1


class EncodedLabels(NamedTuple):
    """Class numbers, and what they stand for."""

    classes: NDArray[Any]  # (c,) sorted
    codes: NDArray[np.int64]  # (n,) number of each row's class, −1 where it has no label


def encode_labels(y: Any, estimator: str = "GLCNClassifier") -> EncodedLabels:
    """Give each class a number; unlabelled is −1 in integers, and None or NaN in any type."""
    if y is None:
        raise ValueError(
            f"This {estimator} estimator requires y to be passed, but the target y is None; "
            "write -1 or None for the rows without a label"
        )
    array = column_or_1d(_as_array(y), warn=True)
    missing = _without_label(array)
    labels = _one_type(array[~missing])
    if labels.dtype.kind in "iu":
        missing[~missing] = labels == UNLABELLED
        labels = labels[labels != UNLABELLED]
    if labels.dtype.kind == "f":
        _refuse_ambiguous(labels)
    if len(labels) == 0:
        raise ValueError("y holds no label: at least two classes must have one labelled row each")
    check_classification_targets(labels)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            _one_class(classes.tolist()[0], integers=labels.dtype.kind in "iu", unlabelled=bool(missing.any()))
        )
    codes = np.full(len(array), UNLABELLED, np.int64)
    codes[~missing] = numbers
    return EncodedLabels(classes, codes)


def is_labelled(y: Any) -> NDArray[np.bool_]:
    """Return which rows have a label."""
    array = column_or_1d(_as_array(y))
    labelled = ~_without_label(array)
    labels = _one_type(array[labelled])
    if labels.dtype.kind in "iu":
        labelled[labelled] = labels != UNLABELLED
    return labelled


def _as_array(y: Any) -> NDArray[Any]:
    """Keep each label's own type where NumPy would make text or floats of it: in lists and in pandas' own types."""
    numpy_type = isinstance(getattr(y, "dtype", None), np.dtype)
    return np.asarray(y) if numpy_type else np.asarray(y, dtype=object)


def _without_label(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Find None and NaN."""
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind == "O":
        return np.fromiter((_is_missing(label) for label in array), bool, len(array))
    return np.zeros(len(array), bool)


def _one_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Give labels in an object array the one type that they have; refuse a mixture."""
    if labels.dtype.kind != "O":
        return labels
    kinds = sorted({_kind(label) for label in labels})
    if len(kinds) > 1:
        raise ValueError(
            f"the labels in y mix types ({' and '.join(kinds)}); convert them all to strings or to numbers"
        )
    return labels if kinds == ["text"] else np.array(labels.tolist())


def _refuse_ambiguous(labels: NDArray[Any]) -> None:
    if np.isinf(labels).any():
        raise ValueError("y holds an infinite value; use -1 (integers) or NaN for unlabelled rows")
    values = set(np.unique(labels))
    if UNLABELLED in values and not values <= {-1.0, 1.0}:
        raise ValueError(
            "y holds -1 among floating-point labels, which may mean a class or 'unlabelled'; "
            "pass integers (-1 = unlabelled), or NaN for unlabelled rows"
        )


def _kind(label: Any) -> str:
    if isinstance(label, str | bytes):
        return "text"
    if isinstance(label, bool | np.bool_):
        return "truth values"
    if isinstance(label, int | float | np.number):
        return "numbers"
    return type(label).__name__


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def _one_class(label: Any, *, integers: bool, unlabelled: bool) -> str:
    if integers and unlabelled and label == 1:
        return (
            "y holds only -1 and 1, and -1 means unlabelled here, so one class is left; "
            "recode the class -1, for example as 0"
        )
    return f"y holds one class only ({label!r}); at least two classes must have one labelled row each"
