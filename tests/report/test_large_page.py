"""A page of 100,000 rows, made of a small one."""

import base64

import numpy as np
import pytest

from glcn.report import evidence, telling_columns
from glcn.report.contents import contents
from glcn.report.packing import packed
from glcn.report.page import page
from glcn.report.progress import silent
from glcn.runs import load_run

ROWS = 100_000


def repeated(part, small):
    """Repeat all packed arrays of a part for as many rows as are wanted."""
    for name, value in part.items():
        if isinstance(value, dict) and "bytes" in value:
            rows = np.frombuffer(base64.b64decode(value["bytes"]), value["kind"]).reshape(small, -1)
            part[name] = packed(np.resize(rows, (ROWS, rows.shape[1])), value["kind"])


@pytest.fixture(scope="module")
def large_page(own_run, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:  # each row is told of as shortly as one of very many
        patch.setattr(evidence, "ALL_EXPLAINED", 50)
        patch.setattr(telling_columns, "MANY", 50)
        content = contents(load_run(own_run), silent)
    small = content["rows"]
    for part in ("map", "row", "probabilities", "evidence", "columns"):
        repeated(content[part], small)
    random = np.random.default_rng(0)
    content["map"] |= {side: packed(random.integers(0, 65_536, ROWS), "u2") for side in "xy"}
    content |= {"rows": ROWS, "ids": [f"customer-{row:06d}" for row in range(ROWS)]}
    path = tmp_path_factory.mktemp("large") / "page.html"
    path.write_text(page(content), encoding="utf-8")
    return path


def test_100_000_rows_make_a_file_that_can_be_sent(large_page):
    assert large_page.stat().st_size < 25e6


def drag(page):
    """Drag the map by 80 pixels: its picture follows at once, the axes when it is let go, and no row is chosen."""
    state = """(() => {
        const map = document.getElementById('map'), {range, _length} = map._fullLayout.xaxis;
        const moved = document.querySelector('#map .gl-container').style.transform;
        return {left: range[0], width: range[1] - range[0], pixels: _length, moved, chosen: glcn.chosen ?? null};
    })()"""
    before = page.page.evaluate(state)
    x, y = page.place_on_screen(0)
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 40, y)
    page.page.mouse.move(x + 80, y)
    page.page.mouse.up()
    page.page.wait_for_function(f"{state}.moved === '' && {state}.left !== {before['left']}")
    after = page.page.evaluate(state)
    assert after["left"] == pytest.approx(before["left"] - 80 * before["width"] / before["pixels"], abs=1)
    assert after["width"] == pytest.approx(before["width"])
    assert after["chosen"] is None


def test_100_000_rows_are_drawn_filtered_and_found(opened, large_page):
    page = opened(large_page)
    assert page.text("#count") == "100000 of 100000 rows shown"
    assert page.points_drawn() == ROWS
    drag(page)
    page.page.select_option("#filter", "labelled")
    shown = int(page.text("#count").split()[0])
    assert 0 < shown < ROWS
    assert page.points_drawn() == shown
    page.find("customer-077777")
    page.page.wait_for_selector("#facts")
    assert page.text("#row h3") == "Row customer-077777"
    assert page.page.evaluate("performance.getEntriesByName('map')[0].startTime") < 30_000  # on any machine
