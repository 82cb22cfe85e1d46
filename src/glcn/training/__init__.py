"""Training loops."""

from glcn.training.loop import Callback, Loss, Network, Progress, TrainingData, TrainingResult, TrainingSettings, train
from glcn.training.progress import ProgressBar

__all__ = [
    "Callback",
    "Loss",
    "Network",
    "Progress",
    "ProgressBar",
    "TrainingData",
    "TrainingResult",
    "TrainingSettings",
    "train",
]
