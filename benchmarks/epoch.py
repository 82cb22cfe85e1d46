"""Time of a training epoch on Cora: ours against the same network in plain gather/scatter PyTorch.

    python benchmarks/epoch.py

Both sides take turns in one process, one thread each, and both do the same: dropout 0.6, forward, loss, backward, Adam;
no evaluation. The plain side is run with dense features and with sparse CSR ones. The results are ratios with their
spread over rounds, printed and written to benchmarks/epoch.json.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from plain import PlainGLCN

from glcn.datasets import load
from glcn.graph import CandidateGraph
from glcn.kernels import SparseFeatures
from glcn.nn import GLCN, GLCNLoss

RESULTS = Path(__file__).with_suffix(".json")
GRAPH_WEIGHT, SPARSITY_WEIGHT = 0.7, 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--epochs", type=int, default=10, help="epochs a turn")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for notice in ("Sparse CSR tensor support is in beta", "Sparse invariant checks are implicitly disabled"):
        warnings.filterwarnings("ignore", notice)
    sides = contestants()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for step in sides.values():
        step(arguments.epochs)  # warm-up: compiles kernels, allocates
    for _ in range(arguments.rounds):
        for name, step in sides.items():
            start = time.perf_counter()
            step(arguments.epochs)
            seconds[name].append((time.perf_counter() - start) / arguments.epochs)
    rows = []
    for name, times in seconds.items():
        low, middle, high = np.percentile(np.array(times) / np.array(seconds["ours"]), [10, 50, 90]).round(2)
        print(
            f"{name:16} {1000 * np.median(times):7.2f} ms an epoch, {middle:.1f} times ours ({low:.1f} to {high:.1f})"
        )
        rows.append({"name": f"cora epoch, {name} / ours", "ratio": middle, "low": low, "high": high})
    RESULTS.write_text(json.dumps(rows[1:], indent=2) + "\n", encoding="utf-8")


def contestants() -> dict[str, Callable[[int], None]]:
    data = load("cora", split="released")
    graph = CandidateGraph.from_scipy(data.graph)
    y, rows = torch.tensor(data.y), torch.tensor(data.train)
    generator = torch.Generator().manual_seed(0)
    model = GLCN(data.X.shape[1], 30, 7, dropout=0.6, generator=generator)
    loss = GLCNLoss(GRAPH_WEIGHT, SPARSITY_WEIGHT)
    dense = torch.from_numpy(data.X.toarray())
    plain = {name: PlainGLCN(model, graph.to_edge_index(), graph.num_nodes) for name in ("dense", "sparse")}
    inputs = {"dense": dense, "sparse": dense.to_sparse_csr()}

    def our_loss() -> torch.Tensor:
        return loss(model(features, graph, generator), graph, y, rows).total

    def plain_loss(name: str) -> torch.Tensor:
        logits, smoothness, sparsity = plain[name](inputs[name])
        labels = torch.nn.functional.cross_entropy(logits[rows], y[rows], reduction="sum")
        return labels + GRAPH_WEIGHT * (smoothness + SPARSITY_WEIGHT * sparsity)

    features = SparseFeatures.from_scipy(data.X)
    check_equal(model, our_loss, plain, plain_loss)
    return {
        "ours": epochs(our_loss, model),
        "plain, dense X": epochs(lambda: plain_loss("dense"), plain["dense"]),
        "plain, sparse X": epochs(lambda: plain_loss("sparse"), plain["sparse"]),
    }


def check_equal(model: GLCN, our_loss: Callable, plain: dict[str, PlainGLCN], plain_loss: Callable) -> None:
    """Make sure that the contestants compute the same loss before the race."""
    model.eval()
    expected = our_loss()
    for name, other in plain.items():
        other.eval()
        torch.testing.assert_close(plain_loss(name), expected)
        other.train()
    model.train()


def epochs(total_loss: Callable[[], torch.Tensor], model: torch.nn.Module) -> Callable[[int], None]:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, fused=True)

    def run(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            total_loss().backward()
            optimizer.step()

    return run


if __name__ == "__main__":
    main()
