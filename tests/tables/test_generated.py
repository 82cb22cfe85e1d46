"""Made-up tables and graphs, from file to fit: a right answer, or one sentence that says what to do."""

import csv
import io
import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glcn import GLCNClassifier
from glcn.datasets import read_own
from glcn.tables import TableEncoder, read_edges
from glcn.tables.text import text_table

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True, "database": None}
MESSAGES: Counter[str] = Counter()

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
numbers = st.one_of(
    st.floats(allow_nan=False, width=32).map(repr),
    st.floats().map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(["1e308", "-1e308", "5e-324", "1e400", "007", "1_000", " 4 "]),
)
dates = st.dates().map(str) | st.sampled_from(["0001-01-01", "9999-12-31", "2020-02-30", "1.2.2020", "31/12/1999"])
holes = st.sampled_from(["", "NA", "nan", "inf", "?", " "])
KINDS = {
    "numbers": numbers,
    "numbers and holes": numbers | holes,
    "few": st.sampled_from(["red", "blue", "True", "1"]),
    "few and holes": st.sampled_from(["red", "=blue()", "[x]"]) | holes,
    "words": words,
    "dates": dates,
    "dates and holes": st.dates().map(str) | holes,
    "constant": st.just("5"),
    "empty": st.just(""),
    "anything": numbers | words | dates | holes,
}
labels = st.one_of(
    st.sampled_from(["a", "b", ""]),
    st.sampled_from(["0", "1", "-1"]),
    st.sampled_from(["1", "1.0", "x", "", " x", "é"]),
    st.just("only"),
)


@st.composite
def tables(draw):
    """Return the bytes of a CSV file with a column ``y``."""
    n = draw(st.integers(5, 14))
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=4))
    titles = [f"{draw(words)}{place}" for place in range(len(kinds))]
    if draw(st.integers(0, 9)) == 0:
        titles[-1] = draw(st.sampled_from([titles[0], "", "y"]))
    some = draw(st.sampled_from([labels, words, numbers]))
    one_kind = draw(st.sampled_from([some, st.sampled_from(["a", "b", ""]), st.sampled_from(["a", "b", ""])]))
    columns = [draw(st.lists(KINDS[kind], min_size=n, max_size=n)) for kind in kinds]
    columns.append(draw(st.lists(one_kind, min_size=n, max_size=n)))
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=draw(st.sampled_from(",,,;\t")), quoting=draw(st.sampled_from([0, 1])))
    writer.writerow([*titles, "y"])
    writer.writerows(zip(*columns, strict=True))
    return file.getvalue().encode()


@st.composite
def edge_files(draw, names):
    end = st.sampled_from(names)
    weights = st.floats(0, 1e30).map(repr) | st.sampled_from(["1", "0", "1e-40"])
    if draw(st.booleans()):
        end |= st.just("nobody")
        weights |= st.sampled_from(["-1", "nan", "x", "", "1e39"])
    width = draw(st.integers(1, 4)) if draw(st.integers(0, 9)) == 0 else draw(st.integers(2, 3))
    lines = draw(st.lists(st.tuples(end, end, weights, weights), max_size=25))
    header = [["from", "to", "weight", "more"][:width]] if draw(st.booleans()) else []
    return "\n".join(",".join(line[:width]) for line in [*header, *lines]).encode()


def told(error):
    """Note an error, and look whether it is one short sentence."""
    text = str(error)
    assert 10 < len(text) < 700, text
    assert "Traceback" not in text
    MESSAGES[re.sub(r"'.*'|\d+|: .*", "…", text)] += 1


def tiny_fit(X, y, **more):
    clf = GLCNClassifier(n_neighbors=2, fixed_epochs=2, validation_fraction=0, random_state=0, hidden_units=4)
    clf.fit(X, y, **more)
    for probabilities in (clf.label_distributions_, clf.predict_proba(X)):
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-4)


def check_table(content, folder):
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
    try:
        columns = text_table(content, "t.csv").columns
        TableEncoder.fit(columns).transform(columns)
    except ValueError as error:
        told(error)


NAMES = [f"n{row}" for row in range(9)]
broken = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.text('ab1,;\n"\t', max_size=40).map(str.encode),
    st.tuples(tables(), st.integers(0, 500), st.binary(max_size=3)).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]
    ),
)


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
@settings(max_examples=3000, **(QUIET | {"derandomize": False}))
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
@settings(max_examples=5000, **(QUIET | {"derandomize": False}))
@given(content=broken)
def test_thousands_of_broken_files(content):
    check_bytes(content)
