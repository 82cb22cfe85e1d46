import pytest

from glcn.datasets import load

# If one of these changes, results that were published under it belong to another task.
FINGERPRINTS = {
    ("cora", "released"): "ea48ee8ab7bdc426",
    ("digits", "random"): "9f1950bec65aa7b0",
}
REAL_FINGERPRINTS = {
    ("cora", "public"): "7532786b19cb7c04",
    ("citeseer", "paper"): "8979a722858ad921",
    ("pubmed", "random"): "c958edcf017d7fd6",
    ("mnist", "random"): "d273f3ca2eaafa64",
    ("cifar10", "random"): "6c4edba5ae2da95d",
    ("svhn", "random"): "b203e3f4606e5b8a",
    ("scene15", "random"): "705e989c6221fff2",
}


@pytest.mark.parametrize("case", FINGERPRINTS, ids="-".join)
def test_fingerprints_never_change(case):
    assert load(case[0], split=case[1]).fingerprint == FINGERPRINTS[case]


@pytest.mark.real_data
@pytest.mark.parametrize("case", REAL_FINGERPRINTS, ids="-".join)
def test_fingerprints_of_real_files_never_change(case):
    assert load(case[0], split=case[1]).fingerprint == REAL_FINGERPRINTS[case]


def test_fingerprints_tell_splits_and_preparations_apart():
    found = {load("cora", split="random", seed=seed).fingerprint for seed in range(3)}
    found |= {load("cora", split="released", prepare=prepare).fingerprint for prepare in ("none", "rows", "unit")}
    assert len(found) == 6


def test_unknown_names():
    with pytest.raises(ValueError, match="no dataset 'core'; choose one of"):
        load("core")
    with pytest.raises(ValueError, match="prepare must be one of"):
        load("cora", prepare="whiten")
