import pytest
from planetoid_files import write_planetoid

from glcn.datasets import load


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"split must be one of \('public', 'paper', 'released', 'random'\) for cora"):
        load("cora", split="planetoid")
    with pytest.raises(ValueError, match=r"one of \('public', 'paper', 'random'\) for pubmed, got 'released'"):
        load("pubmed", split="released")
    with pytest.raises(ValueError, match="leave labels= out"):
        load("cora", labels=10)
    with pytest.raises(ValueError, match="descriptor= is for image sets"):
        load("cora", descriptor="pixels")


def test_cora_is_public_where_planetoids_files_are_here_and_the_bundled_splits_stay(data_folder, monkeypatch):
    before = load("cora", split="random", seed=5)
    write_planetoid(data_folder, monkeypatch, "cora")
    assert load("cora").split == "public"
    assert load("cora").X.shape == (1601, 5)
    after = load("cora", split="random", seed=5)
    assert after.fingerprint == before.fingerprint
    assert after.X.shape == (2708, 1433)
