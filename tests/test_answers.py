import csv
import io
import json

import numpy as np
import pytest

from glcn.answers import write_answers
from glcn.escaping import harmless, original

SHARES = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.05, 0.05, 0.9]])
CLASSES = ("low", "mid", "=high()")


def written(tmp_path, **options):
    blocks = [(["a", "-b"], SHARES[:2]), (["7"], SHARES[2:])]
    rows, doubtful = write_answers(tmp_path / "out", blocks, CLASSES, **options)
    assert rows == 3
    return (tmp_path / "out").read_text(), doubtful


def test_csv(tmp_path):
    text, doubtful = written(tmp_path)
    assert doubtful == 0
    assert list(csv.reader(text.splitlines())) == [
        ["row", "label", "probability", "second_choice", "second_probability"],
        ["a", "low", "0.700000", "mid", "0.200000"],
        ["'-b", "mid", "0.500000", "'=high()", "0.400000"],
        ["7", "'=high()", "0.900000", "low", "0.050000"],
    ]


def test_abstention(tmp_path):
    text, doubtful = written(tmp_path, abstain=0.8)
    assert doubtful == 2
    assert [row["label"] for row in csv.DictReader(text.splitlines())] == ["", "", "'=high()"]
    rows = json.loads(written(tmp_path, abstain=0.8, format="json")[0])
    assert [row["label"] for row in rows] == [None, None, "=high()"]
    assert rows[0] == {
        "row": "a",
        "label": None,
        "probability": 0.7,
        "second_choice": "mid",
        "second_probability": 0.2,
    }


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "-",
        "-1_0",
        "＝1+1",
        "＋1",
        "－1+1",
        "＠x",
        " =1",
        "\u3000=1",
    ],
)
def test_formulas_are_made_harmless(cell):
    assert harmless(cell) == f"'{cell}"


def test_no_cell_begins_another_line(tmp_path):
    names = ["a\r=1+1", "b\n=2", 'c",=3', "d\r\n=4"]
    write_answers(tmp_path / "out", [(names, [[0.6, 0.4]] * 4)], ["x\ry", "z"])
    content = (tmp_path / "out").read_bytes().decode()
    outside = "".join(content.split('"')[::2])  # what is not in quotation marks
    assert outside.count("\n") == 5
    assert "\r" not in outside
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["row"] for row in rows] == names
    assert {row["label"] for row in rows} == {"x\ry"}


@pytest.mark.parametrize("cell", ["=1", "＝1", " @x", "-1+1", "plain", "'quoted'", "-5", ""])
def test_the_apostrophe_can_be_taken_away(cell):
    assert original(harmless(cell)) == cell


NASTY = "\x1b[31mred\x07\u202e\x9b5m"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_terminal_is_told_nothing_that_it_obeys(monkeypatch, kind):
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    write_answers("-", [([NASTY], [[0.6, 0.4]])], [NASTY, "b"], format=kind)
    assert all(character.isprintable() or character == "\n" for character in screen.getvalue())
    assert "\\u202e" in screen.getvalue()


def test_json_escapes_what_is_invisible_and_says_the_same(tmp_path):
    write_answers(tmp_path / "out", [([NASTY + "é"], [[0.6, 0.4]])], ["a", "b"], format="json")
    content = (tmp_path / "out").read_text()
    assert all(character.isprintable() or character == "\n" for character in content)
    assert "é" in content
    assert json.loads(content)[0]["row"] == NASTY + "é"


@pytest.mark.parametrize("cell", ["-1", "+1.5", "-1e5", "a=b", "", "5", "x", "-inf"])
def test_other_cells_stay_as_they_are(cell):
    assert harmless(cell) == cell


def test_standard_output(capsys):
    write_answers("-", [(["a"], [[0.6, 0.4]])], ["x", "y"])
    assert (
        capsys.readouterr().out == "row,label,probability,second_choice,second_probability\na,x,0.600000,y,0.400000\n"
    )


def test_no_rows_are_a_list_of_none(capsys):
    assert write_answers("-", [], CLASSES, format="json") == (0, 0)
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_file_appears_whole_or_not_at_all(tmp_path, kind):
    (tmp_path / "out").write_text("before")

    def blocks():
        yield ["a", "-b"], SHARES[:2]
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_answers(tmp_path / "out", blocks(), CLASSES, format=kind)
    assert (tmp_path / "out").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match="format must be one of"):
        written(tmp_path, format="xml")
    with pytest.raises(ValueError, match="a probability from 0 to 1, got 80"):
        written(tmp_path, abstain=80)
    with pytest.raises(ValueError, match="there are 1 rows and 3 classes"):
        write_answers(tmp_path / "out", [(["a"], SHARES)], CLASSES)
