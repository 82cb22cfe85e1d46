"""The results as a page and a figure."""

from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
HEADINGS = {
    "epoch": "A training epoch",
    "graph learning": "The graph learning layer alone",
    "complete": "All pairs of rows",
    "threads": "Threads",
    "fits": "Whole fits",
    "curves": "Against the number of rows and edges",
}
_INTRODUCTION = """# How fast it is

Written by `make bench` (benchmarks/run.py), which runs ours and the alternatives in turns within one process, one
thread each unless said. A ratio is the median over rounds, with the least and the greatest in brackets: seconds tell
about a machine, ratios about programs. "Extra" is what an epoch needs on top of the data, at its peak, in a process of
its own. GLCN and GCN have 16 hidden units, GLCN a projection of 70 columns. PyTorch Geometric gets dense features and
a normalised graph that is computed once, as most people run it; plain GLCN is the same network by gather and scatter;
GCN on our kernels shows what learning a graph costs when everything else is the same.

Each race over epochs has a fresh process. The system's allocator may give large arrays back to the system after every
use and has to ask for them again, which can cost plain PyTorch half of its time; "freed memory kept" is the same race
with an allocator that is told to keep all it ever got (glibc's MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_).
"""
_ROWS = (2_500, 5_000, 10_000, 20_000, 40_000, 80_000)
_NEIGHBORS = (5, 10, 20, 40)
_MEMORY = {"extra_mb": "", "other_extra_mb": " (the other)"}


def line(row: dict[str, Any]) -> str:
    memory = ", ".join(f"{row[key]} MB extra{words}" for key, words in _MEMORY.items() if key in row)
    spread = f"{row['ratio']:8.2f} ({row['low']:.2f} to {row['high']:.2f})"
    return f"{spread}  {row['name']}{'; ' + memory if memory else ''}"


def text(rows: list[dict[str, Any]]) -> str:
    parts = [_INTRODUCTION]
    for race, heading in HEADINGS.items():
        lines = [
            f"| {row['name']} | {row['ratio']:.2f} ({row['low']:.2f} – {row['high']:.2f}) | {row['rounds']} "
            f"| {row.get('extra_mb', '')} | {row.get('other_extra_mb', '')} |"
            for row in rows
            if row["race"] == race
        ]
        commits = sorted({str(row["commit"]) for row in rows if row["race"] == race})
        if lines:
            header = "| | ratio | rounds | extra MB, GLCN | extra MB, other |\n|---|---|---|---|---|"
            parts.append(f"## {heading}\n\nCommit {', '.join(commits)}.\n\n{header}\n" + "\n".join(lines) + "\n")
    parts.append("![Time and memory of an epoch against the number of rows](images/speed.png)\n")
    return "\n".join(parts)


def write(rows: list[dict[str, Any]]) -> None:
    (DOCS / "speed.md").write_text(text(rows), encoding="utf-8")
    _draw([row for row in rows if row["race"] == "curves"])


def _draw(rows: list[dict[str, Any]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    by_rows = [row for row in rows if row["neighbors"] == 10]
    by_edges = sorted((row for row in rows if row["rows"] == 20_000), key=lambda row: row["neighbors"])
    for axis, chosen, key, label in (
        (axes[0], by_rows, "rows", "rows (10 neighbours each)"),
        (axes[1], by_edges, "neighbors", "neighbours a row (20,000 rows)"),
    ):
        for name, style in (("GLCN", "o-"), ("plain GLCN, dense X", "s--")):
            axis.plot([row[key] for row in chosen], [row["milliseconds"][name] for row in chosen], style, label=name)
        axis.set(xlabel=label, ylabel="milliseconds an epoch", xscale="log", yscale="log")
        axis.legend(frameon=False)
    for key, name, style in (("extra_mb", "GLCN", "o-"), ("other_extra_mb", "plain GLCN, dense X", "s--")):
        chosen = [row for row in by_rows if key in row]
        axes[2].plot([row["rows"] for row in chosen], [row[key] for row in chosen], style, label=name)
    axes[2].set(xlabel="rows (10 neighbours each)", ylabel="extra megabytes", xscale="log", yscale="log")
    axes[2].legend(frameon=False)
    for axis, ticks in zip(axes, (_ROWS, _NEIGHBORS, _ROWS), strict=True):
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xticks(ticks, [f"{tick / 1000:g}k" if tick >= 1000 else str(tick) for tick in ticks])
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "images" / "speed.png", dpi=150)
