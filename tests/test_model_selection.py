import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from glcn import GLCNClassifier, LabelledKFold


@pytest.fixture
def labels(random):
    y = np.arange(120) % 3
    return np.where(random.random(120) < 0.3, y, -1)


def test_every_label_is_held_out_once_and_unlabelled_rows_are_always_there(labels):
    folds = list(LabelledKFold(4, random_state=0).split(None, labels))
    assert len(folds) == LabelledKFold(4).get_n_splits() == 4
    held = np.concatenate([test for _, test in folds])
    assert sorted(held) == np.flatnonzero(labels >= 0).tolist()
    for train, test in folds:
        assert set(train) | set(test) == set(range(120))
        assert not set(train) & set(test)
        assert set(labels[test]) == {0, 1, 2}
        assert set(np.flatnonzero(labels < 0)) <= set(train)


def test_the_same_seed_divides_alike(labels):
    one, same, other = (list(LabelledKFold(3, random_state=seed).split(None, labels)) for seed in (1, 1, 2))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(one, same, strict=True))
    assert any(not np.array_equal(a[1], b[1]) for a, b in zip(one, other, strict=True))


def test_labels_may_be_words_and_unlabelled_rows_none(labels):
    words = np.array([None if label < 0 else f"class {label}" for label in labels], dtype=object)
    by_words, by_numbers = (list(LabelledKFold(3, random_state=0).split(None, y)) for y in (words, labels))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(by_words, by_numbers, strict=True))


def test_too_few_labels_of_a_class_are_said():
    with pytest.raises(ValueError, match=r"n_splits=3 folds need as many labels of every class, and one has 2"):
        list(LabelledKFold(3).split(None, [0, 0, 0, 1, 1, -1]))


def test_it_works_in_a_grid_search(blobs):
    X, _, few = blobs
    search = GridSearchCV(
        GLCNClassifier(fixed_epochs=20, validation_fraction=0.0, random_state=0),
        {"n_neighbors": [3, 6]},
        cv=LabelledKFold(3, random_state=0),
    ).fit(X, few)
    assert search.best_score_ > 0.8
    scores = cross_val_score(
        GLCNClassifier(fixed_epochs=20, validation_fraction=0.0, random_state=0), X, few, cv=LabelledKFold(3)
    )
    assert scores.mean() > 0.8
