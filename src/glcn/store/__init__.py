"""Rows, labels and their graph of nearest neighbours in a folder, for data that should not be in memory."""

from glcn.store.build import build_store
from glcn.store.format import StoreError
from glcn.store.store import Store

__all__ = ["Store", "StoreError", "build_store"]
