import numpy as np
import pytest
from scipy.stats import wilcoxon

from glcn.experiments.comparison import compare
from glcn.experiments.tables import Cell


def cell(*accuracies):
    return Cell(None, dict(enumerate(accuracies)), len(accuracies))


def test_a_known_difference():
    result = compare(cell(80.0, 82.0, 84.0), cell(79.0, 82.0, 86.0))
    assert result.difference == pytest.approx(-1 / 3)
    assert (result.wins, result.losses, result.seeds) == (1, 1, 3)


@pytest.mark.parametrize("count", [2, 5, 10, 30])
def test_p_is_scipys(random, count):
    first, second = random.normal(80, 2, count), random.normal(79, 2, count)
    result = compare(cell(*first), cell(*second))
    assert result.p == pytest.approx(wilcoxon(first, second).pvalue)
    assert compare(cell(*second), cell(*first)).p == pytest.approx(result.p)


def test_five_of_five_is_the_least_that_five_splits_can_tell():
    result = compare(cell(5, 6, 7, 8, 9), cell(1, 1, 1, 1, 1))
    assert result.p == pytest.approx(2 / 2**5)
    assert result.describe() == "+6.00 (5 of 5 better, p 0.062)"


def test_ties_and_zeros_are_scipys(random):
    differences = np.array([0.0, 0.1, 0.1, -0.2, 0.3, 0.3, 0.0, 0.5, -0.1, 0.4])
    result = compare(cell(*(80 + differences)), cell(*[80.0] * 10))
    assert result.p == pytest.approx(wilcoxon(differences[differences != 0]).pvalue)


def test_all_equal_is_p_one():
    result = compare(cell(70.1, 70.2), cell(70.1, 70.2))
    assert (result.difference, result.wins, result.losses, result.p) == (0.0, 0, 0, 1.0)


def test_the_last_bits_of_equal_numbers_are_no_difference():
    result = compare(cell(0.1 + 0.2, 0.7), cell(0.3, 0.1 + 0.6))
    assert 0.1 + 0.2 != 0.3
    assert (result.wins, result.losses, result.p) == (0, 0, 1.0)


def test_one_seed_has_no_p():
    result = compare(cell(81.0), cell(80.0))
    assert result.p is None
    assert result.describe() == "+1.00 (1 of 1 better)"


def test_only_seeds_that_both_have_count():
    first = Cell(None, {0: 80.0, 1: 90.0, 7: 10.0}, 10)
    second = Cell(None, {1: 89.0, 2: 0.0, 0: 80.5}, 10)
    result = compare(first, second)
    assert result.difference == pytest.approx(0.25)
    assert result.seeds == 2
    assert compare(first, Cell(None, {3: 80.0}, 10)) is None
    assert compare(first, Cell(None, {}, 10)) is None
