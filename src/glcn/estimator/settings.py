"""Checks of the classifiers' parameters, made in ``fit``."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from glcn.estimator.variants import AUTO, BY_VALIDATION
from glcn.nn import NORMALIZATIONS


def _whole(least: int) -> tuple[Callable[[Any], bool], str]:
    return (
        lambda value: isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least,
        f"a whole number of at least {least}",
    )


def _real(low: float, high: float = float("inf"), *, open_low: bool = False) -> tuple[Callable[[Any], bool], str]:
    def right(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        number = float(value)
        return (low < number if open_low else low <= number) and number < high

    bound = f"above {low:g}" if open_low else f"of at least {low:g}"
    return right, f"a number {bound}" + (f" and below {high:g}" if high < float("inf") else "")


_YES_OR_NO: tuple[Callable[[Any], bool], str] = (lambda value: isinstance(value, bool), "True or False")
_RULES = {
    "n_neighbors": _whole(1),
    "hidden_units": _whole(1),
    "n_layers": _whole(1),
    "projection_size": _whole(1),
    "graph_weight": _real(0),
    "sparsity_weight": _real(0),
    "prior_weight": _real(0),
    "learn_graph": _YES_OR_NO,
    "calibrate": _YES_OR_NO,
    "warm_start": _YES_OR_NO,
    "rounds": _whole(1),
    "n_hops": _whole(0),
    "n_passes": _whole(1),
    "consistency_weight": _real(0),
    "temperature": _real(0, open_low=True),
    "row_dropout": _real(0, 1),
    "feature_dropout": _real(0, 1),
    "given_view": _YES_OR_NO,
    "feature_view": _YES_OR_NO,
    "normalization": (
        lambda value: isinstance(value, str) and value in NORMALIZATIONS,
        f"one of {tuple(NORMALIZATIONS)}",
    ),
    "added_neighbors": _whole(0),
    "edge_trust": _YES_OR_NO,
    "smoothing": (
        lambda value: value == BY_VALIDATION or _real(0, 1)[0](value),
        f'a number of at least 0 and below 1, or "{BY_VALIDATION}"',
    ),
    "dropout": _real(0, 1),
    "weight_decay": _real(0),
    "learning_rate": _real(0, open_low=True),
    "learning_rate_decay": _real(0, open_low=True),
    "max_epochs": _whole(1),
    "patience": _whole(1),
    "min_epochs": _whole(0),
    "fixed_epochs": _whole(1),
    "validation_fraction": _real(0, 1),
    "class_weight": (
        lambda value: isinstance(value, Mapping) or (isinstance(value, str) and value in ("balanced", AUTO)),
        f'a dict, "balanced" or "{AUTO}"',
    ),
    # label propagation and manifold regularisation
    "width": _real(0, open_low=True),
    "ambient_weight": _real(0, open_low=True),
    "intrinsic_weight": _real(0),
    "max_landmarks": _whole(2),
    # DeepWalk and logistic regression
    "dimensions": _whole(1),
    "walks_per_row": _whole(1),
    "walk_length": _whole(2),
    "window": _whole(1),
    "C": _real(0, open_low=True),
    # GAT
    "heads": _whole(1),
    "output_heads": _whole(1),
}
_MAY_BE_NONE = {"projection_size", "width", "class_weight"}


def check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse a parameter that is out of its range or of a wrong type."""
    for name, (right, description) in _RULES.items():
        if name not in settings:
            continue
        value = settings[name]
        if value is None and name in _MAY_BE_NONE:
            continue
        if not right(value):
            choice = " or None" if name in _MAY_BE_NONE else ""
            raise ValueError(f"{name} must be {description}{choice}, got {value!r}")
