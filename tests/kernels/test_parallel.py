"""Kernels give the same bits for any number of threads, in forked children and for concurrent callers."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from scipy import sparse

from glcn import kernels
from glcn.graph import CandidateGraph
from glcn.kernels import parallel


@pytest.fixture(autouse=True)
def always_in_threads(monkeypatch):
    monkeypatch.setattr(parallel, "SERIAL_WORK", 0)


@pytest.fixture(scope="module")
def graph():
    return CandidateGraph.knn(np.random.default_rng(0).normal(size=(4000, 4)), 8)


def everything(graph):
    """Values and gradients of all kernels on one input, as one list of tensors."""
    generator = torch.Generator().manual_seed(0)
    tall, wide = (
        kernels.SparseFeatures.from_scipy(
            sparse.random_array((4000, p), density=0.03, rng=np.random.default_rng(1), format="csr")
        )
        for p in (300, 3000)
    )  # their gradients have kernels of their own
    weight = torch.randn(300, 32, generator=generator, requires_grad=True)
    other = torch.randn(3000, 32, generator=generator, requires_grad=True)
    a = torch.randn(32, generator=generator, requires_grad=True)
    h, further = kernels.feature_products(tall, (weight, weight[:, :20]), 0.5, generator)
    h = h + kernels.feature_products(wide, (other,), 0.5, generator)[0]
    score, square = kernels.edge_distances(h, a, graph.pattern)
    S = kernels.row_softmax(score.relu(), graph.pattern)
    terms = kernels.graph_terms(S, square, graph.pattern)
    out = kernels.dropout(kernels.propagate(S, h, graph.pattern), 0.5, generator)
    fixed = torch.randn(out.shape, generator=generator)
    ((out * fixed).sum() + further.square().sum() + terms.smoothness + terms.frobenius).backward()
    return [h, further, score, square, S, *terms, out, weight.grad, other.grad, a.grad]


def test_same_bits_with_one_and_two_threads(graph, two_threads, monkeypatch):
    used = []
    monkeypatch.setattr(parallel, "_pools", _Spy(used))
    parallel_result = everything(graph)
    assert len(used) > 40  # every kernel ran in threads
    torch.set_num_threads(1)
    for ours, other in zip(parallel_result, everything(graph), strict=True):
        assert torch.equal(ours, other)


class _Spy(dict):
    def __init__(self, used):
        super().__init__()
        self.used = used

    def __getitem__(self, threads):
        self.used.append(threads)
        return super().__getitem__(threads)


def test_concurrent_callers_get_the_same_result(graph, two_threads):
    expected = everything(graph)[3]
    with ThreadPoolExecutor(3) as callers:
        for result in callers.map(lambda _: everything(graph)[3], range(6)):
            assert torch.equal(result, expected)


def _in_child(values, x, pattern, queue):
    # NumPy adds up, because PyTorch's own threads (unlike the kernels') do not survive a fork.
    queue.put(float(kernels.propagate(values, x, pattern).numpy().sum()))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_can_call_kernels(graph, two_threads):
    values, x = graph.uniform(), torch.ones(graph.num_nodes, 32)
    kernels.propagate(values, x, graph.pattern)
    assert parallel._pools
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(values, x, graph.pattern, queue), daemon=True)
    child.start()
    assert queue.get(timeout=60) == pytest.approx(32 * 4000, rel=1e-4)
    child.join(timeout=60)
    assert child.exitcode == 0


def test_an_error_in_a_thread_reaches_the_caller(two_threads):
    def broken(chunks, first, last):
        raise RuntimeError("broken kernel")

    with pytest.raises(RuntimeError, match="broken kernel"):
        parallel.run(broken, np.arange(5), parallel.SERIAL_WORK)
