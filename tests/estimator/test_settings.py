import numpy as np
import pytest

from glcn import GLCNClassifier
from glcn.estimator.settings import check_settings
from glcn.estimator.variants import NAMES, fitted_to, resolve


def settings_of(clf, has_graph=True):
    return resolve(clf.variant, clf.get_params(), has_graph=has_graph)


@pytest.mark.parametrize("has_graph", [True, False])
@pytest.mark.parametrize("variant", NAMES)
def test_the_settings_of_every_variant_pass(variant, has_graph):
    clf = GLCNClassifier(variant)
    settings = fitted_to(settings_of(clf, has_graph), clf.get_params(), np.ones((3, 2)))
    check_settings(settings)
    assert settings["metric"] == "euclidean"
    later = ("device", "batch_size", "batch_shares", "class_weight")  # rows and labels decide
    assert "auto" not in {value for name, value in settings.items() if name not in later}


def test_none_passes():
    check_settings(settings_of(GLCNClassifier("closeness", projection_size=None, graph_weight=0, n_neighbors=1)))


def test_what_the_caller_names_wins():
    assert settings_of(GLCNClassifier("plus", hidden_units=5))["hidden_units"] == 5


@pytest.mark.parametrize(
    ("variant", "change"),
    [
        ("plus", {"n_layers": 3}),
        ("plus", {"prior_weight": 0.1}),
        ("closeness", {"n_hops": 2}),
        ("paper", {"temperature": 1}),
    ],
)
def test_a_setting_that_a_variant_does_not_have_is_refused(variant, change):
    (name,) = change
    with pytest.raises(ValueError, match=f"variant '{variant}' has no {name}"):
        settings_of(GLCNClassifier(variant, **change))


def test_plus_needs_a_projection():
    with pytest.raises(ValueError, match="needs a projection"):
        settings_of(GLCNClassifier("plus", projection_size=None))


def test_unknown_variant():
    with pytest.raises(ValueError, match="variant must be one of"):
        settings_of(GLCNClassifier("best"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_units": 0}, "hidden_units must be a whole number of at least 1, got 0"),
        ({"hidden_units": 2.5}, "got 2.5"),
        ({"n_layers": True}, "got True"),
        ({"n_neighbors": None}, "n_neighbors must be a whole number of at least 1, got None"),
        ({"projection_size": -3}, "projection_size must be a whole number of at least 1 or None, got -3"),
        ({"dropout": 1.0}, "dropout must be a number of at least 0 and below 1, got 1.0"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0, got 0"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0, got -1"),
        ({"sparsity_weight": float("nan")}, "sparsity_weight must be .* got nan"),
        ({"validation_fraction": "half"}, "got 'half'"),
        ({"fixed_epochs": -1}, "fixed_epochs must be"),
    ],
)
def test_bad_settings(change, message):
    with pytest.raises(ValueError, match=message):
        check_settings(settings_of(GLCNClassifier("closeness", **change)))


@pytest.mark.parametrize("value", ["columns", True, ["rows"]])
def test_normalization_is_one_of_two(value):
    with pytest.raises(ValueError, match=r"normalization must be one of \('symmetric', 'rows'\), got"):
        check_settings(settings_of(GLCNClassifier("plus", normalization=value)))
