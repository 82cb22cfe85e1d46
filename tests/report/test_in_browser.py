"""The page as a person meets it: displayed values, clicks and keys."""

import csv
import json
import re

import numpy as np
import pytest
from hostile import BAD_CLASS, BAD_COLUMN, BAD_ID, FORMULA_ID, command

from glcn import datasets
from glcn.runs import load_run


def predictions(folder):
    with (folder / "predictions.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shares(text):
    """Return the percentages in a text."""
    return [float(share) for share in re.findall(r"([\d.]+)\s?%", text)]


def rounded(share):
    """Return a percentage as a page may show it: halves go up there and to the even side in Python."""
    return pytest.approx(100 * share, abs=0.051)


def test_scores_are_those_of_the_run(digits_page, digits_run):
    metrics = json.loads((digits_run / "metrics.json").read_text())
    cards = shares(digits_page.text("#cards"))
    for name in ("accuracy", "validation_accuracy"):
        assert any(share == rounded(metrics[name]) for share in cards)
    assert metrics["fingerprint"] in digits_page.text("#subtitle")
    truth = datasets.load("digits").y
    rows = predictions(digits_run)
    judged = [row for row in range(len(rows)) if rows[row]["role"] == "test"]
    said = np.array([int(rows[row]["predicted"]) for row in judged])
    for code, line in enumerate(digits_page.table("#classes")):
        hits = ((said == code) & (truth[judged] == code)).sum()
        assert line[0] == str(code)
        assert shares(line[5]) == [rounded(hits / (truth[judged] == code).sum())]
    confusion = [[int(cell or 0) for cell in line[1:]] for line in digits_page.table("#confusion")]
    again = np.zeros((10, 10), int)
    np.add.at(again, (truth[judged], said), 1)
    assert confusion == again.tolist()


def test_graph_health_and_settings_are_told(digits_page, digits_run):
    run = load_run(digits_run)
    words = run.clf.graph_report_.describe()
    assert words[1:] in digits_page.text("#graph-words")
    digits_page.page.click("#settings-words")
    assert ["parameters · max_epochs", "8"] in digits_page.table("#settings")
    for plot in ("reliability", "losses", "moved", "map"):
        assert digits_page.page.locator(f"#{plot} .plotly, #{plot} .main-svg").count() > 0, plot


def test_rounds_of_training_are_told(opened, digits_page, table, tmp_path):
    assert re.fullmatch(
        r"8 epochs in \d+ seconds; the weights of epoch \d were kept.", digits_page.text("#training-words")
    )
    edges = tmp_path / "edges.csv"
    edges.write_text("from,to\n" + "\n".join(f"r{row},r{row + 3}" for row in range(2, 87)) + "\n")
    options = ["--label", "kind", "--id", "name", "--graph", edges, "--max-epochs", 9, "--report", "--quiet"]
    command("fit", table, *options, "--out", tmp_path / "run")
    words = opened(tmp_path / "run/report.html").text("#training-words")
    told = r"Up to 3 rounds in \d+ seconds; the weights of epoch \d of (9|400) in round [123] were kept."
    assert re.fullmatch(told, words), words


def test_points_are_really_drawn(digits_page):
    assert "WebGL" not in digits_page.text("#map")
    colours = digits_page.page.evaluate(
        """() => {
            const canvas = document.querySelector('#map canvas.gl-canvas');
            const copy = document.createElement('canvas');
            [copy.width, copy.height] = [canvas.width, canvas.height];
            const pen = copy.getContext('2d');
            glcn.byId('map').scrollIntoView();
            pen.drawImage(canvas, 0, 0);
            const pixels = pen.getImageData(0, 0, copy.width, copy.height).data;
            const found = new Set();
            for (let place = 0; place < pixels.length; place += 4) {
                if (pixels[place + 3] > 150) found.add(pixels.slice(place, place + 3).map(value => value >> 5).join());
            }
            return found.size;
        }"""
    )
    assert colours >= 8


def test_a_click_shows_the_evidence_of_explain(digits_page, digits_run):
    page = digits_page.page
    # The row that stands most apart from all others on the map, so that the click can only mean it.
    points = np.load(digits_run / "map.npz")["points"]
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(len(points))
    row = int(distance.min(axis=1).argmax())
    x, y = digits_page.place_on_screen(row)
    page.mouse.move(x - 1, y - 1)
    page.mouse.move(x, y)
    page.wait_for_selector("#tip:not([hidden])")
    assert digits_page.text("#tip").startswith(f"{row}: ")
    page.mouse.click(x, y)
    page.wait_for_selector("#neighbors")
    assert digits_page.text("#row h3") == f"Row {row}"
    (why,) = json.loads(command("explain", digits_run, "--row", row, "--json").output)
    shown = digits_page.table("#neighbors")
    assert [line[0] for line in shown] == [each["row"] for each in why["neighbors"]]
    for line, each in zip(shown, why["neighbors"], strict=True):
        assert line[1] == (each["label"] or f"({each['predicted']})")
        assert float(line[2].rstrip("%")) == pytest.approx(100 * each["weight"], abs=0.06)
        assert float(line[3].replace("−", "-")) == pytest.approx(100 * each["probability_through"], abs=0.06)
    facts = dict(digits_page.table("#facts"))
    assert facts["predicted"].startswith(predictions(digits_run)[row]["predicted"])
    assert facts["true class"] == str(datasets.load("digits").y[row])
    # And on: a neighbour, and back.
    page.click("#neighbors tbody tr:first-child button")
    page.wait_for_function(f"document.querySelector('#row h3').textContent === 'Row {shown[0][0]}'")
    page.click("text=← back")
    page.wait_for_function(f"document.querySelector('#row h3').textContent === 'Row {row}'")
    lines = page.evaluate("document.getElementById('map').layout.shapes.filter(each => each.type === 'line').length")
    assert lines == len(why["neighbors"])


def test_filters_filter(digits_page, digits_run):
    truth = datasets.load("digits").y
    rows = predictions(digits_run)
    wrong = sum(int(line["predicted"]) != truth[row] for row, line in enumerate(rows))
    unlabelled = sum(line["role"] == "test" for line in rows)
    probability = np.array([float(line["probability"]) for line in rows])
    expected = {"wrong": wrong, "unlabelled": unlabelled, "labelled": len(rows) - unlabelled, "all": len(rows)}
    for name, count in expected.items():
        digits_page.page.select_option("#filter", name)
        assert digits_page.text("#count").startswith(f"{count} of {len(rows)} rows")
        assert digits_page.points_drawn() == count
    digits_page.page.select_option("#filter", "doubtful")
    digits_page.page.fill("#doubt", "50")  # acts while it is typed
    expected = int((probability < 0.5).sum())
    digits_page.page.wait_for_function(
        f"Math.abs(parseInt(document.getElementById('count').textContent) - {expected}) <= 1"  # 16 bits a probability
    )
    assert abs(digits_page.points_drawn() - expected) <= 1
    shown, words = digits_page.text("#doubtful dd").split("\n")
    assert abs(int(shown) - expected) <= 1
    assert words == "rows less sure than 50%"
    digits_page.page.click("#reset")
    said = sum(line["predicted"] == "3" for line in rows)
    digits_page.page.click("#legend li:nth-child(4) button")
    assert digits_page.points_drawn() == len(rows) - said


def test_a_cell_of_the_confusion_matrix_shows_its_rows(digits_page):
    cell = digits_page.page.locator("#confusion tbody tr:first-child button").first
    count = int(cell.inner_text())
    cell.click()
    assert digits_page.text("#count").startswith(f"{count} of")
    for way in ("truth", "confidence", "predicted"):  # it stays, whatever the colour
        digits_page.page.select_option("#colour", way)
        assert digits_page.text("#count") == f"{count} of 1797 rows shown: 0 predicted as 0"
        assert digits_page.points_drawn() == count
    digits_page.page.select_option("#filter", "labelled")
    assert "predicted as" not in digits_page.text("#count")


def test_what_is_hidden_is_said(digits_page, digits_run):
    page = digits_page.page
    page.click("#legend button >> nth=3")
    page.select_option("#colour", "confidence")
    shown = digits_page.points_drawn()
    assert digits_page.text("#count") == f"{shown} of 1797 rows shown; 1 class is hidden"
    assert page.get_attribute("#legend button >> nth=3", "aria-pressed") == "false"
    page.click("#legend button >> nth=3")
    assert digits_page.text("#count") == "1797 of 1797 rows shown"
    # A row that the filter hides is marked and says so.
    row = next(row for row, line in enumerate(predictions(digits_run)) if line["role"] == "test")
    page.select_option("#filter", "labelled")
    digits_page.find(str(row))
    page.wait_for_selector("#facts")
    assert digits_page.text("#not-shown").startswith("This row is not among those shown")
    ring = "document.getElementById('map').layout.shapes.at(-1).line.dash"
    page.wait_for_function(f"{ring} === 'dot'")
    page.click("#not-shown button")
    page.wait_for_function(f"{ring} === 'solid'")
    assert not page.is_visible("#not-shown")


def test_sureness_is_judged_on_test_rows_and_only_on_enough(digits_page, digits_run, own_page):
    judged = sum(line["role"] == "test" for line in predictions(digits_run))
    cards = digits_page.text("#cards").split("\n")
    assert f"on average, {judged} test rows; 0% is honest" in cards
    assert digits_page.text("#reliability-words").startswith(f"On {judged} test rows")
    cards = own_page.text("#cards").split("\n")
    place = cards.index("sureness is off by")
    assert cards[place + 1] == "–"
    assert cards[place + 2].startswith("too few rows to tell: ")


def test_colours(digits_page):
    for way, traces in (("truth", 10), ("confidence", 1), ("predicted", None)):
        digits_page.page.select_option("#colour", way)
        drawn = digits_page.page.evaluate("document.getElementById('map').data.length")
        assert traces is None or drawn == traces
        assert digits_page.points_drawn() == 1797
    looks = digits_page.page.evaluate(
        "[...Array(10).keys()].map(code => glcn.colourOfClass(code) + glcn.shapeOfClass(code))"
    )
    assert len(set(looks)) == 10


def test_pictures_of_rows(digits_page):
    digits_page.find("5")
    digits_page.page.wait_for_selector("#row canvas.thumb")
    dark = digits_page.page.evaluate(
        """() => {
            const picture = document.querySelector('#row canvas.thumb');
            const pixels = picture.getContext('2d').getImageData(0, 0, picture.width, picture.height).data;
            return [...pixels].filter((_, place) => place % 4 === 0).map(value => 255 - value);
        }"""
    )
    expected = datasets.load("digits").X[5] * 255
    assert np.corrcoef(dark, expected)[0, 1] > 0.97  # the sheet is compressed


def test_search(own_page):
    own_page.find("r17")
    own_page.page.wait_for_selector("#facts")
    assert own_page.text("#row h3") == "Row r17"
    own_page.find("nobody")
    assert own_page.text("#found") == "There is no row nobody."
    own_page.find("r8")
    own_page.page.wait_for_function("document.querySelector('#row h3').textContent === 'Row r8'")
    own_page.find("  r9 ")
    own_page.page.wait_for_function("document.querySelector('#row h3').textContent === 'Row r9'")
    own_page.find("17")
    own_page.page.wait_for_function("document.querySelector('#row h3').textContent === 'Row r17'")
    assert own_page.text("#found") == "Number 17, counted from 0, is r17."
    own_page.find("90")
    assert own_page.text("#found") == "There is no row 90."
    own_page.find("2")
    own_page.page.wait_for_function("document.querySelector('#row h3').textContent === 'Row r2'")
    assert " ".join(own_page.text("#found").split()).endswith("r26 r27 r28")
    own_page.page.evaluate("glcn.data.ids[50] = 'two\\nlines '")  # which nobody can type into one line
    own_page.find("two lines")
    own_page.page.wait_for_function("glcn.chosen === 50")


def test_text_from_files_stays_text(own_page, own_run):
    page = own_page.page
    own_page.find(BAD_ID)
    page.wait_for_selector("#facts")
    assert own_page.text("#row h3") == f"Row {BAD_ID}"
    assert BAD_CLASS in own_page.text("#legend")
    assert BAD_CLASS in own_page.text("#classes")
    assert BAD_COLUMN in own_page.text("#columns")
    x, y = own_page.place_on_screen(0)
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)
    page.select_option("#colour", "truth")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main b, main script").count() == 0


def test_columns_are_in_the_units_of_the_table(own_page, table):
    with table.open(newline="", encoding="utf-8") as file:
        row = list(csv.DictReader(file))[40]
    own_page.find("r40")
    own_page.page.wait_for_selector("#columns")
    shown = {line[0]: float(line[1]) for line in own_page.table("#columns")}
    assert shown
    for name, value in shown.items():
        assert value == pytest.approx(float(row[name]), rel=2e-3, abs=2e-3)


def test_labels_that_are_typed_are_taken_by_fit(own_page, own_run, table, tmp_path):
    page = own_page.page
    suggested = [each.row for each in load_run(own_run).clf.label_next(30)]
    ids = load_run(own_run).ids
    assert [line[0] for line in own_page.table("#next")] == [ids[row] for row in suggested]
    page.locator("#next input").nth(0).fill("two words")
    page.locator("#next input").nth(1).fill(BAD_CLASS)
    for name, label in ((BAD_ID, "plain"), (FORMULA_ID, "brand new")):
        own_page.find(name)
        page.wait_for_function("name => document.querySelector('#row h3').textContent === `Row ${name}`", arg=name)
        page.fill("#row input", label)
    wanted = {ids[suggested[0]]: "two words", ids[suggested[1]]: BAD_CLASS, BAD_ID: "plain", FORMULA_ID: "brand new"}
    assert own_page.text("#typed") == f"{len(wanted)} labels typed."
    with page.expect_download() as waiting:
        page.click("#export")
    labels = tmp_path / "labels.csv"
    waiting.value.save_as(labels)
    words = ("--label", "kind", "--id", "name", "--max-epochs", 2)
    command("fit", table, *words, "--add-labels", labels, "--out", tmp_path / "again", "-q")
    again = load_run(tmp_path / "again")
    given = {again.ids[row]: again.classes[code] for row, code in enumerate(again.clf._codes) if code >= 0}
    assert len(given) == 24 + len(wanted)
    assert {name: given[name] for name in wanted} == wanted
    page.reload()
    page.wait_for_selector("html[data-ready=all]", state="attached")
    assert own_page.text("#typed") == f"{len(wanted)} labels typed."  # nothing is lost


def test_keyboard_alone(own_page):
    page = own_page.page
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#facts")
    first = own_page.text("#row h3")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    assert own_page.text("#row h3") != first
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "row"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"


@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (768, "dark"), (2200, "dark")])
def test_phones_and_wide_screens_in_both_lights(opened, own_run, width, theme):
    page = opened(own_run / "report.html", width=width, theme=theme)
    wide = page.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1]
    paper = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = sum(int(part) for part in paper[4:-1].split(",")) < 200
    assert dark == (theme == "dark")
    page.page.click("#theme")
    assert page.page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
