import csv
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from glcn import GLCNClassifier
from glcn.cli import app
from glcn.cli.predict import NUMBERED, answer, check_output, predict
from glcn.datasets import read_own

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
HEADER = "name,size,colour,kind\n"


def line(row, label=None):
    group = row % 2
    kind = ("low", "=high")[group] if label is None else label
    return f"r{row},{group * 4 + row % 5 / 5},{('red', 'blue')[group]},{kind}\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "t.csv").write_text(HEADER + "".join(line(row) for row in range(40)))
    data = read_own(folder / "t.csv", label="kind", id_column="name", prepare="standard")
    clf = GLCNClassifier(max_epochs=5, random_state=0).fit(data.X, data.visible_labels)
    classes = [data.class_names[code] for code in clf.classes_]
    return SimpleNamespace(clf=clf, encoder=data.encoder, ids=data.ids, classes=classes)


@pytest.fixture
def new(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text(HEADER + "".join(line(row, "") for row in range(40, 46)))
    return "new.csv"


def test_answers_name_the_rows(run, new, tmp_path, capsys):
    answer(run, new, "out.csv", Console(stderr=True))
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == [f"r{row}" for row in range(40, 46)]
    assert [row["label"] for row in rows] == ["low", "'=high"] * 3
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)
    assert "6 rows classified; answers in out.csv" in capsys.readouterr().err


def test_a_row_is_answered_the_same_in_any_company(run, new, tmp_path):
    answer(run, new, "all.json", Console(stderr=True, quiet=True), as_json=True)
    (tmp_path / "one.csv").write_text("colour,size,name\nblue,4.6,r43\n")
    answer(run, "one.csv", "one.json", Console(stderr=True, quiet=True), as_json=True)
    every = json.loads((tmp_path / "all.json").read_text())
    assert json.loads((tmp_path / "one.json").read_text()) == [row for row in every if row["row"] == "r43"]


def test_rows_are_answered_block_by_block_as_they_are_at_once(run, new, tmp_path, monkeypatch):
    answer(run, new, "whole.csv", Console(stderr=True, quiet=True))
    monkeypatch.setattr(sys.modules[answer.__module__], "MOST_ROWS", 4)
    (tmp_path / "edges.csv").write_text("".join(f"r{row},r{row % 2}\n" for row in range(40, 46)))
    answer(run, new, "parts.csv", Console(stderr=True, quiet=True))
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    answer(run, new, "joined.csv", Console(stderr=True), edges=tmp_path / "edges.csv")
    monkeypatch.setattr(sys.modules[answer.__module__], "MOST_ROWS", 100)
    answer(run, new, "joined_at_once.csv", Console(stderr=True), edges=tmp_path / "edges.csv")
    assert (tmp_path / "joined.csv").read_text() == (tmp_path / "joined_at_once.csv").read_text()


def test_doubtful_rows_are_left_open(run, new, capsys):
    answer(run, new, "-", Console(stderr=True), abstain=1.0)
    told = capsys.readouterr()
    assert all(row["label"] == "" for row in csv.DictReader(told.out.splitlines()))
    assert "6 rows classified, 6 of them left open (below 100%)" in told.err


def test_edges_decide_where_they_are_given(run, new, tmp_path):
    (tmp_path / "edges.csv").write_text("".join(f"r{row},r{row % 2}\n" for row in range(40, 46)))
    answer(run, new, "out.csv", Console(stderr=True, quiet=True), edges=tmp_path / "edges.csv")
    (tmp_path / "edges.csv").write_text("r40,r99\n")
    with pytest.raises(ValueError, match="not in the training table, such as 'r99'"):
        answer(run, new, "out.csv", Console(stderr=True, quiet=True), edges=tmp_path / "edges.csv")


def test_what_is_new_in_a_table_is_said(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("name;size;colour\nq;;green\n")
    answer(run, "new.csv", "-", Console(stderr=True, width=200))
    told = capsys.readouterr().err
    for words in ("semicolons", "such as 'green', have no column", "1 row without a value"):
        assert words in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER, "no rows below its header"),
        ("name,size\na,1\n", "lacks the column colour of training"),
        ("name,size,colour\na,1,red\na,2,red\n", "names some rows twice"),
    ],
)
def test_mistakes(run, tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text(content)
    with pytest.raises(ValueError, match=message):
        answer(run, "new.csv", "-", Console(stderr=True))


def test_arrays_without_a_record_of_their_making(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.repeat(np.eye(2), 8, axis=0)
    clf = GLCNClassifier(fixed_epochs=5, n_neighbors=3, random_state=0).fit(X, [0] * 8 + [1] * 8)
    run = SimpleNamespace(clf=clf, encoder=None, ids=None, classes=["x", "y"])
    np.save(tmp_path / "new.npy", X[:3])
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n2,15\n")
    answer(run, "new.npy", "-", Console(stderr=True, width=200), edges=tmp_path / "edges.csv")
    assert "taken as they are" in capsys.readouterr().err
    (tmp_path / "new.csv").write_text("a,b\n1,0\n")
    with pytest.raises(ValueError, match="fitted on prepared arrays"):
        answer(run, "new.csv", "-", Console(stderr=True))


def test_somebodys_file_is_kept(new, tmp_path):
    with pytest.raises(FileExistsError, match="choose another --out, or pass --force"):
        check_output(new, False)
    check_output(new, True)
    check_output("-", False)
    with pytest.raises(IsADirectoryError, match="is a folder; name a file as --out"):
        check_output(str(tmp_path), True)
    with pytest.raises(PermissionError, match=r"can not write .*answers\.csv: no files .*; choose another --out"):
        check_output("new.csv/answers.csv", False)


def test_unwritable_output_is_said_before_anything_is_read(new):
    told = CliRunner().invoke(app, ["predict", "no-run", "no-file.csv", "-o", "new.csv/answers.csv"])
    assert told.exit_code == 2
    assert "can not write new.csv/answers.csv" in " ".join(told.stderr.split())


def test_rows_can_be_numbered_whatever_their_names(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("name,size,colour\na,1,red\na,2,red\n")
    with pytest.raises(ValueError, match="name each row once, or pass --number-rows to number them"):
        answer(run, "new.csv", "-", Console(stderr=True))
    answer(run, "new.csv", "out.csv", Console(stderr=True, quiet=True), id_column=NUMBERED)
    answers = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    assert [row["row"] for row in answers] == ["0", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a run that the command wrote."""
    home = tmp_path_factory.mktemp("written")
    (home / "t.csv").write_text(HEADER + "".join(line(row) for row in range(40)))
    words = ["fit", str(home / "t.csv"), "--label", "kind", "--id", "name", "--max-epochs", "3"]
    done = CliRunner().invoke(app, [*words, "--out", str(home / "run"), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["run"] == str(home / "run")
    assert told["epochs"] == 3
    assert "numbers." in done.stderr
    return home / "run"


@pytest.mark.parametrize("words", [["predict", "RUN", "t.csv"], ["export", "RUN", "-o", "-"]])
def test_a_reader_that_goes_away_is_no_error(folder, words):
    command = [sys.executable, "-m", "glcn", *(str(folder) if word == "RUN" else word for word in words)]
    with subprocess.Popen(command, cwd=folder.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        job.stdout.close()  # before anything is written
        said = job.stderr.read().decode().lower()
        assert job.wait(timeout=100) == 141
    assert "error" not in said


def test_the_learned_graph_goes_into_a_pipe(folder):
    done = CliRunner().invoke(app, ["export", str(folder), "-o", "-", "--top", "1"])
    assert done.exit_code == 0
    edges = list(csv.DictReader(done.stdout.splitlines()))
    assert len(edges) == 40
    assert edges[0]["source"].startswith("r")


def test_explain_says_what_is_asked_for(folder):
    told = CliRunner().invoke(app, ["explain", str(folder), "--row", "r3"], env={"COLUMNS": "100"})
    assert "by its own features alone" in told.stdout
    quiet = CliRunner().invoke(app, ["explain", str(folder), "--row", "r3", "-q"], env={"COLUMNS": "100"})
    assert quiet.stdout.rstrip() in told.stdout
    assert "alone" not in quiet.stdout
    unknown = CliRunner().invoke(app, ["explain", str(folder), "--row", "zzz"])
    assert "there is no row 'zzz'; rows have names such as 'r0'" in unknown.stderr


def test_a_seed_below_zero_is_refused():
    assert CliRunner().invoke(app, ["fit", "digits", "--seed", "-1"]).exit_code == 2


def test_the_command_reads_its_options():
    alone = typer.Typer()
    alone.command()(predict)
    told = CliRunner().invoke(alone, ["--help"], env={"COLUMNS": "120"})
    assert told.exit_code == 0
    for option in ("--abstain", "--edges", "--json", "--quiet", "--id", "--force"):
        assert option in told.output
