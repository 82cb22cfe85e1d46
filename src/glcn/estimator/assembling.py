"""From what ``fit`` is asked to what is trained: candidates, features and labels, in memory or in files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.estimator.base import KnownRows, Problem
from glcn.estimator.batching import chosen_batch_size
from glcn.estimator.candidates import Candidates, Wish, improved
from glcn.estimator.inputs import RowsOnDemand, class_weights, is_given, prior_on, training_features
from glcn.estimator.label_sample import shares_beyond_labels
from glcn.estimator.memory import Scope, check_memory, disk_bytes, edge_count, needed_bytes
from glcn.estimator.variants import AUTO, PLUS, RowScale, row_scale, uses_weights
from glcn.graph import CandidateGraph, CompleteGraph
from glcn.nn import Workspace
from glcn.store import Store
from glcn.training import SampledNeighborhoods, Source, TrainingData, current_processes
from glcn.whole_files import check_space

if TYPE_CHECKING:
    from glcn.estimator.classifier import GLCNClassifier

PAIRS_STORED = 4_000  # rows up to which all pairs are stored, which is quicker than computing them in blocks


class Graphs(NamedTuple):
    """The matrices that ``fit`` was given beside the features."""

    graph: Any
    prior: Any


class Joined(NamedTuple):
    """The rows of ``fit``, and the edges that a graph is learned on."""

    known: KnownRows
    candidates: CandidateGraph | CompleteGraph
    found: Candidates | None = None  # how a given graph was improved, where it may be


class Assembly(NamedTuple):
    """All that a network is trained on."""

    settings: dict[str, Any]  # with what the rows and labels decided
    joined: Joined
    scale: RowScale
    source: Source
    space: Workspace | None  # where the answer is computed in blocks of rows; None: of all rows at once
    memory: int  # bytes that it will take


def assemble(
    clf: "GLCNClassifier",
    problem: Problem,
    settings: dict[str, Any],
    graphs: Graphs,
    *,
    validation_named: bool,
    checkpoint: str | Path | None,
) -> Assembly:
    """Join the rows, settle what they decide, and put the data together; what can not fit is refused first."""
    X, labels, rows, seed, _ = problem
    graph, n = graphs.graph, X.shape[0]
    in_blocks = isinstance(graph, str) and graph == "complete" and n > PAIRS_STORED and clf.variant != PLUS
    batch_size = chosen_batch_size(clf.batch_size, n, all_pairs=in_blocks)
    improves = batch_size is None and _may_improve(settings, graph)
    added = min(int(settings["added_neighbors"]), n - 1) if improves else 0
    edges = 2 * n * added + (0 if in_blocks else edge_count(graph, n, clf.n_neighbors))
    scope = None if batch_size is None else _scope(n, batch_size, on_disk=clf.work_dir is not None)
    memory = needed_bytes(settings, X, edges, len(labels.classes), scope)
    check_memory(memory, clf.variant)
    if checkpoint is not None:
        kept_bytes = disk_bytes(settings, X, edges, len(labels.classes), features=not isinstance(graph, Store))
        check_space(Path(checkpoint), kept_bytes, "what this fit will keep")
    if in_blocks:
        joined = Joined(KnownRows.of(X.copy(), clf.metric, n), CompleteGraph(n))
    elif isinstance(graph, Store):
        joined = _joined_on_disk(X, graph, clf.n_neighbors, whole=batch_size is None)
    else:
        joined = Joined(*clf._joined(X, graph))
        if improves and isinstance(joined.candidates, CandidateGraph):
            wish = Wish(added, clf.added_neighbors != AUTO, clf.edge_trust)
            index, metric = joined.known.index, settings["metric"]
            found = improved(joined.candidates, X, index, labels.codes, rows, wish, metric=metric, seed=seed)
            joined = Joined(joined.known, found.graph, found)
    settings = {**settings, "batch_size": batch_size}
    if clf.variant == PLUS:
        if batch_size is not None or current_processes().count > 1:
            settings["rounds"] = 1  # what is taught names rows of all, which a part does not have
        whole = joined.candidates if batch_size is None and isinstance(joined.candidates, CandidateGraph) else None
        settings |= {
            "added_neighbors": 0 if joined.found is None else joined.found.added,
            "edge_trust": joined.found is not None and joined.found.trust is not None,
            "class_shares": None,
        }
        if whole is not None and settings["class_weight"] == AUTO:
            shares = shares_beyond_labels(whole, labels.codes, rows, validation_named=validation_named)
            settings |= _evened_out(problem, shares)
    if settings["class_weight"] == AUTO:
        settings["class_weight"] = None
    scale = row_scale(clf.variant, X, len(rows.train), settings["metric"])
    data = _training_data(clf, problem, settings, graphs, joined.candidates, scale)
    source: Source = data
    if batch_size is not None:
        parts = None if clf.batch_shares == AUTO else int(clf.batch_shares)
        source = SampledNeighborhoods(data, batch_size, seed, shares=parts)
    space = None if batch_size is None else Workspace(None if clf.work_dir is None else Path(clf.work_dir))
    return Assembly(settings, joined, scale, source, space, memory)


def _may_improve(settings: dict[str, Any], graph: Any) -> bool:
    """Whether a graph is learned on edges that somebody knew; all pairs, or nearest rows, are no such edges."""
    return settings["variant"] == PLUS and settings["learn_graph"] and is_given(graph) and not isinstance(graph, str)


def _scope(num_rows: int, batch_size: int, *, on_disk: bool) -> Scope:
    trained = min(num_rows, SampledNeighborhoods.most_rows(batch_size))
    held = 0 if on_disk else num_rows
    return Scope(trained, held, held)


def _joined_on_disk(X: Any, store: Store, num_neighbors: int, *, whole: bool) -> Joined:
    if X.shape != store.X.shape:
        raise ValueError(f"X has shape {X.shape} and the store {store.path} {store.X.shape}; pass its own X")
    known = KnownRows(store.X, store.metric, min(num_neighbors, store.num_rows), store.index, store.path)
    return Joined(known, store.graph.to_candidate() if whole else store.graph.mapped())


def _evened_out(problem: Problem, shares: NDArray[np.float64] | None) -> dict[str, Any]:
    """Let each class count in the cross-entropy by its share of the rows, where labels have other shares."""
    if shares is None:
        return {}
    classes, codes = problem.labels.classes, problem.labels.codes[problem.rows.train]
    weights = shares * len(codes) / np.bincount(codes, minlength=len(classes))
    by_class = dict(zip(classes.tolist(), weights.tolist(), strict=True))  # plain words and numbers, for JSON
    return {"class_shares": shares.tolist(), "class_weight": by_class}


def _training_data(
    clf: "GLCNClassifier",
    problem: Problem,
    settings: dict[str, Any],
    graphs: Graphs,
    candidates: CandidateGraph | CompleteGraph,
    scale: RowScale,
) -> TrainingData:
    X, labels, rows, _, _ = problem
    compact = settings["projection_size"] is not None
    return TrainingData(
        x=training_features(scale(X), compact=compact, device=clf.device)
        if settings["batch_size"] is None
        else RowsOnDemand(X, scale, compact),
        graph=candidates if uses_weights(clf.variant) else candidates.unweighted(),
        targets=torch.from_numpy(labels.codes),
        train_rows=torch.from_numpy(rows.train),
        validation_rows=torch.from_numpy(rows.validation),
        prior=prior_on(candidates, graphs.graph, graphs.prior, settings.get("prior_weight", 0.0)),
        class_weight=class_weights(settings["class_weight"], labels.classes, labels.codes[rows.train]),
    )
