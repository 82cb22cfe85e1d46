"""The opponents, written as one would write them with PyTorch and PyTorch Geometric."""

import torch
from torch import Tensor
from torch.nn import Module, Parameter, ParameterList
from torch.utils.checkpoint import checkpoint
from torch_geometric.nn import GATConv, GCNConv

from glcn.graph import CandidateGraph
from glcn.kernels import Features, dropout, feature_products, propagate
from glcn.nn import GLCN

CHUNK = 512  # rows of the chunked side; 256 to 2048 were tried


class PlainGLCN(Module):
    """The network of ``glcn.nn.GLCN`` (two layers) without a kernel of ours, from the same weights."""

    def __init__(self, model: GLCN) -> None:
        super().__init__()
        self.projection = Parameter(model.graph_learning.projection.detach().clone())
        self.attention = Parameter(model.graph_learning.attention.detach().clone())
        self.weights = ParameterList(weight.detach().clone() for weight in model.weights)
        self.sign = 1 if model.graph_learning.similarity == "paper" else -1
        self.dropout = model.dropout

    def products(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return x P and x W⁰ by one product."""
        d = self.projection.shape[1]
        both = x @ torch.cat([self.projection, self.weights[0]], dim=1)
        return both[:, :d], both[:, d:]

    def score(self, h: Tensor, others: Tensor) -> Tensor:
        """Return aᵀ|h_i − h_j| of all pairs by torch.cdist: of the columns with positive a, less that of the others."""
        up = self.attention > 0
        parts = []
        for columns in (up, ~up):
            scale = self.attention[columns].abs()
            if len(scale):
                parts.append(torch.cdist(h[:, columns] * scale, others[:, columns] * scale, p=1.0))
        if up.all():
            return parts[0]
        return parts[0] - parts[1] if up.any() else -parts[0]

    def drop(self, x: Tensor) -> Tensor:
        """Apply dropout, to the stored values where X is sparse."""
        if x.layout == torch.sparse_csr:
            values = torch.nn.functional.dropout(x.values(), self.dropout, self.training)
            return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)
        return torch.nn.functional.dropout(x, self.dropout, self.training)


class GatheredGLCN(PlainGLCN):
    """Gathers both ends of each edge and scatters the results."""

    def __init__(self, model: GLCN, graph: CandidateGraph) -> None:
        super().__init__(model)
        self.columns, self.rows = graph.to_edge_index()
        self.num_nodes = graph.num_nodes

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits, Σ S‖x̃_i − x̃_j‖² and ‖S‖²_F."""
        h, message = self.products(self.drop(x))
        S, smoothness, sparsity = self.learn(h)
        hidden = self.propagate(S, message).relu()
        return self.propagate(S, self.drop(hidden) @ self.weights[1]), smoothness, sparsity

    def learn(self, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return S on the edges, and both sums."""
        difference = h[self.rows] - h[self.columns]  # (E, d)
        logits = self.sign * (difference.abs() @ self.attention).relu()
        peak = torch.full((self.num_nodes,), -torch.inf).scatter_reduce(0, self.rows, logits.detach(), "amax")
        mass = (logits - peak[self.rows]).exp()
        S = mass / torch.zeros(self.num_nodes).index_add(0, self.rows, mass)[self.rows]
        return S, (S * difference.square().sum(dim=1)).sum(), S.square().sum()

    def propagate(self, S: Tensor, x: Tensor) -> Tensor:
        """Return S·X."""
        return torch.zeros_like(x).index_add(0, self.rows, S[:, None] * x[self.columns])


class CdistGLCN(PlainGLCN):
    """All pairs at once: aᵀ|h_i − h_j| by torch.cdist, once for positive and once for negative entries of a."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits, Σ S‖x̃_i − x̃_j‖² and ‖S‖²_F."""
        h, message = self.products(x)
        S = (self.sign * self.score(h, h).relu()).softmax(dim=1)
        # Σ S‖h_i − h_j‖² = Σ_i ‖h_i‖² + Σ_j c_j ‖h_j‖² − 2 Σ_i h_i·(S h)_i, with the column sums c of S
        length = h.square().sum(dim=1)
        smoothness = length.sum() + S.sum(dim=0) @ length - 2 * (h * (S @ h)).sum()
        hidden = (S @ message).relu()
        return S @ (hidden @ self.weights[1]), smoothness, S.square().sum()


class ChunkedGLCN(PlainGLCN):
    """All pairs, some rows at a time, computed again in the backward pass by PyTorch's own checkpoints."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits, Σ S‖x̃_i − x̃_j‖² and ‖S‖²_F."""
        h, message = self.products(x)
        parts = [
            checkpoint(self.first, h[start : start + CHUNK], h, message, use_reentrant=False)
            for start in range(0, len(h), CHUNK)
        ]
        message = torch.cat([hidden for hidden, _, _ in parts]).relu() @ self.weights[1]
        out = [
            checkpoint(self.later, h[start : start + CHUNK], h, message, use_reentrant=False)
            for start in range(0, len(h), CHUNK)
        ]
        return torch.cat(out), sum(part[1] for part in parts), sum(part[2] for part in parts)

    def learn(self, h: Tensor, others: Tensor) -> Tensor:
        """Return some rows of S."""
        return (self.sign * self.score(h, others).relu()).softmax(dim=1)

    def first(self, h: Tensor, others: Tensor, message: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return a chunk of S·X with its share of both sums."""
        S = self.learn(h, others)
        lengths = others.square().sum(dim=1)
        smoothness = h.square().sum() + (S @ lengths).sum() - 2 * (h * (S @ others)).sum()
        return S @ message, smoothness, S.square().sum()

    def later(self, h: Tensor, others: Tensor, message: Tensor) -> Tensor:
        """Return a chunk of S·X."""
        return self.learn(h, others) @ message


class PyGGCN(Module):
    """Two layers of PyTorch Geometric's GCNConv, the normalised graph computed once."""

    def __init__(self, sizes: tuple[int, int, int], edge_index: Tensor, dropout: float) -> None:
        super().__init__()
        self.first = GCNConv(sizes[0], sizes[1], cached=True)
        self.second = GCNConv(sizes[1], sizes[2], cached=True)
        self.edge_index = edge_index
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        drop = torch.nn.functional.dropout
        hidden = self.first(drop(x, self.dropout, self.training), self.edge_index).relu()
        return self.second(drop(hidden, self.dropout, self.training), self.edge_index)


class PyGGAT(Module):
    """Two layers of PyTorch Geometric's GATConv: eight heads of eight units, as in its paper."""

    def __init__(self, sizes: tuple[int, int, int], edge_index: Tensor, dropout: float) -> None:
        super().__init__()
        self.first = GATConv(sizes[0], 8, heads=8, dropout=dropout, add_self_loops=False)
        self.second = GATConv(64, sizes[2], dropout=dropout, add_self_loops=False)
        loops = torch.arange(int(edge_index.max()) + 1).expand(2, -1)
        self.edge_index = torch.cat([edge_index, loops], dim=1)  # once, not in every pass
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        drop = torch.nn.functional.dropout
        hidden = torch.nn.functional.elu(self.first(drop(x, self.dropout, self.training), self.edge_index))
        return self.second(drop(hidden, self.dropout, self.training), self.edge_index)


class HandmadeGCN(Module):
    """What the two GCNs below share: their weights, and the values of the normalised graph."""

    def __init__(self, sizes: tuple[int, int, int], graph: CandidateGraph, dropout: float) -> None:
        super().__init__()
        shapes = (sizes[:2], sizes[1:])
        self.weights = ParameterList(torch.nn.init.xavier_uniform_(torch.empty(shape)) for shape in shapes)
        degree = graph.pattern.indptr.diff().float()
        self.pattern = graph.pattern
        self.values = (degree[graph.pattern.rows] * degree[graph.pattern.columns]).rsqrt()
        self.dropout = dropout


class SparseGCN(HandmadeGCN):
    """GCN with PyTorch's own sparse matrices, for X and for the normalised graph."""

    def __init__(self, sizes: tuple[int, int, int], graph: CandidateGraph, dropout: float) -> None:
        super().__init__(sizes, graph, dropout)
        shape = (graph.num_nodes, graph.num_nodes)
        self.adjacency = torch.sparse_csr_tensor(self.pattern.indptr, self.pattern.indices, self.values, shape)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        drop = torch.nn.functional.dropout
        if self.dropout and self.training:
            x = torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), drop(x.values(), self.dropout), x.shape)
        hidden = (self.adjacency @ (x @ self.weights[0])).relu()
        return self.adjacency @ (drop(hidden, self.dropout, self.training) @ self.weights[1])


class KernelGCN(HandmadeGCN):
    """GCN on the kernels of this project: sparse X, the same propagation."""

    def forward(self, x: Features) -> Tensor:
        """Return logits."""
        probability = self.dropout if self.training else 0.0
        (message,) = feature_products(x, (self.weights[0],), probability)
        hidden = dropout(propagate(self.values, message, self.pattern).relu(), probability)
        return propagate(self.values, hidden @ self.weights[1], self.pattern)
