import os
import subprocess
import sys

import gensim.models
import numpy as np
import pytest
from scipy import sparse

from glcn.baselines import DeepWalk
from glcn.baselines.deepwalk import _Walks, embed


def cliques(size=8):
    """Two cliques joined by one edge."""
    A = np.kron(np.eye(2), np.ones((size, size)))
    A[size - 1, size] = A[size, size - 1] = 1
    np.fill_diagonal(A, 0)
    return sparse.csr_array(A)


SIDES = np.repeat([0, 1], 8)
LABELS = np.array([0, *[-1] * 14, 1])
X = np.zeros((16, 1))


def small(**settings):
    defaults = {"dimensions": 8, "walks_per_row": 40, "walk_length": 12, "window": 3, "random_state": 0}
    return DeepWalk(**(defaults | settings))


def embedding(A, seed=0):
    return embed(A.indptr.astype(np.int64), A.indices.astype(np.int64), 8, 40, 12, 3, seed)


@pytest.fixture
def no_more_embeddings(monkeypatch):
    """A function after whose call nothing can be embedded any more."""

    def refuse(*arguments, **settings):
        raise AssertionError("embedded once more")

    return lambda: monkeypatch.setattr(gensim.models, "Word2Vec", refuse)


def test_two_cliques_are_told_apart():
    for seed in range(3):
        clf = small(random_state=seed).fit(X, LABELS, graph=cliques())
        assert clf.embedding_.shape == (16, 8)
        assert (clf.transduction_ == SIDES).sum() >= 15  # the ends of the joining edge are between the two


def test_rows_of_a_clique_lie_closer_together():
    E = embedding(cliques())
    distance = np.linalg.norm(E[:, None] - E[None], axis=2)
    same = SIDES[:, None] == SIDES[None]
    assert distance[same].mean() < 0.5 * distance[~same].mean()


def test_row_numbers_are_only_names(random):
    """The embedding of a row is found under its own number, however the rows are numbered."""
    order = random.permutation(16)
    clf = small().fit(X, LABELS[order], graph=cliques()[order][:, order])
    assert (clf.transduction_ == SIDES[order]).sum() >= 15


def test_walks_start_once_in_each_row_a_turn_and_are_read_the_same_twice():
    A = cliques()
    names = np.array([str(row) for row in range(16)], dtype=object)
    corpus = _Walks(A.indptr.astype(np.int64), A.indices.astype(np.int64), names, 3, 6, 0)
    sentences = list(corpus)
    assert sentences == list(corpus)
    assert len(sentences) == 48
    assert all(len(sentence) == 6 for sentence in sentences)
    turns = [[sentence[0] for sentence in sentences[start : start + 16]] for start in (0, 16, 32)]
    assert all(sorted(turn, key=int) == names.tolist() for turn in turns)
    assert turns[0] != turns[1] != turns[2]


def test_turns_draw_steps_of_their_own():
    """Where all rows have the same neighbours, the numbers that were drawn can be read off the steps."""
    A = sparse.csr_array(np.ones((16, 16)))
    names = np.array([str(row) for row in range(16)], dtype=object)
    steps = [sentence[1:] for sentence in _Walks(A.indptr, A.indices, names, 3, 6, 0)]
    assert len({*map(tuple, steps)}) == 48


def test_same_seed_same_bits():
    first, second, other = (embedding(cliques(), seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_same_bits_in_another_process(tmp_path):
    """Where strings have other hashes."""
    code = (
        "import sys, numpy as np\nfrom glcn.baselines.deepwalk import embed\n"
        "with np.load(sys.argv[1]) as graph: np.save(sys.argv[2], embed(graph['p'], graph['i'], 8, 40, 12, 3, 0))"
    )
    A = cliques()
    graph, found = tmp_path / "graph.npz", tmp_path / "embedding.npy"
    np.savez(graph, p=A.indptr.astype(np.int64), i=A.indices.astype(np.int64))
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", code, str(graph), str(found)], check=True, env=environment)
    np.testing.assert_array_equal(np.load(found), embedding(A))


def test_memory_embeds_once(tmp_path, no_more_embeddings):
    folder = str(tmp_path / "embeddings")
    first = small(memory=folder).fit(X, LABELS, graph=cliques())
    no_more_embeddings()
    second = small(memory=folder).fit(X, LABELS, graph=cliques())
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)
    np.testing.assert_array_equal(first.predict_proba(X[:2]), second.predict_proba(X[:2]))
    small(memory=folder, C=0.1).fit(X, SIDES, graph=cliques())  # neither C nor labels have a part in the embedding


@pytest.mark.parametrize(
    "change", [{"random_state": 1}, {"window": 2}, {"walk_length": 9}, {"walks_per_row": 5}, {"dimensions": 4}]
)
def test_memory_embeds_again_where_anything_differs(tmp_path, no_more_embeddings, change):
    folder = str(tmp_path / "embeddings")
    small(memory=folder).fit(X, LABELS, graph=cliques())
    no_more_embeddings()
    with pytest.raises(AssertionError, match="embedded once more"):
        small(memory=folder, **change).fit(X, LABELS, graph=cliques())
    with pytest.raises(AssertionError, match="embedded once more"):
        small(memory=folder).fit(X, LABELS, graph=cliques() - sparse.csr_array(([1, 1], ([0, 1], [1, 0])), (16, 16)))


def test_without_memory_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small().fit(X, LABELS, graph=cliques())
    assert list(tmp_path.iterdir()) == []


def test_weights_and_self_loops_are_not_looked_at():
    A = cliques()
    W = A.copy()
    W.data[:] = 3.0
    W.setdiag(5.0)
    plain, heavy = (small().fit(X, LABELS, graph=graph).embedding_ for graph in (A, W))
    np.testing.assert_array_equal(plain, heavy)


def test_a_new_row_gets_the_mean_embedding_of_its_neighbours():
    clf = small().fit(X, LABELS, graph=cliques())
    edges = sparse.csr_array(([0.1, 5.0, 1.0], ([0, 0, 1], [3, 12, 2])), shape=(3, 16))
    E = clf.embedding_
    mean = np.stack([(E[3] + E[12]) / 2, E[2], np.zeros(8)])
    scaled = (mean - E.mean(axis=0)) / E.std(axis=0)
    logit = scaled @ clf._model.coef_[0] + clf._model.intercept_[0]
    found = clf.predict_proba(X[:3], edges=edges)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-logit)), atol=1e-5)
    np.testing.assert_allclose(found[1], clf.label_distributions_[2], atol=1e-6)
    assert edges.data.tolist() == [0.1, 5.0, 1.0]


def test_without_gensim_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match=r"DeepWalk needs gensim: pip install 'glcn\[baselines\]'"):
        small().fit(X, LABELS, graph=cliques())
