"""What all tests share."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from glcn.graph import CandidateGraph
from groups import three_groups


def pytest_configure():
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # in the processes that tests start, too
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it runs behind ignore Ctrl-C


def _real_data() -> Path | None:
    """The folder with the real datasets, where there is one."""
    places = [os.environ.get("GLCN_DATA"), Path(__file__).parents[2] / "shared/data"]
    return next((Path(place) for place in places if place and (Path(place) / "planetoid").is_dir()), None)


REAL_DATA = _real_data()


def pytest_collection_modifyitems(items):
    if REAL_DATA is None:
        skip = pytest.mark.skip(reason="real datasets are not here; set GLCN_DATA to their folder")
        for item in items:
            if "real_data" in item.keywords:
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter):
    """Say how many made-up cases were tried, and how many different errors they met."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind if hasattr(report, "when")]
    told = [dict(report.user_properties) for report in reports if report.when == "teardown"]
    found = [properties["generated"] for properties in told if "generated" in properties]
    if found:
        messages = set().union(*(each["messages"] for each in found))
        cases = sum(each["cases"] for each in found)
        terminalreporter.write_line(f"made-up files: {cases} cases, {len(messages)} different errors, no traceback")


@pytest.fixture(autouse=True)
def one_thread():
    """Tests run side by side; those about threads set their own number, and leave it to no other."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def data_folder(request, tmp_path, monkeypatch) -> Path:
    """The data folder of a test: an empty one, or the real one for tests that are marked so."""
    folder = REAL_DATA if "real_data" in request.keywords else tmp_path / "no data yet"
    monkeypatch.setenv("GLCN_DATA", str(folder))
    return folder


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def weighted_adjacency(random):
    """A symmetric weighted graph on 12 nodes; node 11 is isolated, node 0 has a self-loop of its own weight."""
    dense = np.triu(random.random((12, 12)) * (random.random((12, 12)) < 0.4), 1).astype(np.float32)
    dense[:, 11] = 0
    dense = dense + dense.T
    dense[0, 0] = 0.5
    return dense


@pytest.fixture
def weighted_graph(weighted_adjacency):
    return CandidateGraph.from_scipy(sparse.csr_array(weighted_adjacency))


@pytest.fixture(params=["weighted", "complete", "knn"])
def any_graph(request, weighted_graph, random):
    """A graph on 12 nodes of each kind."""
    if request.param == "weighted":
        return weighted_graph
    if request.param == "complete":
        return CandidateGraph.complete(12)
    return CandidateGraph.knn(random.normal(size=(12, 3)), 3)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def blobs():
    """Three well separated groups of 30 rows in 5 dimensions, three labels each: X, y, y with −1 for unlabelled."""
    return three_groups(labels_each=3)
