import pickle

import numpy as np
import pytest
from planetoid_files import record_hashes, write_planetoid

from glcn.datasets import load
from glcn.datasets.checksum import ChecksumError


def test_rows_go_where_test_index_says(data_folder, monkeypatch):
    parts, test_index = write_planetoid(data_folder, monkeypatch)
    data = load("citeseer", prepare="none")
    assert data.X.shape == (1601, 5)
    for position, row in enumerate(test_index[:20]):
        np.testing.assert_array_equal(data.X[[row]].toarray()[0], parts["tx"][position].toarray()[0])
        assert data.y[row] == parts["ty"][position].argmax()
    np.testing.assert_array_equal(data.X[:600].toarray(), parts["allx"].toarray())


def test_a_row_that_test_index_leaves_out_is_unknown_and_in_no_split(data_folder, monkeypatch):
    write_planetoid(data_folder, monkeypatch)
    for split in ("public", "paper", "random", "released"):
        data = load("citeseer", split=split)
        assert data.y[700] == -1
        assert data.X[[700]].nnz == 0
        assert 700 not in np.concatenate([data.train, data.validation, data.test])


def test_graph_is_symmetric_without_loops_or_repeats(data_folder, monkeypatch):
    write_planetoid(data_folder, monkeypatch)
    graph = load("citeseer").graph
    assert graph.nnz == 2 * 1600
    assert set(graph.data) == {1.0}
    assert graph.diagonal().sum() == 0


def test_splits(data_folder, monkeypatch):
    _, test_index = write_planetoid(data_folder, monkeypatch)
    public, paper, released = (load("citeseer", split=split) for split in ("public", "paper", "released"))
    assert load("citeseer").split == "public"
    assert public.train.tolist() == list(range(40))
    assert public.validation.tolist() == list(range(40, 540))
    assert public.test.tolist() == sorted(test_index)
    assert paper.validation.tolist() == list(range(40, 340))
    assert (paper.train.tolist(), paper.test.tolist()) == (public.train.tolist(), public.test.tolist())
    assert released.validation.tolist() == public.validation.tolist()
    random = load("citeseer", split="random", seed=1)
    assert np.bincount(random.y[random.train]).tolist() == [20, 20]


def test_an_altered_file_is_refused_before_it_is_unpickled(data_folder, monkeypatch):
    write_planetoid(data_folder, monkeypatch)
    path = data_folder / "planetoid/ind.citeseer.ally"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ChecksumError, match=r"ind.citeseer.ally is damaged or another version"):
        load("citeseer")


class Evil:
    def __reduce__(self):
        return (print, ("executed",))


def test_only_arrays_are_unpickled(data_folder, monkeypatch, capsys):
    write_planetoid(data_folder, monkeypatch)
    (data_folder / "planetoid/ind.citeseer.y").write_bytes(pickle.dumps(Evil(), protocol=2))
    record_hashes(data_folder / "planetoid", monkeypatch, "citeseer")
    with pytest.raises(pickle.UnpicklingError, match="may not contain"):
        load("citeseer")
    assert "executed" not in capsys.readouterr().out


def test_a_truncated_file_with_a_matching_hash_is_still_an_error(data_folder, monkeypatch):
    write_planetoid(data_folder, monkeypatch)
    path = data_folder / "planetoid/ind.citeseer.ally"
    path.write_bytes(path.read_bytes()[:-20])
    record_hashes(path.parent, monkeypatch, "citeseer")
    with pytest.raises((ValueError, pickle.UnpicklingError), match=r"damaged|truncated"):
        load("citeseer")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "shape", "edges", "counts", "train"),
    [
        ("cora", (2708, 1433), 5278, [351, 217, 418, 818, 426, 298, 180], 140),
        ("citeseer", (3327, 3703), 4552, [249, 590, 668, 701, 596, 508], 120),
        ("pubmed", (19717, 500), 44324, [4103, 7739, 7875], 60),
    ],
)
def test_real_files(name, shape, edges, counts, train):
    data = load(name)
    assert data.split == "public"
    assert data.X.shape == shape
    assert data.graph.nnz == 2 * edges
    assert np.bincount(data.y[data.y >= 0]).tolist() == counts
    assert np.bincount(data.y[data.train]).tolist() == [20] * len(counts)
    assert (len(data.train), len(data.validation), len(data.test)) == (train, 500, 1000)
    assert len(data.class_names) == len(counts)


@pytest.mark.real_data
def test_bundled_cora_is_planetoids_up_to_a_permutation(data_folder):
    with np.load(data_folder / "planetoid/cora_linqs_order.npz") as archive:
        order = archive["planetoid_index"]
    linqs, planetoid = load("cora", split="released", prepare="none"), load("cora", split="public", prepare="none")
    assert (planetoid.X[order] != linqs.X).nnz == 0
    assert (planetoid.graph[order][:, order] != linqs.graph).nnz == 0
    names = [np.array(data.class_names)[data.y] for data in (linqs, planetoid)]
    np.testing.assert_array_equal(names[0], names[1][order])
    assert sorted(order) == list(range(2708))


@pytest.mark.real_data
def test_citeseer_has_15_unknown_rows():
    data = load("citeseer")
    assert (data.y < 0).sum() == 15
    assert data.X[data.y < 0].nnz == 0
