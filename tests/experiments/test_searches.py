import shutil

import pytest

from glcn.experiments import recipe as recipe_module
from glcn.experiments import searches as module
from glcn.experiments.recipe import method, recipe, recipes, task, tasks
from glcn.experiments.records import append, read
from glcn.experiments.searches import Search, search_all, searches
from glcn.experiments.tune import best, first_scores, log_path, scores_of
from made import HereWorkers

CORA = task("cora-released")


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(module, "workers", HereWorkers)


@pytest.fixture
def own_recipes(tmp_path, monkeypatch):
    shutil.copytree(recipe_module.FOLDER, tmp_path / "recipes")
    monkeypatch.setattr(recipe_module, "FOLDER", tmp_path / "recipes")
    return tmp_path / "recipes"


def test_a_task_has_a_search_for_each_tuned_method():
    found = searches("cora-released")
    assert [search.name for search in found] == [each.method.name for each in recipes(CORA) if each.tuned]
    assert len(found) == 10
    assert all(search.task == CORA for search in found)
    assert len(searches("all")) == sum(len(searches(each.name)) for each in tasks())


def test_methods_by_name_and_the_graph():
    assert searches("mnist", ["lp", "gcn"]) == [Search(task("mnist"), method(name)) for name in ("lp", "gcn")]
    assert searches("mnist", ["graph"])[0].name == "graph"


def test_what_can_not_be_searched_is_said():
    with pytest.raises(ValueError, match="cora has a graph of its own"):
        searches("cora", ["graph"])
    with pytest.raises(ValueError, match="no recipe 'glcn-released' for mnist; choose among manireg, lp"):
        searches("mnist", ["glcn-released"])
    with pytest.raises(ValueError, match="no dataset 'corra'"):
        searches("corra")


def test_the_logs_and_the_recipes_are_written(here, tmp_path, own_recipes):
    told = []
    wanted = searches("cora-released", ["lp", "logistic"])
    found = search_all(wanted, tmp_path / "results", trials=3, write=True, listener=lambda *told_: told.append(told_))
    assert [search for search, _ in found] == wanted
    for search, rows in found:
        assert rows == read(log_path(tmp_path / "results", CORA, search.name))
        assert [row["trial"] for row in first_scores(rows)] == [0, 1, 2]
        assert len(rows) == scores_of(CORA, 3)
        chosen = {name: None if value == "none" else value for name, value in best(rows)["params"].items()}
        assert recipe(CORA, search.method).settings == {**search.method.fixed, **chosen}
    assert told[0] == (len(rows), 2 * len(rows), "")
    assert told[-1] == (2 * len(rows), 2 * len(rows), "")


def test_recipes_are_left_alone_unless_asked(here, tmp_path, own_recipes):
    before = {path: path.read_bytes() for path in own_recipes.rglob("*.toml")}
    search_all(searches("cora-released", ["logistic"]), tmp_path / "results", trials=2)
    assert {path: path.read_bytes() for path in own_recipes.rglob("*.toml")} == before


def test_a_graph_is_searched_but_not_written(here, tmp_path, own_recipes, monkeypatch):
    def tune_graph(home, folder, *, cache):
        for number in range(12):
            append(log_path(folder, home, "graph"), {"trial": number, "params": {}, "validation_accuracy": 0.5})

    monkeypatch.setattr(module, "tune_graph", tune_graph)
    before = (own_recipes / "mnist/task.toml").read_bytes()
    told = []
    ((search, rows),) = search_all(
        searches("mnist", ["graph"]),
        tmp_path / "results",
        trials=3,
        write=True,
        listener=lambda *each: told.append(each),
    )
    assert search.method is None
    assert len(rows) == 12
    assert told[-1][:2] == (12, 12)
    assert (own_recipes / "mnist/task.toml").read_bytes() == before


def test_nothing_to_tune_reaches_the_caller(here, tmp_path):
    with pytest.raises(ValueError, match="gat-original has nothing to tune"):
        search_all(searches("cora-released", ["gat-original"]), tmp_path, trials=2)


def test_only_as_many_trials_as_asked_for_count(here, tmp_path, own_recipes):
    path = log_path(tmp_path, CORA, "logistic")
    for number, accuracy in enumerate((0.5, 0.6, 0.9)):
        for seed in range(CORA.final_seeds + 1):
            row = {"trial": number, "params": {"C": float(number)}, "seed": seed, "validation_accuracy": accuracy}
            append(path, {**row, "validation_log_loss": 1.0})
    ((_, rows),) = search_all(searches("cora-released", ["logistic"]), tmp_path, trials=2, write=True)
    assert [row["trial"] for row in first_scores(rows)] == [0, 1]
    assert recipe(CORA, method("logistic")).settings == {"C": 1.0}


def test_the_graph_is_chosen_by_itself_and_where_there_is_none():
    assert {search.task.name for search in searches("all", ["graph"])} == {"svhn", "cifar10", "mnist", "scene15"}
    with pytest.raises(ValueError, match="choose the graph first"):
        searches("mnist", ["graph", "gcn"])
