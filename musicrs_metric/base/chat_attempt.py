"""One attempt at a chat completion: the reply, or an error that states whether another attempt may succeed."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .chat_reply import ChatReply, ReplyError, error_words, read_reply
from .chat_server import ChatServer
from .secret import Secret

if TYPE_CHECKING:
    import httpx2
    import openai

Messages = Sequence[Mapping[str, Any]]

# With these statuses, as with 5xx, another attempt may succeed. Any other status would come again.
PASSING = (408, 409, 425, 429)
# Codes of status 429 that do not pass with time.
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
LARGEST = 32 * 2**20  # bytes of a reply
_SEARCHED = 100_000  # bytes of a page in which words are looked for


class AttemptError(Exception):
    """An attempt without an answer. It states whether another attempt may succeed, and when."""

    def __init__(
        self,
        message: str,
        status: int | None = None,
        *,
        is_passing: bool = False,
        wait_s: float | None = None,
        named: str = "",
        code: str = "",
    ) -> None:
        super().__init__(message)
        self.status, self.is_passing, self.wait_s, self.named, self.code = status, is_passing, wait_s, named, code


def attempt(client: openai.OpenAI, server: ChatServer, messages: Messages, fields: Mapping[str, Any]) -> ChatReply:
    """Send a request once.

    Args:
        client: From `make_client`.
        server: The server.
        messages: The messages.
        fields: What else the request holds.

    Raises:
        AttemptError: No answer came.
    """
    body = {**fields, **server.extra_body}
    stream = client.chat.completions.with_streaming_response

    def send() -> tuple[bytes, float | None]:
        with stream.create(model=server.model, messages=list(messages), extra_body=body) as raw:  # type: ignore[arg-type]
            return _read(raw.iter_bytes(), server.timeout_s), _retry_after(raw.headers)

    sent = _send(server, send)
    return sent if isinstance(sent, ChatReply) else _reading(*sent, server.secret)


def attempt_post(client: openai.OpenAI, server: ChatServer, path: str, body: Mapping[str, Any]) -> Any:
    """Send a request to another endpoint once, such as /embeddings.

    Args:
        client: From `make_client`.
        server: The server.
        path: Path below the URL of the server.
        body: The request.

    Returns:
        The JSON of the reply.

    Raises:
        AttemptError: No JSON came.
    """
    import httpx2

    def send() -> tuple[bytes, float | None]:
        raw = client.post(path, body={**body, **server.extra_body}, cast_to=httpx2.Response)
        return _read(iter([raw.content]), server.timeout_s), _retry_after(raw.headers)

    sent = _send(server, send)
    if isinstance(sent, ChatReply):
        raise AttemptError(f"{path} replied as a chat does")
    try:
        return json.loads(sent[0])
    except (ValueError, RecursionError):
        found = server.secret.words(error_words(sent[0][:_SEARCHED].decode(errors="replace"))) or "nothing"
        raise AttemptError(f"no JSON came but {found}", is_passing=True, wait_s=sent[1]) from None


def _send(server: ChatServer, send: Callable[[], tuple[bytes, float | None]]) -> tuple[bytes, float | None] | ChatReply:
    """Send a request, and turn every failure of the connection into an `AttemptError`."""
    import httpx2
    import openai

    words = server.secret.words
    try:
        return send()
    except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError):
        raise AttemptError(f"no answer within {server.timeout_s:g} s", is_passing=True) from None
    except openai.APIStatusError as error:
        return _refused(error, server.secret)
    except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError) as error:
        raise AttemptError(f"no connection ({words(error.__cause__ or error)})", is_passing=True) from None
    except openai.OpenAIError as error:
        raise AttemptError(f"no chat completion came: {words(error)}", is_passing=True) from None
    except (httpx2.InvalidURL, ValueError, TypeError, RecursionError) as error:
        raise AttemptError(f"the request cannot be sent: {words(error)}") from None


def _read(chunks: Iterator[bytes], timeout_s: float) -> bytes:
    """A whole body, in the time of one attempt."""
    deadline = time.monotonic() + timeout_s
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > LARGEST:
            raise AttemptError(f"the reply is larger than {LARGEST // 2**20} MB")
        if time.monotonic() > deadline:  # a server that sends a byte now and then
            raise TimeoutError
    return bytes(data)


def _reading(data: bytes, wait_s: float | None, secret: Secret) -> ChatReply:
    """The reply in a body of status 200."""
    try:
        return _without_key(read_reply(json.loads(data)), secret)
    except ReplyError as error:
        if _is_spent_budget(str(error)):
            return ChatReply("", "cut")
        passing = error.status is None or passes(error.status)
        raise AttemptError(
            secret.words(error), error.status, is_passing=passing, wait_s=wait_s, named=str(error)
        ) from None
    except (ValueError, RecursionError):  # no JSON, or a bottomless one
        text = data[:_SEARCHED].decode(errors="replace")
        kind = "a stream of events" if text.lstrip().startswith(("data:", "event:")) else "no JSON"
        found = secret.words(error_words(text)) or "nothing"
        raise AttemptError(f"no chat completion came but {kind}: {found}", is_passing=True, wait_s=wait_s) from None


def _refused(error: openai.APIStatusError, secret: Secret) -> ChatReply:
    """The failure that a status from 400 is; or the reply that it stands for."""
    status, code = error.status_code, str(error.code)
    words = error_words(error.body) or error_words(error.response.text[:_SEARCHED]) or "no reason is given"
    if _is_spent_budget(words):
        return ChatReply("", "cut")
    raise AttemptError(
        f"status {status}: {secret.words(words)}",
        status,
        is_passing=passes(status) and code not in NO_CREDIT,
        wait_s=_retry_after(error.response.headers),
        named=error.param if isinstance(error.param, str) and error.param else words,
        code=code,
    ) from None


def passes(status: int) -> bool:
    """Check whether the same request may have an answer later."""
    return status >= 500 or status in PASSING


def _is_spent_budget(words: str) -> bool:
    """Check whether a refusal says that the model used up the budget without an answer: reasoning models do so."""
    lowered = words.lower()
    return "could not finish the message" in lowered or "model output limit was reached" in lowered


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds that the server asks to wait; None where it does not say, or says nonsense."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if seconds > 0 else None
    try:
        moment = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    seconds = moment.timestamp() - time.time()
    return seconds if seconds > 0 else None


def _without_key(reply: ChatReply, secret: Secret) -> ChatReply:
    """The reply of a server that repeats the key: nothing of it is written to a file."""
    key = secret.value
    if len(key) < 8 or not any(key in text for text in (reply.text, reply.reasoning, reply.model or "")):
        return reply
    model = reply.model and reply.model.replace(key, "***")
    text, reasoning = reply.text.replace(key, "***"), reply.reasoning.replace(key, "***")
    return ChatReply(text, reply.finish, reasoning, reply.usage, model, reply.finish_reason)
