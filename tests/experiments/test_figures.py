import json
import shutil
import sys
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from glcn.experiments import figures as module
from glcn.experiments.figures import FIGURES, figure3, figure4, figure5
from glcn.experiments.recipe import method, recipe
from glcn.experiments.records import read
from made import DIGITS, write_results


def write_curves(results, names=("gcn", "glcn", "glcn-closeness")):
    for number, name in enumerate(names):
        curve = [2.3 / (1 + (number + 1) * epoch) for epoch in range(301)]
        with (results / "figure3.jsonl").open("a") as file:
            file.write(json.dumps({"method": name, "seed": 0, "cross_entropy": curve}) + "\n")


def write_maps(results):
    random = np.random.default_rng(0)
    y = np.arange(60) % 15
    np.savez(
        results / "figure4.npz",
        gcn=random.normal(size=(60, 2)),
        glcn=random.normal(size=(60, 2)) + y[:, None],
        gcn_agreement=0.8,
        glcn_agreement=0.9,
        y=y,
        class_names=[f"class {code}" for code in range(15)],
    )


def write_depths(results):
    write_results(results, lambda run: 0.8 + 0.01 * run.changes["n_layers"] + 0.001 * run.seed, ["figure5"])


def write_noise(results):
    def accuracy(run):
        lost = run.changes.get("added_edges", 0) + run.changes.get("removed_edges", 0)
        return 0.8 - 0.2 * lost + 0.001 * run.seed

    write_results(results, accuracy, ["noise"])


WRITE = {"figure3": write_curves, "figure4": write_maps, "figure5": write_depths, "noise": write_noise}
every_figure = pytest.mark.parametrize("name", list(FIGURES))


@every_figure
def test_files_appear_are_whole_and_the_same_every_time(tmp_path, name):
    WRITE[name](tmp_path)
    paths = FIGURES[name](tmp_path, compute=False)
    assert paths == [tmp_path / f"figures/{name}.png", tmp_path / f"figures/{name}.svg"]
    assert sorted((tmp_path / "figures").iterdir()) == paths
    png, svg = (path.read_bytes() for path in paths)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.endswith(b"IEND\xaeB`\x82")
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    shutil.rmtree(tmp_path / "figures")
    assert [path.read_bytes() for path in FIGURES[name](tmp_path, compute=False)] == [png, svg]


@every_figure
def test_without_results_nothing_is_drawn_or_written(tmp_path, name):
    assert FIGURES[name](tmp_path, compute=False) == []
    assert list(tmp_path.iterdir()) == []
    assert FIGURES[name](tmp_path / "not there", compute=False) == []
    assert not (tmp_path / "not there").exists()


def test_other_results_give_another_picture(tmp_path):
    write_curves(tmp_path, ["gcn"])
    first = figure3(tmp_path, compute=False)[0].read_bytes()
    write_curves(tmp_path, ["glcn"])
    assert figure3(tmp_path, compute=False)[0].read_bytes() != first


def test_depths_that_are_missing_are_left_out(tmp_path):
    write_results(
        tmp_path,
        lambda run: 0.8 if run.changes["n_layers"] < 4 and run.recipe.method.name == "gcn" and run.seed == 0 else None,
        ["figure5"],
    )
    assert len(figure5(tmp_path)) == 2


@pytest.fixture
def on_digits(monkeypatch):
    """The digits in place of the image sets, with few epochs."""
    monkeypatch.setattr(module, "task", lambda _: DIGITS)
    monkeypatch.setattr(module, "CURVE_EPOCHS", 2)


def test_curves_are_means_over_labels_and_computed_once(tmp_path, on_digits, monkeypatch):
    assert len(figure3(tmp_path)) == 2
    rows = read(tmp_path / "figure3.jsonl")
    assert [row["method"] for row in rows] == ["gcn", "glcn", "glcn-closeness"]
    for row in rows:
        assert len(row["cross_entropy"]) == 3  # before training, and after each epoch
        # At first all ten classes are about as likely; a sum would be a hundred times as large.
        assert row["cross_entropy"][0] == pytest.approx(np.log(10), rel=0.5)
        assert {"seed", "commit"} <= set(row)
    before = (tmp_path / "figure3.jsonl").read_bytes()
    monkeypatch.setattr(module, "_fitted", None)
    figure3(tmp_path)
    assert (tmp_path / "figure3.jsonl").read_bytes() == before


def test_a_curve_that_is_there_is_kept(tmp_path, on_digits, monkeypatch):
    write_curves(tmp_path, ["gcn", "glcn"])
    before = (tmp_path / "figure3.jsonl").read_bytes()
    fitted = []

    def fit(recipe, changes):
        fitted.append((recipe.method.name, changes))
        return SimpleNamespace(variant="closeness", history_={"cross_entropy": [2.0, 1.0]}), None

    monkeypatch.setattr(module, "_fitted", fit)
    figure3(tmp_path)
    assert fitted == [("glcn-closeness", {"max_epochs": 2, "patience": 2})]
    assert (tmp_path / "figure3.jsonl").read_bytes().startswith(before)


def test_maps_are_computed_once(tmp_path, on_digits, monkeypatch):
    random = np.random.default_rng(0)
    y = np.arange(90) % 3
    hidden = {"gcn": random.normal(size=(90, 4)), "glcn": random.normal(size=(90, 4)) + 20 * np.eye(3, 4)[y]}
    data = SimpleNamespace(y=y, class_names=("a", "b", "c"))
    monkeypatch.setattr(
        module, "_fitted", lambda recipe, _: (SimpleNamespace(hidden_=hidden[recipe.method.name]), data)
    )
    assert len(figure4(tmp_path)) == 2
    with np.load(tmp_path / "figure4.npz") as maps:
        assert maps["gcn"].shape == maps["glcn"].shape == (90, 2)
        assert maps["class_names"].tolist() == ["a", "b", "c"]
        assert float(maps["glcn_agreement"]) == 1.0
        squares = ((maps["gcn"][:, None] - maps["gcn"]) ** 2).sum(axis=2) + np.diag(np.full(90, np.inf))
        nearest = np.argsort(squares, axis=1)[:, :10]
        assert float(maps["gcn_agreement"]) == pytest.approx((y[nearest] == y[:, None]).mean())
    before = (tmp_path / "figure4.npz").read_bytes()
    monkeypatch.setattr(module, "_fitted", None)
    figure4(tmp_path)
    assert (tmp_path / "figure4.npz").read_bytes() == before


def test_the_first_convolution_is_there_to_be_mapped(on_digits):
    for name in ("gcn", "glcn"):
        each = recipe(DIGITS, method(name))
        clf, data = module._fitted(each, {"max_epochs": 1})
        assert clf.hidden_.shape == (len(data.y), each.settings["hidden_units"])


def test_without_matplotlib_it_is_said_what_to_install(tmp_path, monkeypatch):
    write_curves(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"glcn\[experiments\]"):
        figure3(tmp_path, compute=False)
