"""The page by keyboard and by ear, and on wide screens."""

from dataclasses import replace

import numpy as np
import pytest

from glcn.report.contents import contents
from glcn.report.page import page as page_of
from glcn.report.progress import silent
from glcn.report.scores import known_rows
from glcn.runs import load_run

RANGE = "document.getElementById('map')._fullLayout.xaxis.range"


def test_the_map_by_keys(digits_page):
    page = digits_page.page
    page.focus("#confusion button >> nth=0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "map"
    whole = np.ptp(page.evaluate(RANGE))
    page.keyboard.press("+")
    page.wait_for_function(f"{RANGE}[1] - {RANGE}[0] < {0.7 * whole}")
    page.keyboard.press("-")
    page.wait_for_function(f"Math.abs({RANGE}[1] - {RANGE}[0] - {whole}) < 1")
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.wait_for_function(f"Math.abs({RANGE}[1] - {RANGE}[0] - {whole}) < 1")


def test_one_line_is_announced_of_a_row(digits_page):
    page = digits_page.page
    digits_page.find("17")
    page.wait_for_selector("#facts")
    facts = dict(digits_page.table("#facts"))
    assert page.text_content("#heard").startswith(f"Row 17: {facts['predicted']}")
    assert page.evaluate("document.getElementById('row').closest('[aria-live], [role=status]')") is None
    assert page.evaluate("document.querySelectorAll('#row [aria-live], #row [role=status]').length") == 0


def test_plots_have_tables(digits_page, digits_run):
    page = digits_page.page
    for plot in ("reliability", "losses", "moved"):
        page.click(f"details:has(#{plot}-table) summary")
    rows = known_rows(load_run(digits_run))
    judged = np.flatnonzero(rows.role == 3)
    shown = digits_page.table("#reliability-table")
    assert sum(int(line[2]) for line in shown) == len(judged)
    assert float(shown[-1][0].rstrip("%")) == pytest.approx(
        100 * rows.confidence[judged][rows.confidence[judged] >= 0.9].mean(), abs=0.1
    )
    clf = load_run(digits_run).clf
    lines = {line[0].split()[0]: line[1] for line in digits_page.table("#losses-table")}
    assert f"{clf.best_epoch_} (kept)" in [line[0] for line in digits_page.table("#losses-table")]
    assert float(lines["0"]) == pytest.approx(next(iter(clf.history_.values()))[0], rel=0.01)
    assert sum(int(line[1]) for line in digits_page.table("#moved-table")) == len(rows.role)


def test_wide_screens_are_used(opened, own_run):
    opened_page = opened(own_run / "report.html", width=2200)
    page = opened_page.page
    following, classes = (page.locator(f"#{part}").bounding_box() for part in ("next-part", "classes-part"))
    assert classes["x"] >= following["x"] + following["width"]
    assert classes["x"] + classes["width"] > 2000
    assert not page.is_visible("#settings")
    page.click("#settings-words")
    assert page.is_visible("#settings")


def test_the_panel_shows_all_of_its_tables(own_page):
    page = own_page.page
    own_page.find("r40")
    page.wait_for_selector("#neighbors")
    for table in ("neighbors", "columns"):
        box = f"document.getElementById('{table}').parentElement"
        assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")
    assert page.inner_text("#neighbors thead").split()[-2:] == ["through", "it"]
    assert "Those through which most came stand first." in own_page.text("#row")
    through = [float(line[3].replace("−", "-")) for line in own_page.table("#neighbors")]
    assert through == sorted(through, reverse=True)
    panel, shares = (page.locator(each).bounding_box()["width"] for each in ("#row", "#shares"))
    assert shares > panel - 40
    assert page.locator("#shares .bar-cell").first.bounding_box()["width"] > 100


def test_a_graph_that_moved_from_the_same_label_is_warned_of(opened, own_run, tmp_path):
    run = load_run(own_run)
    run.clf.graph_report_ = replace(
        run.clf.graph_report_, distance_from_uniform=0.2, same_label_mass=0.3, uniform_same_label_mass=0.45
    )
    path = tmp_path / "page.html"
    path.write_text(page_of(contents(run, silent)), encoding="utf-8")
    page = opened(path)
    assert "fell from 45.0% to 30.0%" in page.text("#warnings")
    assert "away from the same label" in page.text("#cards")
    assert page.text("#graph-words").startswith("Changed, but not for the better")
    assert "same-label weight fell, 45.0% → 30.0%" in page.text("#graph-words")
