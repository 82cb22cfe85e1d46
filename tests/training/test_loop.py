import numpy as np
import pytest
import torch

from glcn.graph import CandidateGraph
from glcn.nn import GLCN, GLCNLoss
from glcn.training import TrainingData, TrainingSettings, train


@pytest.fixture
def data(blobs):
    X, _, few = blobs
    return TrainingData(
        x=torch.from_numpy(X.astype(np.float32)),
        graph=CandidateGraph.knn(X, 4),
        targets=torch.from_numpy(np.where(few >= 0, few, -100)),
        train_rows=torch.tensor([0, 1, 30, 31, 60, 61]),
        validation_rows=torch.tensor([2, 32, 62]),
    )


def fresh(dropout=0.3):
    generator = torch.Generator().manual_seed(0)
    return GLCN(5, 8, 3, projection_channels=4, dropout=dropout, generator=generator), generator


def run(data, dropout=0.3, callback=None, **settings):
    model, generator = fresh(dropout)
    loss = GLCNLoss(0.01, 0.01)
    return model, train(model, loss, data, TrainingSettings(**settings), generator=generator, callback=callback)


def without_validation(data):
    return TrainingData(data.x, data.graph, data.targets, data.train_rows, torch.empty(0, dtype=torch.long))


def test_learns_and_keeps_the_history_of_every_term(data, blobs):
    model, result = run(data, max_epochs=200, learning_rate=0.02)
    assert result.history["loss"][-1] < result.history["loss"][0]
    assert {len(values) for values in result.history.values()} == {result.epochs + 1}
    assert set(result.history) == {
        "loss",
        "cross_entropy",
        "smoothness",
        "sparsity",
        "prior",
        "validation_loss",
        "validation_cross_entropy",
        "validation_accuracy",
    }
    predicted = model(data.x, data.graph).logits.argmax(dim=1)
    assert (predicted.numpy() == blobs[1]).mean() > 0.9


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_best_weights_are_restored(data, dropout):
    model, result = run(data, dropout, max_epochs=60, learning_rate=0.05)
    lowest = min(result.history["validation_loss"])
    assert result.history["validation_loss"][result.best_epoch] == lowest
    terms = GLCNLoss(0.01, 0.01)(model(data.x, data.graph), data.graph, data.targets, data.validation_rows)
    assert terms.total.item() == pytest.approx(lowest, rel=1e-6)
    assert not model.training


def test_stops_after_patience_epochs_without_a_lower_loss(data):
    _, result = run(data, max_epochs=5000, patience=7, learning_rate=0.3)
    assert result.stopped_early
    assert result.epochs == result.best_epoch + 7


def test_the_best_weights_and_patience_count_from_a_given_epoch(data):
    def best(first):
        return run(data, max_epochs=5000, patience=7, learning_rate=0.3, min_epochs=first)[1]

    soon = best(0)
    later = best(soon.epochs + 20)
    losses = later.history["validation_loss"]
    assert losses[: soon.epochs + 1] == [soon.history["validation_loss"][t - t % 10] for t in range(soon.epochs + 1)]
    assert soon.epochs + 20 <= later.best_epoch
    assert later.epochs == later.best_epoch + 7
    assert losses[later.best_epoch] == min(losses[soon.epochs + 20 :])


def test_validation_rows_may_be_looked_at_less_often(data):
    often, seldom = (run(data, max_epochs=11, look_every=every)[1] for every in (1, 3))
    looks = [*(epoch - epoch % 3 for epoch in range(11)), 11]  # and at the end
    for name, values in seldom.history.items():
        of_look = looks if name.startswith("validation") else range(12)
        assert values == [often.history[name][epoch] for epoch in of_look]
    assert seldom.best_epoch in looks


def test_patience_waits_for_the_next_look(data):
    _, result = run(data, max_epochs=60, patience=1, look_every=3)
    assert result.epochs >= 3
    assert result.best_epoch % 3 == 0
    assert result.best_epoch > 0


def test_ctrl_c_before_the_weights_may_be_the_best_keeps_the_last(data):
    def press(progress):
        if progress.epoch == 5:
            raise KeyboardInterrupt

    model, result = run(data, callback=press, max_epochs=50, min_epochs=20)
    assert result.interrupted
    assert result.best_epoch == 5
    expected, _ = run(without_validation(data), max_epochs=5)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in expected.state_dict().items())


def test_without_validation_rows_all_epochs_run_and_the_last_weights_stay(data):
    _, result = run(without_validation(data), max_epochs=12)
    assert (result.epochs, result.best_epoch, result.stopped_early) == (12, 12, False)
    assert "validation_loss" not in result.history


def test_same_seed_same_bits(data):
    first, second = (run(data, max_epochs=20)[0].state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_global_generator_is_left_alone(data):
    before = torch.get_rng_state()
    run(data, max_epochs=3)
    assert torch.equal(torch.get_rng_state(), before)


def test_labels_of_other_rows_are_out_of_reach(data):
    """Whatever stands in the labels of test rows, the weights come out the same to the bit."""
    other = data.targets.clone()
    hidden = torch.ones(90, dtype=torch.bool)
    hidden[data.train_rows] = hidden[data.validation_rows] = False
    other[hidden] = torch.randint(0, 3, (int(hidden.sum()),))
    changed = TrainingData(data.x, data.graph, other, data.train_rows, data.validation_rows)
    first, second = (run(each, max_epochs=20)[0].state_dict() for each in (data, changed))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_ctrl_c_keeps_the_best_weights_so_far(data):
    def interrupt(progress):
        if progress.epoch == 9:
            raise KeyboardInterrupt

    model, result = run(data, max_epochs=1000, callback=interrupt)
    assert result.interrupted
    assert result.epochs == 9
    best = result.history["validation_loss"].index(min(result.history["validation_loss"]))
    assert result.best_epoch == best
    expected, _ = run(data, max_epochs=best, patience=10_000)
    assert model(data.x, data.graph).logits.allclose(expected(data.x, data.graph).logits)


def test_learning_rate_decays_in_steps(data):
    slow = run(without_validation(data), max_epochs=30, learning_rate_decay=1e-9, decay_every=10)[0]
    short = run(without_validation(data), max_epochs=10)[0]
    for ours, expected in zip(slow.parameters(), short.parameters(), strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-6, rtol=1e-5)


def test_weight_decay_acts_on_projection_attention_and_first_weights_only(data):
    model, _ = fresh()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert {names[id(parameter)] for parameter in model.decayed_parameters()} == {
        "graph_learning.projection",
        "graph_learning.attention",
        "weights.0",
    }
    plain = run(data, max_epochs=30, patience=1000)[0]
    decayed = run(data, max_epochs=30, patience=1000, weight_decay=1.0)[0]
    assert decayed.weights[0].norm() < plain.weights[0].norm()


def test_divergence_is_said(data):
    broken = TrainingData(data.x * 1e30, data.graph, data.targets, data.train_rows, data.validation_rows)
    with pytest.raises(FloatingPointError, match=r"training diverged: loss is .* at epoch 0; scale the features"):
        run(broken, max_epochs=5)


def test_callback_hears_every_epoch(data):
    heard = []
    _, result = run(data, max_epochs=5, callback=heard.append)
    assert [progress.epoch for progress in heard] == list(range(6))
    assert heard[-1].max_epochs == 5
    assert heard[2].validation_accuracy == result.history["validation_accuracy"][2]
