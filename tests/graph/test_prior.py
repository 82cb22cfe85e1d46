import numpy as np
import pytest
from scipy import sparse

from glcn.graph import CandidateGraph, Prior


def test_prior_is_read_as_given_and_counts_what_lies_outside(random):
    A = random.random((6, 6)) * (random.random((6, 6)) < 0.5)  # neither symmetric nor normalised
    graph = CandidateGraph.knn(random.normal(size=(6, 2)), 2)
    prior = Prior.on(graph, sparse.csr_array(A))
    S = graph.to_scipy(graph.uniform()).toarray()
    inside = ((graph.uniform() - prior.values) ** 2).sum().item()
    assert inside + prior.outside == pytest.approx(((S - A) ** 2).sum(), rel=1e-6)


def test_bad_priors():
    graph = CandidateGraph.complete(3)
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        Prior.on(graph, np.eye(2))
    with pytest.raises(ValueError, match="NaN"):
        Prior.on(graph, np.full((3, 3), np.nan))
