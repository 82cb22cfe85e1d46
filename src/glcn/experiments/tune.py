"""Choosing settings by validation score, with as many trials for every method."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from glcn.experiments.recipe import Method, Recipe, Task, recipe, recipe_path, with_none, write_settings
from glcn.experiments.recipe import method as method_named
from glcn.experiments.records import Row, append, read
from glcn.experiments.run import VERSIONS, estimator, fit_dataset, shared_graph, validation_scores
from glcn.experiments.runner import current_commit

TRIALS = 12
FINALISTS = 3  # the best trials, beside the start, that are scored again where a task has final seeds
MOST_ASKED = 100  # times for settings that were not tried yet; lists of choices may have no others
GRAPH = "graph"  # the name under which the neighbours of a task are chosen
SPACES = ("{0}", "{0}+pca64", "unit")  # of the neighbour search; {0}: as the features of the task are prepared
NEIGHBORS = [(space, k) for space in SPACES for k in (4, 6, 8, 10)]
Listener = Callable[[int, int, Row], None]


def log_path(folder: Path, task: Task, method: str) -> Path:
    """Return where the trials of a method on a task are kept."""
    return folder / "tuning" / task.name / f"{method}.jsonl"


def tune(
    task: Task,
    method: Method,
    folder: Path,
    *,
    trials: int = TRIALS,
    cache: Path | None = None,
    listener: Listener | None = None,
) -> list[Row]:
    """Try settings on the first column of a task, seed 0, until the log holds ``trials`` of them; return the log.

    The first trial is the method's start, the others are drawn by Optuna. Where the task has final seeds, the start and
    the best of the others are scored with these, too. Test labels are not read. The log is the only state, so that a
    search that was broken off goes on as if it had not been.
    """
    if not method.search:
        raise ValueError(f"{method.name} has nothing to tune: its settings are part of its name")
    path, total = log_path(folder, task, method.name), scores_of(task, trials)

    def note(trial: int, chosen: Mapping[str, Any], seed: int) -> None:
        row = {"trial": trial, "params": dict(chosen), **_score(recipe(task, method), chosen, cache, seed)}
        if seed and row["fingerprint"] != read(path)[0]["fingerprint"]:
            raise ValueError(
                f"seed {seed} of {task.name} is another split, whose validation rows may be test rows of the first; "
                "leave final_seeds out of its task.toml"
            )
        append(path, row)
        if listener is not None:
            listener(len(read_log(path, trials)), total, row)

    while (number := len(first_scores(read(path)))) < trials:
        note(number, method.start if number == 0 else _suggest(method, first_scores(read(path)), number), 0)
    there = {(row["trial"], row["seed"]) for row in read(path)}
    for finalist in finalists(first_scores(read(path))[:trials]):
        for seed in range(1, task.final_seeds + 1):
            if (finalist["trial"], seed) not in there:
                note(finalist["trial"], finalist["params"], seed)
    return read_log(path, trials)


def scores_of(task: Task, trials: int) -> int:
    """Return how many scores a search takes: of each trial, and of the finalists by each further seed."""
    return trials + task.final_seeds * min(trials, 1 + FINALISTS)


def read_log(path: Path, trials: int) -> list[Row]:
    """Return what a log holds of the first ``trials`` trials: one score of each, and further ones of the finalists."""
    rows = [row for row in read(path) if row["trial"] < trials]
    final = {row["trial"] for row in finalists(first_scores(rows))}
    return [row for row in rows if row["seed"] == 0 or row["trial"] in final]


def first_scores(rows: list[Row]) -> list[Row]:
    """Return the scores by seed 0: one of each trial."""
    return [row for row in rows if row["seed"] == 0]


def finalists(trials: list[Row]) -> list[Row]:
    """Return the start and the best of the other trials."""
    return [*trials[:1], *sorted(trials[1:], key=_how_good, reverse=True)[:FINALISTS]]


def tune_graph(task: Task, folder: Path, *, cache: Path | None = None, listener: Listener | None = None) -> list[Row]:
    """Try nearest-neighbour graphs with GCN at its start; all methods of the task then share the best one."""
    path = log_path(folder, task, GRAPH)
    gcn = method_named("gcn")
    own = task.load(task.columns[0], 0).preparation.split(":")[0]
    for number in range(len(read(path)), len(NEIGHBORS)):
        space, k = NEIGHBORS[number]
        graph = {"prepare": space.format(own), "n_neighbors": k, "metric": "euclidean"}
        changed = replace(recipe(task, gcn), task=replace(task, graph=graph))
        row = {"trial": number, "params": graph, **_score(changed, gcn.start, cache)}
        append(path, row)
        if listener is not None:
            listener(number + 1, len(NEIGHBORS), row)
    return read(path)


def best(rows: list[Row]) -> Row:
    """Return the trial with the best validation accuracy; the lower log-loss decides between equals.

    Where all finalists were scored by the same further seeds, they are compared by their means, and the start stays
    unless another is better by more than the standard error of the difference, over the seeds.
    """
    trials = first_scores(rows)
    scores = [[row for row in rows if row["trial"] == final["trial"]] for final in finalists(trials)]
    if len(scores[0]) == 1 or len({len(found) for found in scores}) > 1:
        one_seed = max(trials, key=_how_good)
        return {**one_seed, "seeds": 1}
    start, *others = scores
    return max(map(_mean_of, [start, *(found for found in others if _is_surely_better(found, start))]), key=_how_good)


def _is_surely_better(scores: list[Row], usual: list[Row]) -> bool:
    name = "validation_accuracy"
    gains = [float(row[name] - other[name]) for row, other in zip(scores, usual, strict=True)]
    return fmean(gains) > stdev(gains) / math.sqrt(len(gains))


def _mean_of(scores: list[Row]) -> Row:
    names = ("validation_accuracy", "validation_log_loss")
    return {**scores[0], **{name: fmean(row[name] for row in scores) for name in names}, "seeds": len(scores)}


def _how_good(row: Row) -> tuple[float, float]:
    return row["validation_accuracy"], -row["validation_log_loss"]


def adopt(task: Task, method: Method, rows: list[Row]) -> None:
    """Write the best settings into the recipe."""
    write_settings(recipe_path(task, method), best(rows)["params"])


def _score(recipe_: Recipe, chosen: Mapping[str, Any], cache: Path | None, seed: int = 0) -> Row:
    column = recipe_.task.columns[0]
    dataset = recipe_.task.load(column, seed)
    clf = estimator(recipe_.method.estimator, with_none({**recipe_.method.fixed, **chosen}), seed)
    if cache is not None and "memory" in clf.get_params():
        clf.set_params(memory=str(cache))
    fit_dataset(clf, dataset, shared_graph(recipe_.task, dataset))
    return {
        **validation_scores(clf, dataset),
        "epochs": getattr(clf, "n_iter_", None),
        "column": column.name,
        "seed": seed,
        "fingerprint": dataset.fingerprint,
        "commit": current_commit(),
        "versions": VERSIONS,
    }


def _suggest(method: Method, rows: list[Row], number: int) -> dict[str, Any]:
    """Ask Optuna for the next settings, given the trials so far."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError("tuning needs Optuna: pip install 'glcn[experiments]'") from error

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {name: _distribution(optuna, choices) for name, choices in method.search.items()}
    sampler = optuna.samplers.TPESampler(seed=number, n_startup_trials=TRIALS // 2)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for row in rows:
        tried = {"params": row["params"], "distributions": space, "value": row["validation_accuracy"]}
        study.add_trial(optuna.trial.create_trial(**tried))
    tried_before = [row["params"] for row in rows]
    for _ in range(MOST_ASKED):
        asked = study.ask(space).params
        chosen = {name: _rounded(value, method.search[name]) for name, value in asked.items()}
        if chosen not in tried_before:
            break
    return chosen


def _distribution(optuna: Any, choices: Any) -> Any:
    if isinstance(choices, Mapping):
        return optuna.distributions.FloatDistribution(**choices)
    return optuna.distributions.CategoricalDistribution(choices)


def _rounded(value: Any, choices: Any) -> Any:
    """Keep three digits of a number from a range: more would only look exact."""
    if not isinstance(choices, Mapping):
        return value
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    return min(max(rounded, choices["low"]), choices["high"])


def logs(folder: Path) -> Iterator[tuple[Path, list[Row]]]:
    """Return every log of trials and what it holds."""
    for path in sorted((folder / "tuning").glob("*/*.jsonl")):
        yield path, read(path)
