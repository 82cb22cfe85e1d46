"""Training loops."""

from glcn.training.batches import SampledNeighborhoods
from glcn.training.loop import (
    Callback,
    Loss,
    Network,
    Progress,
    Source,
    TrainingData,
    TrainingResult,
    TrainingSettings,
    train,
)
from glcn.training.profile import FitProfile, profiled
from glcn.training.progress import ProgressBar
from glcn.training.warm_up import warm_up_links

__all__ = [
    "Callback",
    "FitProfile",
    "Loss",
    "Network",
    "Progress",
    "ProgressBar",
    "SampledNeighborhoods",
    "Source",
    "TrainingData",
    "TrainingResult",
    "TrainingSettings",
    "profiled",
    "train",
    "warm_up_links",
]
