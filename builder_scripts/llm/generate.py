"""Answers to requests: from the cache, or from a backend and then stored. Also the handling of Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from .answer_cache import AnswerCache
from .request import Model, Request, Response, UnansweredError, content_key, no_answer

# Seconds to wait for requests in flight after Ctrl-C.
GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Returns the reason why the response to the request at a position cannot be used, or None.
Judge = Callable[[int, Response], str | None]
# Receives a response, the reason why it cannot be used, and the total number of responses.
Watch = Callable[[Response, str | None, int], None]


class Backend(Protocol):
    """Source of answers: a server, a model in this process, or batch files."""

    @property
    def model(self) -> Model:
        """The model that answers."""

    def answer(self, requests: Mapping[str, Request], stop: Stop) -> Iterable[tuple[str, Response]]:
        """Answer every request, in any order.

        Args:
            requests: Requests by key.
            stop: Signal to stop. Requests in flight may still finish within `GRACE_S`.

        Yields:
            Key and response, as they arrive. A failed request has a response without an answer. Of several responses
            to one request, the first usable one counts. After a stop, some are missing.

        Raises:
            UnansweredError: The user must act first. Earlier responses are kept.
        """


class Answers(Protocol):
    """Source of answers: a cache, and a backend for all other requests."""

    def recall(self, requests: Sequence[Request], judge: Judge) -> None:
        """Look up requests in the cache, failures included, and judge the responses."""

    def generate(self, requests: Sequence[Request], judge: Judge) -> list[Response]:
        """Answer requests; see `generate`."""

    def leave(self, requests: Sequence[Request]) -> None:
        """Record failed requests, which the next run asks again."""


def no_reader(_: int, response: Response) -> str | None:
    """Judge a response without reading it. It cannot be used if the answer is missing or cut."""
    return None if response.finish == "stop" else response.finish or "no answer"


def generate(
    requests: Sequence[Request],
    backend: Backend,
    cache: AnswerCache,
    judge: Judge = no_reader,
    watch: Watch = lambda *_: None,
    stop: Stop | None = None,
) -> list[Response]:
    """Answer requests. Each distinct request is asked until it has an answer, and never again.

    Args:
        requests: The requests. Repeated ones are asked once.
        backend: Source of the answers that the cache lacks.
        cache: Stores answers and failures as they arrive.
        judge: Reads the response of every position.
        watch: Receives the response to every distinct request.
        stop: Signal to stop.

    Returns:
        One response per request, in their order.

    Raises:
        UnansweredError: See `Backend.answer`. Requests that failed in an earlier run do not raise it. They stay
            failures.
        KeyboardInterrupt: The user stopped the command. Earlier answers are kept.
    """
    stop = stop or Stop()
    keys = [content_key(request, backend.model) for request in requests]
    positions: dict[str, list[int]] = {}
    for position, key in enumerate(keys):
        positions.setdefault(key, []).append(position)
    responses: dict[str, Response] = {}
    usable: set[str] = set()

    def judge_all(key: str, response: Response) -> str | None:
        failure = next(filter(None, [judge(position, response) for position in positions[key]]), None)
        responses[key] = response
        if failure is None:
            usable.add(key)
        return failure

    for key, (position, *_) in positions.items():
        cached = cache.get(key)
        if cached is None:
            continue
        if failure := judge_all(key, cached):  # caches of earlier versions hold failures as answers
            cache.add(key, backend.model, requests[position], cached, failure)
        else:
            watch(cached, None, len(positions))
    unanswered = {key: requests[at[0]] for key, at in positions.items() if key not in usable}
    if unanswered:
        try:
            for key, response in backend.answer(unanswered, stop):
                if key not in usable:
                    failure = judge_all(key, response)
                    cache.add(key, backend.model, unanswered[key], response, failure)
                    watch(response, failure, len(positions))
        except UnansweredError as error:
            again = [key for key in unanswered if key not in responses]
            if any(key not in cache.failures for key in again):
                raise
            for key in again:
                response = no_answer(str(error))
                watch(response, judge_all(key, response), len(positions))
    if stop.is_asked or any(key not in responses for key in positions):
        raise KeyboardInterrupt
    return [responses[key] for key in keys]


class Stop:
    """Signal to stop, for backends.

    Attributes:
        signal: Number of the signal. None before the first signal.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._over_at = float("inf")

    def ask(self, number: int, _: FrameType | None = None) -> None:
        """Handle a signal. A second one ends the process at once."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal, self._over_at = number, time.monotonic() + GRACE_S

    @property
    def is_asked(self) -> bool:
        """True if no new request may start."""
        return self.signal is not None

    @property
    def is_over(self) -> bool:
        """True if the time for requests in flight is over."""
        return time.monotonic() >= self._over_at


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Turn Ctrl-C and SIGTERM into a `Stop` during the block. Outside of the main thread they stay as they are."""
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
