"""Learn from few labels: which rows are neighbours, and how to classify them, in one network.

The names of this package load on first use, so that ``import glcn`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from glcn import datasets, graph, kernels, nn, training
    from glcn.estimator import GLCNClassifier
    from glcn.model_selection import LabelledKFold

__all__ = ["GLCNClassifier", "LabelledKFold", "__version__", "datasets", "graph", "kernels", "nn", "training"]

_HOMES = {"GLCNClassifier": "glcn.estimator", "LabelledKFold": "glcn.model_selection"}
_SUBPACKAGES = ("datasets", "graph", "kernels", "nn", "training")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _SUBPACKAGES:
        return import_module(f"glcn.{name}")
    raise AttributeError(f"module 'glcn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
