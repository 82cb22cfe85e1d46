"""The one internal form of a graph."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from torch import Tensor

from glcn.exceptions import AsymmetricGraphWarning
from glcn.graph.neighbors import nearest_neighbors
from glcn.kernels import Pattern, row_softmax

LARGEST_STORED = 5_000  # rows of which all pairs may be stored; about 100 bytes a pair are needed while training
ROUNDING = 1e-6  # a relative asymmetry below this is rounding, not meaning
_LARGEST_INT32 = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False, repr=False)
class CandidateGraph:
    """The edges on which a graph may be learned: a symmetric CSR pattern with self-loops and optional weights.

    Row = the node that receives. Every node has a self-loop, so isolated nodes keep their own features. ``weights``
    is (E,) in the order of the pattern, or None where every weight is 1; 0 marks an edge that was not given, but may be
    learned. ``of_neighbors`` says that the edges were found from features, so that nobody knew them before.
    """

    pattern: Pattern
    weights: Tensor | None = None
    of_neighbors: bool = False

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.pattern.num_rows

    @property
    def num_edges(self) -> int:
        """Number of stored edges: both directions and the self-loops."""
        return self.pattern.num_edges

    @cached_property
    def is_loop(self) -> Tensor:
        """Which edges are self-loops, (E,) bool."""
        return self.pattern.rows == self.pattern.columns

    @cached_property
    def is_given(self) -> Tensor:
        """Which edges join different nodes and are more than candidates, (E,) bool."""
        return ~self.is_loop if self.weights is None else ~self.is_loop & (self.weights > 0)

    @property
    def as_given(self) -> "CandidateGraph":
        """The graph without the edges that may only be learned."""
        return self._without_candidates or self

    @cached_property
    def _without_candidates(self) -> "CandidateGraph | None":
        if self.weights is None or bool((self.weights > 0).all()):
            return None
        kept = self.weights > 0
        return replace(self, pattern=self.pattern.only(kept), weights=self.weights[kept])

    @classmethod
    def from_scipy(cls, adjacency: Any) -> "CandidateGraph":
        """Build from a square scipy.sparse matrix or array A (or a dense one).

        A becomes max(A, Aᵀ), with a warning where that changes it; stored zeros are no edges; a self-loop keeps its
        own positive weight, else it gets 1.
        """
        A = sparse.csr_array(adjacency, copy=True)
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(
                f"the graph must be a square matrix over all rows, got shape {A.shape} (cross-validation that cuts "
                "rows out of X can not cut a graph: pass one for the rows of each fold)"
            )
        if A.dtype.kind not in "biuf":
            raise TypeError(f"the weights of the graph must be real numbers, got dtype {A.dtype}")
        A = A.astype(np.float64)
        if not np.isfinite(A.data).all():
            raise ValueError("the graph has NaN or infinite weights; remove these edges or give them finite weights")
        if (A.data < 0).any():
            raise ValueError("the graph has negative weights; shift or drop them: a weight says how likely an edge is")
        A.sum_duplicates()
        A.eliminate_zeros()
        difference = abs(A - A.T)
        if difference.nnz:
            if difference.max() > ROUNDING * A.max():
                warnings.warn(
                    "the graph is not symmetric and was replaced by max(A, Aᵀ); pass A.maximum(A.T) to say so yourself",
                    AsymmetricGraphWarning,
                    stacklevel=2,
                )
            A = sparse.csr_array(A.maximum(A.T))
        loops = A.diagonal()
        A = sparse.csr_array(A + sparse.diags_array(np.where(loops > 0, 0.0, 1.0)))
        A.eliminate_zeros()
        A.sort_indices()
        weights = None if (A.data == 1).all() else torch.from_numpy(A.data.astype(np.float32))
        return cls(symmetric_pattern(A), weights)

    @classmethod
    def from_edge_index(
        cls, edge_index: ArrayLike | Tensor, num_nodes: int, edge_weight: ArrayLike | Tensor | None = None
    ) -> "CandidateGraph":
        """Build from (2, E) pairs (source, target), as PyTorch Geometric writes them.

        An edge that is listed twice counts once; where ``edge_weight`` is given, its weights are added up.
        """
        edges = np.asarray(edge_index)
        if edges.ndim != 2 or edges.shape[0] != 2:
            hint = "; pass its transpose" if edges.ndim == 2 and edges.shape[1] == 2 else ""
            raise ValueError(f"edge_index must have shape (2, E), got {edges.shape}{hint}")
        if edges.size and edges.dtype.kind not in "iu":
            raise TypeError(f"edge_index must hold integers, got dtype {edges.dtype}")
        edges = edges.astype(np.int64)
        if edges.size and (edges.min() < 0 or edges.max() >= num_nodes):
            raise ValueError(
                f"edge_index names nodes {edges.min()} to {edges.max()}, but there are {num_nodes} rows, "
                f"numbered 0 to {num_nodes - 1}"
            )
        weight = np.ones(edges.shape[1]) if edge_weight is None else np.asarray(edge_weight, dtype=np.float64).ravel()
        if len(weight) != edges.shape[1]:
            raise ValueError(f"edge_weight must have one entry an edge ({edges.shape[1]}), got {len(weight)}")
        source, target = edges
        A = sparse.csr_array((weight, (target, source)), shape=(num_nodes, num_nodes))
        if edge_weight is None:
            A.data[:] = 1.0
        return cls.from_scipy(A)

    @classmethod
    def from_networkx(cls, graph: Any, weight: str = "weight") -> "CandidateGraph":
        """Build from a networkx graph.

        Nodes that are the numbers 0 to n − 1 are the rows of these numbers; otherwise row i is the i-th of
        ``graph.nodes``.
        """
        import networkx as nx

        rows = range(len(graph))
        order = list(rows) if set(graph) == set(rows) else None
        return cls.from_scipy(nx.to_scipy_sparse_array(graph, nodelist=order, weight=weight, format="csr").T)

    @classmethod
    def from_pyg(cls, data: Any) -> "CandidateGraph":
        """Build from a PyTorch Geometric ``Data``; ``edge_weight``, or ``edge_attr`` of one column, gives weights."""
        if data.edge_index is None:
            raise ValueError("the PyTorch Geometric data has no edge_index; set it, or pass another graph")
        weight = getattr(data, "edge_weight", None)
        attribute = getattr(data, "edge_attr", None)
        if weight is None and attribute is not None:
            if attribute.numel() != attribute.shape[0]:
                raise ValueError(
                    f"edge_attr has shape {tuple(attribute.shape)}, which is no weight an edge; "
                    "set data.edge_weight to the one to use"
                )
            weight = attribute
        return cls.from_edge_index(data.edge_index.cpu(), int(data.num_nodes), weight)

    @classmethod
    def knn(cls, X: Any, k: int = 10, metric: str = "euclidean") -> "CandidateGraph":
        """Join each row with its k nearest others and keep an edge that either end chose."""
        return cls.from_neighbors(nearest_neighbors(X, k, metric))

    @classmethod
    def from_neighbors(cls, neighbors: NDArray[np.int64]) -> "CandidateGraph":
        """Join each row with those in its list, (n, k), and keep an edge that either end chose."""
        n, k = neighbors.shape
        ones = np.ones(n * k)
        A = sparse.csr_array((ones, neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
        return replace(cls.from_scipy(A.maximum(A.T)), of_neighbors=True)

    @classmethod
    def complete(cls, num_nodes: int) -> "CandidateGraph":
        """Join all pairs of nodes: the paper's A_ij = 1.

        It stores every pair, so it is for small data; :class:`CompleteGraph` stores none.
        """
        if num_nodes > LARGEST_STORED:
            raise ValueError(
                f"a complete graph on {num_nodes} rows has {num_nodes**2:,} edges, and only GLCNClassifier's variants "
                f"'closeness', 'paper' and 'released' work on more than {LARGEST_STORED} rows without storing them: "
                "use one of these, a k-nearest-neighbour graph (leave graph= out) or your own graph="
            )
        indptr = torch.arange(0, num_nodes**2 + 1, max(num_nodes, 1), dtype=torch.int32)
        indices = torch.arange(num_nodes, dtype=torch.int32).repeat(num_nodes)
        reverse = torch.arange(num_nodes**2, dtype=torch.int32).view(num_nodes, num_nodes).T.contiguous().view(-1)
        return cls(Pattern(indptr, indices, reverse))

    @classmethod
    def coerce(cls, graph: Any, num_nodes: int) -> "CandidateGraph":
        """Turn whatever a user may pass as a graph into a ``CandidateGraph`` on ``num_nodes`` rows."""
        candidate = cls._from_any(graph, num_nodes)
        if candidate.num_nodes != num_nodes:
            raise ValueError(f"the graph has {candidate.num_nodes} nodes but X has {num_nodes} rows; they must agree")
        return candidate

    @classmethod
    def _from_any(cls, graph: Any, num_nodes: int) -> "CandidateGraph":
        if isinstance(graph, cls):
            return graph
        if isinstance(graph, str):
            if graph != "complete":
                raise ValueError(f"graph must be 'complete' where it is a string, got {graph!r}")
            return cls.complete(num_nodes)
        if sparse.issparse(graph):
            return cls.from_scipy(graph)
        if hasattr(graph, "edge_index"):
            return cls.from_pyg(graph)
        if any(base.__module__.partition(".")[0] == "networkx" for base in type(graph).__mro__):
            return cls.from_networkx(graph)
        if isinstance(graph, Tensor) and graph.layout != torch.strided:
            raise TypeError("can not read a graph from a sparse tensor; pass its (2, E) indices or scipy.sparse")
        if isinstance(graph, Tensor | np.ndarray | list | tuple):
            array = np.asarray(graph)
            if array.shape == (num_nodes, num_nodes) and num_nodes != 2:
                return cls.from_scipy(array)
            return cls.from_edge_index(array, num_nodes)
        raise TypeError(
            f"can not read a graph from {type(graph).__name__}; pass scipy.sparse, a (2, E) edge_index, networkx, "
            "a PyTorch Geometric Data or 'complete'"
        )

    def with_candidates(self, neighbors: NDArray[np.int64]) -> "CandidateGraph":
        """Return the graph with an edge of weight 0 between each row and those in its list, (n, k), that it lacks."""
        A = widened(self.to_scipy(), type(self).from_neighbors(neighbors).to_scipy())
        return replace(self, pattern=symmetric_pattern(A), weights=torch.from_numpy(A.data))

    def given_weights(self) -> Tensor:
        """Return the weight of each edge, (E,); 0 where it may only be learned."""
        return torch.ones(self.num_edges) if self.weights is None else self.weights

    def times(self, factors: Tensor) -> "CandidateGraph":
        """Return the same edges with their weights times ``factors`` (E,)."""
        return replace(self, weights=self.given_weights() * factors)

    def uniform(self) -> Tensor:
        """Return the values of D⁻¹A, the graph before anything is learned, (E,)."""
        return row_softmax(torch.zeros(self.num_edges, device=self.pattern.indptr.device), self.pattern, self.weights)

    def to_scipy(self, values: Tensor | None = None) -> Any:
        """Return the graph as a scipy CSR array holding ``values`` (the weights where None)."""
        data = (self.given_weights() if values is None else values).detach().cpu().numpy().copy()
        indices, indptr = self.pattern.indices.cpu().numpy().copy(), self.pattern.indptr.cpu().numpy().copy()
        return sparse.csr_array((data, indices, indptr), shape=(self.num_nodes, self.num_nodes))

    def to_edge_index(self) -> Tensor:
        """Return (2, E) pairs (source, target) in the order of the edges, for any PyTorch Geometric layer."""
        return torch.stack([self.pattern.columns, self.pattern.rows])

    def unweighted(self) -> "CandidateGraph":
        """Return the same edges, all with weight 1."""
        return replace(self, weights=None)

    def to(self, device: torch.device | str) -> "CandidateGraph":
        """Return the graph on another device."""
        weights = None if self.weights is None else self.weights.to(device)
        return replace(self, pattern=self.pattern.to(device), weights=weights)

    def __repr__(self) -> str:
        kind = "unweighted" if self.weights is None else "weighted"
        return f"{type(self).__name__}(num_nodes={self.num_nodes}, num_edges={self.num_edges}, {kind})"


def widened(A: Any, further: Any) -> Any:
    """Return a CSR array of the entries of A, above 0, and of 0 where only ``further`` has entries above 0."""
    wider = sparse.csr_array(A + further)
    wider.sort_indices()
    rows = np.repeat(np.arange(A.shape[0]), np.diff(wider.indptr))
    wider.data = np.asarray(A[rows, wider.indices]).ravel().astype(np.float32)
    return wider


def symmetric_pattern(A: Any) -> Pattern:
    """Return the pattern of a symmetric CSR array with sorted columns."""
    if A.nnz > _LARGEST_INT32:
        raise ValueError(f"the graph has {A.nnz:,} edges; at most {_LARGEST_INT32:,} are supported")
    # Read by columns, the entries of a symmetric pattern come in the order of their mirror images.
    position: NDArray[np.int64] = np.arange(A.nnz)
    mirror = sparse.csr_array((position, A.indices, A.indptr), shape=A.shape).tocsc().data
    indptr, indices, reverse = (torch.from_numpy(part.astype(np.int32)) for part in (A.indptr, A.indices, mirror))
    return Pattern(indptr, indices, reverse)
