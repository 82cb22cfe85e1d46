"""Many runs side by side: each computed once, each written when it is done."""

import multiprocessing
import os
import signal
import subprocess
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from statistics import mean
from threading import Thread

from glcn.experiments.records import Row, append, read
from glcn.experiments.run import Run, compute


@dataclass
class State:
    """How far a batch of runs is."""

    total: int
    rows: list[Row]  # finished rows, of this batch and earlier ones
    running: list[Run] = field(default_factory=list)
    waiting: list[Run] = field(default_factory=list)
    failed: list[tuple[Run, str]] = field(default_factory=list)
    jobs: int = 1

    @property
    def done(self) -> int:
        """Runs that need no more work."""
        return self.total - len(self.waiting) - len(self.running)

    @property
    def seconds_left(self) -> float | None:
        """Estimate from what the same method took on the same task, else on any."""
        took: dict[tuple[str, str] | str, list[float]] = defaultdict(list)
        for row in self.rows:
            for kind in ((row["task"], row["method"]), row["method"], ""):
                took[kind].append(row["seconds"])
        if not took:
            return None
        left = 0.0
        for weight, runs in ((1.0, self.waiting), (0.5, self.running)):
            for run in runs:
                task, method = run.recipe.task.name, run.recipe.method.name
                left += weight * mean(took.get((task, method)) or took.get(method) or took[""])
        return left / self.jobs


Listener = Callable[[State], None]


def run_all(
    runs: Sequence[Run], results: Path, *, jobs: int = 1, cache: Path | None = None, listener: Listener | None = None
) -> State:
    """Compute the runs that ``results`` does not hold yet, and append each there as soon as it is done.

    A run that fails is reported in the state and does not stop the others. Ctrl-C stops all; what is done is kept.
    """
    rows = read(results)
    known = {row["key"] for row in rows}
    wanted = list({run.key: run for run in runs}.values())
    keys = {run.key for run in wanted}
    state = State(
        total=len(wanted),
        rows=[row for row in rows if row["key"] in keys],
        waiting=[run for run in wanted if run.key not in known],
        jobs=jobs,
    )
    tell = listener or (lambda _: None)
    tell(state)
    if not state.waiting:
        return state
    commit = current_commit()
    with workers(jobs) as pool:
        pending: dict[Future[Row], Run] = {}
        while state.waiting or pending:
            while state.waiting and len(pending) < jobs:
                run = state.waiting.pop(0)
                state.running.append(run)
                pending[pool.submit(_work, run, cache)] = run
            tell(state)
            finished, _ = wait(pending, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=_died):  # a row that is there is kept, whatever befell the others
                run = pending.pop(future)
                state.running.remove(run)
                _settle(state, run, future, results, commit)
            tell(state)
    return state


def current_commit() -> str | None:
    """Return the commit of the code that runs, with "+" where files differ from it; None outside of a checkout."""
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        # Without optional locks, so that a commit made meanwhile is never in the way.
        command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603

    try:
        if git("ls-files", "--error-unmatch", __file__):
            return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", "..") else "")
    except (OSError, subprocess.CalledProcessError):
        return None
    return None


def _died(future: "Future[Row]") -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _settle(state: State, run: Run, future: "Future[Row]", results: Path, commit: str | None) -> None:
    try:
        row = future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:  # whatever a method may raise: the other runs go on
        state.failed.append((run, "".join(traceback.format_exception(error))))
        return
    row |= {"commit": commit, "time": datetime.now(UTC).isoformat(timespec="seconds")}
    append(results, row)
    state.rows.append(row)


class workers:  # noqa: N801 (reads as a function)
    """A pool of processes that are gone when the block is left, however it is left.

    They are ended, not asked to end: a worker that was killed while it waited for work would leave the others waiting
    for its lock. All results have been taken by then.
    """

    def __init__(self, jobs: int) -> None:
        self.others = set(multiprocessing.active_children())
        self.pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_start)

    def __enter__(self) -> ProcessPoolExecutor:
        with _ctrl_c_delayed():
            self.pool.submit(int)  # starts the workers, which inherit the deafness: they have none of their own yet
        return self.pool

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        for process in set(multiprocessing.active_children()) - self.others:
            process.terminate()
        self.pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise BrokenProcessPool(
                "a worker died, perhaps for lack of memory; what was finished is kept. Run the same command again, "
                "with a smaller --jobs if memory is short"
            ) from error


@contextmanager
def _ctrl_c_delayed() -> Iterator[None]:
    """Let Ctrl-C wait until the block is left (Unix)."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start() -> None:
    """Make a worker: one thread, deaf to Ctrl-C (the parent ends it)."""
    import torch
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    threadpool_limits(1)
    for library in ("torch_geometric.nn", "gensim.models"):  # before any run, so that none is charged for it
        with suppress(ImportError):
            import_module(library)


def _end_with_parent() -> None:
    """Leave when the parent is gone, however it went: nobody would take the result."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(run: Run, cache: Path | None) -> Row:
    return compute(run, cache)


def seeds_first(runs: Iterable[Run]) -> list[Run]:
    """Order runs so that every method gets its first seed before any gets its second."""
    return sorted(runs, key=lambda run: run.seed)
