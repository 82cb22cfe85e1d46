"""Checks that arrays fit together: the kernels themselves read memory without looking."""

from torch import Tensor

from glcn.kernels.pattern import Pattern


def check_edges(name: str, values: Tensor | None, pattern: Pattern) -> None:
    """Refuse values that are not one an edge."""
    if values is not None and values.shape != (pattern.num_edges,):
        raise ValueError(
            f"{name} must have one entry for each of the {pattern.num_edges} edges, got shape {tuple(values.shape)}"
        )


def check_nodes(name: str, x: Tensor, pattern: Pattern) -> None:
    """Refuse a matrix that has not one row a node."""
    if x.ndim != 2 or x.shape[0] != pattern.num_columns:
        raise ValueError(
            f"{name} must have one row for each of the graph's {pattern.num_columns} nodes, got shape {tuple(x.shape)}"
        )
