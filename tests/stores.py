"""Files to build stores from, and small cells, so that a few hundred rows have many."""

import numpy as np

from glcn.graph import coarse
from glcn.store import build


def make_small() -> None:
    coarse.ROWS_PER_CELL = 25
    coarse.BLOCK_BYTES = 100 * 4 * 6
    build.CELLS_AT_A_TIME = 4


def rows_and_labels(n=600, p=6):
    random = np.random.default_rng(3)
    group = np.arange(n) % 5
    X = random.normal(size=(5, p))[group] * 4 + random.normal(size=(n, p))
    return X, np.where(random.random(n) < 0.3, group * 10, -1)


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
