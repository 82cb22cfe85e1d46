import time
from importlib.util import find_spec

import pytest

from glcn import GLCNClassifier
from glcn.kernels import stopwatch
from glcn.kernels.stopwatch import Stopwatch, running, stage
from glcn.training import profiled
from glcn.training.profile import REST


@pytest.mark.parametrize(
    ("variant", "stages"),
    [
        ("plus", {"neighbour search", "head start", "projection", "score", "convolution"}),
        ("closeness", {"neighbour search", "projection", "score", "softmax", "convolution", "graph loss"}),
    ],
)
def test_the_stages_of_a_fit_add_up(blobs, variant, stages):
    X, _, few = blobs
    with profiled() as profile:
        GLCNClassifier(variant, max_epochs=20, fixed_epochs=20, validation_fraction=0.3, random_state=0).fit(X, few)
    assert stages | {"backward", "optimiser", "evaluation", REST} <= profile.seconds.keys()
    assert sum(profile.seconds.values()) == pytest.approx(profile.total)
    assert all(seconds >= 0 for seconds in profile.seconds.values())
    assert len(profile.kernels) == 2
    assert all(find_spec(f"glcn.kernels.{share.kernel}") for share in profile.kernels)
    assert all(share.of_bandwidth > 0 and share.of_arithmetic > 0 for share in profile.kernels)
    assert profile.to_dict()["seconds"].keys() == profile.seconds.keys()
    assert not stopwatch.is_running()


def test_a_stage_counts_without_those_inside_it():
    with running(Stopwatch()) as watch, stage("outer"):
        time.sleep(0.01)
        with stage("inner"):
            time.sleep(0.05)
    assert watch.seconds["inner"] > 0.045
    assert 0.005 < watch.seconds["outer"] < 0.045


def test_what_happens_in_a_backward_pass_belongs_to_it():
    with running(Stopwatch()) as watch, stage("backward"), stage("score"):
        time.sleep(0.01)
    assert watch.seconds.keys() == {"backward"}


def test_one_at_a_time_and_none_after_an_error():
    with running(Stopwatch()), pytest.raises(RuntimeError, match="running already"), running(Stopwatch()):
        pass
    with pytest.raises(KeyError), running(Stopwatch()):
        raise KeyError
    assert not stopwatch.is_running()
