"""The memory that a fit needs is known before, and what can not fit is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier
from glcn.estimator import memory

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
    ("variant", "settings"), [("plus", {}), ("plus", {"n_hops": 8, "n_neighbors": 20}), ("closeness", {})]
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
    with pytest.raises(MemoryError, match=r"needs about 1 MB of memory.*take a smaller n_neighbors"):
        GLCNClassifier().fit(X, few, callback=heard.append)
    assert not heard
    monkeypatch.setattr(memory, "available_bytes", lambda: None)  # the system does not tell
    GLCNClassifier(fixed_epochs=1).fit(X, few)


def test_more_rows_edges_and_units_need_more(random):
    few = np.array([0, 1] * 10 + [-1] * 180)

    def estimate(X, **settings):
        return GLCNClassifier(fixed_epochs=1, **settings).fit(X, few).memory_estimate_

    X = random.normal(size=(200, 30))
    base = estimate(X)
    assert estimate(X, hidden_units=128) > base
    assert estimate(X, n_neighbors=40) > base
    assert estimate(X, n_hops=20) > base
    assert estimate(sparse.csr_array(X * (random.random(X.shape) < 0.05))) < base


def test_limits_of_a_container_count(tmp_path, monkeypatch):
    for name, text in (("_LIMIT", "5000000"), ("_USED", "2000000")):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(memory, name, tmp_path / name)
    assert memory.available_bytes() == 3_000_000
    (tmp_path / "_LIMIT").write_text("max")
    assert memory.available_bytes() is None or memory.available_bytes() > 3_000_000


def test_bytes_for_people():
    assert [memory.readable(count) for count in (10, 12_600_000, 2_340_000_000)] == ["1 MB", "13 MB", "2.3 GB"]
