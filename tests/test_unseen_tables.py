"""Which tables the script for those never looked at takes, and how it reads them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "unseen_tables.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("unseen_tables", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(path, rows, rare=0):
    random = np.random.default_rng(0)
    lines = [f"{random.random():.3f}, {'ab'[i % 2]}, {'yes' if i < rare or i >= 40 else 'no'}" for i in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_is_read_with_words_as_columns_and_one_scale(script, tmp_path):
    X, y = script.table(written(tmp_path / "fine.dat", 400))
    assert X.shape == (400, 3)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=1e-6)
    assert np.bincount(y).tolist() == [40, 360]


def test_few_rows_few_of_a_class_and_few_left_of_a_long_table_are_not_taken(script, tmp_path):
    assert script.table(written(tmp_path / "short.dat", 299)) is None
    assert script.table(written(tmp_path / "rare.dat", 400, rare=11)) is None
    assert script.table(written(tmp_path / "long.dat", 4000)) is None
