"""Users' files: tables as features, files of edges as graphs."""

from glcn.tables.edges import Graph, read_edges, read_new_edges
from glcn.tables.encoder import Encoded, TableEncoder
from glcn.tables.reading import Table, find_column, read_labels, read_table, row_names

__all__ = [
    "Encoded",
    "Graph",
    "Table",
    "TableEncoder",
    "find_column",
    "read_edges",
    "read_labels",
    "read_new_edges",
    "read_table",
    "row_names",
]
