"""scikit-learn's own checks of what an estimator must do."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from glcn import GLCNClassifier

TEN_ROWS = "it has ten rows, and ten neighbours other than the row itself are asked for: the error says so"
EXPECTED_FAILURES = {
    "check_estimators_nan_inf": TEN_ROWS,
    "check_fit2d_1feature": TEN_ROWS,
    "check_classifiers_classes": "one of its targets holds only -1 and 1, and -1 means unlabelled here: the error that "
    "says so is on purpose (scikit-learn's own semi-supervised estimators are exempt by name)",
}


@pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
@parametrize_with_checks(
    [
        GLCNClassifier("closeness", max_epochs=100, fixed_epochs=40, learning_rate=0.02, random_state=0),
        GLCNClassifier("plus", max_epochs=100, fixed_epochs=40, learning_rate=0.05, random_state=0),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_estimator(estimator, check):
    check(estimator)
