"""Put the graph learning layer in front of a PyTorch Geometric network (needs torch_geometric)."""

import torch
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.nn import GATConv, GCNConv

from glcn.datasets import load
from glcn.graph import CandidateGraph
from glcn.nn import GraphLearning

data = load("cora", split="released")
graph = CandidateGraph.from_scipy(data.graph)
edge_index = graph.to_edge_index()  # (2, E), in the order of the learned weights
x, y = torch.from_numpy(data.X.toarray()), torch.tensor(data.y)


class LearnedGraphNetwork(torch.nn.Module):
    """A graph learned from the features, then a GCN layer and a GAT layer on it."""

    def __init__(self) -> None:
        super().__init__()
        self.learn = GraphLearning(x.shape[1], 32, similarity="closeness")
        self.first = GCNConv(x.shape[1], 32, normalize=False, add_self_loops=False)
        self.second = GATConv(32, 7, edge_dim=1, add_self_loops=False)

    def forward(self) -> torch.Tensor:
        """Return the logits of all papers."""
        S = self.learn(x, graph).values  # (E,) each row sums to 1
        hidden = self.first(dropout(x, 0.6, self.training), edge_index, S).relu()
        return self.second(dropout(hidden, 0.6, self.training), edge_index, S[:, None])


torch.manual_seed(0)
network = LearnedGraphNetwork()
optimizer = torch.optim.Adam(network.parameters(), lr=0.03, weight_decay=1e-4)
for _ in range(100):
    optimizer.zero_grad()
    cross_entropy(network()[data.train], y[data.train]).backward()
    optimizer.step()

network.eval()
right = network()[data.test].argmax(dim=1) == y[data.test]
print(f"GCNConv and GATConv on a learned graph: {right.float().mean():.1%} of {len(data.test)} test papers")
