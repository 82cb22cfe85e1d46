import numpy as np
import pytest
from scipy import sparse

from glcn import GLCNClassifier
from glcn.estimator.attachment import given_in_batches

pytestmark = pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")


def weighted(n, random):
    A = sparse.random_array((n, n), density=0.06, rng=random)
    A = A + A.T
    A.setdiag(0)
    A.eliminate_zeros()
    return sparse.csr_array(A)


@pytest.fixture(params=["plus", "plus with weights", "closeness", "all pairs"])
def fitted(request, blobs, random, monkeypatch):
    X, y, few = blobs
    few[y == 2] = np.where(np.arange((y == 2).sum()) < 3, 2, -1)
    monkeypatch.setattr("glcn.estimator.assembling.PAIRS_STORED", 50)
    graph = {"plus with weights": weighted(len(X), random), "all pairs": "complete"}.get(request.param)
    variant = "closeness" if request.param in ("closeness", "all pairs") else "plus"
    clf = GLCNClassifier(variant, fixed_epochs=30, validation_fraction=0.0, random_state=0)
    return clf.fit(X, few, graph=graph), X, few, graph


def test_the_answer_that_is_explained_is_the_one_that_was_given(fitted):
    clf, _, few, _ = fitted
    rows = np.flatnonzero(few < 0)[:25]
    for row, why in zip(rows, clf.explain(rows), strict=True):
        assert why.row == row
        np.testing.assert_allclose(
            [why.probabilities[label] for label in clf.classes_.tolist()], clf.label_distributions_[row], atol=2e-5
        )
        assert why.label == clf.transduction_[row]
        assert why.probability == pytest.approx(clf.label_distributions_[row].max(), abs=2e-5)


def test_what_came_through_a_neighbour_is_what_is_lost_without_it(fitted):
    clf, X, few, graph = fitted
    row = int(np.flatnonzero(few < 0)[4])
    (why,) = clf.explain(row, top=50)
    best = clf.classes_.tolist().index(why.label)
    S = clf.graph_.toarray()[row]
    joined = np.ones(len(X), bool) if isinstance(graph, str) else S > 0
    neighbors = np.flatnonzero(joined & (np.arange(len(X)) != row))
    weights = np.ones(len(X)) if graph is None or isinstance(graph, str) else graph.toarray()[row]

    def without_some(some):  # neighbours that were added have a weight of 0
        kept = np.setdiff1d(neighbors, some)
        edges = sparse.csr_array((weights[kept].astype(np.float32), kept, [0, len(kept)]), shape=(1, len(X)))
        return clf._probabilities(X[[row]], given_in_batches(edges))[0]

    for evidence in why.neighbors[:5]:
        without = without_some([evidence.row])[best]
        assert evidence.probability_through == pytest.approx(why.probability - without, abs=1e-6)
        assert evidence.weight == pytest.approx(S[evidence.row], abs=1e-6)
        assert evidence.label == (None if few[evidence.row] < 0 else few[evidence.row])
        assert evidence.predicted == clf.transduction_[evidence.row]
    through = [evidence.probability_through for evidence in why.neighbors]
    assert through == sorted(through, reverse=True)
    assert why.probability_without_strongest == pytest.approx(why.probability - through[0], abs=1e-6)
    nobody = without_some(neighbors)
    assert why.probability_alone == pytest.approx(nobody[best], abs=1e-6)
    assert why.label_alone == clf.classes_[nobody.argmax()]
    assert why.own_weight == pytest.approx(S[row], abs=1e-6)


def test_the_words_name_the_strongest_and_the_answer(fitted):
    clf, _, few, _ = fitted
    (why,) = clf.explain(int(np.flatnonzero(few < 0)[4]))
    words = why.describe(lambda row: f"flower {row}")
    assert words.startswith(f"flower {why.row} is {why.label} with probability")
    assert f"through flower {why.neighbors[0].row} " in words


def test_a_row_without_neighbours(blobs):
    X, _, few = blobs
    row = int(np.flatnonzero(few < 0)[0])
    A = sparse.lil_array((len(X), len(X)))
    others = np.delete(np.arange(len(X)), row)
    A[others[:-1], others[1:]] = A[others[1:], others[:-1]] = 1
    clf = GLCNClassifier(fixed_epochs=5, added_neighbors=0, random_state=0).fit(X, few, graph=A.tocsr())
    (why,) = clf.explain(row)
    assert why.neighbors == ()
    assert why.own_weight == pytest.approx(1)
    assert "its own features decided" in why.describe()


@pytest.mark.parametrize(
    ("rows", "message"), [(1000, "rows 0 to"), (-1, "rows 0 to"), ("a", "whole numbers"), ([0.5], "whole")]
)
def test_rows_that_are_not_there(blobs, rows, message):
    X, _, few = blobs
    clf = GLCNClassifier(fixed_epochs=2, random_state=0).fit(X, few)
    with pytest.raises(ValueError, match=message):
        clf.explain(rows)


@pytest.mark.parametrize("variant", ["plus", "closeness"])
@pytest.mark.parametrize("compact", [False, True])
def test_features_that_tell_the_classes_weigh_more_than_noise(random, variant, compact):
    y = np.arange(240) % 2
    X = random.normal(size=(240, 6))
    X[:, 2] += 6 * y
    X[:, 5] = 7.0  # constant
    few = np.where(random.random(240) < 0.2, y, -1)
    clf = GLCNClassifier(variant, fixed_epochs=60, random_state=0)
    weights = clf.fit(sparse.csr_matrix(X) if compact else X, few).feature_weights()
    assert weights.sum() == pytest.approx(1)
    if variant == "plus":
        assert weights.argmax() == 2
    else:
        layer = clf.model_.graph_learning
        literal = (layer.projection.abs() @ layer.attention.abs()).detach().numpy() * X.std(axis=0)
        np.testing.assert_allclose(weights, literal / literal.sum(), rtol=1e-4, atol=1e-7)
    assert weights[5] == pytest.approx(0, abs=1e-9)
