"""Model on an OpenAI-compatible server: vLLM, SGLang, llama.cpp, `transformers serve` or a hosted one.

`musicrs_metric.base.chat` sends the requests and waits between attempts. The first request is sent alone. It shows
which fields the server refuses.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from musicrs_metric.base.chat import PASSING, Chat, ChatError, ChatReply, ChatServer, Messages
from musicrs_metric.base.chat_reply import ReplyError, read_reply
from musicrs_metric.errors import UserError

from .generate import Stop
from .request import Finish, Model, Request, Response, UnansweredError, no_answer

__all__ = ["PASSING", "PATIENCE", "Server", "body", "response_of"]

# Requests in a row without an answer, refused ones included, after which the stage stops.
PATIENCE = 20
# First requests that fail with the same message: each was tried with and without every field.
FIRST_PATIENCE = 5
_LOOK_S = 0.1  # between two looks at the clock while waiting
_FINISH: dict[str, Finish] = {"whole": "stop", "cut": "length", "withheld": "filtered"}
T = TypeVar("T")


@dataclass(frozen=True)
class Server:
    """Server with OpenAI's chat completions.

    Attributes:
        model: The model.
        url: URL of the server, with `/v1` at its end.
        key_variable: Environment variable that holds the key.
        concurrency: Requests in flight.
        timeout_s: Largest duration of one attempt, in seconds.
        retries: Attempts after the first.

    Raises:
        UserError: The URL is malformed or holds a secret, or the key is malformed.
    """

    model: Model
    url: str = "http://127.0.0.1:8000/v1"
    key_variable: str = "MUSICRS_LLM_KEY"
    concurrency: int = 32
    timeout_s: float = 300.0
    retries: int = 6

    def __post_init__(self) -> None:
        self._server()

    def answer(self, requests: Mapping[str, Request], stop: Stop | None = None) -> Iterator[tuple[str, Response]]:
        """See `Backend.answer`.

        Raises:
            UnansweredError: The model is unknown, the key is refused, or many requests have no answer.
        """
        failures = 0
        try:
            for key, response in self._responses(requests, stop or Stop()):
                yield key, response
                failures = failures + 1 if response.finish is None else 0
                if failures >= PATIENCE:
                    raise self._given_up(f"{failures} requests in a row got no answer, at last: {response.error}")
        except UserError as error:
            raise UnansweredError(str(error)) from error

    def _given_up(self, reason: str) -> UnansweredError:
        return UnansweredError(
            f"{self.url}: {reason}; answers so far are kept, run again when the server or the option that it names is "
            "right"
        )

    def _responses(self, requests: Mapping[str, Request], stop: Stop) -> Iterator[tuple[str, Response]]:
        """Ask one by one until the form of the requests is known, then ask the others at the same time."""
        chat, waiting = Chat(self._server()), dict(requests)
        errors: Counter[str | None] = Counter()
        for key in requests:
            if chat.is_learned or stop.is_asked:
                break
            for _, response in answer_each(partial(self._ask, chat.learn), {key: waiting.pop(key)}, 1, stop):
                yield key, response
                errors[response.error] += 1
                if not chat.is_learned and errors[response.error] >= FIRST_PATIENCE:
                    raise self._given_up(f"the first {errors.total()} requests got no answer: {response.error}")
        # The client is not closed: requests that a stop leaves behind still hold it.
        yield from answer_each(partial(self._ask, chat.ask), waiting, self.concurrency, stop)

    def _ask(self, ask: Callable[[Messages, Mapping[str, Any]], ChatReply], request: Request) -> Response:
        messages = [{"role": "user", "content": request.prompt}]
        try:
            return _response(ask(messages, _fields(request, self.model)))
        except ChatError as error:
            return no_answer(str(error))

    def _server(self) -> ChatServer:
        return ChatServer(
            url=self.url, model=self.model.name, key_variable=self.key_variable, timeout_s=self.timeout_s,
            retries=self.retries, extra_body=self.model.further_fields, url_option="--url", model_option="--model",
        )  # fmt: skip


def body(request: Request, model: Model) -> dict[str, Any]:
    """Return the body of a chat completion request, for batch files."""
    fields = _fields(request, model) | model.further_fields
    return {"model": model.name, "messages": [{"role": "user", "content": request.prompt}], **fields}


def response_of(completion: Any) -> Response:
    """Read a chat completion.

    Args:
        completion: Any JSON value from the server.

    Returns:
        The first choice, or a response without an answer.
    """
    try:
        return _response(read_reply(completion))
    except ReplyError as error:
        return no_answer(str(error))


def _fields(request: Request, model: Model) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": request.schema}
    return {
        "response_format": {"type": "json_schema", "json_schema": schema},
        "max_tokens": request.parameters.max_tokens + model.thinking_tokens,
        "temperature": request.parameters.temperature,
        "top_p": request.parameters.top_p,
        "seed": request.parameters.seed,
    }


def _response(reply: ChatReply) -> Response:
    return Response(reply.text, _FINISH[reply.finish], reply.usage.prompt or 0, reply.usage.written)


class _Done(NamedTuple):
    """Result of one request, or its exception."""

    key: str
    result: object
    error: BaseException | None


def answer_each(
    ask: Callable[[Request], T], requests: Mapping[str, Request], at_once: int, stop: Stop
) -> Iterator[tuple[str, T]]:
    """Ask each request in one of several threads.

    Args:
        ask: Answers one request.
        requests: Requests by key.
        at_once: Largest number of requests in flight.
        stop: Signal to stop. No further request starts, and requests in flight may finish within `GRACE_S`.

    Yields:
        Key and result, as they arrive. After a stop, some are missing.

    Raises:
        Exception: An exception of `ask`.
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
