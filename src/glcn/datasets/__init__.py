"""Datasets with their splits, by name."""

from glcn.datasets.added_labels import add_labels
from glcn.datasets.archives import import_archive
from glcn.datasets.catalogue import CATALOGUE
from glcn.datasets.dataset import Dataset
from glcn.datasets.descriptors import describe_images
from glcn.datasets.fetch import fetch
from glcn.datasets.folder import MissingDataError, data_folder
from glcn.datasets.loader import NAMES, load
from glcn.datasets.on_disk import is_store, read_store
from glcn.datasets.own import from_arrays, read_own
from glcn.datasets.status import status
from glcn.datasets.summary import Summary, summarise

__all__ = [
    "CATALOGUE",
    "NAMES",
    "Dataset",
    "MissingDataError",
    "Summary",
    "add_labels",
    "data_folder",
    "describe_images",
    "fetch",
    "from_arrays",
    "import_archive",
    "is_store",
    "load",
    "read_own",
    "read_store",
    "status",
    "summarise",
]
