from pathlib import Path

import pytest

from glcn.datasets.folder import data_folder as find_data_folder
from glcn.datasets.folder import locate


def test_variable_names_the_folder_else_the_cache(monkeypatch):
    monkeypatch.setenv("GLCN_DATA", "~/somewhere")
    assert find_data_folder() == Path.home() / "somewhere"
    monkeypatch.delenv("GLCN_DATA")
    assert find_data_folder().name == "glcn"


def test_missing_files_are_listed_with_the_remedy(data_folder):
    with pytest.raises(FileNotFoundError, match=r"x is not here: a, b, c and 1 more not found in .*glcn data import x"):
        locate("x", "a", "b", "c", "d")
