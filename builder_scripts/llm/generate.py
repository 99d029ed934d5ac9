"""The one way from questions to answers: what is in the store is taken from it, the rest is asked and kept."""

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

# Seconds for which answers that are on their way are awaited after Ctrl-C.
GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# The reason why the response to the request at a place is of no use; None where it can be used.
Judge = Callable[[int, Response], str | None]
# Told of a response, of why it is of no use, and of how many there will be.
Watch = Callable[[Response, str | None, int], None]


class Backend(Protocol):
    """Something that answers: a server, a model in this process, files that go to a cluster and come back."""

    @property
    def model(self) -> Model:
        """Who answers."""

    def answer(self, requests: Mapping[str, Request], stop: Stop) -> Iterable[tuple[str, Response]]:
        """Answer every request, in any order, each as soon as it is there.

        Args:
            requests: By key.
            stop: The wish of the user to stop; what is on its way has the time of grace.

        Yields:
            Key and response; a request that failed has a response without an answer. Of several responses to one
            request, the first usable one counts. After a stop, some are missing.

        Raises:
            UnansweredError: Nothing can be answered before the user has acted; what was yielded is kept.
        """


class Answers(Protocol):
    """Where answers come from: a store, and a backend for what it lacks."""

    def recall(self, requests: Sequence[Request], judge: Judge) -> None:
        """Look requests up in the store, failures included, and judge the responses that are there."""

    def generate(self, requests: Sequence[Request], judge: Judge) -> list[Response]:
        """Answer requests; see `generate`."""

    def leave(self, requests: Sequence[Request]) -> None:
        """Take note of requests that failed and that the next run will ask again."""


def no_reader(_: int, response: Response) -> str | None:
    """Judge a response that nothing reads: it is of no use where no answer came, or a part of one."""
    return None if response.finish == "stop" else response.finish or "no answer"


def generate(
    requests: Sequence[Request],
    backend: Backend,
    cache: AnswerCache,
    judge: Judge = no_reader,
    watch: Watch = lambda *_: None,
    stop: Stop | None = None,
) -> list[Response]:
    """Answer requests: each distinct one until it is answered, then never again.

    Args:
        requests: The questions; repeats are asked once.
        backend: Who is asked what the store lacks.
        cache: Where answers are kept as they come, and failures as failures.
        judge: Reads responses; told of every place once its response is there.
        watch: Told of the response to every distinct request.
        stop: The wish of the user to stop.

    Returns:
        One response per request, in their order.

    Raises:
        UnansweredError: See `Backend.answer`. Requests that failed before stay failures instead: they were asked
            once more in vain.
        KeyboardInterrupt: The user stopped it; the answers that came until then are kept.
    """
    stop = stop or Stop()
    keys = [content_key(request, backend.model) for request in requests]
    places: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    responses: dict[str, Response] = {}
    usable: set[str] = set()

    def settle(key: str, response: Response) -> str | None:
        failure = next(filter(None, [judge(place, response) for place in places[key]]), None)
        responses[key] = response
        if failure is None:
            usable.add(key)
        return failure

    for key, (place, *_) in places.items():
        kept = cache.get(key)
        if kept is None:
            continue
        if failure := settle(key, kept):  # stores of earlier versions hold failures as answers
            cache.add(key, backend.model, requests[place], kept, failure)
        else:
            watch(kept, None, len(places))
    unanswered = {key: requests[at[0]] for key, at in places.items() if key not in usable}
    if unanswered:
        try:
            for key, response in backend.answer(unanswered, stop):
                if key not in usable:
                    failure = settle(key, response)
                    cache.add(key, backend.model, unanswered[key], response, failure)
                    watch(response, failure, len(places))
        except UnansweredError as error:
            again = [key for key in unanswered if key not in responses]
            if any(key not in cache.failures for key in again):
                raise
            for key in again:
                response = no_answer(str(error))
                watch(response, settle(key, response), len(places))
    if stop.is_asked or any(key not in responses for key in places):
        raise KeyboardInterrupt
    return [responses[key] for key in keys]


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
