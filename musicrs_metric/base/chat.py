"""The one client of OpenAI-compatible servers: vLLM, SGLang, llama.cpp, Ollama, `transformers serve` or a hosted one.

    server = ChatServer(url="http://127.0.0.1:8000/v1", model="Qwen/Qwen3-8B", key_variable="MUSICRS_LLM_KEY")
    with Chat(server) as chat:
        chat.learn(first_messages, fields)         # once, before anything else, from one thread
        reply = chat.ask(messages, fields)         # from as many threads as there are requests in flight
        chat.form.to_dict()                        # for the run card or the manifest: what the server refuses

`fields` holds what a request has besides model and messages: the budget as "max_tokens", "temperature", "top_p",
"seed", "response_format". A server that refuses one of them is asked without it, see `chat_form`. `extra_body` of the
server goes with every request and is never left out.

Both calls return a `ChatReply` (text, finish "whole", "cut" or "withheld", reasoning, usage, model) or raise:

    ChatError   no answer came, also after waiting: one line without the key. `is_down`: the server failed, rather than
                this one request, so that many of them in a row should end the run.
    UserError   no request can be answered before the user has acted: key, model, URL, credit, a field of `extra_body`.

Waiting: timeouts, lost connections, 408, 409, 425, 429, 5xx, bodies that are no JSON, and errors in a reply of status
200 are tried again up to `retries` times, after `Retry-After` where the server sends it (up to two minutes), else after
0.5, 1, 2, ... up to 30 seconds, less up to a quarter at random. Tests shorten this with `FIRST_WAIT_S`.
"""

from __future__ import annotations

import email.utils
import json
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ..errors import UserError, show
from ..files import strict_json
from .chat_form import BUDGETS, FieldRefusedError, Form, learn_form, names_field
from .chat_reply import ChatReply, ReplyError, error_words, read_reply
from .secret import EXAMPLE_URL, Secret, check_url

if TYPE_CHECKING:
    from pathlib import Path

    import httpx2
    import openai

__all__ = ["BUDGETS", "EXAMPLE_URL", "Chat", "ChatError", "ChatReply", "ChatServer", "Form", "read_extra_body"]

Messages = Sequence[Mapping[str, Any]]

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
# A server that asks for a longer wait is not waited for.
LONGEST_RETRY_AFTER_S = 120.0
LARGEST = 32 * 2**20  # bytes of a reply
_SEARCHED = 100_000  # bytes of a page in which words are looked for
# Besides 5xx: statuses that say that the server is busy; any other would be said again.
PASSING = (408, 409, 425, 429)
_FIELD_REFUSED = (400, 422)
# What a run itself decides; no file of further fields may.
_RESERVED = {
    "model": "--model-name", "messages": "the protocol", "max_tokens": "--answer-tokens",
    "max_completion_tokens": "--answer-tokens", "stream": "this client", "n": "this client",
}  # fmt: skip


class ChatError(Exception):
    """A request that got no answer.

    Attributes:
        is_down: Whether the server failed, rather than refuse this one request.
    """

    def __init__(self, message: str, *, is_down: bool) -> None:
        super().__init__(message)
        self.is_down = is_down


@dataclass(frozen=True, kw_only=True)
class ChatServer:
    """A server that speaks OpenAI's chat completions.

    Attributes:
        url: Up to and with `/v1`.
        model: What the server calls the model.
        key_variable: Environment variable that holds the key. It is not OpenAI's own, so that a key for one service is
            never sent to another by mistake; where it is unset, the word "none" is sent.
        timeout_s: How long one attempt may take, in seconds.
        retries: Further attempts after the first.
        extra_body: Further fields of every request, such as those that switch thinking off.
        url_option: The option that holds the URL, for messages.
        model_option: The option that holds the model, for messages.

    Raises:
        UserError: The URL is malformed or holds a secret, or the key cannot be one.
    """

    url: str
    model: str
    key_variable: str = "MUSICRS_LLM_KEY"
    timeout_s: float = 600.0
    retries: int = 6
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    url_option: str = "--base-url"
    model_option: str = "--model-name"

    def __post_init__(self) -> None:
        check_url(self.url, self.url_option, self.key_variable)
        Secret(self.key_variable)

    @property
    def secret(self) -> Secret:
        """The key."""
        return Secret(self.key_variable)


class Chat:
    """A connection to a server; several threads may use it once the form is learned.

    Args:
        server: The server.

    Attributes:
        server: The server.
        form: The fields that the server takes; all of them until `learn` has asked.
        is_learned: Whether `learn` has found the form.
    """

    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self.form, self.is_learned = Form(), False
        self._client = _client(server)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def learn(self, messages: Messages, fields: Mapping[str, Any]) -> ChatReply:
        """Ask a first request of the form of the run, and find out which fields the server takes.

        Args:
            messages: A request like those of the run, with audio where they have audio.
            fields: See the module; `form` is learned for these.

        Returns:
            The answer.

        Raises:
            ChatError: No answer came, whatever fields were sent, and nothing is learned: this request may be too long.
            UserError: See the module.
        """
        replies: list[ChatReply] = []

        def send(form: Form) -> None:
            replies.append(self._send(messages, form.apply(fields), is_first=True))

        try:
            self.form = learn_form(fields, self.server.extra_body, send)
        except FieldRefusedError as refusal:
            hint = ""
            if self.server.extra_body:
                hint = f"; the fields {', '.join(self.server.extra_body)} of --extra-body were sent"
            raise ChatError(f"{refusal}{hint}", is_down=False) from None
        self.is_learned = True
        return replies[-1]

    def ask(self, messages: Messages, fields: Mapping[str, Any]) -> ChatReply:
        """Ask a request in the form that the server takes.

        Args:
            messages: The messages.
            fields: See the module.

        Raises:
            ChatError: No answer came.
            UserError: See the module.
        """
        try:
            return self._send(messages, self.form.apply(fields))
        except FieldRefusedError as refusal:
            raise ChatError(str(refusal), is_down=False) from None

    def _send(self, messages: Messages, fields: Mapping[str, Any], *, is_first: bool = False) -> ChatReply:
        """Try until there is an answer, a refusal, or no attempt left."""
        attempt = 0
        while True:
            try:
                return self._attempt(messages, fields)
            except _Failure as failure:
                if not failure.is_passing or attempt == self.server.retries:
                    self._give_up(failure, is_first)
                if failure.wait_s is not None and failure.wait_s > LONGEST_RETRY_AFTER_S:
                    asked = f"the server asks to wait for {failure.wait_s:.0f} s"
                    raise ChatError(f"{failure}; {asked}", is_down=True) from None
                wait_s = _backoff(attempt) if failure.wait_s is None else failure.wait_s
            time.sleep(wait_s)
            attempt += 1

    def _attempt(self, messages: Messages, fields: Mapping[str, Any]) -> ChatReply:
        import httpx2
        import openai

        body = {**fields, **self.server.extra_body}
        words = self.server.secret.words
        stream = self._client.chat.completions.with_streaming_response
        try:
            with stream.create(model=self.server.model, messages=list(messages), extra_body=body) as raw:  # type: ignore[arg-type]
                wait_s = _retry_after(raw.headers)
                data = self._read(raw.iter_bytes())
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError):
            raise _Failure(f"no answer within {self.server.timeout_s:g} s", is_passing=True) from None
        except openai.APIStatusError as error:
            return self._refused(error)
        except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError) as error:
            raise _Failure(f"no connection ({words(error.__cause__ or error)})", is_passing=True) from None
        except openai.OpenAIError as error:
            raise _Failure(f"no chat completion came: {words(error)}", is_passing=True) from None
        except (httpx2.InvalidURL, ValueError, TypeError, RecursionError) as error:
            raise _Failure(f"the request cannot be sent: {words(error)}") from None
        return self._reading(data, wait_s)

    def _read(self, chunks: Iterator[bytes]) -> bytes:
        """A whole body, in the time of one attempt."""
        deadline = time.monotonic() + self.server.timeout_s
        data = bytearray()
        for chunk in chunks:
            data += chunk
            if len(data) > LARGEST:
                raise _Failure(f"the reply is larger than {LARGEST // 2**20} MB")
            if time.monotonic() > deadline:  # a server that sends a byte now and then
                raise TimeoutError
        return bytes(data)

    def _reading(self, data: bytes, wait_s: float | None) -> ChatReply:
        """The reply in a body of status 200."""
        secret = self.server.secret
        try:
            return _without_key(read_reply(json.loads(data)), secret)
        except ReplyError as error:
            if is_spent_budget(str(error)):
                return ChatReply("", "cut")
            passing = error.status is None or _passes(error.status)
            raise _Failure(
                secret.words(error), error.status, is_passing=passing, wait_s=wait_s, named=str(error)
            ) from None
        except (ValueError, RecursionError):  # no JSON, or a bottomless one
            text = data[:_SEARCHED].decode(errors="replace")
            kind = "a stream of events" if text.lstrip().startswith(("data:", "event:")) else "no JSON"
            found = secret.words(error_words(text)) or "nothing"
            raise _Failure(f"no chat completion came but {kind}: {found}", is_passing=True, wait_s=wait_s) from None

    def _refused(self, error: openai.APIStatusError) -> ChatReply:
        """The failure that a status from 400 is; or the reply that it stands for."""
        status, code = error.status_code, str(error.code)
        words = error_words(error.body) or error_words(error.response.text[:_SEARCHED]) or "no reason is given"
        if is_spent_budget(words):
            return ChatReply("", "cut")
        raise _Failure(
            f"status {status}: {self.server.secret.words(words)}",
            status,
            is_passing=_passes(status) and code not in _NO_CREDIT,
            wait_s=_retry_after(error.response.headers),
            named=error.param if isinstance(error.param, str) and error.param else words,
            code=code,
        ) from None

    def _give_up(self, failure: _Failure, is_first: bool) -> NoReturn:
        server, status = self.server, failure.status
        if status == 401:
            state = "was refused" if server.secret.value else "is not set"
            raise UserError(f"{server.url}: {failure}; the key in ${server.key_variable} {state}") from None
        if status == 402 or failure.code in _NO_CREDIT:
            raise UserError(f"{server.url}: {failure}; the account of ${server.key_variable} has no credit") from None
        if status == 404:
            raise UserError(
                f"{server.url}: no model {show(server.model)} there ({failure}); name it with {server.model_option} as "
                f"the server does, and give {server.url_option} up to and with /v1"
            ) from None
        if status == 403:
            hint = f"check the key in ${server.key_variable} and what it allows"
            raise ChatError(f"{failure}; {hint}", is_down=False) from None
        # Some servers fail where a grammar is not for them: status 500, with the name of the field.
        by_field = is_first and status in (500, 501) and names_field(failure.named)
        if status in _FIELD_REFUSED or by_field:
            raise FieldRefusedError(str(failure), failure.named) from None
        times = f", {server.retries + 1} times" if failure.is_passing and server.retries else ""
        raise ChatError(f"{failure}{times}", is_down=failure.is_passing) from None


_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


class _Failure(Exception):
    """An attempt without an answer, and whether and when the next may have one."""

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


def read_extra_body(path: Path) -> dict[str, Any]:
    """Read the further fields of every request.

    Args:
        path: A JSON file that holds one object, such as `{"chat_template_kwargs": {"enable_thinking": false}}`.

    Raises:
        UserError: The file cannot be read, holds no JSON object, or a field that the run itself decides.
    """
    try:
        values = strict_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"--extra-body {path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"--extra-body {path}: expected a JSON file, found no JSON ({error})") from None
    if not isinstance(values, dict):
        raise UserError(f"--extra-body {path}: found {show(values)}, expected a JSON object of fields")
    for name in values:
        if name in _RESERVED:
            raise UserError(f"--extra-body {path}: field {show(name)} is decided by {_RESERVED[name]}; remove it")
    return values


def is_spent_budget(words: str) -> bool:
    """Whether a refusal says that the model used up the budget without an answer: OpenAI's reasoning models do so."""
    lowered = words.lower()
    return "could not finish the message" in lowered or "model output limit was reached" in lowered


def _client(server: ChatServer) -> openai.OpenAI:
    import httpx2
    from openai import Omit, OpenAI

    # The environment of OpenAI's own client is not for this server.
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    foreign: dict[str, Any] = {line.partition(":")[0].strip(): Omit() for line in lines if ":" in line}
    try:
        return OpenAI(
            base_url=server.url,
            api_key=server.secret.value or "none",
            organization="",
            project="",
            timeout=server.timeout_s,
            max_retries=0,  # `Chat` does the waiting, because errors also come with status 200
            default_headers=foreign,
        )
    except (httpx2.InvalidURL, ValueError, ImportError) as error:  # such as a proxy that is no URL
        raise UserError(
            f"{server.url_option} {server.url}: no client can be made: {server.secret.words(error)}"
        ) from None


def _passes(status: int) -> bool:
    return status >= 500 or status in PASSING


def _backoff(attempt: int) -> float:
    longest = min(FIRST_WAIT_S * 2.0 ** min(attempt, 30), LONGEST_WAIT_S)
    return longest * (1 - 0.25 * random.random())  # noqa: S311 - so that requests do not come back together


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds that the server asks to wait; None where it does not say, or says nonsense."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if seconds >= 0 else None
    try:
        moment = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    return max(moment.timestamp() - time.time(), 0.0)


def _without_key(reply: ChatReply, secret: Secret) -> ChatReply:
    """The reply of a server that repeats the key: nothing of it is written to a file."""
    key = secret.value
    if len(key) < 8 or not any(key in text for text in (reply.text, reply.reasoning, reply.model or "")):
        return reply
    model = reply.model and reply.model.replace(key, "***")
    text, reasoning = reply.text.replace(key, "***"), reply.reasoning.replace(key, "***")
    return ChatReply(text, reply.finish, reasoning, reply.usage, model, reply.finish_reason)
