"""A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, `transformers serve` or a hosted one.

`musicrs_metric.base.chat` does the talking and the waiting. The first request is asked alone: it finds out which fields
the server refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, NamedTuple

from musicrs_metric.base.chat import PASSING, Chat, ChatError, ChatReply, ChatServer
from musicrs_metric.base.chat_reply import ReplyError, read_reply
from musicrs_metric.errors import UserError

from .request import Finish, Model, Request, Response, no_answer

__all__ = ["PASSING", "PATIENCE", "Server", "body", "response_of"]

# So many failures in a row that the server, not the question, is to blame for: there is no use in going on.
PATIENCE = 20
_FINISH: dict[str, Finish] = {"whole": "stop", "cut": "length", "withheld": "filtered"}


class _Attempt(NamedTuple):
    """A response, and whether the server failed rather than refuse this one question."""

    response: Response
    is_down: bool


@dataclass(frozen=True)
class Server:
    """A server that speaks the chat completions of OpenAI.

    Attributes:
        model: What it is to serve.
        url: Up to and with `/v1`.
        key_variable: Environment variable that holds the key.
        concurrency: Requests in flight.
        timeout_s: How long one attempt may take, in seconds.
        retries: Further attempts after the first.

    Raises:
        UserError: The URL is malformed or holds a secret, or the key cannot be one.
    """

    model: Model
    url: str = "http://127.0.0.1:8000/v1"
    key_variable: str = "MUSICRS_LLM_KEY"
    concurrency: int = 32
    timeout_s: float = 300.0
    retries: int = 6

    def __post_init__(self) -> None:
        self._server()

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Response]]:
        """See `Backend.answer`.

        Raises:
            UserError: No such model, a refused key, or only failures for a while.
        """
        failures = 0
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            with Chat(self._server()) as chat:
                for key, (response, is_down) in _attempts(chat, requests, pool):
                    failures = failures + 1 if is_down else 0
                    if failures >= PATIENCE:
                        raise UserError(
                            f"{self.url}: {failures} requests in a row got no answer, at last: "
                            f"{response.error}; answers so far are kept, run again when the server is well"
                        )
                    yield key, response
        finally:
            pool.shutdown(cancel_futures=True)

    def _server(self) -> ChatServer:
        return ChatServer(
            url=self.url, model=self.model.name, key_variable=self.key_variable, timeout_s=self.timeout_s,
            retries=self.retries, url_option="--url", model_option="--model",
        )  # fmt: skip


def _attempts(chat: Chat, requests: Mapping[str, Request], pool: ThreadPoolExecutor) -> Iterator[tuple[str, _Attempt]]:
    """Ask one by one until the form of the requests is learned, then all others at once."""
    waiting = dict(requests)
    for key in requests:
        if chat.is_learned:
            break
        yield key, _attempt(chat, waiting.pop(key), is_first=True)
    futures = {pool.submit(_attempt, chat, request): key for key, request in waiting.items()}
    yield from ((futures[future], future.result()) for future in as_completed(futures))


def _attempt(chat: Chat, request: Request, *, is_first: bool = False) -> _Attempt:
    messages = [{"role": "user", "content": request.prompt}]
    ask = chat.learn if is_first else chat.ask
    try:
        return _Attempt(_response(ask(messages, _fields(request))), is_down=False)
    except ChatError as error:
        return _Attempt(no_answer(str(error)), error.is_down)


def body(request: Request, model: Model) -> dict[str, Any]:
    """The body of a chat completion request, which batch files hold."""
    return {"model": model.name, "messages": [{"role": "user", "content": request.prompt}], **_fields(request)}


def response_of(completion: Any) -> Response:
    """Read a chat completion.

    Args:
        completion: What the server sent, as JSON types; anything at all.

    Returns:
        Its first choice; a response without an answer where there is none.
    """
    try:
        return _response(read_reply(completion))
    except ReplyError as error:
        return no_answer(str(error))


def _fields(request: Request) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": request.schema}
    return {
        "response_format": {"type": "json_schema", "json_schema": schema},
        "max_tokens": request.parameters.max_tokens,
        "temperature": request.parameters.temperature,
        "top_p": request.parameters.top_p,
        "seed": request.parameters.seed,
    }


def _response(reply: ChatReply) -> Response:
    return Response(reply.text, _FINISH[reply.finish], reply.usage.prompt or 0, reply.usage.written)
