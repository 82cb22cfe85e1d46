import os
import signal
import threading

import numpy as np
import pytest

from glcn import GLCNClassifier
from glcn.exceptions import TrainingInterruptedWarning
from glcn.interrupts import held_interrupts


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_it_waits_and_is_told():
    with held_interrupts() as held:
        press()
        assert held.pressed
    with held_interrupts() as held:
        pass
    assert not held.pressed
    with pytest.raises(KeyboardInterrupt):
        press()


def test_errors_pass_and_give_it_back():
    with pytest.raises(ValueError, match="x"), held_interrupts():
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_has_nothing_to_hold():
    seen = []

    def work():
        with held_interrupts() as held:
            seen.append(held.pressed)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


def test_a_fit_that_is_interrupted_in_its_answer_is_whole(blobs, monkeypatch):
    X, _, few = blobs
    whole = GLCNClassifier(fixed_epochs=3, random_state=0).fit(X, few)
    read_off = GLCNClassifier._read_off

    def interrupted(self, *arguments):
        press()
        return read_off(self, *arguments)

    monkeypatch.setattr(GLCNClassifier, "_read_off", interrupted)
    with pytest.warns(TrainingInterruptedWarning):
        again = GLCNClassifier(fixed_epochs=3, random_state=0).fit(X, few)
    assert again.interrupted_
    np.testing.assert_array_equal(again.label_distributions_, whole.label_distributions_)
