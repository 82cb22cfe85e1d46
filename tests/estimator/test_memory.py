"""The memory that a fit needs is known before, and what can not fit is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier, runs
from glcn.datasets import from_arrays
from glcn.estimator import memory
from glcn.exceptions import LowMemoryWarning
from glcn.graph import CandidateGraph
from glcn.whole_files import readable

MEASURE = """
import json, sys, warnings
from pathlib import Path
import numpy as np, torch
from glcn import GLCNClassifier
warnings.simplefilter("ignore")
torch.set_num_threads(1)
variant, n, settings = json.loads(sys.argv[1])
status = lambda name: next(
    int(line.split()[1]) * 1024 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)
)
random = np.random.default_rng(0)
def fit(n):
    X, y = random.normal(size=(n, 40)), np.full(n, -1)
    y[:20] = np.arange(20) % 2
    clf = GLCNClassifier(variant, fixed_epochs=3, validation_fraction=0.0, random_state=0, **settings)
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    clf.fit(X, y)
    return clf.memory_estimate_, status("VmHWM") - before
fit(100)  # compiles
print(json.dumps(fit(n)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("variant", "settings"),
    [
        ("plus", {}),
        ("closeness", {}),
        pytest.param("plus", {"n_hops": 8, "n_neighbors": 20}, marks=pytest.mark.slow),
        pytest.param("plus", {"batch_size": 200}, marks=pytest.mark.slow),
    ],
)
def test_the_estimate_is_near_what_a_fit_takes(variant, settings):
    arguments = json.dumps([variant, 20_000, settings])
    answer = subprocess.run([sys.executable, "-c", MEASURE, arguments], capture_output=True, text=True, check=True)
    estimate, measured = json.loads(answer.stdout)
    assert 0.5 < estimate / measured < 2.5, f"estimated {estimate / 1e6:.0f} MB, took {measured / 1e6:.0f} MB"


def test_what_can_not_fit_is_refused_before_training(blobs, monkeypatch):
    X, _, few = blobs
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    heard = []
    with pytest.raises(MemoryError, match=r"needs about 2 MB of memory.*take a smaller n_neighbors, n_hops"):
        GLCNClassifier().fit(X, few, callback=heard.append)
    with pytest.raises(MemoryError, match="take a smaller n_neighbors or hidden_units"):
        GLCNClassifier("closeness").fit(X, few, callback=heard.append)
    assert not heard
    monkeypatch.setattr(memory, "available_bytes", lambda: None)  # the system does not tell
    clf = GLCNClassifier(fixed_epochs=1).fit(X, few)
    monkeypatch.setattr(memory, "available_bytes", lambda: clf.memory_estimate_ - 1)  # may or may not do
    with pytest.warns(LowMemoryWarning, match="of memory"):
        GLCNClassifier(fixed_epochs=1).fit(X, few)


def test_more_of_anything_needs_more(random):
    def estimate(rows=200, columns=30, density=1.0, **settings):
        X = random.normal(size=(rows, columns))
        if density < 1:
            X = sparse.csr_array(X * (random.random(X.shape) < density))
        few = np.array([0, 1] * 10 + [-1] * (rows - 20))
        return GLCNClassifier(fixed_epochs=1, **settings).fit(X, few).memory_estimate_

    base = estimate()
    assert estimate(rows=400) > 1.9 * base
    assert estimate(columns=300) > base
    assert estimate(hidden_units=256) > base
    assert estimate(n_neighbors=40) > base
    assert estimate(n_hops=20) > base
    closeness = {"variant": "closeness", "columns": 2000}
    sparse_rows = estimate(density=0.01, **closeness)
    assert sparse_rows < estimate(**closeness)
    with_dense_copies = estimate(density=0.01, projection_size=None, **closeness)
    assert with_dense_copies > sparse_rows + 2 * 4 * 200 * 2000


@pytest.mark.parametrize("form", ["scipy", "edge_index", "networkx", "candidates", "dense", "complete"])
def test_edges_are_counted_before_a_graph_is_read(form):
    import networkx as nx

    graph = nx.cycle_graph(30)
    A = nx.to_scipy_sparse_array(graph)
    forms = {
        "scipy": A,
        "edge_index": np.array(A.nonzero()),
        "networkx": graph,
        "candidates": CandidateGraph.from_scipy(A),
        "dense": A.toarray(),
        "complete": "complete",
    }
    expected = {"dense": 930, "complete": 900}.get(form, 90)
    assert memory.edge_count(forms[form], 30, 5) == expected


def test_limits_of_a_container_count(tmp_path, monkeypatch):
    texts = {"max": "5000000", "current": "2000000", "stat": "anon 5\ninactive_file 1000000\n"}
    for name, text in texts.items():
        (tmp_path / f"memory.{name}").write_text(text)
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path)
    assert memory.available_bytes() == 4_000_000
    (tmp_path / "memory.max").write_text("max")
    assert memory.available_bytes() is None or memory.available_bytes() > 4_000_000


def test_bytes_for_people():
    assert [readable(count) for count in (10, 12_600_000, 2_340_000_000)] == ["1 MB", "13 MB", "2.3 GB"]


@pytest.mark.parametrize("variant", ["plus", "closeness"])
@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
def test_what_a_run_keeps_on_disk_is_near_its_estimate(tmp_path, variant, compact):
    random = np.random.default_rng(0)
    X = sparse.random_array((1000, 300), density=0.02, rng=random, format="csr")
    data = from_arrays(X if compact else X.toarray(), np.where(np.arange(1000) < 40, np.arange(1000) % 3, -1))
    clf = GLCNClassifier(variant, fixed_epochs=1, random_state=0, validation_fraction=0)
    clf.fit(data.X, data.visible_labels, checkpoint=runs.checkpoint_of(tmp_path / "run"))
    state = runs.checkpoint_of(tmp_path / "run").stat().st_size
    runs.write_run(tmp_path / "run", data, clf, runs.evaluate(data, clf))
    kept = state + sum(path.stat().st_size for path in (tmp_path / "run").rglob("*") if path.is_file())
    estimate = memory.disk_bytes(clf.settings_, data.X, memory.edge_count(None, 1000, 10), 3)
    assert 0.7 < estimate / kept < 1.4
