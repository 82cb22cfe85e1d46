import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from glcn.tables import TableEncoder

CITIES = ["Bonn", "Ulm", "Bonn", "Ulm", "Kiel", "Kiel"]


def text(**columns):
    return {name: np.array(cells, dtype=object) for name, cells in columns.items()}


def again(encoder):
    return TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict(), allow_nan=False)))


def test_numbers_have_mean_zero_and_variance_one():
    X = TableEncoder.fit(text(a=["1", "2", "4"], b=["1e300", "-1e300", "0"])).transform(
        text(b=["1e300", "-1e300", "0"], a=["1", "2", "4"])
    )
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-6)
    assert X.dtype == np.float32


@pytest.mark.parametrize(
    "cells", [["0", "5e-324", "0"], ["1e-320", "2e-320", "9e-320"], ["1e15", "1e15", "1.0000000000000001e15"]]
)
def test_differences_too_small_to_divide_by(cells):
    assert np.isfinite(TableEncoder.fit(text(a=cells), numeric=["a"]).transform(text(a=cells))).all()


@pytest.mark.parametrize("hole", ["", "NA", "nan", "?", "null", "inf", "-Infinity", "1e999"])
def test_missing_and_infinite_numbers_become_the_median_and_are_marked(hole):
    table = text(a=["1", "2", "7", hole], b=["1", "2", "3", "5"])
    encoder = TableEncoder.fit(table, prepare="none")
    np.testing.assert_array_equal(encoder.transform(table), [[1, 0, 1], [2, 0, 2], [7, 0, 3], [2, 1, 5]])
    assert encoder.titles == ["a", "a is missing", "b"]
    assert any("missing" in note or "median" in note for note in encoder.notes)


def test_texts_get_a_column_for_each_value():
    encoder = TableEncoder.fit(text(city=[*CITIES, ""]))
    assert encoder.titles == ["city = Bonn", "city = Kiel", "city = Ulm", "city is missing"]
    X, notes = encoder.encode(text(city=["Ulm", "", "Rome", " Bonn "]))
    np.testing.assert_array_equal(X, [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]])
    assert notes == ["city: values that the training table has not, such as 'Rome', have no column."]


def test_truth_values_dates_and_categories_of_pandas():
    frame = pd.DataFrame(
        {
            "flag": [True, False, True],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None]),
            "kind": pd.Categorical(["x", "y", "x"]),
            "count": pd.array([1, None, 5], dtype="Int64"),
            "zone": pd.to_datetime(["2020-01-01", "2020-01-02", None], utc=True),
        }
    )
    X = TableEncoder.fit(frame, prepare="none").transform(frame)
    day = [18262, 18263, 18262]
    expected = [[0, 1, 0], [1, 0, 1], day, [0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 5], [0, 1, 0], day, [0, 0, 1]]
    np.testing.assert_array_equal(X[:, 1], expected[1])
    np.testing.assert_array_equal(X.T, [[0, 1, 0], *expected[1:]])


@pytest.mark.parametrize(
    ("cells", "form", "days"),
    [
        (["2020-01-01", "2020-01-11T12:00"], "ISO 8601", 10.5),
        (["1.2.2020", "11.2.2020"], "day.month.year", 10),
        (["13/02/2020", "02/03/2020"], "day/month/year", 18),
        (["02/13/2020", "03/02/2020"], "month/day/year", 18),
        (["2020/02/13", "2020/03/02"], "year/month/day", 18),
    ],
)
def test_dates_become_days(cells, form, days):
    encoder = TableEncoder.fit(text(day=cells), prepare="none")
    X = encoder.raw(text(day=cells)).X
    assert X[1, 0] - X[0, 0] == days
    assert encoder.notes == (f"day: dates ({form}), as days.",)
    assert "hold no date" in encoder.encode(text(day=["soon"])).notes[0]


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["5"] * 12, "the same in every row; left out"),
        (["5", "5.0"] * 6, "the same in every row; left out"),
        ([""] * 12, "empty; left out"),
        (["inf"] * 11 + ["-inf"], "the same in every row; left out"),
        ([str(row) for row in range(12)], "counts the rows; left out"),
        ([f"name {row}" for row in range(12)], "different in most rows, as names and remarks are; left out"),
        ([f"a very long remark about the thing {row // 2}" for row in range(12)], None),
        ([f"a very long remark about the thing {row * 2 // 3}" for row in range(12)], "free text; left out"),
    ],
)
def test_columns_that_tell_nothing_are_left_out(cells, note):
    encoder = TableEncoder.fit(text(odd=cells, a=list("12") * 6))
    said = [each for each in encoder.notes if each.startswith("odd") and "left out" in each]
    assert said == ([f"odd: {note}."] if note else [])
    assert not note or encoder.titles == ["a"]


def test_a_few_words_among_numbers_count_as_missing():
    cells = [str(row**2) for row in range(30)] + ["n.d."]
    encoder = TableEncoder.fit(text(a=cells), prepare="none")
    assert encoder.titles == ["a", "a is missing"]
    assert "a: 1 cell is no number ('n.d.') and counts as missing." in encoder.notes


def test_guesses_can_be_overruled():
    table = text(code=["1", "2", "1"], name=["x", "y", "z"], a=["1", "2", "4"])
    encoder = TableEncoder.fit(table, categorical=["code", "name"], drop=["a"])
    assert encoder.titles == ["code = 1", "code = 2", "name = x", "name = y", "name = z"]
    kept = TableEncoder.fit(text(row=[str(row) for row in range(12)]), numeric=["row"])
    assert kept.titles == ["row"]
    with pytest.raises(ValueError, match="--drop b: there is no such column; there are code, name, a"):
        TableEncoder.fit(table, drop=["b"])
    with pytest.raises(ValueError, match="a is asked to be numeric and left out; choose one"):
        TableEncoder.fit(table, numeric=["a"], drop=["a"])
    with pytest.raises(ValueError, match="--numeric name: none of its cells is a number"):
        TableEncoder.fit(table, numeric=["name"])


def test_many_values_are_capped():
    cells = [f"v{row % 150}" for row in range(600)] + ["v149"]
    encoder = TableEncoder.fit(text(a=cells))
    assert len(encoder.titles) == 100
    assert "a = v149" in encoder.titles
    assert any("more than 100 values" in note for note in encoder.notes)


@pytest.mark.parametrize("prepare", ["none", "rows", "unit", "range", "standard", "standard+pca2", "range+standard"])
def test_the_state_is_plain_and_repeats_exactly(prepare, random):
    table = {
        "a": random.normal(size=40),
        "b": np.where(random.random(40) < 0.2, np.nan, random.normal(size=40)),
        "c": random.choice(np.array(["x", "y", None], dtype=object), 40),
        "d": np.array([f"2020-01-{1 + row % 28:02}" for row in range(40)], dtype=object),
    }
    encoder = TableEncoder.fit(table, prepare=prepare, label="y", id_column="i")
    np.testing.assert_array_equal(again(encoder).transform(table), encoder.transform(table))
    assert again(encoder).to_dict() == encoder.to_dict()
    assert (again(encoder).label, again(encoder).id_column) == ("y", "i")
    # rows do not depend on their company, or on the order of columns
    turned = {name: table[name][::-1] for name in reversed(table)}
    np.testing.assert_allclose(encoder.transform(turned)[::-1], encoder.transform(table), rtol=1e-6, atol=1e-6)
    one = {name: column[:1] for name, column in table.items()}
    np.testing.assert_allclose(encoder.transform(one), encoder.transform(table)[:1], rtol=1e-6, atol=1e-6)


def test_sparse_matrices_stay_sparse():
    X = sparse.random_array((30, 8), density=0.3, random_state=0, format="csr")
    X.data[X.indices == 3] = 0
    encoder = TableEncoder.fit(X)
    assert sparse.issparse(encoder.transform(X))
    assert encoder.transform(X).shape == (30, 7)
    np.testing.assert_array_equal(again(encoder).transform(X).toarray(), encoder.transform(X).toarray())
    with pytest.raises(ValueError, match="training had 8 columns"):
        encoder.transform(X[:, :5])
    X.data[0] = np.nan
    with pytest.raises(ValueError, match="missing or infinite entries"):
        TableEncoder.fit(X)


def test_dense_matrices_have_numbered_columns():
    X = np.array([[1.0, np.nan, 5], [2, 3, 5], [4, 9, 5]])
    encoder = TableEncoder.fit(X, prepare="none")
    assert encoder.titles == ["0", "1", "1 is missing"]
    np.testing.assert_array_equal(again(encoder).transform(X), [[1, 3, 1], [2, 3, 0], [4, 9, 0]])
    np.testing.assert_array_equal(encoder.transform(sparse.csr_array(X[1:])), [[2, 3, 0], [4, 9, 0]])
    with pytest.raises(ValueError, match="training had a matrix of 3 columns"):
        encoder.transform(X[:, :2])


def test_new_tables():
    encoder = TableEncoder.fit(text(a=["1", "2", "4"], b=["x", "y", "x"]))
    with pytest.raises(ValueError, match="the table lacks the columns a, b of training; it has c"):
        encoder.transform(text(c=["1"]))
    X, notes = encoder.encode(text(a=["", "x", "3"], b=["x", "", "y"], more=["1", "2", "3"]))
    assert np.isfinite(X).all()
    assert len(notes) == 3
    with pytest.raises(ValueError, match="a hold values beyond 32-bit floats"):
        encoder.transform(text(a=["1e300"], b=["x"]))
    with pytest.raises(ValueError, match="named columns; the new rows must have these, too"):
        encoder.transform(np.eye(2))


def test_errors_of_fit():
    with pytest.raises(ValueError, match=r"no column is left to learn from: a: the same in every row; left out"):
        TableEncoder.fit(text(a=["1", "1"]))
    with pytest.raises(ValueError, match="no columns besides"):
        TableEncoder.fit(text(a=["1", "2"]), label="a")
    with pytest.raises(ValueError, match="prepare must be one of"):
        TableEncoder.fit(text(a=["1", "2"]), prepare="scaled")
    with pytest.raises(ValueError, match="pca3 needs a number from 1 to 1"):
        TableEncoder.fit(text(a=["1", "2"]), prepare="pca3")
    with pytest.raises(ValueError, match="version 2 and this glcn reads 1"):
        TableEncoder.from_dict({"version": 2})


def test_the_greatest_numbers_that_there_are():
    column = [0.0] * 7 + [1.7976931348623145e308, -1.697693134862316e308, 1e308]
    X = TableEncoder.fit({"a": np.array(column), "b": np.arange(10) % 3}).transform(
        {"a": column, "b": np.arange(10) % 3}
    )
    assert np.isfinite(X).all()
    assert X[:, 0].std() == pytest.approx(1, rel=1e-5)
