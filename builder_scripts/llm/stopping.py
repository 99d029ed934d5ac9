"""A stage that ends before its end: by Ctrl-C, after a time of grace for answers on their way, or by its own rules."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Seconds for which answers that are on their way are awaited after Ctrl-C.
GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedError(Exception):
    """A stage stopped, and the next one must not start.

    Attributes:
        exit_code: Of the command: 1 for too many failures, 128 and the number of the signal for Ctrl-C and the like.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Stop:
    """The wish of the user to stop, as a backend looks at it.

    Attributes:
        signal: The number of the signal; None as long as there was none.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._over_at = float("inf")

    def ask(self, number: int, _: FrameType | None = None) -> None:
        """Take a signal; a second one ends the process at once."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal, self._over_at = number, time.monotonic() + GRACE_S

    @property
    def is_asked(self) -> bool:
        """Begin nothing new."""
        return self.signal is not None

    @property
    def is_over(self) -> bool:
        """Wait no longer."""
        return time.monotonic() >= self._over_at


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Turn Ctrl-C and SIGTERM into a `Stop` while the block runs; outside of the main thread they stay as they are."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.ask) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
