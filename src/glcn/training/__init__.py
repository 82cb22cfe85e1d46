"""Training loops."""

from glcn.training.batches import SampledNeighborhoods
from glcn.training.checkpoint import Checkpoint
from glcn.training.data import Source, TrainingData
from glcn.training.loop import Callback, Loss, Network, Progress, TrainingResult, TrainingSettings, train
from glcn.training.processes import Processes, as_torchrun_says, current_processes
from glcn.training.profile import FitProfile, profiled
from glcn.training.progress import ProgressBar
from glcn.training.warm_up import warm_up_links

__all__ = [
    "Callback",
    "Checkpoint",
    "FitProfile",
    "Loss",
    "Network",
    "Processes",
    "Progress",
    "ProgressBar",
    "SampledNeighborhoods",
    "Source",
    "TrainingData",
    "TrainingResult",
    "TrainingSettings",
    "as_torchrun_says",
    "current_processes",
    "profiled",
    "train",
    "warm_up_links",
]
