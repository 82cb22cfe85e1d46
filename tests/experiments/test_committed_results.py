"""The results in the repository are those of its recipes, and its page is made of them."""

import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from glcn.experiments.page import LOST, page
from glcn.experiments.recipe import method, methods, recipe, recipes, task, tasks, with_none
from glcn.experiments.records import read
from glcn.experiments.tune import GRAPH, TRIALS, best, finalists, first_scores, log_path, logs, scores_of

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
PAGE = ROOT / "docs/results.md"
TUNED = [(each.task.name, each.method.name) for home in tasks() for each in recipes(home) if each.tuned]
WITHOUT_GRAPH = [home.name for home in tasks() if home.graph is not None]
STARTED = {row["task"] for row in read(RESULTS / "runs.jsonl")}  # nothing may be missing of a task that has results

needs_tuning = pytest.mark.skipif(not (RESULTS / "tuning").is_dir(), reason="there is no results/tuning yet")
needs_runs = pytest.mark.skipif(not (RESULTS / "runs.jsonl").is_file(), reason="there is no results/runs.jsonl yet")
every_search = pytest.mark.parametrize(("dataset", "name"), TUNED)


@pytest.fixture(scope="module")
def rows():
    return read(RESULTS / "runs.jsonl")


def log(dataset, name):
    path = log_path(RESULTS, task(dataset), name)
    if not path.exists() and dataset not in STARTED:
        pytest.skip(f"there is no {path.relative_to(ROOT)} yet")
    return read(path)


@needs_tuning
@every_search
def test_every_method_has_as_many_trials(dataset, name):
    assert TRIALS == 12
    found = log(dataset, name)
    assert [row["trial"] for row in first_scores(found)] == list(range(TRIALS))
    assert len(found) == scores_of(task(dataset), TRIALS)


@needs_tuning
@every_search
def test_the_first_trial_is_the_start_and_all_are_scored_alike(dataset, name):
    found = log(dataset, name)
    assert found[0]["params"] == dict(method(name).start)
    assert {row["column"] for row in found} == {task(dataset).columns[0].name}
    assert len({row["fingerprint"] for row in found}) == 1, "a seed may change no split"


@needs_tuning
@every_search
def test_the_start_and_the_best_others_are_scored_by_all_seeds(dataset, name):
    found, seeds = log(dataset, name), range(task(dataset).final_seeds + 1)
    scored = {(row["trial"], row["seed"]) for row in found}
    expected = {(finalist["trial"], seed) for finalist in finalists(first_scores(found)) for seed in seeds}
    assert scored == expected | {(trial, 0) for trial in range(TRIALS)}


@needs_tuning
@every_search
def test_a_recipe_has_the_best_settings_of_its_log(dataset, name):
    for other in (other for home, other in TUNED if home == dataset):
        log(dataset, other)  # settings are written when all searches of a dataset are done
    each = method(name)
    chosen = best(log(dataset, name))["params"]
    assert recipe(task(dataset), each).settings == with_none({**each.fixed, **chosen})


@needs_tuning
@pytest.mark.parametrize("dataset", WITHOUT_GRAPH)
def test_a_graph_is_the_best_of_its_log(dataset):
    found = log(dataset, GRAPH)
    assert [row["trial"] for row in found] == list(range(12))
    assert best(found)["params"] == task(dataset).graph


@needs_tuning
def test_there_are_no_other_logs():
    expected = {*TUNED, *((dataset, GRAPH) for dataset in WITHOUT_GRAPH)}
    assert {(path.parent.name, path.stem) for path, _ in logs(RESULTS)} <= expected


@needs_runs
def test_no_line_is_broken(rows):
    lines = (RESULTS / "runs.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines[-1] == ""
    assert len(lines) - 1 == len(rows) > 0


@needs_runs
def test_every_row_names_its_commit_and_key(rows):
    for row in rows:
        assert row["commit"], row
        assert "+" not in row["commit"], row
        assert row["key"], row


@needs_runs
def test_every_commit_is_in_the_history_or_known_to_be_lost(rows):
    def in_history(commit):
        command = ["git", "-C", str(ROOT), "merge-base", "--is-ancestor", commit, "HEAD"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if not (ROOT / ".git").exists() or not in_history("HEAD"):
        pytest.skip("there is no history here")
    logged = {row["commit"].rstrip("+") for _, found in logs(RESULTS) for row in found}
    named = {row["commit"] for row in (*rows, *read(RESULTS / "unseen.jsonl"))} | logged
    assert {commit for commit in named - LOST.keys() if not in_history(commit)} == set()
    assert not any(in_history(commit) for commit in LOST)
    assert all(in_history(commit) for commit in LOST.values())


@needs_runs
def test_no_run_is_there_twice(rows):
    twice = {key: count for key, count in Counter(row["key"] for row in rows).items() if count > 1}
    assert twice == {}


@needs_runs
def test_every_row_holds_what_was_promised(rows):
    names = "dataset method labels split seed accuracy settings fingerprint versions seconds peak_mb commit time"
    known = {each.name for each in methods()}
    for row in rows:
        assert set(names.split()) <= set(row)
        assert 0 <= row["accuracy"] <= 1
        assert row["method"] in known


@needs_runs
def test_all_methods_met_the_same_data(rows):
    """Rows of one dataset, column and seed have one fingerprint and one graph."""
    met = defaultdict(set)
    for row in rows:
        met[row["task"], row["column"], row["seed"]].add((row["fingerprint"], row["preparation"], str(row["graph"])))
    assert {place: found for place, found in met.items() if len(found) > 1} == {}


@needs_runs
def test_the_page_is_made_of_these_results():
    assert PAGE.read_text(encoding="utf-8") == page(RESULTS, "../results")
