import pytest

from glcn.experiments.records import append, read


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new folder/rows.jsonl"


def test_rows_come_back_as_they_were(path):
    rows = [{"a": 1, "b": None, "c": [0.1, "λ ± 1"]}, {"nested": {"deep": True}}]
    for row in rows:
        append(path, row)
    assert read(path) == rows
    assert path.read_bytes().count(b"\n") == 2
    assert "λ ± 1" in path.read_text(encoding="utf-8")


def test_no_file_has_no_rows(path):
    assert read(path) == []
    assert not path.parent.exists()


@pytest.mark.parametrize("text", ["two\nlines", "a\u2028b", "a\u2029b", "a\x85b", "a\x0cb\x1cc", "\u0000"])
def test_whatever_a_text_holds_a_row_is_one_line(path, text):
    append(path, {"text": text})
    append(path, {"text": "after"})
    assert [row["text"] for row in read(path)] == [text, "after"]


@pytest.mark.parametrize("kept", [1, 12, -2, -1])
def test_a_line_that_was_broken_off_is_skipped(path, kept):
    append(path, {"number": 1})
    whole = path.read_bytes()
    append(path, {"number": 2, "text": "λ", "more": {"x": "λ"}})
    broken = path.read_bytes()[len(whole) :][:-1][:kept]
    path.write_bytes(whole + broken)
    assert read(path) == [{"number": 1}]
    append(path, {"number": 3})
    assert read(path) == [{"number": 1}, {"number": 3}]
    assert path.read_bytes() == whole + broken + b'\n{"number": 3}\n'  # nothing that was there is rewritten


def test_a_row_that_lacks_nothing_but_its_end_of_line_counts(path):
    append(path, {"number": 1})
    path.write_bytes(path.read_bytes()[:-1])
    append(path, {"number": 2})
    assert read(path) == [{"number": 1}, {"number": 2}]


def test_a_character_that_was_broken_off_is_skipped(path):
    append(path, {"number": 1})
    with path.open("ab") as file:
        file.write('{"text": "λ'.encode()[:-1])
    append(path, {"number": 2})
    assert read(path) == [{"number": 1}, {"number": 2}]


def test_only_objects_are_rows(path):
    append(path, {"number": 1})
    with path.open("a") as file:
        file.write('[1]\n7\n\n"text"\n')
    assert read(path) == [{"number": 1}]


def test_a_row_that_can_not_be_written_changes_nothing(path):
    append(path, {"number": 1})
    before = path.read_bytes()
    with pytest.raises(TypeError):
        append(path, {"number": object()})
    assert path.read_bytes() == before
