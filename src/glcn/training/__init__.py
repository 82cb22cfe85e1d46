"""Training loops."""

from glcn.training.loop import Callback, Progress, TrainingData, TrainingResult, TrainingSettings, train
from glcn.training.progress import ProgressBar

__all__ = ["Callback", "Progress", "ProgressBar", "TrainingData", "TrainingResult", "TrainingSettings", "train"]
