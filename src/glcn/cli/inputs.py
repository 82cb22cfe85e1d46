"""Data that a command is given: a dataset by name, or a file of the user's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from glcn.datasets import Dataset

Data = Annotated[
    str,
    typer.Argument(
        help="A dataset by name (`glcn data list`), or your own file: .csv, .tsv, .parquet, .npz or .npy; "
        "- is CSV from standard input; or a store (`glcn graph build`)."
    ),
]
Label = Annotated[str | None, typer.Option(help="Own table: the column of labels; empty cells are rows without one.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Own table: the column that names the rows.")]
Edges = Annotated[
    Path | None,
    typer.Option(
        "--graph", help="Own file: edges as .csv or .tsv, two row names a line and maybe a weight; or .graphml."
    ),
]
LabelsFile = Annotated[
    Path | None, typer.Option("--labels-file", help="Own .npy or sparse .npz: its labels, as .npy or text, one a line.")
]
Numeric = Annotated[list[str] | None, typer.Option(help="Own table: a column of numbers, whatever it looks like.")]
Categorical = Annotated[list[str] | None, typer.Option(help="Own table: a column whose values are names.")]
Drop = Annotated[list[str] | None, typer.Option(help="Own table: a column to leave out.")]
KeepLabel = Annotated[
    list[str] | None,
    typer.Option(help="Own file: a label such as NA or none that is a class here, and no missing one; repeatable."),
]
Prepare = Annotated[
    str | None,
    typer.Option(
        help="What to do to the features: none, rows, unit, range, standard, pcaN, or several joined by +.",
        show_default="what suits the dataset; standard for own files",
    ),
]
Split = Annotated[str | None, typer.Option(help="Split of a named dataset (`glcn data show NAME`).")]
Labels = Annotated[int | None, typer.Option(help="Number of labelled rows (images, digits).")]
Descriptor = Annotated[str | None, typer.Option(help="Which features of images.")]
AddLabels = Annotated[
    list[Path] | None,
    typer.Option(help="A .csv file of more labels, with the columns row and label, as a report exports; repeatable."),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        "--n-neighbors",
        min=1,
        help="Neighbours of a row where there is no graph.",
        show_default="10, or all of few rows",
    ),
]
MOST_SEED = 2**32 - 1
_NEIGHBORS = 10


def number_of_neighbors(wanted: int | None, num_rows: int) -> int:
    """Return how many neighbours a row has: as many as wanted, else the usual number or all others of few rows."""
    return wanted or max(1, min(_NEIGHBORS, num_rows - 1))


def name_of(data: str) -> str:
    """Return a short name for what was given."""
    from glcn.datasets import NAMES

    return data if data in NAMES else "stdin" if data == "-" else Path(data).stem


def with_added_labels(dataset: "Dataset", data: str, files: list[Path] | None) -> "Dataset":
    """Add the labels of some files, one after the other; own files may get new classes by it."""
    from glcn.datasets import NAMES, add_labels

    for path in files or ():
        dataset = add_labels(dataset, path, new_classes=data not in NAMES)
    return dataset


def read_data(
    data: str,
    *,
    label: str | None,
    id_column: str | None,
    labels_file: Path | None,
    graph: Path | None,
    numeric: list[str] | None,
    categorical: list[str] | None,
    drop: list[str] | None,
    keep_label: list[str] | None,
    prepare: str | None,
    split: str | None,
    labels: int | None,
    descriptor: str | None,
    seed: int,
) -> "Dataset":
    """Read a dataset or file; options that belong to the other kind are refused."""
    from glcn.datasets import NAMES, is_store, load, read_own, read_store

    for_own = {
        "--label": label,
        "--id": id_column,
        "--labels-file": labels_file,
        "--graph": graph,
        "--numeric": numeric or None,
        "--categorical": categorical or None,
        "--drop": drop or None,
        "--keep-label": keep_label or None,
    }
    for_named = {"--split": split, "--labels": labels, "--descriptor": descriptor}
    unfit = for_own if data in NAMES else for_named
    given = [option for option, value in unfit.items() if value is not None]
    if given:
        raise ValueError(f"{', '.join(given)} can not be used with {'a named dataset' if data in NAMES else 'a file'}")
    if is_store(data):
        if any(value is not None for value in (*for_own.values(), prepare)):
            raise ValueError(f"{data} is a store, which is taken as it was built: no option changes its rows")
        return read_store(data)
    if data in NAMES:
        return load(data, split=split, labels=labels, seed=seed, prepare=prepare, descriptor=descriptor)
    if data == "-" or Path(data).suffix or Path(data).exists():
        return read_own(
            data,
            label=label,
            id_column=id_column,
            labels_file=labels_file,
            edges=graph,
            numeric=numeric or (),
            categorical=categorical or (),
            drop=drop or (),
            keep_labels=keep_label or (),
            prepare=prepare or "standard",
        )
    raise ValueError(f"there is no dataset {data!r}; choose one of {NAMES}, or name a file")
