import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch

import stores
from glcn.exceptions import RestartedBuildWarning
from glcn.graph import CandidateGraph, CellIndex, coarse
from glcn.store import Store, build, build_store
from stores import content, rows_and_labels


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module, name in ((coarse, "ROWS_PER_CELL"), (coarse, "BLOCK_BYTES"), (build, "CELLS_AT_A_TIME")):
        monkeypatch.setattr(module, name, getattr(module, name))  # put back afterwards
    stores.make_small()


@pytest.fixture
def features(tmp_path):
    X, y = rows_and_labels()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    return tmp_path / "X.npy"


def test_a_store_holds_rows_labels_and_their_graph(features, tmp_path):
    X, y = rows_and_labels()
    said = []
    store = build_store(
        features, tmp_path / "s", labels=tmp_path / "y.npy", n_neighbors=7, progress=lambda *each: said.append(each)
    )
    assert store.X.dtype == np.float32
    np.testing.assert_array_equal(store.X, X.astype(np.float32))
    assert store.classes == (0, 10, 20, 30, 40)
    np.testing.assert_array_equal(store.y, np.where(y < 0, -1, y // 10))
    assert store.num_labelled == (y >= 0).sum()
    assert (store.n_neighbors, store.metric) == (7, "euclidean")
    assert store.num_bytes == sum(path.stat().st_size for path in (tmp_path / "s").glob("*.npy"))
    index = CellIndex.build(X.astype(np.float32), 7)
    np.testing.assert_array_equal(store.index.among(7), index.among(7))
    np.testing.assert_array_equal(store.index.nearest(X[:20] + 0.1, 3), index.nearest(X[:20] + 0.1, 3))
    assert store.index.cells.count > 10
    assert store.recall == index.recall > 0.98
    graph, candidate = store.graph.to_candidate(), CandidateGraph.from_neighbors(index.among(7))
    assert (graph.to_scipy() != candidate.to_scipy()).nnz == 0
    assert tuple(dict.fromkeys(stage for stage, _, _ in said)) == build.STAGES
    assert all(each[1] <= each[2] for each in said)
    assert [each[1:] for each in said if each[0] == "refine"][-1] == (2 * store.index.cells.count,) * 2
    assert not (tmp_path / "s.partial").exists()
    assert all(isinstance(values, np.memmap) for values in (store.X, store.y, store.graph.indices))


def test_without_labels(features, tmp_path):
    store = build_store(features, tmp_path / "s", n_neighbors=3)
    assert store.y is None
    assert store.classes == ()
    assert store.num_labelled == 0


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_gives_the_same_as_its_arrays(save, features, tmp_path):
    X, y = rows_and_labels()
    build_store(features, tmp_path / "one", labels=tmp_path / "y.npy")
    save(tmp_path / "both.npz", features=X, y=y)
    build_store(tmp_path / "both.npz", tmp_path / "other")
    assert content(tmp_path / "one") == content(tmp_path / "other")


def test_the_metric_of_counts_is_the_cosine(tmp_path, random):
    X = np.maximum(random.normal(size=(300, 6)) - 0.5, 0)
    np.save(tmp_path / "X.npy", X)
    store = build_store(tmp_path / "X.npy", tmp_path / "s")
    assert store.metric == store.index.metric == "cosine"
    np.testing.assert_array_equal(store.index.among(15), CellIndex.build(X.astype(np.float32), 15, "cosine").among(15))
    np.save(tmp_path / "X.npy", -X)
    assert build_store(tmp_path / "X.npy", tmp_path / "t").metric == "euclidean"


def test_the_number_of_threads_changes_no_byte(features, tmp_path, two_threads, monkeypatch):
    monkeypatch.setattr("glcn.kernels.parallel.SERIAL_WORK", 0)
    build_store(features, tmp_path / "two")
    torch.set_num_threads(1)
    build_store(features, tmp_path / "one")
    assert content(tmp_path / "one") == content(tmp_path / "two")


class Stop(BaseException):
    """As Ctrl-C does."""


@pytest.mark.parametrize("stage", build.STAGES)
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_a_build_that_was_broken_off_goes_on(stage, share, features, tmp_path):
    labels = tmp_path / "y.npy"
    build_store(features, tmp_path / "whole", labels=labels)
    seen = []

    def stop(at, done, total):
        if at == stage and done >= share * total:
            raise Stop

    with pytest.raises(Stop):
        build_store(features, tmp_path / "s", labels=labels, progress=stop)
    assert not (tmp_path / "s").exists()
    with pytest.raises(FileNotFoundError, match="is not finished; run the same"):
        Store.open(tmp_path / "s")
    build_store(features, tmp_path / "s", labels=labels, progress=lambda *each: seen.append(each))
    assert content(tmp_path / "s") == content(tmp_path / "whole")
    earlier = build.STAGES[: max(build.STAGES.index(stage), 1) - 1]
    assert not {each[0] for each in seen} & set(earlier) - {"graph"}


def test_a_build_that_was_killed_goes_on(features, tmp_path):
    """A real process, killed in the middle of two stages, one after the other."""
    build_store(features, tmp_path / "whole", labels=tmp_path / "y.npy")
    code = """
import os, signal, sys, torch
import stores
from glcn.store import build_store
torch.set_num_threads(1)
stores.make_small()
def kill(stage, done, total):
    if stage == sys.argv[1] and done > total / 2:
        os.kill(os.getpid(), signal.SIGKILL)
build_store("X.npy", "s", labels="y.npy", progress=kill)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(stores.__file__).parent), *sys.path])}
    for stage in ("search", "refine"):
        killed = subprocess.run([sys.executable, "-c", code, stage], cwd=tmp_path, env=environment, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert (tmp_path / "s.partial/progress.json").exists()
        assert not (tmp_path / "s").exists()
    build_store(features, tmp_path / "s", labels=tmp_path / "y.npy")
    assert content(tmp_path / "s") == content(tmp_path / "whole")


def test_what_is_done_is_not_done_again(features, tmp_path, monkeypatch):
    def stop(stage, done, total):
        if stage == "graph":
            raise Stop

    with pytest.raises(Stop):
        build_store(features, tmp_path / "s", progress=stop)
    for name in ("search", "refine"):
        monkeypatch.setattr(coarse.Cells, name, None)
    monkeypatch.setattr(build, "find_centroids", None)
    assert build_store(features, tmp_path / "s").recall > 0.98


@pytest.mark.parametrize("change", ["input", "labels", "settings", "damaged"])
def test_another_input_is_built_anew(change, features, tmp_path):
    def stop(stage, done, total):
        if stage == "refine":
            raise Stop

    with pytest.raises(Stop):
        build_store(features, tmp_path / "s", progress=stop)
    settings = {}
    if change == "input":
        np.save(features, rows_and_labels()[0][::-1])
        os.utime(features, ns=(1, 1))
    elif change == "labels":
        settings["labels"] = tmp_path / "y.npy"
    elif change == "settings":
        settings["n_neighbors"] = 4
    else:
        (tmp_path / "s.partial/progress.json").write_text("{")
    reason = {"input": "features", "settings": "n_neighbors"}.get(change, change if change == "labels" else "schema")
    with pytest.warns(RestartedBuildWarning, match=rf"other settings \({reason}.*\); building anew"):
        build_store(features, tmp_path / "s", **settings)
    build_store(features, tmp_path / "whole", **settings)
    assert content(tmp_path / "s") == content(tmp_path / "whole")


def test_a_folder_that_is_in_the_way_stays(features, tmp_path):
    (tmp_path / "s.partial").mkdir()
    np.save(tmp_path / "s.partial/mine.npy", np.arange(3))
    with pytest.raises(FileExistsError, match=r"s.partial is in the way and no unfinished build; move it away"):
        build_store(features, tmp_path / "s")
    assert np.load(tmp_path / "s.partial/mine.npy").tolist() == [0, 1, 2]


def test_two_builds_do_not_meet(features, tmp_path):
    def again(stage, done, total):
        build_store(features, tmp_path / "s")

    with pytest.raises(BlockingIOError, match="another process is building"):
        build_store(features, tmp_path / "s", progress=again)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_a_row_that_is_no_numbers_is_named(value, tmp_path):
    X = rows_and_labels()[0]
    X[432, 3] = X[500, 1] = value
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=r"row 432 of X.npy has an empty \(NaN\), infinite or too large value; fill"):
        build_store(tmp_path / "X.npy", tmp_path / "s")
    assert not (tmp_path / "s.partial").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros(5)}, r"X in a.npz must hold rows of numbers, \(n, p\), got shape \(5,\)"),
        ({"X": np.zeros((5, 2), complex)}, "dtype complex128"),
        ({"a": np.zeros((5, 2)), "b": np.zeros((5, 2))}, "must hold an array X, or one of two dimensions; got a, b"),
        ({"X": np.zeros((0, 2))}, "no rows or no features"),
        ({"X": np.zeros((9, 2))}, r"n_neighbors must be below the number of rows \(9\), got 15; pass"),
        ({"X": np.zeros((30, 2)), "y": np.zeros(29)}, "y in a.npz has 29 labels, but there are 30 rows"),
    ],
)
def test_arrays_that_are_no_features(arrays, message, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        build_store(tmp_path / "a.npz", tmp_path / "s")
    assert not (tmp_path / "s.partial").exists()


def test_targets_are_checked_before_the_work(features, tmp_path, monkeypatch):
    def work(*_):
        raise AssertionError("the work began")

    with pytest.raises(ValueError, match="metric must be one of"):
        build_store(features, tmp_path / "s", metric="manhattan", progress=work)
    (tmp_path / "s").mkdir()
    with pytest.raises(FileExistsError, match="exists already; choose another name"):
        build_store(features, tmp_path / "s", progress=work)
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(PermissionError, match="can not write into"):
            build_store(features, tmp_path / "t", progress=work)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(OSError, match=r"needs up to .* GB on disk, and 0.0 GB are free; make room"):
        build_store(features, tmp_path / "t", progress=work)
    assert not (tmp_path / "t.partial").exists()


def test_memory_does_not_hold_the_rows(tmp_path, monkeypatch, random):
    """What NumPy allocates stays below the size of the rows, however they come; the kernels hold a few tiles."""
    monkeypatch.setattr(coarse, "ROWS_PER_CELL", 500)
    monkeypatch.setattr(coarse, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(coarse, "SAMPLE_BYTES", 1 << 18)
    X = random.normal(size=(40, 64))[np.arange(8_000) % 40] + random.normal(size=(8_000, 64))
    np.save(tmp_path / "X.npy", X)
    np.savez_compressed(tmp_path / "X.npz", X=X)
    rows = X.astype(np.float32).nbytes
    del X

    def peak(name, number):
        tracemalloc.start()
        try:
            build_store(tmp_path / name, tmp_path / f"{number}-{name}")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    for name in ("X.npy", "X.npz"):
        # What else the process does meanwhile, such as compiling a kernel, can only add to it.
        assert min(peak(name, number) for number in range(2)) < 0.6 * rows
