"""Many requests in flight at once, in threads that never keep a process from ending."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from .request import Request
from .stopping import Stop

T = TypeVar("T")
_LOOK_S = 0.1  # between two looks at the clock while nothing comes


class _Done(NamedTuple):
    """What came of one request: a result, or what was raised."""

    key: str
    result: object
    error: BaseException | None


def answer_each(
    ask: Callable[[Request], T], requests: Mapping[str, Request], at_once: int, stop: Stop
) -> Iterator[tuple[str, T]]:
    """Ask each request in one of several threads.

    Args:
        ask: Answers one request.
        requests: By key.
        at_once: The most requests in flight.
        stop: After the wish to stop no further request begins, and those in flight have the time of grace.

    Yields:
        Key and result, as soon as it is there. After a stop, some are missing.

    Raises:
        Exception: Whatever `ask` raised.
    """
    waiting, done = deque(requests.items()), queue.SimpleQueue[_Done]()
    closed = threading.Event()

    def work() -> None:
        while not closed.is_set() and not stop.is_asked:
            try:
                key, request = waiting.popleft()
            except IndexError:
                return
            try:
                done.put(_Done(key, ask(request), None))
            except BaseException as error:  # raised again in the thread that waits
                done.put(_Done(key, None, error))

    # Daemons: a request may hang for minutes, and the end of the process must not wait for it.
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(at_once, len(requests)))]
    for thread in threads:
        thread.start()
    left = len(requests)
    try:
        while left:
            if stop.is_over or (stop.is_asked and done.empty() and not any(t.is_alive() for t in threads)):
                return
            try:
                key, result, error = done.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            left -= 1
            yield key, result  # type: ignore[misc]
    finally:
        closed.set()
