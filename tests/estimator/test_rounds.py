"""Training in rounds: each further network is also taught by what the one before it is surest of."""

import signal
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import torch

from glcn import GLCNClassifier
from glcn.estimator.rounds import Learned, learn_in_rounds, path_of_round, surest_rows
from glcn.exceptions import TrainingInterruptedWarning
from glcn.graph import CandidateGraph
from groups import three_groups


def data(num_rows=100, train=(0, 1), validation=()):
    rows = {"train_rows": torch.tensor(train), "validation_rows": torch.tensor(validation, dtype=torch.int64)}
    return SimpleNamespace(targets=torch.arange(num_rows) % 2, **rows)


def learned(logits, number, *, interrupted=False):
    return Learned(None, SimpleNamespace(logits=logits), None, interrupted, number)


def right(num_rows, sureness):
    """Return logits that are right on every row, and this sure of it."""
    logits = torch.zeros(num_rows, 2)
    logits[torch.arange(num_rows), torch.arange(num_rows) % 2] = sureness
    return logits


def test_the_surest_half_of_each_class_is_taught():
    random = torch.Generator().manual_seed(0)
    logits = torch.randn(41, 3, generator=random)
    rows, classes = surest_rows(logits, data(41, train=(0, 1, 2), validation=(5, 6)))
    sureness, found = logits.softmax(dim=1).max(dim=1)
    free = [row for row in range(41) if row not in (0, 1, 2, 5, 6)]
    for each in range(3):
        of_class = sorted((row for row in free if found[row] == each), key=lambda row: -sureness[row])
        assert set(rows[classes == each].tolist()) == set(of_class[: len(of_class) // 2])


def test_each_round_is_taught_by_the_one_before():
    random = torch.Generator().manual_seed(0)
    answers = {number: torch.randn(100, 2, generator=random) for number in (1, 2, 3)}
    taught_by = {}

    def learn(number, taught):
        taught_by[number] = taught
        return learned(answers[number], number)

    assert learn_in_rounds(learn, 3, data()).round == 3
    assert taught_by[1] is None
    for number in (2, 3):
        before = surest_rows(answers[number - 1], data())
        torch.testing.assert_close((taught_by[number].rows, taught_by[number].classes), (before.rows, before.classes))


def test_a_round_that_validation_rows_are_surely_against_is_not_kept_and_the_last():
    noise = torch.randn(100, 2, generator=torch.Generator().manual_seed(0))
    answers = {1: right(100, 3.0) + noise, 2: noise}
    kept = learn_in_rounds(lambda number, _: learned(answers[number], number), 3, data(validation=range(20, 80)))
    assert kept.round == 1
    answers[2] = answers[1] + 1e-3 * noise.flip(0)
    kept = learn_in_rounds(lambda number, _: learned(answers[number], number), 2, data(validation=range(20, 80)))
    assert kept.round == 2


def test_rounds_are_judged_by_what_they_know_not_by_how_sure_they_are():
    """Probabilities are brought in line first, as those of the answer are."""
    noise = torch.randn(100, 2, generator=torch.Generator().manual_seed(0))
    answers = {1: right(100, 2.0) + noise, 2: 9.0 * (right(100, 2.3) + noise)}
    kept = learn_in_rounds(lambda number, _: learned(answers[number], number), 2, data(validation=range(20, 80)))
    assert kept.round == 2


def test_few_validation_rows_can_not_speak_against_a_round():
    answers = {1: right(100, 3.0), 2: -right(100, 3.0)}
    kept = learn_in_rounds(lambda number, _: learned(answers[number], number), 2, data(validation=range(20, 40)))
    assert kept.round == 2


def test_an_interrupted_round_is_the_last():
    stopped = learn_in_rounds(lambda number, _: learned(right(100, 1.0), number, interrupted=True), 5, data())
    assert (stopped.round, stopped.interrupted) == (1, True)

    def only_one(number, _):
        if number == 2:
            raise KeyboardInterrupt
        return learned(right(100, 1.0), number)

    stopped = learn_in_rounds(only_one, 5, data())
    assert (stopped.round, stopped.interrupted) == (1, True)


def test_where_every_row_has_a_label_nothing_can_be_taught():
    everything = data(train=range(60), validation=range(60, 100))
    kept = learn_in_rounds(lambda number, _: learned(right(100, 1.0), number), 5, everything)
    assert kept.round == 1


def test_the_states_of_rounds_lie_side_by_side(tmp_path):
    paths = [path_of_round(tmp_path / "state.safetensors", number).name for number in (1, 2, 3)]
    assert paths == ["state.safetensors", "state.round2.safetensors", "state.round3.safetensors"]


@pytest.fixture(scope="module")
def groups():
    X, y, few = three_groups(labels_each=2)
    return X, y, few, CandidateGraph.knn(X, 5).to_scipy()


def quick(**settings):
    return GLCNClassifier("plus", **({"fixed_epochs": 40, "learning_rate": 0.03, "random_state": 0} | settings))


def test_a_given_graph_has_three_rounds_and_nearest_rows_one(groups):
    X, y, few, A = groups
    given, found = quick().fit(X, few, graph=A), quick().fit(X, few)
    assert (given.settings_["rounds"], given.round_) == (3, 3)
    assert (found.settings_["rounds"], found.round_) == (1, 1)
    assert (given.transduction_ == y).mean() > 0.95
    assert given.history_["taught"][-1] > 0
    assert not any(found.history_["taught"])
    assert quick(batch_size=30).fit(X, few, graph=A).settings_["rounds"] == 1


def test_where_there_are_rounds_validation_rows_are_looked_at_every_second_epoch(groups):
    X, y, few, A = groups
    held = np.flatnonzero(few < 0)[:20]
    labels = few.copy()
    labels[held] = y[held]
    for rounds in (1, 2):
        clf = quick(rounds=rounds, max_epochs=9).fit(X, labels, graph=A, validation=held)
        losses = clf.history_["validation_loss"]
        repeated = [epoch for epoch in range(1, 9) if losses[epoch] == losses[epoch - 1]]
        assert repeated == ([] if rounds == 1 else [1, 3, 5, 7])


def test_processes_that_train_together_have_one_round(groups, monkeypatch):
    X, _, few, A = groups
    monkeypatch.setattr("glcn.estimator.assembling.current_processes", lambda: SimpleNamespace(count=2))
    assert quick().fit(X, few, graph=A).settings_["rounds"] == 1


def test_a_second_round_differs_from_the_first_and_can_be_saved(groups, tmp_path):
    X, _, few, A = groups
    one, two = (quick(rounds=rounds).fit(X, few, graph=A) for rounds in (1, 2))
    assert one.round_ == 1
    assert not np.array_equal(one.label_distributions_, two.label_distributions_)
    two.save(tmp_path / "model")
    loaded = GLCNClassifier.load(tmp_path / "model")
    assert loaded.round_ == 2
    np.testing.assert_array_equal(loaded.predict_proba(X), two.predict_proba(X))


class KilledError(Exception):
    """In place of a kill."""


def killed_in_the_second_round():
    epochs = []

    def callback(progress):
        epochs.append(progress.epoch)
        if epochs.count(20) == 2:
            raise KilledError

    return callback


def test_a_killed_second_round_goes_on_to_the_same_bits(groups, tmp_path):
    X, _, few, A = groups
    whole = quick().fit(X, few, graph=A)
    state, how = tmp_path / "state.safetensors", {"graph": A, "checkpoint_every": 0.0}
    with pytest.raises(KilledError):
        quick().fit(X, few, checkpoint=state, callback=killed_in_the_second_round(), **how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state.round2.safetensors", "state.safetensors"]
    heard = []
    resumed = quick().fit(X, few, checkpoint=state, callback=lambda progress: heard.append(progress.epoch), **how)
    assert heard == [*range(20, 41), *range(41)]  # of the second and the third round
    np.testing.assert_array_equal(resumed.label_distributions_, whole.label_distributions_)
    assert resumed.history_ == whole.history_


def test_ctrl_c_in_the_second_round_keeps_the_first(groups):
    X, y, few, A = groups
    epochs = []

    def press(progress):
        epochs.append(progress.epoch)
        if epochs.count(10) == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(TrainingInterruptedWarning, match="interrupted after round 1; the weights of epoch 40 were kept"):
        clf = quick().fit(X, few, graph=A, callback=press)
    assert clf.interrupted_
    assert clf.round_ == 1
    assert (clf.transduction_ == y).mean() > 0.95


def test_each_round_draws_its_own_bar(groups, monkeypatch):
    X, _, few, A = groups
    titled = mock.MagicMock()
    monkeypatch.setattr("glcn.estimator.network.ProgressBar", titled)
    quick(verbose=True, fixed_epochs=3).fit(X, few, graph=A)
    assert [call.kwargs["title"] for call in titled.call_args_list] == [
        "round 1 of 3",
        "round 2 of 3",
        "round 3 of 3",
    ]


def test_rounds_are_whole_numbers_and_for_plus_alone(groups):
    X, _, few, _ = groups
    with pytest.raises(ValueError, match="rounds must be a whole number of at least 1, got 0"):
        quick(rounds=0).fit(X, few)
    with pytest.raises(ValueError, match="variant 'paper' has no rounds, got 2"):
        GLCNClassifier("paper", rounds=2).fit(X, few)
