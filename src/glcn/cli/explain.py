"""`glcn explain`: why a row was classified as it was, and which features the graph goes by."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from glcn.cli.errors import told_plainly
from glcn.cli.words import plain_console, shown
from glcn.escaping import visible_json

if TYPE_CHECKING:
    from glcn.estimator import Explanation
    from glcn.runs import Run


def explain(
    run: Annotated[Path, typer.Argument(help="The folder of a run, as `glcn fit` wrote it.")],
    row: Annotated[
        list[str] | None, typer.Option(help="Name of a row (or its number, where rows have no names); repeatable.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Neighbours, or features, to list.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON in place of tables.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the tables only, without the sentences around them.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Show which neighbours decided about a row; without --row, which features the learned graph goes by."""
    with told_plainly(debug):
        from glcn.runs import load_run

        loaded = load_run(run)
        if not row:
            _print_features(_features(loaded, top), as_json)
            return
        numbers = [_number(loaded, name) for name in row]
        found = loaded.clf.explain(numbers, top=top)
        if as_json:
            typer.echo(visible_json([_as_dict(loaded, why) for why in found], indent=2))
            return
        for why in found:
            _print(loaded, why, quiet)


def _number(run: "Run", name: str) -> int:
    if run.ids is None:
        if not name.isdigit() or int(name) >= len(run.clf.transduction_):
            raise ValueError(f"there is no row {name!r}; rows are numbered 0 to {len(run.clf.transduction_) - 1}")
        return int(name)
    places = (run.ids == name).nonzero()[0]
    if not len(places):
        raise ValueError(f"there is no row {name!r}; rows have names such as {str(run.ids[0])!r}")
    return int(places[0])


def _class(run: "Run", label: Any) -> str | None:
    return None if label is None else run.classes[run.clf.classes_.tolist().index(label)]


def _as_dict(run: "Run", why: "Explanation") -> dict[str, Any]:
    """Return an explanation in names."""
    return {
        "row": run.name_of(why.row),
        "label": _class(run, why.label),
        "probability": why.probability,
        "probabilities": {_class(run, label): share for label, share in why.probabilities.items()},
        "own_weight": why.own_weight,
        "neighbors": [
            {
                "row": run.name_of(each.row),
                "weight": each.weight,
                "label": _class(run, each.label),
                "predicted": _class(run, each.predicted),
                "probability_through": each.probability_through,
            }
            for each in why.neighbors
        ],
        "alone": {"label": _class(run, why.label_alone), "probability": why.probability_alone},
        "without_strongest": {
            "label": _class(run, why.label_without_strongest),
            "probability": why.probability_without_strongest,
        },
    }


def _print(run: "Run", why: "Explanation", quiet: bool) -> None:
    console = plain_console()
    words = _as_dict(run, why)
    table = Table(
        title=f"row {shown(words['row'])}: {shown(words['label'])}, {why.probability:.1%}", title_justify="left"
    )
    for heading in ("neighbour", "label", "weight", "came through it"):
        table.add_column(heading, justify="left" if heading in ("neighbour", "label") else "right")
    for each in words["neighbors"]:
        label = shown(each["label"]) if each["label"] is not None else f"({shown(each['predicted'])})"
        table.add_row(shown(each["row"]), label, f"{each['weight']:.1%}", f"{100 * each['probability_through']:+.1f}")
    if not quiet:
        table.caption = "labels in brackets are predicted; the last column is in points of probability"
        table.caption_justify = "left"
    console.print(table)
    if quiet:
        return
    alone, without = words["alone"], words["without_strongest"]
    if words["neighbors"]:
        console.print(
            f"without {shown(words['neighbors'][0]['row'])}: {shown(without['label'])}, "
            f"{shown(words['label'])} at {without['probability']:.1%}",
            highlight=False,
        )
    console.print(
        f"by its own features alone: {shown(alone['label'])}, {shown(words['label'])} at {alone['probability']:.1%}",
        highlight=False,
    )


def _features(run: "Run", top: int) -> list[tuple[str, float]]:
    weights = run.clf.feature_weights()
    titles = run.feature_titles
    order = (-weights).argsort(kind="stable")[:top]
    return [(titles[number], float(weights[number])) for number in order]


def _print_features(features: list[tuple[str, float]], as_json: bool) -> None:
    if as_json:
        typer.echo(visible_json(dict(features), indent=2))
        return
    table = Table("feature", title="what the learned graph goes by", title_justify="left")
    table.add_column("share of the distance", justify="right")
    for title, weight in features:
        table.add_row(shown(title), f"{weight:.1%}")
    plain_console().print(table)
