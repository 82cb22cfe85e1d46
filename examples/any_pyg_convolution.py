"""Put the graph learning layer in front of a PyTorch Geometric network (needs torch_geometric)."""

import torch
from torch_geometric.nn import GATConv, GCNConv

from glcn.datasets import load
from glcn.graph import CandidateGraph
from glcn.nn import GraphLearning

data = load("cora", split="released")
graph = CandidateGraph.from_scipy(data.graph)
edge_index = graph.to_edge_index()  # (2, E), in the order of the learned weights
x, y = torch.from_numpy(data.X.toarray()), torch.from_numpy(data.y)

torch.manual_seed(0)
learn = GraphLearning(x.shape[1], 32, similarity="closeness")
first = GCNConv(x.shape[1], 16, normalize=False, add_self_loops=False)
second = GATConv(16, 7, edge_dim=1, add_self_loops=False)
layers = torch.nn.ModuleList([learn, first, second])
optimizer = torch.optim.Adam(layers.parameters(), lr=0.01, weight_decay=5e-4)

for _ in range(100):
    S = learn(x, graph).values  # (E,) each row sums to 1
    hidden = first(x, edge_index, S).relu()
    logits = second(hidden, edge_index, S[:, None])
    loss = torch.nn.functional.cross_entropy(logits[data.train], y[data.train])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

right = logits[data.test].argmax(dim=1) == y[data.test]
print(f"GCNConv and GATConv on a learned graph: {right.float().mean():.1%} of {len(data.test)} test papers")
