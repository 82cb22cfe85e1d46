"""Datasets with their splits, by name."""

from glcn.datasets.dataset import Dataset
from glcn.datasets.loader import NAMES, load

__all__ = ["NAMES", "Dataset", "load"]
