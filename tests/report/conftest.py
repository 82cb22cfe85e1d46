"""Runs with pages, made once for all tests of the report."""

import csv

import numpy as np
import pytest
from browser import Opened, launched
from hostile import BAD_CLASS, BAD_COLUMN, BAD_ID, FORMULA_ID, command


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """A user's table of three groups, with names that are no fun: 90 rows, 24 of them labelled."""
    random = np.random.default_rng(0)
    group = np.arange(90) % 3
    X = random.normal(size=(90, 4)) + 2.2 * np.eye(3, 4)[group]
    classes = ["plain", BAD_CLASS, "two words"]
    path = tmp_path_factory.mktemp("table") / "flowers.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "kind", "height", BAD_COLUMN, "depth", "age"])
        for row in range(90):
            name = {0: BAD_ID, 1: FORMULA_ID}.get(row, f"r{row}")
            writer.writerow([name, classes[group[row]] if 6 <= row < 30 else "", *(f"{value:.3f}" for value in X[row])])
    return path


@pytest.fixture(scope="session")
def own_run(table, tmp_path_factory):
    """A run on that table, with its page."""
    folder = tmp_path_factory.mktemp("runs") / "own"
    command("fit", table, "--label", "kind", "--id", "name", "--max-epochs", 30, "--out", folder, "--report", "--quiet")
    return folder


@pytest.fixture(scope="session")
def digits_run(tmp_path_factory):
    """A run on a dataset by name, with its page; its map is the first two columns, which are there at once."""
    from glcn.runs import load_run

    folder = tmp_path_factory.mktemp("runs") / "digits"
    command("fit", "digits", "--max-epochs", 8, "--out", folder, "--quiet")
    hidden = load_run(folder).clf.hidden_
    centred = hidden - hidden.mean(axis=0)
    points = (centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T).astype(np.float32)
    np.savez(folder / "map.npz", points=points, method=np.array("two principal components"))
    command("report", folder, "--quiet")
    return folder


@pytest.fixture(scope="session")
def browser():
    with launched() as running:
        yield running


@pytest.fixture
def opened(browser):
    """Open pages; each must have been content and asked for nothing from elsewhere."""
    pages = []

    def open_page(path, **options):
        pages.append(Opened(browser, path, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture
def own_page(opened, own_run):
    return opened(own_run / "report.html")


@pytest.fixture
def digits_page(opened, digits_run):
    return opened(digits_run / "report.html")
