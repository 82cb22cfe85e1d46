import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier
from glcn.estimator.label_next import entropy, label_next


class Fitted:
    """Just what is looked at of a classifier."""

    def __init__(self, S, probabilities, codes):
        self.graph_ = sparse.csr_array(np.array(S, float))
        self.label_distributions_ = np.array(probabilities, float)
        self._codes = np.array(codes)


def test_the_score_is_uncertainty_times_reach():
    S = [[0.5, 0.5, 0.0], [0.1, 0.6, 0.3], [0.0, 0.8, 0.2]]
    clf = Fitted(S, [[0.5, 0.5], [0.9, 0.1], [0.6, 0.4]], [-1, -1, -1])
    (best,) = label_next(clf, 1)
    u = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1)) / np.log(2)
    assert best.row == 1
    assert best.reach == pytest.approx(0.5 + 0.8)
    assert best.uncertainty == pytest.approx(u)
    assert best.score == pytest.approx(u * 1.3)


def test_a_twin_of_a_chosen_row_is_put_back():
    # 0 and 1 hear mostly each other; 2 and 3 are a pair of their own with somewhat less reach.
    S = [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.6, 0.4], [0, 0, 0.4, 0.6]]
    clf = Fitted(S, [[0.5, 0.5]] * 4, [-1] * 4)
    assert [each.row for each in label_next(clf, 2)] == [0, 2]


def test_labelled_rows_are_not_asked_for_and_a_choice_can_be_narrowed(blobs):
    X, _, few = blobs
    clf = GLCNClassifier(random_state=0, fixed_epochs=5).fit(X, few)
    everything = [each.row for each in clf.label_next(1000)]
    assert sorted(everything) == np.flatnonzero(few < 0).tolist()
    among = [3, 4, 50, 60]
    assert {each.row for each in clf.label_next(2, among=among)} <= set(among)
    scores = [each.score for each in clf.label_next(20)]
    assert scores == sorted(scores, reverse=True)


def test_mistakes_are_told(blobs):
    X, _, few = blobs
    clf = GLCNClassifier(random_state=0, fixed_epochs=1).fit(X, few)
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        clf.label_next(0)
    with pytest.raises(ValueError, match="there are rows 0 to 89, got 90"):
        clf.label_next(1, among=[90])


def test_entropy_is_one_for_equal_classes_and_zero_for_certain_ones():
    np.testing.assert_allclose(entropy(np.array([[0.25] * 4, [1, 0, 0, 0]])), [1, 0], atol=1e-9)
