"""`glcn predict`: the labels of new rows, by a model that was fitted before."""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console

from glcn.cli.errors import told_plainly
from glcn.cli.progress import count_bar
from glcn.cli.verbosity import Verbose, check_verbosity, show_columns, show_settings
from glcn.cli.words import plain_console, print_notes, shown

STDOUT = "-"
NUMBERED = ""  # in place of a column of names
MOST_ROWS, MOST_BYTES = 100_000, 1 << 28  # of a block of new rows


class Fitted(Protocol):
    """What is needed of a run: a classifier, how tables become features, and the names of rows and classes."""

    @property
    def clf(self) -> Any:
        """The fitted classifier."""

    @property
    def encoder(self) -> Any:
        """A ``TableEncoder``, or None where the features were arrays that somebody else prepared."""

    @property
    def ids(self) -> Any:
        """The names of the training rows, or None where they are numbered."""

    @property
    def classes(self) -> Any:
        """The names of the classes, in the order of the classifier's probabilities."""


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a run, as `glcn fit` wrote it.")],
    data: Annotated[
        str, typer.Argument(help="New rows: .csv, .tsv, .parquet, .npz or .npy with the columns of training; or -.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="File for the answers; - is the terminal.")] = STDOUT,
    abstain: Annotated[
        float | None, typer.Option(min=0, max=1, help="Leave rows open whose label is less probable than this.")
    ] = None,
    edges: Annotated[
        Path | None, typer.Option(help="Edges: a new row, a training row and maybe a weight in each line.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="The column that names the new rows.", show_default="as in training")
    ] = None,
    number_rows: Annotated[
        bool, typer.Option("--number-rows", help="Number the new rows from 0, whatever names they have.")
    ] = False,
    store: Annotated[
        Path | None, typer.Option(help="Where the store of the run is now.", show_default="where it was in training")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON in place of CSV.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but answers and errors.")] = False,
    verbose: Verbose = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Classify new rows by a saved run: label, probability and second choice of each."""
    with told_plainly(debug):
        from glcn.runs import load_run

        check_verbosity(quiet, verbose)
        if number_rows and id_column is not None:
            raise ValueError("--id and --number-rows contradict each other; give one of them")
        check_output(out, force)
        console = plain_console(stderr=True, quiet=quiet)
        fitted = load_run(run, store=store)
        if verbose:
            show_columns(console, fitted.encoder)
            show_settings(console, fitted.clf.settings_)
        start = time.perf_counter()
        names = NUMBERED if number_rows else id_column
        answer(fitted, data, out, console, abstain=abstain, edges=edges, id_column=names, as_json=as_json)
        if verbose:
            console.print(f"read, classified and written in {time.perf_counter() - start:.1f} s", highlight=False)


def check_output(out: str, force: bool) -> None:
    """Refuse early what would replace somebody's file, or could not be written at the end."""
    from glcn.whole_files import check_writable

    if out == STDOUT:
        return
    if Path(out).is_dir():
        raise IsADirectoryError(f"{out} is a folder; name a file as --out")
    if Path(out).exists() and not force:
        raise FileExistsError(f"{out} exists already; choose another --out, or pass --force")
    check_writable(Path(out), "choose another --out")


def answer(
    run: Fitted,
    data: str,
    out: str,
    console: Console,
    *,
    abstain: float | None = None,
    edges: Path | None = None,
    id_column: str | None = None,
    as_json: bool = False,
) -> None:
    """Read new rows, classify them by ``run`` and write the answers; the console hears what was guessed.

    ``id_column`` names the rows: None is the column of training, and ``NUMBERED`` none at all.
    """
    import numpy as np

    from glcn.answers import write_answers
    from glcn.tables import read_new_edges, read_table

    table = read_table(data, mapped=True)
    ids = _ids(run, table, id_column)
    X, notes = _features(run, table)
    notes = [*table.notes, *notes]
    joined = None
    if edges is not None:
        known = run.ids
        if known is None:
            known = np.arange(len(run.clf.transduction_)).astype(str)
        joined, edge_notes = read_new_edges(edges, ids[:], np.asarray(known).astype(str))
        notes += edge_notes
    print_notes(console, notes)
    blocks = _classified(run.clf, ids, X, joined, quiet=console.quiet)
    rows, doubtful = write_answers(out, blocks, run.classes, abstain=abstain, format="json" if as_json else "csv")
    said = f"{rows} row{'s' * (rows != 1)} classified"
    if abstain is not None:
        said += f", {doubtful} of them left open (below {abstain:.0%})"
    console.print(said if out == STDOUT else f"{said}; answers in [bold]{shown(out)}[/]", soft_wrap=True)


def _classified(clf: Any, ids: Any, X: Any, edges: Any, *, quiet: bool) -> Iterator[tuple[Any, Any]]:
    """Classify rows block by block, so that memory does not grow with their number; a bar shows how far it is."""
    rows, size = len(ids), _rows_at_once(X)
    with nullcontext() if quiet or rows <= size else count_bar("rows") as report:
        for start in range(0, rows, size):
            part = slice(start, start + size)
            yield ids[part], clf.predict_proba(X[part], edges=None if edges is None else edges[part])
            if report is not None:
                report(min(start + size, rows), rows)


def _rows_at_once(X: Any) -> int:
    """Return how many rows a block may have: many, which is quicker, but not more than some bytes of them."""
    width: int = max(1, X.nnz // X.shape[0] if hasattr(X, "nnz") else X.shape[1])
    return max(1, min(MOST_ROWS, MOST_BYTES // (8 * width)))


def _features(run: Fitted, table: Any) -> tuple[Any, list[str]]:
    if run.encoder is not None:
        X, notes = run.encoder.encode(table.content)
        return X, notes
    if isinstance(table.content, dict):
        raise ValueError(
            f"this run was fitted on prepared arrays, so {table.name} must be an .npz or .npy file of such rows"
        )
    return table.content, ["This run has no record of how its features were made: rows are taken as they are."]


def _ids(run: Fitted, table: Any, wanted: str | None) -> Any:
    """Name the rows by a column: the one that is asked for, else that of training if it is there."""
    from glcn.tables import row_names

    column = None if wanted == NUMBERED else wanted
    if wanted is None and run.encoder is not None and isinstance(table.content, dict):
        column = run.encoder.id_column if run.encoder.id_column in table.content else None
    return _Numbers(table.num_rows) if column is None else row_names(table, column, "pass --number-rows")


class _Numbers:
    """The numbers of rows as their names, made for those that are asked for."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, part: slice) -> Any:
        import numpy as np

        return np.arange(*part.indices(self.count)).astype(str)
