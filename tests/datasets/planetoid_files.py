"""Small files in the layout of Planetoid, written as Python 2 wrote them."""

import pickle
from collections import defaultdict

import numpy as np
from scipy import sparse

from glcn.datasets.catalogue import CATALOGUE, File
from glcn.datasets.checksum import sha256


def write_planetoid(folder, monkeypatch, name="citeseer", gap=True):
    """Write a graph of 600 + 1000 rows (2 classes, 5 features) and record its hashes in the catalogue."""
    random = np.random.default_rng(0)
    folder = folder / "planetoid"
    folder.mkdir(parents=True)
    labels = np.eye(2, dtype=int)[random.integers(0, 2, 1600)]
    features = sparse.csr_matrix((random.random((1600, 5)) < 0.4).astype(np.float32))
    test_index = 600 + random.permutation(1001 if gap else 1000)
    test_index = test_index[test_index != 700][:1000] if gap else test_index
    neighbours = defaultdict(list, {row: [(row + 1) % 1600, row, (row + 1) % 1600] for row in range(1600)})
    parts = {
        "x": features[:40],
        "y": labels[:40],
        "allx": features[:600],
        "ally": labels[:600],
        "tx": features[600:],
        "ty": labels[600:],
        "graph": neighbours,
    }
    for part, content in parts.items():
        (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(content, protocol=2))
    (folder / f"ind.{name}.test.index").write_text("".join(f"{row}\n" for row in test_index))
    record_hashes(folder, monkeypatch, name)
    return parts, test_index


def record_hashes(folder, monkeypatch, name):
    files = {f"planetoid/{path.name}": File("", sha256(path), 0) for path in folder.glob(f"ind.{name}.*")}
    for path, file in files.items():
        monkeypatch.setitem(CATALOGUE[name].files, path, file)
