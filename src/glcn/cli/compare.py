"""`glcn compare`: whether a graph helps on this data, and whether a learned one does."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from glcn.cli.errors import told_plainly
from glcn.cli.inputs import (
    MOST_SEED,
    Categorical,
    Data,
    Descriptor,
    Drop,
    Edges,
    IdColumn,
    KeepLabel,
    Label,
    Labels,
    LabelsFile,
    Neighbors,
    Numeric,
    Prepare,
    Split,
    name_of,
    number_of_neighbors,
    read_data,
)
from glcn.cli.progress import count_bar
from glcn.cli.words import plain_console, print_notes, shown

if TYPE_CHECKING:
    from glcn.experiments.tables import Cell


def compare(
    data: Data,
    label: Label = None,
    id_column: IdColumn = None,
    labels_file: LabelsFile = None,
    graph: Edges = None,
    numeric: Numeric = None,
    categorical: Categorical = None,
    drop: Drop = None,
    keep_label: KeepLabel = None,
    prepare: Prepare = None,
    split: Split = None,
    labels: Labels = None,
    descriptor: Descriptor = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Only these, joined by commas: logistic, mlp, manireg, lp, deepwalk, gcn, gat, glcn, glcn-closeness, "
            "plus-fixed, glcn-plus-default.",
            show_default="all",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts that the labelled rows are divided into.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often they are divided anew.")] = 1,
    n_neighbors: Neighbors = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Seed of the division and of the methods.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Fits side by side, one thread each.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="JSONL file for the scores.", show_default="runs/compare-NAME.jsonl")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Compare methods with and without a graph by cross-validation over the labelled rows.

    Each method has its own defaults. Test rows of a named dataset stay unlabelled throughout.
    """
    with told_plainly(debug, "stopped; the scores so far are in the file"):
        from glcn.datasets import is_store
        from glcn.experiments.crossvalidation import chosen_methods, cross_validate, divided, division
        from glcn.runs import check_target, free_path

        if is_store(data):
            raise ValueError(f"{data} is a store, and not every method works on one; give compare a file of fewer rows")
        names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
        chosen = chosen_methods(names)
        target = out or free_path(Path("runs"), f"compare-{name_of(data)}", ".jsonl")
        check_target(target)
        dataset = read_data(
            data,
            label=label,
            id_column=id_column,
            labels_file=labels_file,
            graph=graph,
            numeric=numeric,
            categorical=categorical,
            drop=drop,
            keep_label=keep_label,
            prepare=prepare,
            split=split,
            labels=labels,
            descriptor=descriptor,
            seed=seed,
        )
        console = plain_console()
        planned = division(dataset, folds)
        planned_folds = list(divided(dataset, chosen, planned, repeats, seed))
        k = number_of_neighbors(n_neighbors, len(dataset.y))
        _introduce(console, dataset, planned, folds, repeats, k)
        with count_bar("fits") as report:
            rows = cross_validate(dataset, planned_folds, target, n_neighbors=k, seed=seed, jobs=jobs, listener=report)
        console.print(_table(chosen, rows))
        for sentence in _answers(rows):
            console.print(shown(sentence), highlight=False, soft_wrap=True)
        console.print(f"scores in [bold]{shown(str(target))}[/]", soft_wrap=True)


def _introduce(console: Console, dataset: Any, planned: Any, folds: int, repeats: int, n_neighbors: int) -> None:
    print_notes(console, dataset.notes)
    labelled = int((dataset.visible_labels >= 0).sum())
    edges = f"{n_neighbors} nearest neighbours" if dataset.graph is None else f"{dataset.graph.nnz // 2} edges"
    console.print(
        f"[bold]{shown(dataset.name)}[/]: {len(dataset.y)} rows, {labelled} of them labelled, {edges}; "
        f"{planned.folds} folds, {repeats} time{'s' if repeats > 1 else ''}",
        highlight=False,
    )
    if planned.folds < folds:
        console.print(f"(not {folds} folds: the rarest class has {planned.folds} labels)", highlight=False)
    for code in planned.alone:
        console.print(f"(class {shown(dataset.class_names[code])} has one label, which is never held out)")


def _table(methods: list[Any], rows: list[dict[str, Any]]) -> Table:
    from statistics import mean, stdev

    table = Table("", "accuracy", "balanced accuracy", "macro-F1", box=None, pad_edge=False)
    for method in methods:
        mine = [row for row in rows if row["method"] == method.name]
        cells = []
        for name in ("accuracy", "balanced_accuracy", "macro_f1"):
            values = [100 * row[name] for row in mine]
            cells.append(f"{mean(values):.1f} ± {stdev(values):.1f}")
        table.add_row(shown(method.title), *cells)
    return table


def _answers(rows: list[dict[str, Any]]) -> list[str]:
    """Answer the two questions by pairs that were fixed beforehand, so that no winner is picked."""
    questions = (
        ("Does a graph help?", "gcn", "mlp"),
        ("Does a learned graph help?", "glcn-plus-default", "plus-fixed"),
    )
    answers = []
    for question, first, second in questions:
        cells = [_cell(rows, name) for name in (first, second)]
        if not all(cell.accuracies for cell in cells):
            continue
        answers.append(f"{question} {_answer(*cells)}")
    return answers


def _cell(rows: list[dict[str, Any]], method: str) -> "Cell":
    from glcn.experiments.tables import Cell

    mine = sorted((row["repeat"], row["fold"], row["accuracy"]) for row in rows if row["method"] == method)
    return Cell(None, {number: 100 * accuracy for number, (_, _, accuracy) in enumerate(mine)}, len(mine))


def _answer(first: "Cell", second: "Cell") -> str:
    from glcn.experiments.comparison import compare as compare_cells

    result = compare_cells(first, second)
    if result is None:
        return "It can not be told."
    sure = result.p is not None and result.p <= 0.1
    word = ("Yes" if result.difference > 0 else "No, it harms") if sure else "It can not be told from these folds"
    return f"{word}: {result.describe()}."
