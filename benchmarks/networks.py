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
        x = self.drop(x)
        S, smoothness, sparsity = self.learn(x @ self.projection)
        hidden = self.propagate(S, x @ self.weights[0]).relu()
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
        h = x @ self.projection
        up, down = h * self.attention.relu(), h * (-self.attention).relu()
        score = torch.cdist(up, up, p=1.0) - torch.cdist(down, down, p=1.0)
        S = (self.sign * score.relu()).softmax(dim=1)
        # Σ S‖h_i − h_j‖² = Σ_i ‖h_i‖² + Σ_j c_j ‖h_j‖² − 2 Σ_i h_i·(S h)_i, with the column sums c of S
        length = h.square().sum(dim=1)
        smoothness = length.sum() + S.sum(dim=0) @ length - 2 * (h * (S @ h)).sum()
        hidden = (S @ (x @ self.weights[0])).relu()
        return S @ (hidden @ self.weights[1]), smoothness, S.square().sum()


class ChunkedGLCN(PlainGLCN):
    """All pairs, some rows at a time, computed again in the backward pass by PyTorch's own checkpoints."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits, Σ S‖x̃_i − x̃_j‖² and ‖S‖²_F."""
        h, message = x @ self.projection, x @ self.weights[0]
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
        up, down = self.attention.relu(), (-self.attention).relu()
        score = torch.cdist(h * up, others * up, p=1.0) - torch.cdist(h * down, others * down, p=1.0)
        return (self.sign * score.relu()).softmax(dim=1)

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
        self.first = GATConv(sizes[0], 8, heads=8, dropout=dropout)
        self.second = GATConv(64, sizes[2], dropout=dropout)
        self.edge_index = edge_index
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        drop = torch.nn.functional.dropout
        hidden = torch.nn.functional.elu(self.first(drop(x, self.dropout, self.training), self.edge_index))
        return self.second(drop(hidden, self.dropout, self.training), self.edge_index)


class KernelGCN(Module):
    """GCN on the kernels of this project: sparse X, the same propagation."""

    def __init__(self, sizes: tuple[int, int, int], graph: CandidateGraph, dropout: float) -> None:
        super().__init__()
        shapes = (sizes[:2], sizes[1:])
        self.weights = ParameterList(torch.nn.init.xavier_uniform_(torch.empty(shape)) for shape in shapes)
        degree = graph.pattern.indptr.diff().float()
        self.pattern = graph.pattern
        self.values = (degree[graph.pattern.rows] * degree[graph.pattern.columns]).rsqrt()
        self.dropout = dropout

    def forward(self, x: Features) -> Tensor:
        """Return logits."""
        probability = self.dropout if self.training else 0.0
        (message,) = feature_products(x, (self.weights[0],), probability)
        hidden = dropout(propagate(self.values, message, self.pattern).relu(), probability)
        return propagate(self.values, hidden @ self.weights[1], self.pattern)
