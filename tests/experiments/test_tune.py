import json
import sys
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from glcn.experiments import recipe as recipe_module
from glcn.experiments import tune as module
from glcn.experiments.recipe import Method, Task, method, methods, recipe, recipe_path, task
from glcn.experiments.records import read
from glcn.experiments.tune import (
    NEIGHBORS,
    adopt,
    best,
    finalists,
    first_scores,
    log_path,
    logs,
    scores_of,
    tune,
    tune_graph,
)
from made import DIGITS

ON_ONE_SEED = replace(task("cora-released"), final_seeds=0)
BY_MORE = replace(ON_ONE_SEED, final_seeds=2)
TUNED = [each for each in methods() if each.search]


def lies_in(value, choices):
    if isinstance(choices, dict):
        return choices["low"] <= value <= choices["high"]
    return value in choices


def outcome(rows):
    names = ("trial", "params", "validation_accuracy", "validation_log_loss", "fingerprint")
    return [[row[name] for name in names] for row in rows]


@pytest.fixture
def scored(monkeypatch):
    """Scores that depend on the settings alone, so that a trial costs nothing; what was tried is kept."""
    tried = []

    def score(recipe_, chosen, cache, seed):
        tried.append(dict(chosen))
        number = crc32(str((seed, sorted(chosen.items()))).encode()) % 1000
        scores = {"validation_accuracy": number / 1000, "validation_log_loss": 1.0}
        return {**scores, "seed": seed, "fingerprint": recipe_.task.name}

    monkeypatch.setattr(module, "_score", score)
    return tried


def test_the_first_trial_is_the_start(tmp_path, scored):
    for each in TUNED:
        (row,) = tune(ON_ONE_SEED, each, tmp_path, trials=1)
        assert row["trial"] == 0
        assert row["params"] == dict(each.start)


@pytest.mark.parametrize("each", TUNED, ids=lambda each: each.name)
def test_every_trial_lies_in_what_may_be_chosen(tmp_path, scored, each):
    rows = tune(ON_ONE_SEED, each, tmp_path, trials=12)
    assert [row["trial"] for row in rows] == list(range(12))
    for row in rows:
        assert set(row["params"]) == set(each.search)
        for name, value in row["params"].items():
            assert lies_in(value, each.search[name])
    assert len({str(row["params"]) for row in rows}) == 12, "none is tried twice"
    assert (
        rows
        == read(log_path(tmp_path, ON_ONE_SEED, each.name))
        == read(tmp_path / f"tuning/cora-released/{each.name}.jsonl")
    )


def test_where_all_was_tried_it_is_tried_again(tmp_path, scored):
    few = replace(method("glcn-plus"), search={"hidden_units": ["auto", 256]}, start={"hidden_units": "auto"})
    rows = tune(ON_ONE_SEED, few, tmp_path, trials=4)
    assert [row["params"]["hidden_units"] for row in rows[:2]] == ["auto", 256]
    assert len(rows) == 4


@pytest.mark.parametrize("stop", [1, 2, 7, 9])
def test_a_search_that_was_broken_off_goes_on_as_if_it_had_not_been(tmp_path, scored, stop):
    gcn = method("gcn")
    whole = tune(ON_ONE_SEED, gcn, tmp_path / "whole", trials=10)
    tune(ON_ONE_SEED, gcn, tmp_path / "parts", trials=stop)
    path = log_path(tmp_path / "parts", ON_ONE_SEED, "gcn")
    before = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"trial": 99, "par')  # killed within a line
    scored.clear()
    parts = tune(ON_ONE_SEED, gcn, tmp_path / "parts", trials=10)
    assert outcome(parts) == outcome(whole)
    assert len(scored) == 10 - stop
    assert path.read_bytes().startswith(before)


def test_real_trials_go_on_as_if_they_had_not_been_broken_off(tmp_path):
    lp = method("lp")
    whole = tune(ON_ONE_SEED, lp, tmp_path / "whole", trials=4)
    tune(ON_ONE_SEED, lp, tmp_path / "parts", trials=2)
    assert outcome(tune(ON_ONE_SEED, lp, tmp_path / "parts", trials=4)) == outcome(whole)
    data = ON_ONE_SEED.load(ON_ONE_SEED.columns[0], 0)
    for row in whole:
        assert row["fingerprint"] == data.fingerprint
        assert (row["column"], row["seed"], row["epochs"]) == ("released", 0, None)
        assert {"commit", "versions"} <= set(row)


def test_test_labels_are_not_read(tmp_path, monkeypatch):
    load, methods_ = Task.load, [method("lp"), method("logistic")]
    honest = [tune(ON_ONE_SEED, each, tmp_path / "honest", trials=3) for each in methods_]

    def scrambled(self, column, seed):
        data = load(self, column, seed)
        hidden = np.setdiff1d(np.arange(len(data.y)), [*data.train, *data.validation])
        assert set(data.test) <= set(hidden)
        y = data.y.copy()
        y[hidden] = np.random.default_rng(0).integers(0, 7, len(hidden))
        return replace(data, y=y)

    monkeypatch.setattr(Task, "load", scrambled)
    blind = [tune(ON_ONE_SEED, each, tmp_path / "blind", trials=3) for each in methods_]
    assert list(map(outcome, blind)) == list(map(outcome, honest))


def test_a_longer_log_is_not_tried_again(tmp_path, scored):
    whole = tune(ON_ONE_SEED, method("gcn"), tmp_path, trials=4)
    scored.clear()
    assert tune(ON_ONE_SEED, method("gcn"), tmp_path, trials=2) == whole[:2]
    assert tune(ON_ONE_SEED, method("gcn"), tmp_path, trials=4) == whole
    assert scored == []


def test_listeners_hear_of_each_trial(tmp_path, scored):
    heard = []
    rows = tune(ON_ONE_SEED, method("lp"), tmp_path, trials=3, listener=lambda *told: heard.append(told))
    assert heard == [(number + 1, 3, row) for number, row in enumerate(rows)]


def test_nothing_to_tune_is_said(tmp_path):
    with pytest.raises(ValueError, match="gcn-original has nothing to tune"):
        tune(ON_ONE_SEED, method("gcn-original"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def trial(number, accuracy, loss, seed=0, **params):
    return {
        "trial": number,
        "seed": seed,
        "validation_accuracy": accuracy,
        "validation_log_loss": loss,
        "params": params,
    }


def test_best_prefers_accuracy_then_the_lower_loss_then_the_earlier():
    rows = [
        trial(0, 0.8, 0.1, a=0),
        trial(1, 0.9, 0.7, a=1),
        trial(2, 0.9, 0.5, a=2),
        trial(3, 0.9, 0.5, a=3),
        trial(4, 0.89, 0.0, a=4),
    ]
    assert best(rows)["params"] == {"a": 2}
    assert best(rows[:1])["params"] == {"a": 0}


def test_trials_that_more_seeds_have_scored_are_judged_by_the_mean():
    rows = [trial(0, 0.8, 0.1, a=0), trial(1, 0.9, 0.7, a=1), trial(2, 0.95, 0.5, a=2)]
    rows += [trial(0, 0.8, 0.1, seed=1, a=0), trial(1, 0.6, 0.3, seed=1, a=1)]
    chosen = best([*rows, trial(2, 0.6, 0.5, seed=1, a=2)])
    assert (chosen["params"], chosen["seeds"]) == ({"a": 0}, 2)
    assert chosen["validation_accuracy"] == pytest.approx(0.8)
    broken_off = best(rows)
    assert (broken_off["params"], broken_off["seeds"]) == ({"a": 2}, 1), "not all finalists have been scored"


@pytest.mark.parametrize(
    ("gains", "leaves"),
    [((0.03, 0.02, 0.025, 0.03), True), ((0.06, -0.02, 0.02, -0.02), False), ((0.01,) * 4, True), ((0.0,) * 4, False)],
    ids=["always better", "better by chance", "by the same", "equal"],
)
def test_the_start_is_left_only_for_a_gain_beyond_its_standard_error(gains, leaves):
    rows = [trial(0, 0.8 + 0.01 * seed, 1.0, seed, a=0) for seed in range(4)]
    rows += [trial(1, 0.8 + 0.01 * seed + gain, 0.5, seed, a=1) for seed, gain in enumerate(gains)]
    assert best(rows)["params"] == {"a": int(leaves)}


def test_the_start_and_the_three_best_others_are_finalists():
    rows = [trial(number, accuracy, 1.0) for number, accuracy in enumerate([0.1, 0.5, 0.9, 0.6, 0.7])]
    assert [row["trial"] for row in finalists(rows)] == [0, 2, 4, 3]
    assert [row["trial"] for row in finalists(rows[:2])] == [0, 1]


@pytest.mark.parametrize("stop", [3, 6, 9])
def test_finals_that_were_broken_off_go_on(tmp_path, scored, stop):
    gcn, heard = method("gcn"), []
    whole = tune(BY_MORE, gcn, tmp_path / "whole", trials=6, listener=lambda *told: heard.append(told[:2]))
    assert len(whole) == scores_of(BY_MORE, 6) == 6 + 2 * 4
    assert heard == [(number, len(whole)) for number in range(1, len(whole) + 1)]
    assert [(row["trial"], row["seed"]) for row in whole[6:]] == [
        (row["trial"], seed) for row in finalists(whole[:6]) for seed in (1, 2)
    ]
    path = log_path(tmp_path / "parts", BY_MORE, "gcn")
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in whole[:stop]))
    scored.clear()
    assert outcome(tune(BY_MORE, gcn, tmp_path / "parts", trials=6)) == outcome(whole)
    assert len(scored) == len(whole) - stop


def test_more_trials_after_the_finals_have_finals_of_their_own(tmp_path, scored):
    gcn = method("gcn")
    few = tune(BY_MORE, gcn, tmp_path, trials=5)
    many = tune(BY_MORE, gcn, tmp_path, trials=9)
    assert [row["trial"] for row in first_scores(many)] == list(range(9))
    assert {row["trial"] for row in finalists(first_scores(many))} == {row["trial"] for row in many if row["seed"] == 2}
    assert len(many) == scores_of(BY_MORE, 9)
    assert tune(BY_MORE, gcn, tmp_path, trials=5) == few


def test_seeds_that_change_the_split_are_refused(tmp_path, monkeypatch):
    def score(recipe_, chosen, cache, seed):
        return {"validation_accuracy": 0.5, "validation_log_loss": 1.0, "seed": seed, "fingerprint": f"split {seed}"}

    monkeypatch.setattr(module, "_score", score)
    with pytest.raises(ValueError, match="seed 1 of cora-released is another split"):
        tune(BY_MORE, method("gcn"), tmp_path, trials=2)
    assert len(read(log_path(tmp_path, BY_MORE, "gcn"))) == 2


def test_finals_are_fits_by_other_seeds(tmp_path):
    rows = tune(BY_MORE, method("mlp"), tmp_path, trials=1)
    assert [(row["trial"], row["seed"]) for row in rows] == [(0, 0), (0, 1), (0, 2)]
    assert len({row["validation_log_loss"] for row in rows}) == 3
    assert len({row["fingerprint"] for row in rows}) == 1


def test_adopt_writes_the_best_into_the_recipe(tmp_path, monkeypatch):
    path = tmp_path / "cora-released/lp.toml"
    path.parent.mkdir()
    path.write_text('[paper]\nreleased = "59.0"\n\n[settings]\nwidth = 1.2\nclass_mass = true\n')
    monkeypatch.setattr(recipe_module, "FOLDER", tmp_path)
    lp = method("lp")
    assert recipe_path(ON_ONE_SEED, lp) == path
    adopt(
        ON_ONE_SEED,
        lp,
        [trial(0, 0.8, 1.0, width=0.3, class_mass=True), trial(1, 0.9, 1.0, width="none", class_mass=False)],
    )
    assert recipe(ON_ONE_SEED, lp).settings == {"width": None, "class_mass": False}
    assert recipe(ON_ONE_SEED, lp).paper == {"released": "59.0"}


@pytest.mark.parametrize("low", [1e-4, 0.2, 1.23456e-3])
def test_rounding_keeps_three_digits_and_stays_in_range(low):
    choices = {"low": low, "high": low * 7.77777, "log": True}
    for value in np.geomspace(low, choices["high"], 200):
        rounded = module._rounded(float(value), choices)
        assert choices["low"] <= rounded <= choices["high"]
        assert rounded in (choices["low"], choices["high"]) or float(f"{rounded:.2e}") == rounded
        assert rounded == pytest.approx(value, rel=5e-3)
    assert module._rounded("rbf", ["rbf", "linear"]) == "rbf"
    assert module._rounded(0.123456, [0.123456]) == 0.123456


def test_a_trial_takes_what_is_fixed_and_turns_none(tmp_path, monkeypatch):
    given = []
    real = module.estimator
    monkeypatch.setattr(module, "estimator", lambda *told: given.append(told) or real(*told))
    tune(ON_ONE_SEED, method("lp"), tmp_path, trials=1)
    assert given[0] == ("glcn.baselines.LabelPropagation", {"width": None, "class_mass": False}, 0)
    shorter = replace(method("mlp"), fixed={"max_epochs": 2, "patience": 1})
    (row,) = tune(ON_ONE_SEED, shorter, tmp_path, trials=1)
    assert given[1][1] == {"max_epochs": 2, "patience": 1, **shorter.start}
    assert row["epochs"] == 2


def test_the_graph_is_chosen_by_gcn_at_its_start(tmp_path, monkeypatch):
    tried = []

    def score(recipe_, chosen, cache):
        assert recipe_.method.name == "gcn"
        assert chosen == method("gcn").start
        tried.append(dict(recipe_.task.graph))
        return {"validation_accuracy": 0.5, "validation_log_loss": 1.0}

    monkeypatch.setattr(module, "_score", score)
    rows = tune_graph(DIGITS, tmp_path)
    assert [row["params"] for row in rows] == tried
    assert len(rows) == len(NEIGHBORS) == 12
    assert {graph["n_neighbors"] for graph in tried} == {4, 6, 8, 10}
    own = DIGITS.load(DIGITS.columns[0], 0).preparation.split(":")[0]
    assert {graph["prepare"] for graph in tried} == {own, f"{own}+pca64", "unit"}
    assert tune_graph(DIGITS, tmp_path) == rows
    assert len(tried) == 12
    path = log_path(tmp_path, DIGITS, "graph")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]))
    assert tune_graph(DIGITS, tmp_path) == rows
    assert tried[12:] == tried[5:12]


def test_a_graph_is_scored_with_its_own_neighbours(tmp_path, monkeypatch):
    graphs = []

    def fit(clf, dataset, graph):
        graphs.append(graph)
        raise InterruptedError

    monkeypatch.setattr(module, "fit_dataset", fit)
    for prepare, k in (("unit", 5), ("pca8", 4)):
        changed = replace(DIGITS, graph={"prepare": prepare, "n_neighbors": k, "metric": "euclidean"})
        with pytest.raises(InterruptedError):
            module._score(recipe(changed, method("gcn")), method("gcn").start, None)
    assert graphs[0].num_edges > graphs[1].num_edges
    assert graphs[0].num_nodes == graphs[1].num_nodes == 1797


def test_logs_are_listed_in_order(tmp_path, scored):
    for name in ("mlp", "gcn"):
        tune(ON_ONE_SEED, method(name), tmp_path, trials=2)
    tune(replace(ON_ONE_SEED, name="citeseer"), method("lp"), tmp_path, trials=1)
    found = [(path.parent.name, path.stem, len(rows)) for path, rows in logs(tmp_path)]
    assert found == [("citeseer", "lp", 1), ("cora-released", "gcn", 2), ("cora-released", "mlp", 2)]
    assert list(logs(tmp_path / "nothing")) == []


def test_without_optuna_it_is_said_what_to_install(tmp_path, scored, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"glcn\[experiments\]"):
        tune(ON_ONE_SEED, method("lp"), tmp_path, trials=2)
    assert len(read(log_path(tmp_path, ON_ONE_SEED, "lp"))) == 1


def test_every_method_that_has_choices_is_tuned():
    assert isinstance(TUNED[0], Method)
    assert {each.name for each in methods() if each.role != "arm"} - {each.name for each in TUNED} == {
        *("gcn-original", "gat-original", "glcn-literal", "glcn-released", "glcn-plus-default")
    }
