import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from glcn.baselines import LabelPropagation
from glcn.datasets import from_arrays, load
from glcn.experiments import crossvalidation as module
from glcn.experiments.crossvalidation import METHODS, chosen_methods, cross_validate, divided, division, judge
from glcn.experiments.recipe import method
from glcn.experiments.records import read
from glcn.experiments.run import parameters_of
from glcn.graph import CandidateGraph
from made import HereWorkers


def labelled(counts, unlabelled=10, seed=0):
    """A dataset with so many labels of each class, and some rows without."""
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = random.normal(size=(len(y) + unlabelled, 3)) + np.append(y, [0] * unlabelled)[:, None]
    order = random.permutation(len(X))
    return from_arrays(X[order], np.append(y, [-1] * unlabelled)[order])


def folds_of(data, folds=5, repeats=1, names=("lp",), seed=0):
    return list(divided(data, chosen_methods(names), division(data, folds), repeats, seed))


class Spy:
    """A classifier that keeps the labels that it is given, and says the class with the number of the row modulo 3."""

    given: list

    def fit(self, X, y, *, graph=None, validation=None):
        self.given.append((np.array(y), graph, validation))
        self.transduction_ = np.arange(len(y)) % 3


@pytest.fixture
def spy(monkeypatch):
    Spy.given = []
    monkeypatch.setattr(module, "estimator", lambda *_: Spy())
    return Spy.given


def test_every_labelled_row_is_held_out_once_a_repeat():
    data = labelled([10, 12, 15])
    labels = data.visible_labels
    folds = folds_of(data, repeats=3)
    assert len(folds) == 15
    for repeat in range(3):
        held = [fold.held_out for fold in folds if fold.repeat == repeat]
        assert [len(held), [fold.number for fold in folds if fold.repeat == repeat]] == [5, [0, 1, 2, 3, 4]]
        np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.flatnonzero(labels >= 0))
    assert any(set(first.held_out) != set(second.held_out) for first, second in zip(folds, folds[5:], strict=False))


def test_every_fold_holds_and_shows_each_class():
    data = labelled([4, 12, 15])
    for fold in folds_of(data, folds=4):
        assert set(data.y[fold.held_out]) == {0, 1, 2}
        assert set(fold.visible[fold.visible >= 0]) == {0, 1, 2}


def test_what_is_held_out_is_hidden_and_all_else_is_shown():
    data = labelled([10, 12, 15])
    for fold in folds_of(data):
        assert (fold.visible[fold.held_out] == -1).all()
        others = np.setdiff1d(np.arange(len(data.y)), fold.held_out)
        np.testing.assert_array_equal(fold.visible[others], data.visible_labels[others])


def test_all_methods_meet_the_same_folds_and_seeds_others():
    data = labelled([10, 12, 15])
    folds = folds_of(data, names=("lp", "gcn"), repeats=2)
    for first, second in zip(folds[::2], folds[1::2], strict=True):
        assert (first.method.name, second.method.name) == ("lp", "gcn")
        assert (first.repeat, first.number) == (second.repeat, second.number)
        np.testing.assert_array_equal(first.held_out, second.held_out)
    again = folds_of(data, names=("lp", "gcn"), repeats=2)
    assert all((one.held_out == two.held_out).all() for one, two in zip(folds, again, strict=True))
    other = folds_of(data, names=("lp", "gcn"), repeats=2, seed=9)
    assert any(set(one.held_out) != set(two.held_out) for one, two in zip(folds, other, strict=True))


def test_test_rows_of_a_named_dataset_stay_unlabelled():
    data = load("cora")
    for fold in folds_of(data):
        assert (fold.visible[data.test] == -1).all()
        assert not set(fold.held_out) & set(data.test)


def test_a_class_with_one_label_is_never_held_out():
    data = labelled([1, 6, 8, 1])
    planned = division(data, 5)
    assert planned.alone == (0, 3)
    for fold in folds_of(data):
        assert not set(data.y[fold.held_out]) & {0, 3}
        assert {0, 3} <= set(fold.visible)


def test_there_are_fewer_folds_where_the_rarest_class_is_small():
    assert division(labelled([3, 12, 15]), 5).folds == 3
    assert division(labelled([1, 2, 15]), 5).folds == 2
    assert division(labelled([9, 12, 15]), 5).folds == 5
    assert len(folds_of(labelled([3, 12, 15]))) == 3


@pytest.mark.parametrize("counts", [[1, 1], [1, 9], [1, 1, 1, 5]])
def test_too_few_labels_are_said(counts):
    with pytest.raises(ValueError, match="own has fewer than two classes with two labels each; label some more rows"):
        division(labelled(counts), 5)


def test_a_fit_is_given_what_the_fold_shows_and_nothing_else(spy):
    data = labelled([10, 12, 15])
    fold = folds_of(data)[1]
    graph = CandidateGraph.knn(data.X, 4)
    judge(fold, data.X, data.y, graph, 0)
    scrambled = data.y.copy()
    scrambled[fold.held_out] = (scrambled[fold.held_out] + 1) % 3
    judge(fold, data.X, scrambled, graph, 0)
    for labels, seen, validation in spy:
        np.testing.assert_array_equal(labels, fold.visible)
        assert seen is graph
        assert validation is None


def test_hidden_labels_do_not_move_a_real_fit(monkeypatch):
    data = labelled([10, 12, 15])
    fold = folds_of(data)[0]
    graph = CandidateGraph.knn(data.X, 4)
    found = []

    class Kept(LabelPropagation):
        def fit(self, *given, **more):
            found.append(super().fit(*given, **more).label_distributions_)
            return self

    monkeypatch.setattr(module, "estimator", lambda *_: Kept())
    for shift in range(3):
        y = data.y.copy()
        y[fold.held_out] = (y[fold.held_out] + shift) % 3
        judge(fold, data.X, y, graph, 0)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_scores_are_scikit_learns(spy):
    data = labelled([10, 12, 15])
    for fold in folds_of(data):
        row = judge(fold, data.X, data.y, None, 0)
        truth, found = data.y[fold.held_out], fold.held_out % 3
        assert row["accuracy"] == pytest.approx(accuracy_score(truth, found), abs=1e-5)
        assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, found), abs=1e-5)
        assert row["macro_f1"] == pytest.approx(f1_score(truth, found, average="macro"), abs=1e-5)
        assert (row["method"], row["repeat"], row["fold"]) == ("lp", 0, fold.number)


def test_a_class_that_is_never_held_out_may_be_predicted(spy):
    """Balanced accuracy is over the classes that are there to be found; nothing is warned of."""
    data = labelled([1, 9, 9])
    for fold in folds_of(data, folds=3):
        row = judge(fold, data.X, data.y, None, 0)
        truth, found = data.y[fold.held_out], fold.held_out % 3
        recalls = [(found[truth == code] == code).mean() for code in (1, 2)]
        assert row["balanced_accuracy"] == pytest.approx(np.mean(recalls), abs=1e-5)


def test_methods_have_their_own_defaults_and_seeds(monkeypatch):
    built = []
    monkeypatch.setattr(module, "estimator", lambda *told: built.append(told) or Spy())
    Spy.given = []
    data = labelled([10, 12, 15])
    for fold in folds_of(data, repeats=2, names=("gcn", "glcn", "glcn-closeness")):
        judge(fold, data.X, data.y, None, 7)
    assert {(name, str(settings)) for name, settings, _ in built} == {
        ("glcn.baselines.GCNClassifier", "{}"),
        ("glcn.GLCNClassifier", "{'variant': 'paper'}"),
        ("glcn.GLCNClassifier", "{'variant': 'closeness'}"),
    }
    assert {seed for _, _, seed in built} == {7, 8}


def test_methods_by_name():
    assert [each.name for each in chosen_methods(None)] == list(METHODS)
    assert [each.name for each in chosen_methods(["gat", "lp"])] == ["gat", "lp"]
    assert {"gcn", "mlp", "glcn-plus-default", "plus-fixed"} <= set(METHODS)
    with pytest.raises(ValueError, match=r"no method 'svm' to compare; choose one of .*logistic"):
        chosen_methods(["svm"])
    assert all("C" in parameters_of(method(name)) for name in ("logistic", "deepwalk"))


def test_rows_are_written_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "workers", HereWorkers)
    data = labelled([10, 12, 15])
    told, out = [], tmp_path / "runs/scores.jsonl"
    folds = folds_of(data, names=("lp", "logistic"))
    rows = cross_validate(data, folds, out, n_neighbors=4, listener=lambda *each: told.append((*each, len(read(out)))))
    assert rows == read(out)
    assert told == [(number, 10, number) for number in range(1, 11)]
    assert [(row["method"], row["fold"]) for row in rows] == [(fold.method.name, fold.number) for fold in folds]
    for row in rows:
        assert row["dataset"] == "own"
        assert row["fingerprint"] == data.fingerprint
        assert {"accuracy", "balanced_accuracy", "macro_f1", "versions", "commit"} <= set(row)
        assert 0 <= row["accuracy"] <= 1


def test_the_graph_is_the_datasets_or_the_nearest_neighbours(tmp_path, spy, monkeypatch):
    monkeypatch.setattr(module, "workers", HereWorkers)
    data = labelled([10, 12, 15])
    cross_validate(data, folds_of(data), tmp_path / "a.jsonl", n_neighbors=4)
    expected = CandidateGraph.knn(data.X, 4).to_scipy()
    assert all(abs(graph - expected).nnz == 0 for _, graph, _ in spy)
    spy.clear()
    own = from_arrays(data.X, data.y, graph=expected)
    cross_validate(own, folds_of(own), tmp_path / "b.jsonl", n_neighbors=9)
    assert len(spy) == 5
    assert all(abs(graph - own.graph).nnz == 0 for _, graph, _ in spy)
