import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from glcn.exceptions import GraphCollapseWarning
from glcn.experiments import run as module
from glcn.experiments.recipe import method, methods, recipe, recipes, task
from glcn.experiments.run import Run, compute, estimator, fit, neighbors, parameters_of, shared_graph, validation_scores
from glcn.graph import CandidateGraph
from made import DIGITS

CORA = task("cora-released")
RELEASED = CORA.columns[0]


def run_of(name, seed=0, home=CORA, **changes):
    return Run(recipe(home, method(name)), home.columns[0], seed, changes)


class Spy:
    """A classifier that keeps what it is given and always says class 0."""

    def __init__(self, **settings):
        self.settings = settings

    def get_params(self):
        return self.settings

    def set_params(self, **settings):
        self.settings |= settings

    def fit(self, X, y, *, graph=None, validation=None):
        self.X, self.labels, self.graph, self.validation = X, y, graph, validation
        self.classes_ = np.unique(y[y >= 0])
        self.label_distributions_ = np.full((len(y), len(self.classes_)), 1 / len(self.classes_))
        self.transduction_ = np.zeros(len(y), int)


@pytest.fixture
def spies(monkeypatch):
    found = []

    def build(name, settings, seed):
        found.append(Spy(**settings))
        return found[-1]

    monkeypatch.setattr(module, "estimator", build)
    return found


def test_changes_go_before_the_recipe():
    run = run_of("logistic", C=5.0)
    assert run.settings == {"C": 5.0}
    assert run_of("logistic").settings == dict(recipe(CORA, method("logistic")).settings)


def test_the_key_tells_what_makes_a_difference():
    keys = [
        run_of("lp").key,
        run_of("lp", seed=1).key,
        run_of("lp", width=0.123).key,
        run_of("lp", width=0.124).key,
        run_of("lp", home=replace(CORA, prepare="unit")).key,
        run_of("lp", home=replace(CORA, descriptor="hog")).key,
        run_of("lp", home=replace(CORA, graph={"prepare": "unit", "n_neighbors": 4, "metric": "euclidean"})).key,
        run_of("lp", home=replace(CORA, graph={"prepare": "unit", "n_neighbors": 6, "metric": "euclidean"})).key,
        replace(run_of("lp"), column=replace(RELEASED, split="random")).key,
        replace(run_of("lp"), column=replace(RELEASED, labels=70)).key,
        run_of("logistic").key,
        run_of("glcn").key,
        run_of("glcn-released").key,
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_tells_nothing_else():
    run = run_of("logistic", C=2.0)
    assert run.key == replace(run, column=replace(RELEASED, name="other", seeds=3)).key
    assert run.key == Run(replace(run.recipe, settings={"C": 2.0}, paper={}, deviations=()), RELEASED, 0).key
    backwards = dict(reversed(run_of("gcn").settings.items()))
    assert Run(replace(run_of("gcn").recipe, settings=backwards), RELEASED, 0).key == run_of("gcn").key


def test_title():
    assert run_of("lp", seed=4, width=0.5).title == "Cora released LP width=0.5 seed 4"


def test_estimators_get_the_seed_where_they_have_one():
    assert estimator("glcn.baselines.DeepWalk", {"window": 5}, 7).random_state == 7
    assert "random_state" not in estimator("glcn.baselines.LabelPropagation", {}, 7).get_params()
    assert {"variant", "random_state"} <= parameters_of(method("glcn"))


@pytest.mark.parametrize("name", ["lp", "logistic"])
def test_a_row_says_what_a_fit_by_hand_gives(name):
    row = compute(run_of(name))
    data = CORA.load(RELEASED, 0)
    clf = estimator(method(name).estimator, recipe(CORA, method(name)).settings, 0)
    clf.fit(data.X, data.visible_labels, graph=data.graph, validation=data.validation)
    truth, found = data.y[data.test], clf.transduction_[data.test]
    assert row["accuracy"] == pytest.approx(accuracy_score(truth, found), abs=1e-5)
    assert row["macro_f1"] == pytest.approx(f1_score(truth, found, average="macro"), abs=1e-5)
    held, shares = data.y[data.validation], clf.label_distributions_[data.validation]
    assert row["validation_accuracy"] == pytest.approx(accuracy_score(held, shares.argmax(axis=1)), abs=1e-5)
    assert row["validation_log_loss"] == pytest.approx(
        -np.log(shares[np.arange(300), held].clip(1e-7)).mean(), abs=1e-4
    )


def test_what_a_row_holds():
    row = compute(run_of("mlp", seed=3, max_epochs=2))
    data = CORA.load(RELEASED, 3)
    known = {
        "dataset": "cora",
        "method": "mlp",
        "labels": 140,
        "split": "released",
        "seed": 3,
        "task": "cora-released",
        "column": "released",
        "graph": None,
        "epochs": 2,
        "fingerprint": data.fingerprint,
        "preparation": data.preparation,
        "settings": {**recipe(CORA, method("mlp")).settings, "max_epochs": 2},
        "versions": module.VERSIONS,
        "key": run_of("mlp", seed=3, max_epochs=2).key,
    }
    assert row | known == row
    assert row["seconds"] >= 0
    assert {"python", "glcn", "torch", "numpy", "scipy", "scikit-learn", "numba"} == set(row["versions"])
    if sys.platform == "linux":
        assert 10 < row["peak_mb"] < 100_000


def test_a_learned_graph_says_how_far_it_moved():
    row = compute(run_of("glcn-closeness", max_epochs=1))
    assert 0 <= row["distance_from_uniform"] <= 1
    assert 0 < row["uniform_same_class_mass"] < 1
    assert row["same_class_mass"] != row["uniform_same_class_mass"]
    assert row["cpu_seconds"] > 0


def test_the_same_run_gives_the_same_row():
    first, second = (compute(run_of("mlp", max_epochs=3)) for _ in range(2))
    for row in (first, second):
        del row["seconds"], row["cpu_seconds"], row["peak_mb"]
    assert first == second


def test_all_methods_of_a_task_are_given_the_same(spies):
    for home in (CORA, DIGITS):
        spies.clear()
        for each in recipes(home):
            compute(Run(each, home.columns[0], 0))
        data = home.load(home.columns[0], 0)
        first = spies[0]
        assert len(spies) == len(recipes(home)) > 9
        for spy in spies:
            assert spy.graph is first.graph or (abs(spy.graph - first.graph)).nnz == 0
            assert (spy.X != first.X).sum() == 0
            np.testing.assert_array_equal(spy.labels, data.visible_labels)
            np.testing.assert_array_equal(spy.validation, data.validation)


def test_a_classifier_is_not_given_test_labels(spies):
    compute(run_of("lp"))
    (spy,) = spies
    data = CORA.load(RELEASED, 0)
    assert (spy.labels[data.test] == -1).all()
    assert (spy.labels >= 0).sum() == len(data.train) + len(data.validation)


def test_the_cache_goes_to_methods_that_have_one(spies, tmp_path, monkeypatch):
    compute(run_of("lp"), tmp_path)
    assert "memory" not in spies[-1].settings
    monkeypatch.setattr(module, "estimator", lambda *_: spies.append(Spy(memory=None)) or spies[-1])
    compute(run_of("deepwalk"), tmp_path)
    assert spies[-1].settings["memory"] == str(tmp_path)


def test_the_graph_of_a_task_is_its_own_or_the_nearest_neighbours():
    data = CORA.load(RELEASED, 0)
    assert shared_graph(CORA, data) is data.graph
    first, second = (DIGITS.load(DIGITS.columns[0], seed) for seed in (0, 1))
    graph = shared_graph(DIGITS, first)
    assert shared_graph(DIGITS, second) is graph  # it does not depend on the split, and is kept
    assert graph.of_neighbors
    unit = replace(DIGITS, prepare="unit").load(DIGITS.columns[0], 0)
    expected = CandidateGraph.knn(unit.X, 5, "euclidean").to_scipy()
    assert abs(graph.to_scipy() - expected).nnz == 0
    assert neighbors(DIGITS, "unit", 4, "euclidean").num_edges < graph.num_edges


def test_a_certain_mistake_costs_much_but_not_everything():
    data = CORA.load(RELEASED, 0)
    clf = Spy()
    clf.fit(data.X, data.visible_labels)
    clf.label_distributions_ = np.zeros((len(data.y), 7), np.float32)
    clf.label_distributions_[:, 0] = 1
    scores = validation_scores(clf, data)
    wrong = (data.y[data.validation] != 0).mean()
    assert scores["validation_accuracy"] == pytest.approx(1 - wrong, abs=1e-5)
    assert scores["validation_log_loss"] == pytest.approx(-np.log(1e-7) * wrong, rel=1e-4)


def test_a_collapsed_graph_does_not_warn_and_other_warnings_do():
    class Warns(Spy):
        def fit(self, *_, **__):
            warnings.warn("collapsed", GraphCollapseWarning, stacklevel=1)
            warnings.warn("something else", RuntimeWarning, stacklevel=1)

    with pytest.warns(RuntimeWarning, match="something else") as caught:
        fit(Warns(), None, None, None)
    assert len(caught) == 1


def test_every_method_names_where_it_comes_from():
    for each in methods():
        assert each.source
        assert each.role in ("baseline", "ours", "reference", "arm")
