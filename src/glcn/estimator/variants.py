"""The variants: their settings where the caller names none, and how they want their features."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from sklearn.preprocessing import normalize

from glcn.estimator.inputs import mean_row_length
from glcn.graph import suitable_metric
from glcn.nn import VARIANTS

Auto = Literal["auto"]
AUTO: Auto = "auto"
PLUS = "plus"
BY_VALIDATION = "validation"  # a setting that the fit chooses itself
NAMES = (PLUS, *VARIANTS)

ROW_LENGTHS = (0.25, 10.0)  # least and greatest mean length of the rows of ``plus``
LENGTH_BY_LABELS = 2.5  # times the number of labels for each feature; longer rows let it fit few labels too fast
CONSISTENCY_WARM_UP = 200  # epochs until the consistency of ``plus`` has its full weight
MANY_FEATURES = 200  # from which on a random pass leaves some of them out

_GLCN: dict[str, Any] = {
    "hidden_units": 30,
    "n_layers": 2,
    "projection_size": 70,
    "activation": "relu",
    "prior_weight": 0.0,
    "dropout": 0.6,
    "weight_decay": 1e-4,
    "learning_rate": 0.005,
    "learning_rate_decay": 0.9,
    "max_epochs": 3000,
    "patience": 100,
    "min_epochs": 0,
    "fixed_epochs": 200,
    "calibrate": False,
}
_PLUS: dict[str, Any] = {
    "hidden_units": 64,
    "projection_size": 32,
    "n_hops": 8,
    "n_passes": 3,
    "learn_graph": True,
    "given_view": True,
    "feature_view": True,
    "normalization": "symmetric",
    "added_neighbors": 10,
    "edge_trust": True,
    "rounds": 3,
    "graph_weight": 0.5,
    "consistency_weight": 1.0,
    "temperature": 0.3,
    "row_dropout": 0.5,
    "feature_dropout": 0.25,
    "dropout": 0.5,
    "smoothing": 0.0,
    "weight_decay": 5e-4,
    "learning_rate": 0.01,
    "learning_rate_decay": 1.0,
    "max_epochs": 600,
    "patience": 150,
    "min_epochs": 0,
    "fixed_epochs": 400,
    "calibrate": True,
}
_PLUS_WITHOUT_GRAPH: dict[str, Any] = {
    "hidden_units": 128,
    "n_hops": 4,
    "n_passes": 2,
    "given_view": False,
    "added_neighbors": 0,
    "edge_trust": False,
    "rounds": 1,
    "dropout": 0.2,
    "smoothing": BY_VALIDATION,
    "weight_decay": 1e-3,
    "patience": 200,
    "min_epochs": CONSISTENCY_WARM_UP,  # the validation loss is lowest before the consistency counts; accuracy is not
}


def resolve(variant: str, given: Mapping[str, Any], *, has_graph: bool) -> dict[str, Any]:
    """Put the variant's own settings where ``given`` says "auto"; refuse and leave out what means nothing to it."""
    own = _own_settings(variant, has_graph=has_graph)
    foreign = _names() - own.keys()
    for name in sorted(foreign):
        if given[name] != AUTO:
            raise ValueError(f"variant {variant!r} has no {name}, got {given[name]!r}; leave it at {AUTO!r}")
    chosen = {name: own[name] if name in own and value == AUTO else value for name, value in given.items()}
    if variant == PLUS and chosen["projection_size"] is None:
        raise ValueError(f"variant {PLUS!r} needs a projection; set projection_size to a whole number")
    return {name: value for name, value in chosen.items() if name not in foreign}


def fitted_to(settings: Mapping[str, Any], given: Mapping[str, Any], X: Any) -> dict[str, Any]:
    """Settle what depends on other settings and on the features: few of these can not be spared, for one."""
    fitted = dict(settings)
    if given["metric"] == AUTO:
        fitted["metric"] = suitable_metric(X)
    if given["feature_dropout"] == AUTO and "feature_dropout" in settings and X.shape[1] < MANY_FEATURES:
        fitted["feature_dropout"] = 0.0
    sees_consistency = settings["max_epochs"] > settings["min_epochs"] and settings.get("consistency_weight", 0) > 0
    if given["min_epochs"] == AUTO and not sees_consistency:
        fitted["min_epochs"] = 0
    return fitted


def uses_weights(variant: str) -> bool:
    """Return whether the weights of a given graph count, or only its edges."""
    return variant == PLUS or VARIANTS[variant].weighted


class RowScale(NamedTuple):
    """What is done to the features, and to those of new rows, before the network sees them."""

    factor: float = 1.0
    unit_rows: bool = False  # whether each row is brought to length 1 first

    def __call__(self, X: Any) -> Any:
        """Return the features of some rows, scaled."""
        return (normalize(X) if self.unit_rows else X) * self.factor


def row_scale(variant: str, X: Any, num_labels: int, metric: str) -> RowScale:
    """Return how features are scaled: ``plus`` brings rows to a mean length whatever their unit is.

    The fewer labels there are for each feature, the shorter the rows, so that the network follows them more slowly.
    Where rows are near by their direction, their own lengths do not count.
    """
    if variant != PLUS:
        return RowScale()
    length: float = LENGTH_BY_LABELS * num_labels / X.shape[1]
    least, greatest = ROW_LENGTHS
    length = min(max(length, least), greatest)
    if metric == "cosine":
        return RowScale(length, unit_rows=True)
    return RowScale(length / mean_row_length(X))


def _names() -> set[str]:
    return {name for variant in NAMES for name in _own_settings(variant, has_graph=True)}


def _own_settings(variant: str, *, has_graph: bool) -> dict[str, Any]:
    if variant == PLUS:
        return _PLUS if has_graph else {**_PLUS, **_PLUS_WITHOUT_GRAPH}
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {NAMES}, got {variant!r}")
    form = VARIANTS[variant]
    return {**_GLCN, "graph_weight": form.graph_weight, "sparsity_weight": form.sparsity_weight}
