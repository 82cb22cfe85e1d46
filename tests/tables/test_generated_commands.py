"""Made-up files of every kind through the commands: exit code 0, or one sentence."""

import io
import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from generated import CASES, MESSAGES, NAMES, QUIET, broken, edge_files, labels, tables, told
from glcn.cli import app
from glcn.estimator import variants

FEW = 9  # rows of files that are no text
number = st.floats(width=32) | st.integers(-(2**40), 2**40).map(float)
cell = {
    "numbers": number,
    "whole": st.integers(-5, 5),
    "words": st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    "holes": st.none() | st.sampled_from(["a", "NA", "="]),
    "truths": st.booleans(),
    "dates": st.datetimes(min_value=pd.Timestamp(1700, 1, 1), max_value=pd.Timestamp(2200, 1, 1)),
    "lists": st.lists(st.integers(0, 2), max_size=2),
    "bytes": st.binary(max_size=3),
}
shapes = st.sampled_from([(FEW, 2), (FEW, 1), (FEW,), (FEW, 2, 2), (0, 2), (FEW, 0), ()])
kinds = st.sampled_from(["f8", "f4", "f2", "i8", "u1", "?", "c8", "U3"])


@st.composite
def parquet(draw):
    columns = {"name": NAMES}
    for place in range(draw(st.integers(1, 3))):
        title = draw(st.sampled_from([f"c{place}", "", "=x", "größe"]))
        columns[title] = draw(st.lists(cell[draw(st.sampled_from(list(cell)))], min_size=FEW, max_size=FEW))
    columns["y"] = draw(st.lists(labels | st.none(), min_size=FEW, max_size=FEW))
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


@st.composite
def arrays(draw):
    made = np.random.default_rng(draw(st.integers(0, 9)))
    X = np.asarray(made.normal(size=draw(shapes)) * draw(st.sampled_from([1, 1e30, 1e300, math.nan])))
    with np.errstate(all="ignore"):
        X = X.real.astype(draw(kinds))
    y = draw(st.lists(labels, min_size=FEW, max_size=FEW))
    file = io.BytesIO()
    np.savez(file, **({"X": X, "y": np.array(y)} | draw(st.sampled_from([{}, {}, {"y": np.eye(FEW)}, {"z": X}]))))
    return file.getvalue()


@st.composite
def graphml(draw):
    kind = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph]))
    graph, end = kind(), st.sampled_from([*NAMES[:4], *NAMES[:4], "nobody", "é\u202e"])
    weight = draw(st.sampled_from([st.floats(0, 9), st.floats(0, 9), st.floats(), st.text("ab1", max_size=2)]))
    for source, target in draw(st.lists(st.tuples(end, end), max_size=6)):
        graph.add_edge(source, target, **draw(st.sampled_from([{}, {"weight": draw(weight)}])))
    text = "\n".join(nx.generate_graphml(graph))
    text = draw(st.sampled_from([text, text, "<!DOCTYPE a>" + text, text.replace("edge ", "hedge "), text[:-9]]))
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-16"])), "replace")


def damaged(content):
    """Mostly a file as it is, sometimes with a hole or a wrong byte in it."""
    return st.tuples(content, st.integers(0, 3), st.integers(0, 400), st.binary(max_size=2)).map(
        lambda parts: parts[0] if parts[1] else parts[0][: parts[2]] + parts[3] + parts[0][parts[2] + 2 :]
    )


files = st.one_of(
    st.tuples(st.just("csv"), tables() | broken),
    st.tuples(st.just("tsv"), tables()),
    st.tuples(st.just("parquet"), damaged(parquet())),
    st.tuples(st.just("npz"), damaged(arrays())),
)
graphs = st.one_of(
    st.none(),
    st.tuples(st.just("csv"), edge_files(NAMES)),
    st.tuples(st.just("graphml"), damaged(graphml())),
)
more_words = st.lists(
    st.sampled_from(["--json", "--number-rows", "--abstain=0.8", "--id=name", "-q"]), max_size=2, unique=True
)


@pytest.fixture(autouse=True)
def few_epochs(monkeypatch):
    """Train for a moment: without validation rows, no option says how long."""
    monkeypatch.setitem(variants._PLUS, "fixed_epochs", 3)


@pytest.fixture(autouse=True)
def counts(record_property):
    CASES.clear()
    MESSAGES.clear()
    yield
    assert CASES["cases"] >= 40
    record_property("generated", {"cases": CASES["cases"], "messages": dict(MESSAGES)})


def run(*words):
    """Run a command; returns whether it succeeded. Whatever else happens must be a sentence."""
    CASES["cases"] += 1
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
    assert done.exit_code in (0, 2), done.output
    if done.exit_code == 2:
        sentence = done.stderr[done.stderr.rindex("error: ") :]
        assert sentence.count("\n") == 1, sentence
        told(sentence.removeprefix("error: ").rstrip())
    return done.exit_code == 0


def check_commands(table, graph, new, words, folder):
    """Fit a file, and ask what was learned about another one."""
    (kind, content), (new_kind, new_content) = table, new or table
    path, other, out = folder / f"t.{kind}", folder / f"new.{new_kind}", folder / f"run-{CASES['cases']}"
    path.write_bytes(content)
    other.write_bytes(new_content)
    options = ["--label", "y"] if kind != "npz" else []
    if kind == "parquet":
        options += ["--id", "name"]
    if graph is not None:
        (folder / f"e.{graph[0]}").write_bytes(graph[1])
        options += ["--graph", folder / f"e.{graph[0]}"]
    if run("fit", path, *options, "--max-epochs", 2, "--out", out, "-q"):
        run("predict", out, other, *words)
        run("explain", out, "--row", "0")
        run("export", out, "-o", "-")
    assert not out.with_name(f"{out.name}.partial").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@settings(max_examples=60, **QUIET)
@given(table=files, graph=graphs, new=st.none() | files, words=more_words)
def test_commands(table, graph, new, words, folder):
    check_commands(table, graph, new, words, folder)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=600, **(QUIET | {"derandomize": False}))
@given(table=files, graph=graphs, new=st.none() | files, words=more_words)
def test_thousands_of_commands(table, graph, new, words, folder):
    check_commands(table, graph, new, words, folder)
