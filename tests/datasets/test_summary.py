import math

import numpy as np
from scipy import sparse

from glcn.datasets import load, summarise
from glcn.datasets.summary import homophily


def test_counts():
    found = summarise(load("cora", split="released"))
    assert (found.rows, found.features, found.classes, found.edges) == (2708, 1433, 7, 5278)
    assert (found.train, found.validation, found.test) == (140, 300, 1000)
    assert round(found.homophily, 2) == 0.81
    digits = summarise(load("digits"))
    assert digits.edges is None
    assert digits.homophily > 0.9


def test_homophily_ignores_loops_and_unknown_rows():
    graph = sparse.csr_array(np.ones((4, 4)))
    assert homophily(graph, np.array([0, 0, 1, -1])) == 1 / 3
    assert math.isnan(homophily(sparse.csr_array(np.eye(4)), np.array([0, 0, 1, -1])))
