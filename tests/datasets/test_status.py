import numpy as np
from planetoid_files import write_planetoid

from glcn.datasets import CATALOGUE, status


def test_bundled_found_and_missing(data_folder, monkeypatch):
    assert status(CATALOGUE["digits"]) == "bundled"
    assert status(CATALOGUE["cora"]) == "bundled (released, random)"
    assert status(CATALOGUE["citeseer"]) == status(CATALOGUE["svhn"]) == "missing"
    write_planetoid(data_folder, monkeypatch)
    assert status(CATALOGUE["citeseer"]) == "found"
    (data_folder / "svhn").mkdir()
    np.savez(data_folder / "svhn/svhn_hog.npz", x=np.eye(2), y=np.arange(2))
    assert status(CATALOGUE["svhn"]) == "found (hog)"
