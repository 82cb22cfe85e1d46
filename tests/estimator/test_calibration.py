import numpy as np
import pytest
import torch

from glcn import GLCNClassifier
from glcn.estimator.calibration import calibrated, expected_error
from glcn.exceptions import ColdStartWarning


def made(rows, temperature, seed=0):
    """Return logits whose softmax is true at a temperature, and labels drawn from it."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(rows, 3)) * 2
    shares = torch.from_numpy(logits).softmax(dim=1).numpy()
    labels = np.array([random.choice(3, p=each) for each in shares])
    return torch.from_numpy(logits * temperature), torch.from_numpy(labels)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_spoiled_logits_is_found(temperature):
    found = calibrated(*made(4000, temperature))
    assert found.temperature == pytest.approx(temperature, rel=0.1)
    assert found.rows == 4000
    if temperature != 1:
        assert found.error_after < found.error_before / 2
    assert f"temperature {found.temperature:.2f}" in found.describe()


def test_few_rows_say_nothing():
    found = calibrated(*made(20, 3.0))
    assert found.temperature == 1
    assert found.describe() == "not calibrated: too few validation rows"


def test_expected_error_by_hand():
    probabilities = np.array([[0.95, 0.05], [0.95, 0.05], [0.62, 0.38], [0.31, 0.69]])
    labels = np.array([0, 1, 0, 1])
    # Two answers at 0.95 of which half are right, two between 0.6 and 0.7, all right.
    assert expected_error(probabilities, labels) == pytest.approx(0.5 * 0.45 + 0.5 * (1 - 0.655))


def test_labels_do_not_change_and_probabilities_do_for_known_and_new_rows(random):
    y = np.arange(300) % 3
    X = random.normal(size=(300, 4))
    X[np.arange(300), y] += 1.2
    few = np.where(random.random(300) < 0.5, y, -1)
    plain, better = (
        GLCNClassifier(calibrate=flag, validation_fraction=0.4, max_epochs=40, random_state=0).fit(X, few)
        for flag in (False, True)
    )
    T = better.calibration_.temperature
    assert T != 1
    assert plain.calibration_.temperature == 1
    np.testing.assert_array_equal(better.transduction_, plain.transduction_)
    for before, after in (
        (plain.label_distributions_, better.label_distributions_),
        (plain.predict_proba(X[:30] + 0.1), better.predict_proba(X[:30] + 0.1)),
    ):
        expected = before ** (1 / T)
        np.testing.assert_allclose(after, expected / expected.sum(axis=1, keepdims=True), atol=1e-5)


def test_variants_of_the_paper_are_left_as_they_are(blobs):
    X, _, few = blobs
    assert GLCNClassifier("closeness", fixed_epochs=2).fit(X, few).settings_["calibrate"] is False
    with pytest.raises(ValueError, match="calibrate must be True or False"):
        GLCNClassifier(calibrate=1).fit(X, few)


def test_a_warm_start_goes_on_from_what_was_learned(blobs):
    X, y, few = blobs
    more = few.copy()
    hidden = np.flatnonzero(few < 0)[:5]
    more[hidden] = y[hidden]
    settings = {"validation_fraction": 0.0, "random_state": 0}
    warm = GLCNClassifier(warm_start=True, fixed_epochs=100, **settings).fit(X, few)
    cold = GLCNClassifier(fixed_epochs=1, **settings).fit(X, more)
    warm.set_params(fixed_epochs=1).fit(X, more)
    assert warm.history_["cross_entropy"][0] < cold.history_["cross_entropy"][0] / 2
    names = np.where(more < 0, None, np.array(["a", "b", "c", "d"], dtype=object)[more])
    names[hidden[0]] = "d"  # another class: nothing to go on from
    afresh = GLCNClassifier(fixed_epochs=1, **settings).fit(X, names)
    with pytest.warns(ColdStartWarning, match="the last fit, which had other classes; training starts anew"):
        warm.fit(X, names)
    assert warm.history_ == afresh.history_
    with pytest.warns(ColdStartWarning, match="other settings or features"):
        warm.set_params(hidden_units=7).fit(X, names)
