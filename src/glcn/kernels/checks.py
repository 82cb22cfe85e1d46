"""Checks that arrays fit together: the kernels themselves read memory without looking."""

from torch import Tensor

from glcn.kernels.pattern import Pattern


def check_edges(name: str, values: Tensor | None, pattern: Pattern) -> None:
    """Refuse values that are not one an edge."""
    if values is not None and values.shape != (pattern.num_edges,):
        raise ValueError(
            f"{name} must have one entry for each of the {pattern.num_edges} edges, got shape {tuple(values.shape)}"
        )


def check_heads(name: str, weights: Tensor, x: Tensor, pattern: Pattern) -> None:
    """Refuse weights that are not one an edge and head, and heads that do not share the columns of x evenly."""
    if weights.ndim != 2 or len(weights) != pattern.num_edges or x.shape[1] % weights.shape[1]:
        raise ValueError(
            f"{name} must have a row for each of the {pattern.num_edges} edges and a column for each head, whose "
            f"number divides the {x.shape[1]} columns of x; got shape {tuple(weights.shape)}"
        )


def check_nodes(name: str, x: Tensor, pattern: Pattern) -> None:
    """Refuse a matrix that has not one row a node."""
    if x.ndim != 2 or x.shape[0] != pattern.num_columns:
        raise ValueError(
            f"{name} must have one row for each of the graph's {pattern.num_columns} nodes, got shape {tuple(x.shape)}"
        )


def check_square(pattern: Pattern) -> None:
    """Refuse a graph some of whose nodes only send or only receive."""
    if pattern.first_row or pattern.num_columns != pattern.num_rows:
        raise ValueError(
            f"over several hops, each of the graph's {pattern.num_columns} nodes must have a row; rows are "
            f"{pattern.first_row} to {pattern.first_row + pattern.num_rows - 1}"
        )
