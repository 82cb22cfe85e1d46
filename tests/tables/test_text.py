import io

import numpy as np
import pytest

from glcn.tables import read_table
from glcn.tables.text import text_table


def columns(text, expected=","):
    return {name: cells.tolist() for name, cells in text_table(text.encode(), "t.csv", expected).columns.items()}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_guessed(separator):
    table = text_table(f"a{separator}b\n1{separator}x\n".encode(), "t.csv")
    assert {name: cells.tolist() for name, cells in table.columns.items()} == {"a": ["1"], "b": ["x"]}
    assert bool(table.notes) == (separator != ",")


def test_separators_in_quotation_marks_do_not_count():
    assert columns('"a;b;c",d\n1,2\n') == {"a;b;c": ["1"], "d": ["2"]}
    assert columns("a;b\tc\n1\t2\n", "\t") == {"a;b": ["1"], "c": ["2"]}


def test_odd_characters_end_no_line():
    assert columns("a\x0bb\u2028c;d\n1;2\n") == {"a\x0bb\u2028c": ["1"], "d": ["2"]}


def test_decimal_commas_where_commas_do_not_separate():
    table = text_table(b"a;b;c\n1,5;x,y;3\n-2;z;4\n;z;5\n", "t.csv")
    assert table.columns["a"].tolist() == ["1.5", "-2", ""]
    assert table.columns["b"].tolist() == ["x,y", "z", "z"]
    assert "decimal points" in table.notes[-1]


def test_excel_and_unicode():
    assert columns("\ufeffé, b \n1,2\n") == {"é": ["1"], "b": ["2"]}
    assert columns("e\u0301\n1\n") == {"é": ["1"]}  # both ways to write the letter are one
    utf16 = text_table("a\tß\n1\t2\n".encode("utf-16"), "t.csv")
    assert utf16.columns["ß"].tolist() == ["2"]
    assert columns("a,b\r\n1,2\r\n,\r\n\r\n") == {"a": ["1"], "b": ["2"]}
    assert columns(",b\n1,2\n") == {"column 1": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\n", "is empty"),
        (b"x,kind\n", "no rows below its header"),
        (b"x,kind\n,\n", "no rows below its header"),
        (b"a,b\n1,2\n\n3\n", r"line 4 of t.csv has 1 cells and its first line has 2; correct it"),
        (b"a,b\n1,2,3\n", r"line 2 of t.csv has 3 cells"),
        (b"a,a\n1,2\n", "2 columns named 'a'; rename all but one"),
        (b"a,b\n\xe9,2\n", r"is not in UTF-8 \(line 2\); save it so"),
        (b"a,b\n\0,2\n", "binary data"),
        (b"PK\x03\x04..", "a spreadsheet or zip archive, whatever its name says"),
        (b"\x1f\x8b..", "a gzip archive"),
        (b'a,b\n"1,2\n', "line 2 of t.csv has a quotation mark that is not closed"),
        (b'a,b\n"1"x,2\n', "not followed by the separator"),
        (b"a,b\n" + b"x" * 200_000 + b",2\n", "a cell of more than 131072 characters"),
    ],
)
def test_what_is_no_table(content, message):
    with pytest.raises(ValueError, match=message):
        text_table(content, "t.csv")


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a;b\n1;2\n")))
    table = read_table("-")
    assert table.name == "stdin"
    assert table.num_rows == 1
    assert table.content["b"].tolist() == ["2"]


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "t.xlsx").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"its ending must be one of .csv"):
        read_table(tmp_path / "t.xlsx")
    (tmp_path / "t.parquet").write_bytes(b"x")
    with pytest.raises(ValueError, match="can not be read as a Parquet file"):
        read_table(tmp_path / "t.parquet")


def test_many_columns_are_read_in_reasonable_time():
    wide = ",".join(f"c{place}" for place in range(5000)) + "\n" + ",".join("1" * 5000) + "\n"
    assert len(text_table(wide.encode(), "t.csv").columns) == 5000
    assert np.array_equal(text_table(wide.encode(), "t.csv").columns["c7"], ["1"])
