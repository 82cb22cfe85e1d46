"""`glcn fit` on users' own files: good ones, odd ones, and ones that are none."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

from glcn.cli import app


@pytest.fixture
def fit(tmp_path, monkeypatch):
    """Return a function that writes a file as t.csv, and fits it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(content, *words, label="kind"):
        if content is not None:
            content = content.encode() if isinstance(content, str) else content
            Path("t.csv").write_bytes(content)
        options = ["--label", label, "--max-epochs", "3", "--out", "run", *words]
        return CliRunner().invoke(app, ["fit", "t.csv", *options])

    return run


def rows(**changes):
    """Return a CSV file of 24 good rows; a change takes a row's number and gives its cell."""
    columns = {"size": lambda row: row % 7, "kind": lambda row: ("a", "b", "")[row % 3]} | changes
    lines = [",".join(columns), *(",".join(str(make(row)) for make in columns.values()) for row in range(24))]
    return "\n".join(lines) + "\n"


GOOD = {
    "empty and infinite cells": rows(width=lambda row: ("", "NaN", "inf", "1", "2.5")[row % 5]),
    "unicode and odd names": rows(**{"größe 日本 [x]": lambda row: row % 5, "": lambda row: row % 2}),
    "duplicate rows": rows(size=lambda row: row % 3 // 2),
    "a constant column": rows(width=lambda row: 5),
    "a class with one row": rows(kind=lambda row: "one" if row == 0 else "ab"[row % 2]),
    "labels of mixed types": rows(kind=lambda row: ("1", "2.5", "True", "x", "")[row % 5]),
    "few rows": "size,kind\n1,a\n2,b\n4,\n",
    "huge numbers": rows(size=lambda row: (-1e308, 1e308, 5e-324)[row % 3]),
    "semicolons": rows(size=lambda row: f"{row % 7}.5").replace(",", ";").replace(".", ","),
    "Windows": b"\xef\xbb\xbf" + rows().replace("\n", "\r\n").encode(),
    "UTF-16": rows().encode("utf-16"),
    "a number of each row": rows(nr=lambda row: row + 1),
    "dates": rows(day=lambda row: f"2020-02-{row + 1:02}"),
}


@pytest.mark.parametrize("name", GOOD)
def test_odd_files_get_an_answer(fit, name):
    result = fit(GOOD[name])
    assert result.exit_code == 0, result.output
    assert "results in" in result.output
    with Path("run/predictions.csv").open(newline="") as file:
        shares = [float(row["probability"]) for row in csv.DictReader(file)]
    assert np.isfinite(shares).all()


BAD = {
    "no label": (rows(kind=lambda row: ""), "at least two classes must have a label, got none"),
    "one class": (rows(kind=lambda row: "a"), "got one ('a'); leave the cells of unlabelled rows empty"),
    "an id as label": (rows(kind=lambda row: f"id{row}"), "24 different values in 24 labelled rows, as an id"),
    "a measurement as label": (rows(kind=lambda row: row * 0.37), "glcn predicts classes: name another column"),
    "names twice": ("a,a,kind\n1,2,x\n3,4,y\n", "2 columns named 'a'; rename all but one"),
    "an empty file": ("", "t.csv is empty"),
    "blank lines": ("\n\n\n", "t.csv is empty"),
    "only a header": ("size,kind\n", "no rows below its header; add some"),
    "ragged lines": (rows() + "1\n", "line 26 of t.csv has 1 cells and its first line has 2; correct it"),
    "binary": (bytes(range(256)) * 4, "holds binary data and no text"),
    "a spreadsheet": (b"PK\x03\x04" + bytes(100), "save it as CSV"),
    "Latin-1": (rows(kind=lambda row: "äö"[row % 2]).encode("latin-1"), "not in UTF-8 (line 2); save it so"),
    "a huge cell": (rows() + "x" * 140_000 + ",a\n", "a cell of more than 131072 characters"),
    "an open quotation mark": (rows() + '"1,a\n', "a quotation mark that is not closed"),
    "labels only": ("kind\na\nb\n", "no columns besides the labels"),
    "nothing to learn from": ("size,kind\n5,a\n5,b\n", "no column is left to learn from"),
    "no such label": ("size,sort\n5,a\n6,b\n", "no column 'kind'; it has size, sort"),
    "nearly such a label": ("size,Kind\n5,a\n6,b\n", "did you mean 'Kind'?"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence(fit, name):
    content, message = BAD[name]
    result = fit(content)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    assert not Path("run").exists()
    assert isinstance(fit(content, "--debug").exception, ValueError)


BAD_GRAPHS = {
    "unknown rows": ("0,1\n0,99\n", "names 1 row that is not in the table, such as '99'; remove these edges"),
    "a negative weight": ("0,1,1\n0,2,-1\n", "in line 2 of e.csv is negative"),
    "self-loops only": ("0,0\n1,1\n", "no edge between two rows"),
    "no edges": ("", "e.csv is empty"),
    "binary": ("\0\0", "binary data"),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_bad_graphs_get_one_sentence(fit, name):
    content, message = BAD_GRAPHS[name]
    Path("e.csv").write_text(content)
    result = fit(rows(), "--graph", "e.csv")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_odd_graphs_get_an_answer(fit):
    Path("e.csv").write_text("0,1,2\n1,0,1\n0,1,2\n3,3,1\n5,6,0\n7,8,1\n")
    result = fit(rows(), "--graph", "e.csv")
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for words in ("2 edges", "1 edges of a row with itself", "more than once", "20 rows have no edge", "2 parts"):
        assert words in said


def test_guesses_are_said_and_can_be_overruled(fit):
    content = rows(code=lambda row: row % 4, name=lambda row: f"n{row}", day=lambda row: row)
    told = " ".join(fit(content).output.split())
    assert "size, code: numbers." in told
    assert "name: different in most rows, as names and remarks are; left out." in told
    assert "day: counts the rows; left out." in told
    assert "(--numeric, --categorical or --drop COLUMN decides otherwise)" in told
    words = ["--categorical", "code", "--numeric", "day", "--drop", "name", "--out", "again"]
    again = fit(content, *words)
    assert "24 rows, 6 features" in again.output
    assert "code: categorical, as asked." in again.output
    assert "named dataset" in CliRunner().invoke(app, ["fit", "cora", "--drop", "x"]).stderr


def test_verbose_says_how_columns_are_read_and_how_training_goes(fit):
    result = fit(rows(colour=lambda row: ("red", "[blue]")[row % 2]), "--verbose", "--seed", "4")
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    for words in (
        "colour = [blue], colour = red",
        "│ size │ numeric │ size │",
        "epoch 3 of 3 loss",
        "│ random_state │ 4 │",
    ):
        assert words in told, words
    again = CliRunner().invoke(app, ["predict", "run", "t.csv", "-o", "out.csv", "-v"])
    assert "categorical" in again.stderr
    assert "read, classified and written in" in again.stderr
    assert "size" not in CliRunner().invoke(app, ["predict", "run", "t.csv", "-o", "o.csv"]).stderr
    assert "contradict" in fit(None, "--verbose", "--quiet").output


def test_predictions_hold_no_formulas(fit):
    result = fit(rows(name=lambda row: f"-1+{row}", kind=lambda row: ("=cmd()", "-5")[row % 2]), "--id", "name")
    assert result.exit_code == 0, result.output
    with Path("run/predictions.csv").open(newline="") as file:
        answers = list(csv.DictReader(file))
    assert answers[3]["row"] == "'-1+3"
    assert {row["predicted"] for row in answers} <= {"'=cmd()", "-5"}


def test_standard_input(fit):
    words = ["fit", "-", "--label", "kind", "--max-epochs", "2"]
    result = CliRunner().invoke(app, words, input=rows().replace(",", ";"))
    assert result.exit_code == 0, result.output
    assert "Cells are separated by semicolons." in result.output
    assert Path("runs/stdin-plus-seed0").is_dir()


def test_arrays_with_labels_in_a_file(fit, tmp_path, random):
    Path("y.txt").write_text("a\nb\n\n" * 8)
    sparse.save_npz("X.npz", sparse.random_array((24, 1000), density=0.02, random_state=0, format="csr"))
    np.save("X.npy", random.normal(size=(24, 3)))
    for file in ("X.npz", "X.npy"):
        words = ["fit", file, "--labels-file", "y.txt", "--max-epochs", "2", "--out", f"run-{file}"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output


def penguins() -> Path:
    """Return the file of the package palmerpenguins, which need not be imported for it."""
    found = importlib.util.find_spec("palmerpenguins")
    if found is None or found.origin is None:
        pytest.skip("palmerpenguins is not installed")
    return Path(found.origin).parent / "data/penguins.csv"


@pytest.mark.parametrize("name", ["iris", "wine", "penguins"])
def test_three_tables_of_a_new_user(fit, name):
    if name == "penguins":
        frame, label = pd.read_csv(penguins(), keep_default_na=False), "species"
    else:
        bunch = {"iris": load_iris, "wine": load_wine}[name](as_frame=True)
        frame, label = bunch.frame.drop(columns="target").assign(kind=bunch.target_names[bunch.target]), "kind"
    truth = frame[label].tolist()
    frame.loc[np.arange(len(frame)) % 5 > 0, label] = ""  # a fifth of the labels is left
    result = fit(frame.to_csv(index=False), "--max-epochs", "100", label=label)
    assert result.exit_code == 0, result.output
    assert max(len(line) for line in result.output.splitlines()) <= 80
    with Path("run/predictions.csv").open(newline="") as file:
        answers = [row["predicted"] for row in csv.DictReader(file)]
    bar = 0.8 if name == "iris" else 0.9  # of the rest of iris, logistic regression gets 0.87 right from these labels
    assert np.mean([answer == right for answer, right in zip(answers, truth, strict=True)]) > bar
    assert json.loads(Path("run/metrics.json").read_text())["accuracy"] is None
    if name == "penguins":
        assert "sex: 11 rows without a value; that is a value of its own." in result.output
