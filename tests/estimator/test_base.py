import numpy as np
import pytest

from glcn import GLCNClassifier
from glcn.baselines import LabelPropagation, LogisticClassifier

CHEAP = [GLCNClassifier(fixed_epochs=3, random_state=0), LabelPropagation(), LogisticClassifier()]


@pytest.fixture(params=CHEAP, ids=lambda clf: type(clf).__name__)
def clf(request, blobs):
    X, _, few = blobs
    return request.param.fit(X, few)


@pytest.mark.filterwarnings("ignore::glcn.exceptions.GraphCollapseWarning")
class TestARefusedFit:
    def test_leaves_the_number_of_features_as_it_was(self, clf, blobs):
        X, *_ = blobs
        before = clf.predict_proba(X[:4])
        with pytest.raises(ValueError, match="no label"):
            clf.fit(X[:, :3], np.full(90, -1))
        assert clf.n_features_in_ == 5
        assert np.array_equal(clf.predict_proba(X[:4]), before)

    def test_leaves_the_number_of_neighbours_as_it_was(self, blobs):
        X, _, few = blobs
        clf = LabelPropagation(n_neighbors=5).fit(X, few)
        before = clf.predict_proba(X[:4])
        with pytest.raises(ValueError, match="n_neighbors"):
            clf.set_params(n_neighbors=90).fit(X, few)
        assert np.array_equal(clf.predict_proba(X[:4]), before)


def test_names_of_features_go_when_a_fit_has_none(blobs):
    import pandas as pd

    X, _, few = blobs
    clf = LogisticClassifier().fit(pd.DataFrame(X, columns=list("abcde")), few)
    assert clf.feature_names_in_.tolist() == list("abcde")
    assert not hasattr(clf.fit(X, few), "feature_names_in_")
