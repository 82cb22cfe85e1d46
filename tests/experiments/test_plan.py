import pytest

from glcn.experiments.plan import QUICK, TARGETS, runs_of, sweep_run, sweeps_of, tasks_of
from glcn.experiments.recipe import method, methods, recipes, tasks
from glcn.experiments.run import parameters_of


def names(runs):
    return {run.recipe.method.name for run in runs}


def test_the_tasks_of_the_tables():
    assert [task.name for task in tasks_of("table1")] == ["citeseer", "cora-released", "cora", "pubmed"]
    assert [task.name for task in tasks_of("table2")] == ["svhn", "cifar10", "mnist", "scene15"]


@pytest.mark.parametrize("target", ["table1", "table2"])
@pytest.mark.parametrize("chosen", [None, ["all"]])
def test_a_table_has_every_recipe_in_every_column_with_its_seeds(target, chosen):
    """Those for reference on request."""
    runs = runs_of(target, methods=chosen)
    expected = [
        (task.name, column.name, each.method.name, seed)
        for task in tasks_of(target)
        for column in task.columns
        for each in recipes(task)
        for seed in range(column.seeds)
        if chosen or each.method.role != "reference"
    ]
    found = [(run.recipe.task.name, run.column.name, run.recipe.method.name, run.seed) for run in runs]
    assert sorted(found) == sorted(expected)
    unchosen = [run for run in runs if run.recipe.tuned and run.settings == run.recipe.method.fixed]  # as the defaults
    assert len({run.key for run in runs}) == len(runs) - len(unchosen)
    assert [run.seed for run in runs] == sorted(run.seed for run in runs)
    assert all(not run.changes for run in runs)


def test_by_default_the_papers_methods_and_ours_are_run():
    ours = {"glcn", "glcn-closeness", "glcn-plus-default"}
    assert names(runs_of("table2")) == {"manireg", "lp", "deepwalk", "gcn", "gat", *ours}
    assert names(runs_of("table1")) == {"manireg", "lp", "deepwalk", "gcn", "gat", "glcn-plus", *ours}
    assert names(runs_of("table1", methods=["lp", "all"])) == {each.name for each in methods() if each.role != "arm"}


def test_the_sweeps():
    runs = runs_of("table3")
    assert len(runs) == 2 * 5 * 5
    assert {run.changes["hidden_units"] for run in runs} == {50, 60, 70, 80, 90}
    assert len(runs_of("table4")) == 6 * 3 + 6 * 5
    assert {run.changes["n_layers"] for run in runs_of("figure5")} == {2, 3, 4, 5, 6}
    assert len(sweeps_of("table4")) == 2
    assert runs_of("figure3") == runs_of("figure4") == []
    paper = {"table1", "table2", "table3", "table4", "figure3", "figure4", "figure5"}
    assert set(TARGETS) == {*paper, "ablation", "noise", "rounds"}


def test_a_sweep_has_the_methods_that_it_names():
    """Those for reference as well."""
    for target in ("ablation", "noise"):
        assert names(runs_of(target)) == {each.name for sweep in sweeps_of(target) for each in sweep.methods}
    assert "gcn-original" in names(runs_of("noise"))


def test_the_default_of_a_sweep_is_the_run_of_the_table():
    """So that it is computed once: the setting as it is, and no edge added or removed."""
    table = {run.key for run in runs_of("table1", methods=["glcn-plus-default", "gcn"])}
    for target, method_name in (("rounds", "glcn-plus-default"), ("noise", "gcn")):
        shared = {run.key for run in runs_of(target, methods=[method_name], datasets=["cora"])} & table
        assert shared
    added = [run for run in runs_of("noise", methods=["gcn"], datasets=["cora"]) if run.changes.get("added_edges")]
    assert added
    assert not {run.key for run in added} & table


def test_what_a_sweep_shares_is_the_same_for_all_that_have_it():
    """Arms are compared in one round of training; a baseline has no rounds. One sweep has edges added to all."""
    for target in ("ablation", "noise"):
        for run in runs_of(target, datasets=["citeseer", "cora", "pubmed"]):
            has_rounds = run.settings.get("variant") == "plus" and "no_graph" not in run.changes
            assert run.settings.get("rounds") == (1 if has_rounds else None)
    noisy = [run for run in runs_of("rounds") if run.changes.get("added_edges")]
    assert {run.graph_changes["added_edges"] for run in noisy} == {1.0}
    assert {run.settings.get("rounds") for run in noisy} == {1, None}


def test_a_sweep_changes_one_setting():
    (sweep,) = sweeps_of("figure5")
    run = sweep_run(sweep, method("gcn"), 4, 2)
    assert run.settings == {**run.recipe.settings, "n_layers": 4}
    assert (run.column, run.seed) == (sweep.column, 2)


def test_a_choice_of_datasets_and_methods():
    runs = runs_of("table1", datasets=["cora-released"], methods=["lp", "glcn"], seeds=3)
    assert {run.recipe.task.name for run in runs} == {"cora-released"}
    assert names(runs) == {"lp", "glcn"}
    assert [run.seed for run in runs] == [0, 0, 1, 1, 2, 2]
    both = runs_of("table1", datasets=["cora"], methods=["lp"])  # the dataset, whatever the task is called
    assert {run.recipe.task.name for run in both} == {"cora", "cora-released"}
    assert runs_of("table2", datasets=["cora"]) == []
    assert len(runs_of("table4", datasets=["mnist"], methods=["glcn"], seeds=1)) == 6


def test_choices_may_be_of_any_kind_of_list():
    wanted = runs_of("table1", datasets=["cora", "pubmed"], methods=["lp"])
    assert (
        runs_of("table1", datasets=(name for name in ("cora", "pubmed")), methods=(name for name in ["lp"])) == wanted
    )
    assert wanted


def test_more_seeds_than_the_recipe_has():
    runs = runs_of("table2", datasets=["mnist"], methods=["lp"], seeds=12)
    assert {column: sum(run.column.name == column for run in runs) for column in ("1000", "2000", "3000")} == {
        "1000": 12,
        "2000": 12,
        "3000": 12,
    }


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"no dataset 'corra'; choose among .*cora.*svhn"):
        runs_of("table1", datasets=["corra"])
    with pytest.raises(ValueError, match=r"no method 'gnc'; choose one of .*gcn"):
        runs_of("table1", methods=["gnc"])


@pytest.mark.parametrize("target", ["table1", "table2", "table3", "table4", "figure5"])
def test_quick_is_short_and_never_mistaken_for_the_real_run(target):
    quick = runs_of(target, quick=True)
    assert not {run.key for run in quick} & {
        run.key for run in runs_of(target) if run.recipe.method.name not in ("lp", "logistic")
    }
    for run in quick:
        assert run.seed == 0
        assert run.column == run.recipe.task.columns[0]
        for name in set(QUICK) & parameters_of(run.recipe.method):
            assert run.settings[name] == QUICK[name]
        assert set(run.settings) <= parameters_of(run.recipe.method)


def test_quick_shows_every_method_on_every_dataset():
    quick = [run for target in ("table1", "table2") for run in runs_of(target, methods=["all"], quick=True)]
    assert len(quick) == sum(len(recipes(task)) for task in tasks())
    assert names(quick) == {each.name for each in methods() if each.role != "arm"}
    assert {run.seed for run in runs_of("table1", quick=True, seeds=2)} == {0, 1}


def test_what_quick_shortens_is_a_parameter_of_some_method():
    for name in QUICK:
        assert any(name in parameters_of(each) for each in methods())
