"""The map: every row in two dimensions, near those that the network sees as alike."""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.files import write_npz
from glcn.report.progress import Report
from glcn.runs import Run

FILE = "map.npz"
LARGE = 20_000  # rows from which UMAP is taken where it is installed
_ITERATIONS = (250, 500)  # of t-SNE, before and after it lets go of its exaggeration
_EVERY = 25  # iterations after which progress is told
MANY = 10_000  # rows from which several threads are worth it
_SEED = 0


class RowMap(NamedTuple):
    """Where rows lie, and how that was found."""

    points: NDArray[np.float32]  # (n, 2)
    method: str


def row_map(run: Run, progress: Report) -> RowMap:
    """Return the map of a run; it is computed once and kept in the folder of the run, if that can be written to."""
    path = run.folder / FILE
    if path.exists():
        with np.load(path, allow_pickle=False) as kept:
            return RowMap(kept["points"], str(kept["method"]))
    made = _made(run.clf.hidden_, progress)
    with suppress(OSError):  # a folder that can only be read: the map is made again next time
        write_npz(path, points=made.points, method=np.array(made.method))
    return made


def _made(hidden: NDArray[np.float32], progress: Report) -> RowMap:
    n = len(hidden)
    if n < 5 or np.ptp(hidden, axis=0).max() == 0:
        return RowMap(_columns(hidden), "the first two columns of the learned representation")
    if n >= LARGE and (umap := _umap()) is not None:
        progress("map", 0, 1)
        points = umap.UMAP(random_state=_SEED, n_jobs=1, low_memory=True).fit_transform(hidden)
        progress("map", 1, 1)
        return RowMap(points.astype(np.float32), "UMAP of the learned representation")
    return RowMap(_tsne(hidden, progress), "t-SNE of the learned representation")


def _tsne(hidden: NDArray[np.float32], progress: Report) -> NDArray[np.float32]:
    from openTSNE import TSNE

    early, late = _ITERATIONS
    done = 0

    def heard(*_: Any) -> None:
        nonlocal done
        done += _EVERY
        progress("map", done, early + late)

    method = TSNE(
        perplexity=min(30, (len(hidden) - 1) / 3),
        early_exaggeration_iter=early,
        n_iter=late,
        initialization="pca",
        neighbors="exact" if len(hidden) <= LARGE else "pynndescent",
        callbacks=heard,
        callbacks_every_iters=_EVERY,
        n_jobs=1 if len(hidden) < MANY else -1,  # threads that wait for each other cost more than they gain
        random_state=_SEED,
    )
    points: NDArray[np.float32] = np.asarray(method.fit(hidden), np.float32)
    return points


def _columns(hidden: NDArray[np.float32]) -> NDArray[np.float32]:
    points = np.zeros((len(hidden), 2), np.float32)
    points[:, : min(2, hidden.shape[1])] = hidden[:, :2]
    return points


def _umap() -> Any:
    try:
        import umap
    except ImportError:
        return None
    return umap
