"""What a variant is built of: its network, its loss, and how it answers at last."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glcn.estimator.label_sample import are_even
from glcn.estimator.variants import BY_VALIDATION, CONSISTENCY_WARM_UP, PLUS
from glcn.graph import CompleteGraph
from glcn.nn import (
    GLCN,
    VARIANTS,
    GLCNLoss,
    GLCNOutput,
    GLCNPlus,
    PlusLoss,
    PlusOutput,
    Taught,
    Workspace,
    answer_in_blocks,
    blend_in_blocks,
    glcn_in_blocks,
    plus_in_blocks,
)
from glcn.training import Source, TrainingData, current_processes, warm_up_links

LINK_STEPS = 100  # of the head start that the edge scorer of ``plus`` gets
LINK_LEARNING_RATE = 0.01


class Parts(NamedTuple):
    """A network, what it is trained by, what is told the number of each epoch, and its answer when all are over."""

    model: Any
    loss: Any
    answer: Callable[[], Any]
    before_epoch: Callable[[int], None] | None = None


class Plan(NamedTuple):
    """What a network is built for, and with what."""

    settings: Mapping[str, Any]
    source: Source
    num_classes: int
    generator: torch.Generator
    space: Workspace | None = None  # where the answer is computed in blocks of rows; None: of all rows at once
    taught: Taught | None = None  # what an earlier network is surest of


def build(plan: Plan) -> Parts:
    """Make the network of a variant and its loss."""
    return build_plus(plan) if plan.settings["variant"] == PLUS else _build_glcn(plan)


def network_of(settings: Mapping[str, Any], num_features: int, num_classes: int) -> GLCN | GLCNPlus:
    """Make the network of some settings, to be given weights that were learned before."""
    if settings["variant"] == PLUS:
        return _plus_network(settings, num_features, num_classes)
    return _glcn_network(settings, num_features, num_classes)


def _glcn_network(
    settings: Mapping[str, Any], num_features: int, num_classes: int, generator: torch.Generator | None = None
) -> GLCN:
    form = VARIANTS[settings["variant"]]
    return GLCN(
        num_features,
        settings["hidden_units"],
        num_classes,
        num_layers=settings["n_layers"],
        projection_channels=settings["projection_size"],
        similarity=form.similarity,
        dropout=settings["dropout"],
        activation=settings["activation"],
        joint=form.joint,
        generator=generator,
    )


def _plus_network(
    settings: Mapping[str, Any],
    num_features: int,
    num_classes: int,
    generator: torch.Generator | None = None,
    network: type[GLCNPlus] = GLCNPlus,
) -> GLCNPlus:
    return network(
        num_features,
        settings["hidden_units"],
        num_classes,
        projection_channels=settings["projection_size"],
        num_hops=settings["n_hops"],
        num_passes=settings["n_passes"],
        row_dropout=settings["row_dropout"],
        feature_dropout=settings["feature_dropout"],
        dropout=settings["dropout"],
        smoothing=None if settings["smoothing"] == BY_VALIDATION else settings["smoothing"],
        learn_graph=settings["learn_graph"],
        given_view=settings["given_view"],
        feature_view=settings["feature_view"],
        normalization=settings["normalization"],
        wider=settings["added_neighbors"] > 0,
        generator=generator,
    )


def _build_glcn(plan: Plan) -> Parts:
    settings, source, num_classes, generator, space, _ = plan
    form, data = VARIANTS[settings["variant"]], source.data
    model = _glcn_network(settings, data.x.shape[1], num_classes, generator)
    loss = GLCNLoss(
        settings["graph_weight"],
        form.sparsity_sign * settings["sparsity_weight"],
        settings["prior_weight"],
        label_reduction=form.label_reduction,
        graph_reduction=form.graph_reduction,
        smoothness=form.smoothness,
        smoothness_unit=_mean_edge_length(model, source) if form.relative else 1.0,
    )

    def answer() -> GLCNOutput:
        return model(data.x, data.graph) if space is None else glcn_in_blocks(model, data.x, data.graph, space)

    return Parts(model, loss, answer)


def build_plus(
    plan: Plan,
    *,
    network: type[GLCNPlus] = GLCNPlus,
    criterion: type[PlusLoss] = PlusLoss,
    link_steps: int = LINK_STEPS,
) -> Parts:
    """Make the network of ``plus``, or another one in its place, and give its edge scorer a head start."""
    settings, source, num_classes, generator, space, taught = plan
    data = source.data
    model = _plus_network(settings, data.x.shape[1], num_classes, generator, network)
    loss = criterion(
        settings["consistency_weight"],
        settings["graph_weight"],
        temperature=settings["temperature"],
        warm_up=CONSISTENCY_WARM_UP,
        class_shares=class_shares(data.targets[data.train_rows], num_classes)
        if settings["class_shares"] is None
        else torch.tensor(settings["class_shares"]),
        taught=taught,
    )
    if settings["learn_graph"]:
        warm_up_links(model, source, steps=link_steps, learning_rate=LINK_LEARNING_RATE, generator=generator)

    def answer() -> PlusOutput:
        if space is not None:
            return _plus_answer_in_blocks(model, data, space)
        model.settle_shares(model(data.x, data.graph), data.targets, data.validation_rows)
        output = model(data.x, data.graph)
        return _smoothed(model, data, lambda: model.settle_answer(output, data.targets, data.train_rows))

    return Parts(model, loss, answer, loss.start_epoch)


def _plus_answer_in_blocks(model: GLCNPlus, data: TrainingData, space: Workspace) -> PlusOutput:
    output = plus_in_blocks(model, data.x, data.graph, space)
    model.settle_shares(output, data.targets, data.validation_rows)

    def answer() -> PlusOutput:
        unspread = blend_in_blocks(model, output)
        return answer_in_blocks(model, unspread, data.graph, data.targets, data.train_rows, space)

    return _smoothed(model, data, answer)


def _smoothed(model: GLCNPlus, data: TrainingData, answer: Callable[[], PlusOutput]) -> PlusOutput:
    """Return the answer after validation rows have chosen how far it is spread, where they may."""
    model.settle_smoothing(lambda: answer().logits, data.targets, data.validation_rows)
    return answer()


def settled(model: GLCN | GLCNPlus) -> dict[str, Any]:
    """Return the settings that a fit has chosen itself."""
    return {"smoothing": model.smoothing} if isinstance(model, GLCNPlus) else {}


def class_shares(labels: Tensor, num_classes: int) -> Tensor | None:
    """Return how the classes divide the rows, (c,), or None where the labels do not tell.

    As many labels of each class were chosen so; others are taken for a fair sample, with one row more of each class.
    """
    counts = labels.bincount(minlength=num_classes)
    if are_even(counts.numpy()):
        return None
    return (counts + 1) / (counts + 1).sum()


def _mean_edge_length(model: GLCN, source: Source) -> float:
    """Return the mean ‖x̃_i − x̃_j‖² between different rows under the untrained projection, as a first step sees them."""
    processes = current_processes()
    lengths = [_mean_length_in(model, part) for part in source.batches(0)]
    mean = processes.total(torch.tensor(lengths, dtype=torch.float64).mean()) / processes.count
    return float(mean) if mean > 0 else 1.0


@torch.no_grad()
def _mean_length_in(model: GLCN, data: TrainingData) -> float:
    if isinstance(data.graph, CompleteGraph):
        n = data.graph.num_nodes
        x = model.graph_learning.embed(data.x).double()
        return float((x - x.mean(dim=0)).square().sum()) * 2 / (n - 1)
    squares = model.graph_learning(data.x, data.graph).square[~data.graph.is_loop]
    return float(squares.double().mean()) if len(squares) else 0.0
