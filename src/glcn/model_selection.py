"""Cross-validation where most rows have no label."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from glcn.estimator.labels import encode_labels


class LabelledKFold:
    """Divide the labelled rows into folds by class, and keep every unlabelled row in every training part.

    For :class:`sklearn.model_selection.GridSearchCV` and its like: a test part holds labelled rows only, so that each
    can be scored.

    Parameters
    ----------
    n_splits
        Number of folds; each class needs as many labels.
    shuffle
        Whether rows are mixed first.
    random_state
        Seed of the mixing.

    Examples
    --------
    >>> import numpy as np
    >>> from glcn import LabelledKFold
    >>> y = np.array([0, 1, -1, 0, 1, -1])
    >>> [(train.tolist(), test.tolist()) for train, test in LabelledKFold(2, shuffle=False).split(None, y)]
    [([2, 3, 4, 5], [0, 1]), ([0, 1, 2, 5], [3, 4])]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002 as scikit-learn has it
        """Return the number of folds."""
        return self.n_splits

    def split(
        self,
        X: Any,  # noqa: ARG002 as scikit-learn has it
        y: Any,
        groups: Any = None,  # noqa: ARG002
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give the rows of each training and test part."""
        codes = encode_labels(y, type(self).__name__).codes
        labelled = np.flatnonzero(codes >= 0)
        least = int(np.bincount(codes[labelled]).min())
        if least < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} folds need as many labels of every class, and one has {least}; take fewer "
                "folds, or label more rows"
            )
        folds = StratifiedKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state if self.shuffle else None
        )
        everyone = np.arange(len(codes))
        for _, held in folds.split(labelled, codes[labelled]):
            test = labelled[held]
            yield np.delete(everyone, test), test
