import pytest

from glcn import GLCNClassifier
from glcn.estimator.settings import check_settings


def test_defaults_and_none_pass():
    check_settings(GLCNClassifier().get_params())
    check_settings(GLCNClassifier(projection_size=None, graph_weight=0, n_neighbors=1).get_params())


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
        check_settings(GLCNClassifier(**change).get_params())
