"""Ours and the alternatives side by side: ratios of times with their spread, extra memory, curves over sizes.

    python benchmarks/run.py                 everything, some 20 minutes on two cores
    python benchmarks/run.py --only epochs   one race
    python benchmarks/run.py --quick         fewer rounds and the smallest sizes, to see that all of it runs

Contestants take turns within one process, one thread each unless a race is about threads. Results are written to
benchmarks/results.json, docs/images/speed.png and docs/speed.md; --only replaces its own, --quick writes nothing.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import contestants
import numpy as np
import page
import torch
from cases import case
from fits import cora, gat_fit, label_spreading_fit, plus_fit
from race import KEPT_MEMORY, Seconds, extra_megabytes, in_fresh_process, ratio, take_turns
from rich.console import Console
from rich.progress import track

from glcn.experiments.runner import current_commit

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
Row = dict[str, object]
console = Console()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=RACES, help="one race; the others keep what was written before")
    parser.add_argument("--quick", action="store_true", help="see that all of it runs; writes nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    names = [arguments.only] if arguments.only else list(RACES)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GLCN_BENCH"] = folder
        for name in names:
            console.rule(name)
            for row in RACES[name](arguments.quick):
                rows.append(row)
                console.print(page.line(row), highlight=False)
    if not arguments.quick:
        old = json.loads(RESULTS.read_text(encoding="utf-8")) if arguments.only and RESULTS.exists() else []
        rows = _in_order([row for row in old if row["race"] not in {new["race"] for new in rows}] + rows)
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        page.write(rows)
        console.print("wrote benchmarks/results.json, docs/speed.md and docs/images/speed.png")


def _in_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: list(page.HEADINGS).index(str(row["race"])))


def epochs(quick: bool) -> Iterator[Row]:
    """Time a training epoch: GLCN against GCN, GAT and itself in plain PyTorch."""
    settings = (
        (0.0, False, {}, "no dropout, no evaluation"),
        (0.0, False, KEPT_MEMORY, "no dropout, no evaluation, freed memory kept"),
        (0.6, True, {}, "dropout 0.6, with an evaluation"),
    )
    for name in ("cora",) if quick else ("cora", "pubmed", "mnist-10k"):
        contestants.check_equal(name)
        title = case(name).title
        names = [side for side in contestants.SIDES if not ("sparse" in side and name == "mnist-10k")]
        for dropout, evaluated, environment, words in settings:
            race = (name, names, dropout, evaluated, 3 if quick else 15)
            seconds = in_fresh_process(contestants.race_of_epochs, *race, environment=environment)
            weighed = names if not evaluated and not environment else []  # the same memory, and dropout's on top
            memory = {side: extra_megabytes(contestants.epoch, ("tiny", side), name, side) for side in weighed}
            for side in names[1:]:
                plain = side.startswith("plain")
                first, second = (side, "glcn") if plain else ("glcn", side)
                what = f"{title}: epoch of {_call(first)} / of {_call(second)}, {words}"
                yield _row("epoch", what, seconds[first], seconds[second], memory.get("glcn"), memory.get(side))


def graph_learning(quick: bool) -> Iterator[Row]:
    """Time score, softmax and both losses, forward and backward."""
    name = "mnist-10k" if quick else "mnist-70k"
    sides = {side: contestants.graph_learning(name, side) for side in ("glcn", "plain")}
    seconds = take_turns(sides, 2 if quick else 7)
    memory = {side: extra_megabytes(contestants.graph_learning, ("tiny", side), name, side) for side in sides}
    what = f"{case(name).title}: score, softmax and losses, forward and backward, plain PyTorch / ours"
    yield _row("graph learning", what, seconds["plain"], seconds["glcn"], memory["glcn"], memory["plain"])


def complete(quick: bool) -> Iterator[Row]:
    """Time the graph on all pairs."""
    contestants.check_equal_pairs()
    rows, most = (2_000, 3_000) if quick else (10_000, 50_000)
    sides = {side: contestants.all_pairs(rows, side) for side in ("glcn", "cdist", "chunked")}
    seconds = take_turns(sides, 1 if quick else 3)
    memory = {side: extra_megabytes(contestants.all_pairs, (600, side), rows, side) for side in sides}
    for side, words in (("cdist", "torch.cdist"), ("chunked", "torch.cdist in chunks, computed again in backward")):
        what = f"all pairs of {rows:,} rows, forward and backward: {words} / ours"
        yield _row("complete", what, seconds[side], seconds["glcn"], memory["glcn"], memory[side])
    large = take_turns({"large": contestants.all_pairs(most, "glcn")}, 1)["large"]
    weight = extra_megabytes(contestants.all_pairs, (600, "glcn"), most, "glcn")
    what = f"all pairs, forward and backward: ours on {most:,} rows / on {rows:,} rows"
    yield _row("complete", what, large, seconds["glcn"][-1:], weight)


def threads(quick: bool) -> Iterator[Row]:
    """Time one thread against two."""
    name = "mnist-10k" if quick else "mnist-70k"
    step = contestants.epoch(name, "glcn")

    def with_threads(count: int) -> None:
        torch.set_num_threads(count)
        step()

    seconds = take_turns({str(count): partial(with_threads, count) for count in (1, 2)}, 3 if quick else 9)
    torch.set_num_threads(1)
    yield _row("threads", f"{case(name).title}: epoch with one thread / with two", seconds["1"], seconds["2"])


def fits(quick: bool) -> Iterator[Row]:
    """Time whole fits, each with its early stopping; how good they are is another page's matter."""
    sides = {"plus": plus_fit(quick), "GAT": gat_fit(quick), "LabelSpreading": label_spreading_fit()}
    seconds = take_turns(sides, 1 if quick else 3)
    for side, words in (
        ("GAT", "fit of PyTorch Geometric's GAT (its paper's settings, dense X)"),
        ("LabelSpreading", "fit of scikit-learn's LabelSpreading (k = 7, without the graph)"),
    ):
        what = f"cora, {cora().split} split: {words} / fit of plus (defaults)"
        yield _row("fits", what, seconds[side], seconds["plus"])


def curves(quick: bool) -> Iterator[Row]:
    """Time and weigh epochs against the number of rows, and of edges, on generated rows."""
    sizes = [(n, 10) for n in (2_500, 5_000, 10_000, 20_000, 40_000, 80_000)] + [(20_000, k) for k in (5, 20, 40)]
    names = ("glcn", "plain, dense X")
    for n, k in track(sizes[:2] if quick else sizes, "sizes", console=console, transient=True):
        seconds = take_turns({side: contestants.epoch_of_size(n, k, side) for side in names}, 3)
        memory = [extra_megabytes(contestants.epoch_of_size, (500, k, side), n, k, side) for side in names]
        what = f"{n:,} generated rows, k = {k}: epoch of plain GLCN / of GLCN"
        row = _row("curves", what, seconds[names[1]], seconds["glcn"], *memory)
        milliseconds = {_call(side): round(1000 * float(np.median(seconds[side])), 2) for side in names}
        yield {**row, "rows": n, "neighbors": k, "milliseconds": milliseconds}


RACES: dict[str, Callable[[bool], Iterator[Row]]] = {
    "epochs": epochs,
    "graph-learning": graph_learning,
    "complete": complete,
    "threads": threads,
    "fits": fits,
    "curves": curves,
}


def _call(side: str) -> str:
    return {"glcn": "GLCN", "our GCN": "GCN on our kernels"}.get(side, side.replace("plain", "plain GLCN"))


def _row(
    race: str, name: str, first: Seconds, second: Seconds, ours: float | None = None, other: float | None = None
) -> Row:
    middle, low, high = (round(value, 3) for value in ratio(first, second))
    row: Row = {"race": race, "name": name, "ratio": middle, "low": low, "high": high, "rounds": len(first)}
    row["commit"] = current_commit()
    if ours is not None:
        row["extra_mb"] = round(ours)
    if other is not None:
        row["other_extra_mb"] = round(other)
    return row


if __name__ == "__main__":
    main()
