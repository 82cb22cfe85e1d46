"""Made-up tables and graphs, from file to fit: a right answer, or one sentence that says what to do."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from generated import CASES, MESSAGES, NAMES, QUIET, broken, edge_files, tables, told
from glcn import GLCNClassifier
from glcn.datasets import read_own
from glcn.tables import TableEncoder, read_edges
from glcn.tables.text import text_table

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")


def tiny_fit(X, y, **more):
    clf = GLCNClassifier(
        n_neighbors=min(2, len(y) - 1), fixed_epochs=2, validation_fraction=0, random_state=0, hidden_units=4
    )
    clf.fit(X, y, **more)
    for probabilities in (clf.label_distributions_, clf.predict_proba(X)):
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-4)


def check_table(content, folder):
    CASES["cases"] += 1
    path = folder / "t.csv"
    path.write_bytes(content)
    try:
        data = read_own(path, label="y", prepare="standard")
    except ValueError as error:
        return told(error)
    assert data.X.dtype == np.float32
    assert np.isfinite(data.X).all()
    again = TableEncoder.from_dict(json.loads(json.dumps(data.encoder.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(again.transform(text_table(content, "t.csv").columns), data.X)
    return tiny_fit(data.X, data.visible_labels)


def check_graph(content, names, folder):
    CASES["cases"] += 1
    path = folder / "e.csv"
    path.write_bytes(content)
    try:
        graph = read_edges(path, np.array(names)).adjacency
    except ValueError as error:
        return told(error)
    assert abs(graph - graph.T).max() == 0
    assert (graph.data > 0).all()
    assert graph.diagonal().sum() == 0
    X = np.random.default_rng(0).normal(size=(len(names), 3)).astype(np.float32)
    return tiny_fit(X, [0, 1] + [-1] * (len(names) - 2), graph=graph)


def check_bytes(content):
    CASES["cases"] += 1
    try:
        columns = text_table(content, "t.csv").columns
        TableEncoder.fit(columns).transform(columns)
    except ValueError as error:
        told(error)


@pytest.fixture(autouse=True)
def counts(record_property):
    """Tell how many cases there were and what was said of them; the end of the tests shows the sum."""
    CASES.clear()
    MESSAGES.clear()
    yield
    assert CASES["cases"] >= 40
    record_property("generated", {"cases": CASES["cases"], "messages": dict(MESSAGES)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@settings(max_examples=100, **QUIET)
@given(content=tables())
def test_tables(content, folder):
    check_table(content, folder)


@settings(max_examples=100, **QUIET)
@given(content=edge_files(NAMES))
def test_graphs(content, folder):
    check_graph(content, NAMES, folder)


@settings(max_examples=250, **QUIET)
@given(content=broken)
def test_broken_files(content):
    check_bytes(content)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=2000, **(QUIET | {"derandomize": False}))
@given(content=tables())
def test_thousands_of_tables(content, folder):
    check_table(content, folder)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=1500, **(QUIET | {"derandomize": False}))
@given(content=edge_files(NAMES))
def test_thousands_of_graphs(content, folder):
    check_graph(content, NAMES, folder)


@pytest.mark.slow
@settings(max_examples=3000, **(QUIET | {"derandomize": False}))
@given(content=broken)
def test_thousands_of_broken_files(content):
    check_bytes(content)
