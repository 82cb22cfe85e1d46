"""What the guide says was typed and printed is true."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from glcn.cli import app

GUIDE = (Path(__file__).parents[1] / "docs/guide.md").read_text(encoding="utf-8")
SESSIONS = dict(re.findall(r"<!-- run: (\w+) -->\n```\n(.*?)```", GUIDE, flags=re.DOTALL))
(FILES,) = re.findall(r"<!-- files -->\n```python\n(.*?)```", GUIDE, flags=re.DOTALL)
FIGURE = re.compile(r"\d+(\.\d+)?")


def answer(command):
    """Return what a command prints, line by line."""
    name, *words = shlex.split(command)
    if name == "cat":
        return Path(*words).read_text(encoding="utf-8").splitlines()
    assert name == "glcn"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return [line.rstrip() for line in done.output.splitlines()]


def without_figures(lines):
    """Write # for the figures of a fit: those in its table, whose broken lines are joined, and those in answers.

    How the learned graph came out is told by more or fewer words on other machines; its first clause is kept.
    """
    plain = []
    for line in lines:
        if not line.startswith("│"):
            plain.append(FIGURE.sub("#", line) if re.match(r"\d+,\w+,\d\.\d+,", line) else line)
            continue
        title, value = (FIGURE.sub("#", cell.strip()) for cell in line.strip("│").split("│"))
        if title:
            plain.append(f"{title}: {value}")
        else:
            plain[-1] += f" {value}"
    return [line.partition(";")[0] if line.startswith("learned graph: ") else line for line in plain]


def test_the_guide_has_the_three_sessions():
    assert SESSIONS.keys() == {"iris", "wine", "penguins"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the files that the guide makes."""
    pytest.importorskip("palmerpenguins")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    exec(FILES, {})
    return tmp_path


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_prints_what_the_guide_says(name, folder):
    for step in SESSIONS[name].split("$ ")[1:]:
        command, expected = step.split("\n", 1)
        assert without_figures(answer(command)) == without_figures(expected.rstrip("\n").splitlines())
    (answers,) = folder.glob("answers*")
    content = answers.read_text(encoding="utf-8")
    rows = json.loads(content) if answers.suffix == ".json" else list(csv.DictReader(content.splitlines()))
    assert len(rows) == 5
    assert all(float(row["probability"]) > 1 / 3 for row in rows)
    assert all(row["second_choice"] != row["label"] for row in rows)


def test_figures_may_differ_and_nothing_else():
    shown = SESSIONS["iris"].splitlines()
    assert without_figures([line.replace("550", "123") for line in shown]) == without_figures(shown)
    for wrong in ("validation accuracy", "numbers.", "split own", "0,setosa", "results in"):
        other = [line.replace(wrong, "else") for line in shown]
        assert without_figures(other) != without_figures(shown), wrong
    assert without_figures([*shown, "another line"]) != without_figures(shown)
