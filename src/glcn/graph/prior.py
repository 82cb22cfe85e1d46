"""A given graph as a prior: what the learned graph is asked to stay near to."""

from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from glcn.graph.candidate import CandidateGraph


class Prior(NamedTuple):
    """A as given, read on the candidate edges, so that ‖S−A‖²_F = Σ_edges (S−A)² + ``outside``."""

    values: Tensor  # (E,) A_ij of each candidate edge, 0 where A has none
    outside: float  # Σ A_ij² over entries of A that are no candidates, where S_ij = 0

    @classmethod
    def on(cls, graph: CandidateGraph, adjacency: Any) -> "Prior":
        """Read the (n, n) matrix ``adjacency`` on the edges of ``graph``, without symmetrising or normalising it."""
        A = sparse.csr_array(adjacency, dtype=np.float64, copy=True)
        shape = (graph.num_nodes, graph.num_nodes)
        if A.shape != shape:
            raise ValueError(f"the prior graph must have shape {shape}, got {A.shape}")
        if not np.isfinite(A.data).all():
            raise ValueError("the prior graph has NaN or infinite weights")
        A.sum_duplicates()
        rows, columns = (ends.cpu().numpy().copy() for ends in (graph.pattern.rows, graph.pattern.columns))
        values = np.asarray(A[rows, columns]).ravel()
        outside = max(0.0, float(np.square(A.data).sum() - np.square(values).sum()))
        return cls(torch.from_numpy(values.astype(np.float32)), outside)
