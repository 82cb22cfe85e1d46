"""Ctrl-C that waits until a piece of work is done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class HeldInterrupt:
    """Whether Ctrl-C was pressed while it was held back."""

    pressed = False

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.pressed = True


@contextmanager
def held_interrupts() -> Iterator[HeldInterrupt]:
    """Hold Ctrl-C back; whoever asks for it looks at ``pressed`` afterwards. Other threads never get it anyway."""
    held = HeldInterrupt()
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    before = signal.signal(signal.SIGINT, held._hear)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, before)
