"""What goes into a page."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from hostile import BAD_CLASS, command, refused
from plotly.offline import get_plotlyjs

from glcn import GLCNClassifier
from glcn.report import evidence as evidence_module
from glcn.report import scores as scores_module
from glcn.report import write_report
from glcn.report.contents import contents
from glcn.report.evidence import evidence
from glcn.report.graph_view import moved_shares
from glcn.report.packing import packed, shares
from glcn.report.page import as_script_data, page, unwrapped
from glcn.report.progress import silent
from glcn.report.row_map import row_map
from glcn.report.scores import Rows, known_rows, scores
from glcn.runs import load_run


@pytest.fixture(scope="module")
def clf():
    from groups import three_groups

    X, _, few = three_groups(labels_each=3)
    return GLCNClassifier(random_state=0, fixed_epochs=20).fit(X, few)


def test_arrays_are_packed_as_little_endian_bytes():
    found = packed(np.array([1, -2]), "i2")
    assert found == {"kind": "i2", "bytes": base64.b64encode(b"\x01\x00\xfe\xff").decode()}
    assert shares(np.array([0, 0.5, 1]))["bytes"] == packed(np.array([0, 32768, 65535]), "u2")["bytes"]


def test_scores_by_hand(monkeypatch):
    rows = Rows(
        names=("a", "b"),
        predicted=np.array([0, 0, 1, 1, 0]),
        confidence=np.array([0.95, 0.95, 0.65, 0.55, 0.99]),
        given=np.array([-1, -1, -1, -1, 0]),
        truth=np.array([0, 1, 1, 0, 0]),
        role=np.array([3, 3, 3, 3, 1]),
    )
    assert scores(rows)["reliability"]["gap"] is None  # of four rows
    monkeypatch.setattr(scores_module, "ENOUGH", 4)
    found = scores(rows)
    assert found["accuracy"] == {"validation": {"rows": 0, "share": None}, "test": {"rows": 4, "share": 0.5}}
    assert found["confusion"] == [[1, 1], [1, 1]]
    assert found["classes"][0] == {
        "labelled": 1,
        "predicted": 3,
        "confidence": pytest.approx(0.963333),
        "precision": 0.5,
        "recall": 0.5,
    }
    assert [(each["rows"], each["accuracy"]) for each in found["reliability"]["bins"]] == [(1, 0), (1, 1), (2, 0.5)]
    assert found["reliability"]["gap"] == pytest.approx((0.55 + 0.35 + 2 * 0.45) / 4)


def test_validation_rows_do_not_judge_where_there_are_test_rows():
    ones = np.ones(60)
    rows = Rows(("a",), 0 * ones, ones, -ones, 0 * ones, np.repeat([2, 3], 30))
    rows = rows._replace(predicted=rows.predicted.astype(int), truth=rows.truth.astype(int))
    assert scores(rows)["reliability"]["rows"] == 30


def test_rows_without_any_truth_are_not_judged(own_run):
    run = load_run(own_run)
    found = scores(known_rows(run))
    assert found["accuracy"]["test"] == {"rows": 0, "share": None}
    assert found["judged_by"] == ("validation" if len(run.clf.validation_rows_) else None)


def test_truth_is_kept_beside_what_the_fit_saw(digits_run):
    run = load_run(digits_run)
    rows = known_rows(run)
    assert (rows.truth >= 0).all()
    assert (rows.given[run.truth.test] == -1).all()
    assert (run.clf._codes[run.truth.test] == -1).all()


def test_evidence_is_that_of_explain(clf):
    found = evidence(clf, [], silent)
    for why in clf.explain([0, 7, 44], top=10):
        count = len(why.neighbors)
        assert found.neighbors[why.row, :count].tolist() == [each.row for each in why.neighbors]
        np.testing.assert_allclose(found.weights[why.row, :count], [each.weight for each in why.neighbors])
        np.testing.assert_allclose(found.through[why.row, :count], [each.probability_through for each in why.neighbors])
        assert found.probability_alone[why.row] == pytest.approx(why.probability_alone)
    assert found.asked.all()


def test_of_many_rows_the_least_sure_are_asked_about(clf, monkeypatch):
    monkeypatch.setattr(evidence_module, "ALL_EXPLAINED", 50)
    monkeypatch.setattr(evidence_module, "SOME_EXPLAINED", 10)
    found = evidence(clf, [3], silent)
    sure = clf.label_distributions_.max(axis=1)
    assert set(np.flatnonzero(found.asked)) == {3, *np.argsort(sure, kind="stable")[:10].tolist()}
    S = clf.graph_.toarray()
    np.fill_diagonal(S, 0)
    row = int(np.flatnonzero(~found.asked)[0])
    np.testing.assert_allclose(found.weights[row], -np.sort(-S[row])[:5], rtol=1e-6)
    np.testing.assert_allclose(S[row, found.neighbors[row]], found.weights[row], rtol=1e-6)


def test_moved_shares_have_the_mean_of_the_graph_report(clf):
    assert moved_shares(clf).mean() == pytest.approx(clf.graph_report_.distance_from_uniform, rel=1e-5)


def test_the_map_is_made_once(own_run):
    run = load_run(own_run)
    stages = []
    kept = row_map(run, lambda *told: stages.append(told))
    assert stages == []
    assert kept.points.shape == (90, 2)
    (own_run / "map.npz").unlink()
    again = row_map(run, lambda *told: stages.append(told))
    assert stages[0][0] == "map"
    assert [done for _, done, _ in stages] == sorted(done for _, done, _ in stages)
    assert stages[-1] == ("map", 750, 750)
    np.testing.assert_array_equal(again.points, kept.points)


def test_nothing_in_the_data_ends_the_script():
    text = as_script_data({"name": "</script><!--<script>&\u2028", "lone": "\ud800"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text)["name"] == "</script><!--<script>&\u2028"


def test_page_is_one_file_under_a_strict_policy(own_run):
    text = page(contents(load_run(own_run), silent))
    assert BAD_CLASS not in text
    assert "unsafe-inline" not in text.split("script-src")[1].split(";")[0]
    for elsewhere in ('src="http', 'href="http', "@import"):
        assert elsewhere not in text.replace("plotly", "")[:20_000]


def test_plotly_is_embedded_without_its_wrapper():
    plotly = '\n"use strict";var Plotly=(()=>1)();\n/* more */\n'
    wrapped = f"/* MIT */\n(function(root) {{}} (self, () => {{{plotly}\nwindow.Plotly = Plotly;\nreturn Plotly;\n}}));"
    assert unwrapped(wrapped) == f"/* MIT */{plotly}"
    assert unwrapped("/* MIT */ another shape") == "/* MIT */ another shape"
    script = get_plotlyjs()
    short = unwrapped(script)
    assert len(script) - 1000 < len(short) < len(script)  # the plotly that is installed is taken out, too
    assert short.startswith("/**\n* plotly.js")
    assert "Licensed under the MIT license" in short[:200]


def test_report_says_where_the_page_is_and_keeps_files_of_others(own_run, tmp_path):
    target = tmp_path / "page.html"
    assert command("report", own_run, "-o", target, "-q").output.strip() == str(target)
    assert "exists already" in refused("report", own_run, "-o", target)
    command("report", own_run, "-o", target, "-q", "--force")


def test_fit_refuses_labels_of_unknown_rows_and_classes(tmp_path):
    labels = tmp_path / "labels.csv"
    for line, words in (("5,eleven", "no class of digits: eleven"), ("1797,1", "there are rows 0 to 1796")):
        labels.write_text(f"row,label\n{line}\n")
        assert words in refused("fit", "digits", "--add-labels", labels, "--out", tmp_path / "run")


def test_files_of_labels_are_added_one_after_the_other(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("row,label\n1796,8\n1795,9\n")
    second.write_text("row,label\n1795,0\n")
    words = ("--add-labels", first, "--add-labels", second, "--max-epochs", 1, "--out", tmp_path / "run", "-q")
    command("fit", "digits", *words)
    run = load_run(tmp_path / "run")
    assert [run.classes[run.clf._codes[row]] for row in (1796, 1795)] == ["8", "0"]
    assert not {1795, 1796} & set(run.truth.test.tolist())


def test_open_shows_the_page(own_run, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append(address) or True)
    command("report", own_run, "-o", tmp_path / "a b.html", "--open", "-q")
    assert shown == [(tmp_path / "a b.html").as_uri()]


def test_a_run_without_truth_has_a_page(own_run, tmp_path):
    write_report(replace(load_run(own_run), truth=None), tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1e6
