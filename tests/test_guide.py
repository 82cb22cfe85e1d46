"""What the guide says was typed and printed is true."""

import csv
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

from glcn.cli import app

GUIDE = (Path(__file__).parents[1] / "docs/guide.md").read_text(encoding="utf-8")
SESSIONS = dict(re.findall(r"<!-- run: (\w+) -->\n```\n(.*?)```", GUIDE, flags=re.DOTALL))


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def bundled(load, name, label, folder):
    data = load()
    names = [data.target_names[code] if row % 5 == 0 else "" for row, code in enumerate(data.target)]
    rows = [[*values, word] for values, word in zip(data.data.tolist(), names, strict=True)]
    write(folder / f"{name}.csv", [*data.feature_names, label], rows)
    write(folder / f"new-{name}.csv", data.feature_names, data.data[::30][:5].tolist())


def penguins(folder):
    table = pytest.importorskip("palmerpenguins").load_penguins()
    table.to_csv(folder / "penguins.csv", index=False)
    table.drop(columns="species")[::70][:5].to_csv(folder / "new-penguins.csv", index=False)


FILES = {
    "iris": lambda folder: bundled(load_iris, "iris", "species", folder),
    "wine": lambda folder: bundled(load_wine, "wine", "class", folder),
    "penguins": penguins,
}


def test_the_guide_has_the_three_sessions():
    assert SESSIONS.keys() == FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_session_prints_what_the_guide_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    FILES[name](tmp_path)
    for step in SESSIONS[name].split("$ ")[1:]:
        command, expected = step.split("\n", 1)
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
        printed = [line.rstrip() for line in done.output.splitlines()]
        for line in expected.rstrip("\n").splitlines():
            assert line in printed, f"{line!r} is not in\n{done.output}"
    answers = tmp_path / ("answers.json" if name == "wine" else "answers.csv")
    content = answers.read_text(encoding="utf-8")
    rows = json.loads(content) if name == "wine" else list(csv.DictReader(content.splitlines()))
    assert len(rows) == 5
    assert all(float(row["probability"]) > 1 / 3 for row in rows)
    assert np.all([row["second_choice"] != row["label"] for row in rows])
