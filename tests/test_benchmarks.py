"""The committed figures are those of the page, and the races measure what they say."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def benchmarks_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("page", "race"):
        sys.modules.pop(name, None)


def test_the_page_is_that_of_the_committed_figures():
    import page

    rows = json.loads((FOLDER / "results.json").read_text())
    assert page.text(rows) == (FOLDER.parent / "docs/speed.md").read_text(encoding="utf-8")
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert 0 < row["low"] <= row["ratio"] <= row["high"], row["name"]


def test_contestants_take_turns_and_slow_ones_are_slow(monkeypatch):
    import race

    order, clock = [], [0.0]
    monkeypatch.setattr(race.time, "perf_counter", lambda: clock[0])

    def sleeper(name, seconds):
        def step():
            order.append(name)
            clock[0] += seconds

        return step

    seconds = race.take_turns({"slow": sleeper("slow", 0.12), "quick": sleeper("quick", 0.04)}, 2)
    found = race.ratio(seconds["slow"], seconds["quick"])
    assert found == pytest.approx((3, 3, 3))
    turns = [name for name, before in zip(order, ["", *order], strict=False) if name != before]
    assert turns[-4:] == ["slow", "quick", "slow", "quick"]
    assert order[-5:].count("quick") == 5  # 0.2 seconds make a turn


def hold(megabytes):
    """Return a step that takes so much memory for a moment."""
    return lambda: np.ones(megabytes << 17).sum()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell")
def test_memory_is_that_of_the_step():
    from race import extra_megabytes

    assert 95 < extra_megabytes(hold, (1,), 100) < 130


def kept_memory():
    """What a process of a race sees of its environment, and how many threads it has."""
    import torch

    return os.environ.get("MALLOC_TRIM_THRESHOLD_"), torch.get_num_threads()


def test_a_fresh_process_has_its_own_environment():
    from race import KEPT_MEMORY, in_fresh_process

    assert in_fresh_process(kept_memory) == (None, 1)
    assert in_fresh_process(kept_memory, environment=KEPT_MEMORY) == (KEPT_MEMORY["MALLOC_TRIM_THRESHOLD_"], 1)
    assert "MALLOC_TRIM_THRESHOLD_" not in os.environ
