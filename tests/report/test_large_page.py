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


def test_100_000_rows_are_drawn_filtered_and_found(opened, large_page):
    page = opened(large_page)
    assert page.text("#count") == "100000 of 100000 rows shown"
    assert page.points_drawn() == ROWS
    page.page.select_option("#filter", "labelled")
    shown = int(page.text("#count").split()[0])
    assert 0 < shown < ROWS
    assert page.points_drawn() == shown
    page.find("customer-077777")
    page.page.wait_for_selector("#facts")
    assert page.text("#row h3") == "Row customer-077777"
    assert page.page.evaluate("performance.getEntriesByName('map')[0].startTime") < 30_000  # on any machine
