"""GLCN as one would write it in plain PyTorch: gather both ends of each edge, scatter the results."""

import torch
from torch import Tensor

from glcn.nn import GLCN


class PlainGLCN(torch.nn.Module):
    """The same network as ``glcn.nn.GLCN`` (two layers), without a kernel of ours; starts from the same weights."""

    def __init__(self, model: GLCN, edge_index: Tensor, num_nodes: int) -> None:
        super().__init__()
        self.projection = torch.nn.Parameter(model.graph_learning.projection.detach().clone())
        self.attention = torch.nn.Parameter(model.graph_learning.attention.detach().clone())
        self.weights = torch.nn.ParameterList(weight.detach().clone() for weight in model.weights)
        self.sign = 1 if model.graph_learning.similarity == "paper" else -1
        self.dropout = model.dropout
        self.columns, self.rows = edge_index
        self.num_nodes = num_nodes

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits, Σ S‖x̃_i − x̃_j‖² and ‖S‖²_F."""
        x = self.drop(x)
        h = x @ self.projection
        difference = h[self.rows] - h[self.columns]  # (E, d)
        logits = self.sign * (difference.abs() @ self.attention).relu()
        peak = torch.full((self.num_nodes,), -torch.inf).scatter_reduce(0, self.rows, logits.detach(), "amax")
        mass = (logits - peak[self.rows]).exp()
        S = mass / torch.zeros(self.num_nodes).index_add(0, self.rows, mass)[self.rows]
        hidden = self.propagate(S, x @ self.weights[0]).relu()
        out = self.propagate(S, self.drop(hidden) @ self.weights[1])
        return out, (S * difference.square().sum(dim=1)).sum(), S.square().sum()

    def propagate(self, S: Tensor, x: Tensor) -> Tensor:
        """Return S·X."""
        return torch.zeros_like(x).index_add(0, self.rows, S[:, None] * x[self.columns])

    def drop(self, x: Tensor) -> Tensor:
        """Apply dropout, to the stored values where X is sparse."""
        if x.layout == torch.sparse_csr:
            values = torch.nn.functional.dropout(x.values(), self.dropout, self.training)
            return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)
        return torch.nn.functional.dropout(x, self.dropout, self.training)
