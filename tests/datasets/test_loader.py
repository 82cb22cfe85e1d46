import pytest

from glcn.datasets import load

# If one of these changes, results that were published under it belong to another task.
FINGERPRINTS = {
    ("cora", "released"): "d7a0b4623ced0f84",
    ("digits", "random"): "6594d17e3de157b6",
}
REAL_FINGERPRINTS = {
    ("cora", "public"): "e0ccb518f5da40b9",
    ("citeseer", "paper"): "b3893215e0cfab79",
    ("pubmed", "random"): "f8f10120178b8f2f",
    ("mnist", "random"): "8c8f1a94d1b8d7a3",
    ("cifar10", "random"): "a424af6fb5a12dc1",
    ("svhn", "random"): "5ff007a1138b7cd9",
    ("scene15", "random"): "59824a1554cf5ed6",
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
