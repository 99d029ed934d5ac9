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

import random
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self, TypeVar

from ..errors import UserError, show
from .chat_attempt import NO_CREDIT, PASSING, AttemptError, Messages, attempt, attempt_post
from .chat_form import FieldRefusedError, Form, learn_form, names_field
from .chat_reply import ChatReply
from .chat_server import ChatServer, make_client, read_extra_body

__all__ = ["PASSING", "Chat", "ChatError", "ChatReply", "ChatServer", "Form", "Messages", "read_extra_body"]

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
# A server that asks for a longer wait is not waited for.
LONGEST_RETRY_AFTER_S = 120.0
_FIELD_REFUSED = (400, 422)


T = TypeVar("T")


class ChatError(Exception):
    """A request that got no answer.

    Attributes:
        is_down: Whether the server failed, rather than refuse this one request.
    """

    def __init__(self, message: str, *, is_down: bool) -> None:
        super().__init__(message)
        self.is_down = is_down


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
        self._client = make_client(server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request to another endpoint of the server, with the same patience.

        Args:
            path: Path below the URL of the server, such as "/embeddings".
            body: The request.

        Returns:
            The JSON of the reply.

        Raises:
            ChatError: No JSON came.
            UserError: See the module.
        """
        try:
            return self._try(lambda: attempt_post(self._client, self.server, path, body))
        except FieldRefusedError as refusal:
            raise ChatError(str(refusal), is_down=False) from None

    def _send(self, messages: Messages, fields: Mapping[str, Any], *, is_first: bool = False) -> ChatReply:
        return self._try(lambda: attempt(self._client, self.server, messages, fields), is_first=is_first)

    def _try(self, send: Callable[[], T], *, is_first: bool = False) -> T:
        """Try until there is an answer, a refusal, or no attempt left."""
        n_failed = 0
        while True:
            try:
                return send()
            except AttemptError as failure:
                if not failure.is_passing or n_failed == self.server.retries:
                    self._give_up(failure, is_first)
                if failure.wait_s is not None and failure.wait_s > LONGEST_RETRY_AFTER_S:
                    asked = f"the server asks to wait for {failure.wait_s:.0f} s"
                    raise ChatError(f"{failure}; {asked}", is_down=True) from None
                wait_s = _backoff(n_failed) if failure.wait_s is None else failure.wait_s
            time.sleep(wait_s)
            n_failed += 1

    def _give_up(self, failure: AttemptError, is_first: bool) -> NoReturn:
        server, status = self.server, failure.status
        if status == 401:
            state = "was refused" if server.secret.value else "is not set"
            raise UserError(f"{server.url}: {failure}; the key in ${server.key_variable} {state}") from None
        if status == 402 or failure.code in NO_CREDIT:
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


def _backoff(n_failed: int) -> float:
    longest = min(FIRST_WAIT_S * 2.0 ** min(n_failed, 30), LONGEST_WAIT_S)
    return longest * (1 - 0.25 * random.random())  # noqa: S311 - so that requests do not come back together
