"""What each variant is made of: its settings where the caller names none, its network and its loss."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import torch
from sklearn.preprocessing import normalize
from torch import Tensor

from glcn.estimator.inputs import mean_row_length
from glcn.graph import CompleteGraph, suitable_metric
from glcn.nn import (
    GLCN,
    VARIANTS,
    GLCNLoss,
    GLCNOutput,
    GLCNPlus,
    PlusLoss,
    PlusOutput,
    Workspace,
    answer_in_blocks,
    blend_in_blocks,
    glcn_in_blocks,
    plus_in_blocks,
)
from glcn.training import Source, TrainingData, current_processes, warm_up_links

Auto = Literal["auto"]
AUTO: Auto = "auto"
PLUS = "plus"
NAMES = (PLUS, *VARIANTS)

LINK_STEPS = 100  # of the head start that the edge scorer of ``plus`` gets
LINK_LEARNING_RATE = 0.01
ROW_LENGTHS = (0.25, 4.0)  # least and greatest mean length of the rows of ``plus``
LENGTH_BY_LABELS = 2.5  # times the number of labels for each feature; longer rows let it fit few labels too fast
MANY_FEATURES = 200  # from which on a random pass leaves some of them out
CONSISTENCY_WARM_UP = 200  # epochs until the consistency has its full weight

_GLCN: dict[str, Any] = {
    "hidden_units": 30,
    "n_layers": 2,
    "projection_size": 70,
    "activation": "relu",
    "prior_weight": 0.0,
    "dropout": 0.6,
    "weight_decay": 1e-4,
    "learning_rate": 0.005,
    "learning_rate_decay": 0.9,
    "max_epochs": 3000,
    "patience": 100,
    "fixed_epochs": 200,
}
_PLUS: dict[str, Any] = {
    "hidden_units": 32,
    "projection_size": 32,
    "n_hops": 8,
    "n_passes": 2,
    "learn_graph": True,
    "graph_weight": 0.5,
    "consistency_weight": 1.0,
    "temperature": 0.3,
    "row_dropout": 0.5,
    "feature_dropout": 0.25,
    "dropout": 0.5,
    "smoothing": 0.0,
    "weight_decay": 5e-4,
    "learning_rate": 0.01,
    "learning_rate_decay": 1.0,
    "max_epochs": 600,
    "patience": 150,
    "fixed_epochs": 400,
}
_PLUS_WITHOUT_GRAPH: dict[str, Any] = {"n_hops": 4, "hidden_units": 64, "smoothing": 0.8}


class Parts(NamedTuple):
    """A network, what it is trained by, what is told the number of each epoch, and its answer when all are over."""

    model: Any
    loss: Any
    answer: Callable[[], Any]
    before_epoch: Callable[[int], None] | None = None


def resolve(variant: str, given: Mapping[str, Any], *, has_graph: bool) -> dict[str, Any]:
    """Put the variant's own settings where ``given`` says "auto"; refuse and leave out what means nothing to it."""
    own = _own_settings(variant, has_graph=has_graph)
    foreign = _names() - own.keys()
    for name in sorted(foreign):
        if given[name] != AUTO:
            raise ValueError(f"variant {variant!r} has no {name}, got {given[name]!r}; leave it at {AUTO!r}")
    chosen = {name: own[name] if name in own and value == AUTO else value for name, value in given.items()}
    if variant == PLUS and chosen["projection_size"] is None:
        raise ValueError(f"variant {PLUS!r} needs a projection; set projection_size to a whole number")
    return {name: value for name, value in chosen.items() if name not in foreign}


def fitted_to(settings: Mapping[str, Any], given: Mapping[str, Any], X: Any) -> dict[str, Any]:
    """Settle what depends on the features: which metric suits them, and that few of them can not be spared."""
    fitted = dict(settings)
    if given["metric"] == AUTO:
        fitted["metric"] = suitable_metric(X)
    if given["feature_dropout"] == AUTO and "feature_dropout" in settings and X.shape[1] < MANY_FEATURES:
        fitted["feature_dropout"] = 0.0
    return fitted


def uses_weights(variant: str) -> bool:
    """Return whether the weights of a given graph count, or only its edges."""
    return variant == PLUS or VARIANTS[variant].weighted


class RowScale(NamedTuple):
    """What is done to the features, and to those of new rows, before the network sees them."""

    factor: float = 1.0
    unit_rows: bool = False  # whether each row is brought to length 1 first

    def __call__(self, X: Any) -> Any:
        """Return the features of some rows, scaled."""
        return (normalize(X) if self.unit_rows else X) * self.factor


def row_scale(variant: str, X: Any, num_labels: int, metric: str) -> RowScale:
    """Return how features are scaled: ``plus`` brings rows to a mean length whatever their unit is.

    The fewer labels there are for each feature, the shorter the rows, so that the network follows them more slowly.
    Where rows are near by their direction, their own lengths do not count.
    """
    if variant != PLUS:
        return RowScale()
    length: float = LENGTH_BY_LABELS * num_labels / X.shape[1]
    least, greatest = ROW_LENGTHS
    length = min(max(length, least), greatest)
    if metric == "cosine":
        return RowScale(length, unit_rows=True)
    return RowScale(length / mean_row_length(X))


def build(
    variant: str,
    settings: Mapping[str, Any],
    source: Source,
    num_classes: int,
    generator: torch.Generator,
    space: Workspace | None = None,
) -> Parts:
    """Make the network of a variant and its loss; with a workspace, its answer is computed there in blocks of rows."""
    if variant == PLUS:
        return build_plus(settings, source, num_classes, generator, space=space)
    return _glcn(variant, settings, source, num_classes, generator, space)


def _names() -> set[str]:
    return {name for variant in NAMES for name in _own_settings(variant, has_graph=True)}


def _own_settings(variant: str, *, has_graph: bool) -> dict[str, Any]:
    if variant == PLUS:
        return _PLUS if has_graph else {**_PLUS, **_PLUS_WITHOUT_GRAPH}
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {NAMES}, got {variant!r}")
    form = VARIANTS[variant]
    return {**_GLCN, "graph_weight": form.graph_weight, "sparsity_weight": form.sparsity_weight}


def _glcn(
    variant: str,
    settings: Mapping[str, Any],
    source: Source,
    num_classes: int,
    generator: torch.Generator,
    space: Workspace | None,
) -> Parts:
    form, data = VARIANTS[variant], source.data
    model = GLCN(
        data.x.shape[1],
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
    settings: Mapping[str, Any],
    source: Source,
    num_classes: int,
    generator: torch.Generator,
    *,
    network: type[GLCNPlus] = GLCNPlus,
    criterion: type[PlusLoss] = PlusLoss,
    link_steps: int = LINK_STEPS,
    space: Workspace | None = None,
) -> Parts:
    """Make the network of ``plus``, or another one in its place, and give its edge scorer a head start."""
    data = source.data
    model = network(
        data.x.shape[1],
        settings["hidden_units"],
        num_classes,
        projection_channels=settings["projection_size"],
        num_hops=settings["n_hops"],
        num_passes=settings["n_passes"],
        row_dropout=settings["row_dropout"],
        feature_dropout=settings["feature_dropout"],
        dropout=settings["dropout"],
        smoothing=settings["smoothing"],
        learn_graph=settings["learn_graph"],
        generator=generator,
    )
    loss = criterion(
        settings["consistency_weight"],
        settings["graph_weight"],
        temperature=settings["temperature"],
        warm_up=CONSISTENCY_WARM_UP,
        class_shares=class_shares(data.targets[data.train_rows], num_classes),
    )
    if settings["learn_graph"]:
        warm_up_links(model, source, steps=link_steps, learning_rate=LINK_LEARNING_RATE, generator=generator)

    def answer() -> PlusOutput:
        if space is not None:
            return _plus_answer_in_blocks(model, data, space)
        model.settle_share(model(data.x, data.graph), data.targets, data.validation_rows)
        return model.settle_answer(model(data.x, data.graph), data.targets, data.train_rows)

    return Parts(model, loss, answer, loss.start_epoch)


def _plus_answer_in_blocks(model: GLCNPlus, data: TrainingData, space: Workspace) -> PlusOutput:
    output = plus_in_blocks(model, data.x, data.graph, space)
    model.settle_share(output, data.targets, data.validation_rows)
    output = blend_in_blocks(model, output)
    return answer_in_blocks(model, output, data.graph, data.targets, data.train_rows, space)


def class_shares(labels: Tensor, num_classes: int) -> Tensor | None:
    """Return how the classes divide the rows, (c,), or None where the labels do not tell.

    As many labels of each class were chosen so; others are taken for a fair sample, with one row more of each class.
    """
    counts = labels.bincount(minlength=num_classes).float()
    if counts.max() - counts.min() <= 1:
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
