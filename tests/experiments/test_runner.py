import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import psutil
import pytest

from glcn.experiments import runner
from glcn.experiments.recipe import Column, method, recipe, task
from glcn.experiments.records import read
from glcn.experiments.run import Run
from glcn.experiments.runner import State, current_commit, run_all, seeds_first
from made import HereWorkers, made_row

CORA = task("cora-released")
SHUFFLED = replace(CORA, columns=(Column("random", "random", None, 20),))


def run_of(name, seed=0, **changes):
    return Run(recipe(CORA, method(name)), CORA.columns[0], seed, changes)


def lasting(row):
    return {name: value for name, value in row.items() if name not in ("seconds", "cpu_seconds", "peak_mb", "time")}


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results/runs.jsonl"


@pytest.fixture
def here(monkeypatch):
    """Work in this process."""
    monkeypatch.setattr(runner, "workers", HereWorkers)


@pytest.fixture
def counted(here, monkeypatch):
    """Work that is only counted: the titles of the runs that were computed."""
    done = []

    def compute(run, cache):
        done.append(run.title)
        return made_row(run, 0.5)

    monkeypatch.setattr(runner, "compute", compute)
    return done


def test_rows_are_written_and_never_computed_twice(here, results):
    runs = [run_of("lp"), run_of("logistic")]
    state = run_all(runs, results)
    assert (state.total, state.done, state.failed) == (2, 2, [])
    before = results.read_bytes()
    rows = read(results)
    assert rows == state.rows
    names = "dataset method labels split seed accuracy settings fingerprint versions seconds peak_mb commit time key"
    for row, run in zip(rows, runs, strict=True):
        assert set(names.split()) <= set(row)
        assert row["key"] == run.key
        assert row["settings"] == run.settings
        assert row["commit"] == current_commit()
    again = run_all(runs, results)
    assert (again.done, again.waiting, again.rows) == (2, [], rows)
    assert results.read_bytes() == before


def test_only_what_is_missing_is_computed(counted, results):
    run_all([run_of("lp", 1)], results)
    before = results.read_bytes()
    counted.clear()
    state = run_all([run_of("lp", seed) for seed in range(3)], results)
    assert counted == [run_of("lp", 0).title, run_of("lp", 2).title]
    assert sorted(row["seed"] for row in state.rows) == [0, 1, 2]
    assert results.read_bytes().startswith(before)


def test_nothing_to_do_starts_no_workers(counted, results, monkeypatch):
    run_all([run_of("lp")], results)
    monkeypatch.setattr(runner, "workers", None)
    assert run_all([run_of("lp")], results).done == 1
    assert run_all([], results).total == 0


def test_rows_of_others_are_left_alone(counted, results):
    run_all([run_of("lp")], results)
    state = run_all([run_of("logistic")], results)
    assert [row["method"] for row in state.rows] == ["logistic"]
    assert [row["method"] for row in read(results)] == ["lp", "logistic"]


def test_recipes_with_the_same_settings_share_a_row(counted, results):
    twin = replace(run_of("glcn").recipe, method=replace(method("glcn"), name="twin"))
    runs = [
        run_of("glcn"),
        Run(twin, CORA.columns[0], 0),
        run_of("glcn", hidden_units=run_of("glcn").settings["hidden_units"]),
    ]
    state = run_all(runs, results)
    assert (state.total, state.done, len(counted)) == (1, 1, 1)
    assert len(read(results)) == 1


def test_a_run_that_fails_is_told_and_the_others_go_on(here, results):
    bad = run_of("lp", width=-1.0)
    state = run_all([bad, run_of("lp")], results)
    assert state.done == state.total == 2
    ((failed, reason),) = state.failed
    assert failed == bad
    assert "ValueError: width must be" in reason
    assert "Traceback" in reason
    assert [row["key"] for row in read(results)] == [run_of("lp").key]
    again = run_all([bad, run_of("lp")], results)
    assert len(again.failed) == 1  # it is tried again
    assert len(read(results)) == 1


def test_a_row_is_on_disk_before_the_next_run_starts(here, results, monkeypatch):
    seen = []

    def compute(run, cache):
        seen.append(len(read(results)))
        return made_row(run, 0.5)

    monkeypatch.setattr(runner, "compute", compute)
    run_all([run_of("lp", seed) for seed in range(4)], results)
    assert seen == [0, 1, 2, 3]


def test_ctrl_c_keeps_what_is_done(here, results, monkeypatch):
    def compute(run, cache):
        if run.seed == 2:
            raise KeyboardInterrupt
        return made_row(run, 0.5)

    monkeypatch.setattr(runner, "compute", compute)
    with pytest.raises(KeyboardInterrupt):
        run_all([run_of("lp", seed) for seed in range(4)], results)
    assert [row["seed"] for row in read(results)] == [0, 1]


def test_listeners_see_the_work_move_on(counted, results):
    seen = []
    run_all(
        [run_of("lp", seed) for seed in range(3)],
        results,
        listener=lambda state: seen.append((state.done, len(state.running), len(state.waiting))),
    )
    assert seen[0] == (0, 0, 3)
    assert seen[-1] == (3, 0, 0)
    assert {sum(counts) for counts in seen} == {3}
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_the_cache_reaches_the_run(here, results, tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(runner, "compute", lambda run, cache: given.append(cache) or made_row(run, 0.5))
    run_all([run_of("lp")], results, cache=tmp_path / "cache")
    assert given == [tmp_path / "cache"]


def test_two_real_workers_give_the_rows_of_one_and_a_killed_one_is_told(results, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(runner, "_start", int)  # these runs need nothing that takes long to load
        patch.setenv("OMP_NUM_THREADS", "1")
        runs = [Run(recipe(SHUFFLED, method("lp")), SHUFFLED.columns[0], seed) for seed in range(20)]

        def kill(state):
            if len(state.rows) > 3:
                for worker in multiprocessing.active_children()[:1]:
                    os.kill(worker.pid, signal.SIGKILL)

        with pytest.raises(RuntimeError, match=r"a worker died, .* Run the same command again") as raised:
            run_all(runs, results, jobs=2, listener=kill)
    assert "a smaller --jobs if memory is short" in str(raised.value)
    assert multiprocessing.active_children() == []
    before, kept = results.read_bytes(), read(results)
    assert 4 <= len(kept) < 20

    monkeypatch.setattr(runner, "workers", HereWorkers)
    again = run_all(runs, results)
    assert (again.done, again.failed) == (20, [])
    assert results.read_bytes().startswith(before)
    assert sorted(row["key"] for row in read(results)) == sorted(run.key for run in runs)
    wanted = [run for run in runs if run.key in {row["key"] for row in kept}]
    alone = {row["key"]: row for row in run_all(wanted, results.with_name("alone.jsonl")).rows}
    assert len({row["accuracy"] for row in kept}) > 1
    for row in kept:
        assert lasting(row) == lasting(alone[row["key"]])


def test_a_row_that_is_done_when_another_worker_dies_is_kept(results, monkeypatch):
    class OneDies(HereWorkers):
        def submit(self, work, run, cache):
            future = Future()
            if run.seed == 5:
                future.set_result(made_row(run, 0.5))
            else:
                future.set_exception(BrokenProcessPool("a child process terminated abruptly"))
            return future

    monkeypatch.setattr(runner, "workers", OneDies)
    with pytest.raises(BrokenProcessPool):
        run_all([run_of("lp", seed) for seed in range(10)], results, jobs=10)
    assert [row["seed"] for row in read(results)] == [5]


def state_of(rows, running=(), waiting=(), jobs=1):
    return State(len(rows) + len(running) + len(waiting), list(rows), list(running), list(waiting), jobs=jobs)


def test_seconds_left():
    took = [made_row(run_of("lp", seed), 0.5, seconds=seconds) for seed, seconds in enumerate((2.0, 4.0))]
    assert state_of([], waiting=[run_of("lp")]).seconds_left is None
    assert state_of(took).seconds_left == 0
    assert state_of(took, waiting=[run_of("lp", 2), run_of("lp", 3)]).seconds_left == 6
    assert state_of(took, running=[run_of("lp", 2)]).seconds_left == 1.5  # half of it is done, for all we know
    assert state_of(took, waiting=[run_of("lp", 2), run_of("lp", 3)], jobs=2).seconds_left == 3


def test_seconds_left_prefer_the_same_task_then_the_same_method():
    citeseer = task("citeseer")
    elsewhere = Run(recipe(citeseer, method("lp")), citeseer.columns[0], 0)
    rows = [made_row(elsewhere, 0.5, seconds=10.0), made_row(run_of("gat"), 0.5, seconds=50.0)]
    assert state_of(rows, waiting=[run_of("lp")]).seconds_left == 10
    assert state_of(rows, waiting=[run_of("gcn")]).seconds_left == 30
    rows.append(made_row(run_of("lp"), 0.5, seconds=1.0))
    assert state_of(rows, waiting=[run_of("lp", 1)]).seconds_left == 1


def test_every_method_gets_its_first_seed_before_any_gets_its_second():
    runs = [run_of(name, seed) for name in ("lp", "gcn", "glcn") for seed in range(3)]
    ordered = seeds_first(runs)
    assert [run.seed for run in ordered] == [0] * 3 + [1] * 3 + [2] * 3
    assert [run.recipe.method.name for run in ordered] == ["lp", "gcn", "glcn"] * 3


def test_the_commit_is_known_in_a_checkout_only(monkeypatch, tmp_path):
    commit = current_commit()
    assert commit is None or (len(commit.rstrip("+")) >= 7 and int(commit.rstrip("+"), 16) >= 0)
    monkeypatch.setattr(runner, "__file__", str(tmp_path / "site-packages/runner.py"))
    (tmp_path / "site-packages").mkdir()
    assert current_commit() is None
    monkeypatch.setenv("PATH", "")
    assert current_commit() is None


def test_a_worker_ends_with_its_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, time\n"
        "from glcn.experiments.runner import workers\n"
        "if __name__ == '__main__':\n"
        "    with workers(1) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True)\n"
        "        pool.submit(time.sleep, 600).result()\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    worker.wait(timeout=60)
