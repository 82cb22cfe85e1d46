import shutil
import tomllib
from dataclasses import replace

import pytest

from glcn.experiments import recipe as module
from glcn.experiments.perturb import CHANGES
from glcn.experiments.recipe import (
    Recipe,
    all_tasks,
    method,
    methods,
    recipe,
    recipe_path,
    recipes,
    sweeps,
    task,
    tasks,
    with_none,
    write_settings,
)
from glcn.experiments.run import estimator, parameters_of
from made import DIGITS

RECIPES = [each for home in tasks() for each in recipes(home)]
PAPERS_METHODS = ("manireg", "lp", "deepwalk", "gcn", "gat", "glcn")

every_recipe = pytest.mark.parametrize("each", RECIPES, ids=lambda each: f"{each.task.name}-{each.method.name}")
every_method = pytest.mark.parametrize("each", methods(), ids=lambda each: each.name)
every_task = pytest.mark.parametrize("each", tasks(), ids=lambda each: each.name)


def own_settings(each):
    """The settings that stand in the recipe itself."""
    return tomllib.loads(recipe_path(each.task, each.method).read_text(encoding="utf-8"))["settings"]


def lies_in(value, choices):
    if isinstance(choices, dict):
        return choices["low"] <= value <= choices["high"]
    return value in choices


@pytest.fixture
def own_recipes(tmp_path, monkeypatch):
    """A copy of the recipes that a test may change."""
    folder = tmp_path / "recipes"
    shutil.copytree(module.FOLDER, folder)
    monkeypatch.setattr(module, "FOLDER", folder)
    return folder


@every_recipe
def test_a_recipe_builds_its_classifier(each):
    clf = estimator(each.method.estimator, each.settings, 3)
    parameters = clf.get_params()
    assert parameters | each.settings == parameters
    assert parameters.get("random_state", 3) == 3


@every_recipe
def test_a_tuned_recipe_sets_what_tuning_may_choose_and_nothing_else(each):
    assert each.tuned == bool(each.method.search)
    if each.tuned:
        chosen = own_settings(each)
        assert set(chosen) == set(each.method.search)
        for name, value in chosen.items():
            assert lies_in(value, each.method.search[name]), name


@every_method
def test_tuning_starts_within_what_it_may_choose(each):
    assert set(each.start) == set(each.search)
    for name, value in each.start.items():
        assert lies_in(value, each.search[name]), name
    assert not set(each.fixed) & set(each.search)
    assert set(each.fixed) | set(each.search) <= parameters_of(each)
    assert "random_state" not in each.fixed


@every_task
def test_every_task_has_the_papers_methods_with_its_numbers(each):
    here = {there.method.name: there for there in recipes(each)}
    for name in PAPERS_METHODS:
        assert set(here[name].paper) == {column.name for column in each.columns}
    for name in ("glcn-closeness", "logistic", "mlp"):
        assert here[name].paper == {}
    for there in here.values():
        assert all(0 < float(number.split("±")[0]) < 100 for number in there.paper.values())


@pytest.mark.parametrize(
    ("dataset", "name", "column", "number"),
    [
        ("cora-released", "glcn", "released", "85.5"),
        ("cora", "glcn", "public", "85.5"),
        ("cora", "gcn", "paper", "82.9"),
        ("citeseer", "deepwalk", "public", "43.2"),
        ("pubmed", "gat", "public", "78.0"),
        ("mnist", "glcn", "1000", "94.28 ± 0.28"),
        ("mnist", "gcn", "1000", "90.59 ± 0.26"),
        ("cifar10", "glcn", "3000", "70.39 ± 0.54"),
        ("svhn", "manireg", "2000", "72.73 ± 0.44"),
        ("scene15", "lp", "500", "89.40 ± 4.74"),
    ],
)
def test_the_papers_numbers(dataset, name, column, number):
    assert recipe(task(dataset), method(name)).paper[column] == number


def test_the_order_is_that_of_the_papers_tables():
    assert [each.name for each in tasks()] == [
        *("citeseer", "cora-released", "cora", "pubmed"),
        *("svhn", "cifar10", "mnist", "scene15"),
    ]
    assert [each.name for each in methods()[:6]] == list(PAPERS_METHODS)
    assert [each.name for each in methods() if each.role == "ours"] == [
        *("glcn", "glcn-closeness", "glcn-plus", "glcn-plus-default")
    ]
    assert [each.name for each in all_tasks() if each not in tasks()] == ["digits"]


def test_seeds_are_the_papers():
    for home in tasks():
        if home.graph is None:
            assert [column.seeds for column in home.columns] == [10] * len(home.columns)
        else:
            assert [column.seeds for column in home.columns] == [10, 5, 5]


def test_columns_say_their_split():
    assert [column.title for column in task("cora").columns] == ["public split", "paper split"]
    assert [column.title for column in task("scene15").columns] == ["500 labels", "750 labels", "1000 labels"]


@pytest.mark.parametrize(
    ("choose", "wrong", "kind", "names"),
    [
        (task, "corra", "dataset", [each.name for each in all_tasks()]),
        (method, "gnc", "method", [each.name for each in methods()]),
        (task("cora").column, "publik", "column", ["public", "paper"]),
    ],
)
def test_an_unknown_name_lists_the_valid_ones(choose, wrong, kind, names):
    with pytest.raises(ValueError, match=f"there is no {kind} '{wrong}'") as raised:
        choose(wrong)
    for name in names:
        assert name in str(raised.value)


def test_a_task_loads_its_split():
    data = task("cora-released").load(task("cora-released").columns[0], 5)
    assert (data.name, data.split, len(data.train), len(data.validation)) == ("cora", "released", 140, 300)
    first, second = (DIGITS.load(DIGITS.column("200"), seed) for seed in (0, 1))
    assert len(first.train) == 200
    assert first.fingerprint != second.fingerprint
    prepared = replace(DIGITS, prepare="pca8").load(DIGITS.columns[0], 0)
    assert prepared.X.shape == (1797, 8)


def test_write_settings_keeps_the_rest_of_the_file(own_recipes):
    path = own_recipes / "cora-released/glcn.toml"
    before = path.read_text(encoding="utf-8")
    write_settings(path, {"hidden_units": 70, "dropout": 0.25})
    head, _, tail = path.read_text(encoding="utf-8").partition("[settings]\n")
    assert head == before.partition("[settings]\n")[0]
    assert tail == "hidden_units = 70\ndropout = 0.25\n"
    assert sorted(each.name for each in path.parent.iterdir()) == sorted(
        each.name for each in (module.METHODS.with_name("recipes") / "cora-released").iterdir()
    )


def test_write_settings_round_trips(own_recipes):
    home, lp = task("mnist"), method("lp")
    settings = {"a": None, "b": True, "c": False, "d": 1e-05, "e": 7, "f": "rbf", "g": 0.30000000000000004, "h": 1e16}
    before = recipe(home, lp)
    write_settings(recipe_path(home, lp), settings)
    after = recipe(home, lp)
    assert after.settings == settings
    assert [type(value) for value in after.settings.values()] == [type(value) for value in settings.values()]
    assert replace(after, settings=before.settings) == before
    write_settings(recipe_path(home, lp), {"a": "none"})
    assert recipe(home, lp).settings == {"a": None}
    written = recipe_path(home, lp).read_bytes()
    write_settings(recipe_path(home, lp), {"a": None})
    assert recipe_path(home, lp).read_bytes() == written


def test_settings_of_every_recipe_survive_being_written_again(own_recipes):
    for each in RECIPES:
        write_settings(recipe_path(each.task, each.method), with_none(own_settings(each)))
        assert recipe(each.task, each.method) == each


def test_none_is_written_as_a_word():
    assert with_none({"width": "none", "C": 1.0}) == {"width": None, "C": 1.0}


def test_adding_or_removing_a_file_is_adding_or_removing_a_method(own_recipes):
    home = task("svhn")
    before = [each.method.name for each in recipes(home)]
    (own_recipes / "svhn/gcn-original.toml").write_text("[settings]\n")
    (own_recipes / "svhn/lp.toml").unlink()
    after = [each.method.name for each in recipes(home)]
    assert set(after) == {*before, "gcn-original"} - {"lp"}
    shutil.copytree(own_recipes / "svhn", own_recipes / "another")
    assert {each.name for each in tasks()} - {"another"} == {each.task.name for each in RECIPES}
    assert task("another").dataset == "svhn"


def test_a_damaged_recipe_is_named(own_recipes):
    (own_recipes / "cora/lp.toml").write_text("[settings\n")
    with pytest.raises(ValueError, match=r"cora.lp\.toml can not be read"):
        recipe(task("cora"), method("lp"))


def test_all_methods_of_a_task_have_one_graph():
    """The graph is the task's: neither a method nor a recipe can name another, nor search for neighbours itself."""
    assert "graph" not in Recipe.__dataclass_fields__
    for each in RECIPES:
        assert not {"graph", "n_neighbors", "metric"} & set(each.settings)
        assert not {"n_neighbors", "metric"} & set(each.method.search)
    for home in tasks():
        assert home.graph is None or set(home.graph) == {"prepare", "n_neighbors", "metric"}


def test_sweeps_change_a_setting_that_their_methods_have():
    for sweep in sweeps():
        assert sweep.column in sweep.task.columns
        assert len(sweep.titles) == len(sweep.values)
        for each in sweep.methods:
            settings = recipe(sweep.task, each).settings
            if sweep.parameter in CHANGES:
                estimator(each.estimator, settings, 0)
                continue
            assert sweep.parameter in parameters_of(each)
            for value in sweep.values:
                estimator(each.estimator, {**settings, sweep.parameter: value}, 0)
        for numbers in sweep.paper.values():
            assert len(numbers) == len(sweep.values)


def test_the_sweeps_are_those_of_the_paper():
    found = [(sweep.target, sweep.task.name, sweep.parameter, len(sweep.values)) for sweep in sweeps()]
    assert [each for each in found if each[0].startswith(("table", "figure"))] == [
        ("table3", "mnist", "hidden_units", 5),
        ("table4", "cifar10", "graph_weight", 6),
        ("table4", "mnist", "graph_weight", 6),
        ("figure5", "mnist", "n_layers", 5),
    ]
    assert sweeps()[0].paper["glcn"][0] == "94.10"
    assert sweeps()[0].paper["gcn"][2] == "90.80"


def test_the_ablation_has_all_tasks_and_arms_that_differ_in_the_graph_alone():
    ablation = [sweep for sweep in sweeps() if sweep.target == "ablation"]
    assert [sweep.task.name for sweep in ablation] == [each.name for each in tasks()]
    for sweep in ablation:
        ours, *arms = sweep.methods
        assert (ours.name, ours.fixed) == ("glcn-plus-default", {"variant": "plus"})
        given = {"plus-given"} if sweep.task.name == "citeseer" else set()  # elsewhere no others are added
        everywhere = {each.name for each in methods() if each.role == "arm"} - {"plus-given", "plus-as-given"}
        assert {each.name for each in arms} == everywhere | given
        assert sweep.column == sweep.task.columns[0]
        assert (sweep.seeds, len(sweep.values)) == ((10, 2) if sweep.task.table == "table1" else (5, 1))
        for arm in arms:
            one_flag = dict(arm.fixed.items() - {"variant": "plus"}.items())
            assert one_flag in ({}, {"learn_graph": False}, {"added_neighbors": 0})


def test_edges_are_also_taken_as_given_where_random_ones_are_added():
    for sweep in sweeps():
        has_it = "plus-as-given" in {each.name for each in sweep.methods}
        assert has_it == (sweep.parameter == "added_edges")


def test_three_rounds_are_compared_with_one_wherever_there_is_a_graph():
    rounds = [sweep for sweep in sweeps() if sweep.target == "rounds"]
    clean = {sweep.task.name for sweep in rounds if not sweep.shared}
    assert clean == {each.name for each in tasks() if each.table == "table1"}
    assert {sweep.values for sweep in rounds} == {(1, "default")}


def test_a_method_with_nothing_to_choose_needs_no_file():
    assert not recipe_path(task("digits"), method("gcn-original")).exists()
    assert recipe(task("digits"), method("gcn-original")).settings == dict(method("gcn-original").fixed)
    with pytest.raises(FileNotFoundError):
        recipe(task("digits"), method("gcn"))
