"""A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, `transformers serve` or a hosted one.

The `openai` client does the waiting: it asks again after timeouts, lost connections, 429 and 5xx, backs off
exponentially with jitter, and obeys `Retry-After` up to two minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from musicrs_metric.errors import UserError, show

from .request import Finish, Model, Request, Response, no_answer

if TYPE_CHECKING:
    from openai import OpenAI

# So many failures in a row that the server, not the question, is to blame for: there is no use in going on.
PATIENCE = 20
# 4xx that say that the server was busy; any other would be said again.
PASSING = (408, 409, 425, 429)
_FINISH: dict[str, Finish] = {"stop": "stop", "length": "length", "content_filter": "filtered"}


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
        key_variable: Environment variable that holds the key. It is not OpenAI's own, so that a key for one service is
            never sent to another by mistake; where it is unset, the word "none" is sent.
        concurrency: Requests in flight.
        timeout_s: How long one attempt may take, in seconds.
        retries: Further attempts after the first.

    Raises:
        UserError: The URL is none of http or https, or holds a password.
    """

    model: Model
    url: str = "http://127.0.0.1:8000/v1"
    key_variable: str = "MUSICRS_LLM_KEY"
    concurrency: int = 32
    timeout_s: float = 300.0
    retries: int = 6

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"--url {show(self.url)}: expected an address like {Server.url}")
        if parts.username is not None or parts.query:  # logs show addresses
            raise UserError(f"--url: expected no password and no `?` in it; put the key into ${self.key_variable}")

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Response]]:
        """See `Backend.answer`.

        Raises:
            UserError: No such model, a refused key, or only failures for a while.
        """
        failures = 0
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            with self._client() as client:
                futures = {pool.submit(self._ask, client, request): key for key, request in requests.items()}
                for future in as_completed(futures):
                    response, is_down = future.result()
                    failures = failures + 1 if is_down else 0
                    if failures >= PATIENCE:
                        raise UserError(
                            f"{self.url}: {failures} requests in a row got no answer, at last: "
                            f"{response.error}; answers so far are kept, run again when the server is well"
                        )
                    yield futures[future], response
        finally:
            pool.shutdown(cancel_futures=True)

    def _client(self) -> OpenAI:
        from openai import OpenAI

        return OpenAI(
            base_url=self.url,
            api_key=os.environ.get(self.key_variable) or "none",
            organization="",
            project="",
            timeout=self.timeout_s,
            max_retries=self.retries,
        )

    def _ask(self, client: OpenAI, request: Request) -> _Attempt:
        import openai

        try:
            # Raw, for the client takes whatever comes with status 200.
            raw = client.chat.completions.with_raw_response.create(**body(request, self.model))
            completion = raw.http_response.json()
        except openai.APITimeoutError:
            return _down(f"no answer within {self.timeout_s:g} s, {self.retries + 1} times")
        except openai.APIConnectionError as error:
            return _down(f"no connection ({self._without_secret(error.__cause__ or error)})")
        except openai.APIStatusError as error:
            self._stop_at(error.status_code, error)
            is_down = error.status_code >= 500 or error.status_code in PASSING
            return _Attempt(no_answer(f"status {error.status_code}: {self._without_secret(error)}"), is_down)
        except (openai.OpenAIError, ValueError) as error:  # a body that is no JSON
            return _down(f"not a chat completion: {self._without_secret(error)}")
        return _Attempt(response_of(completion), is_down=False)

    def _stop_at(self, status: int, error: Exception) -> None:
        if status in (401, 403):
            told = "is not set" if not os.environ.get(self.key_variable) else "was refused"
            raise UserError(f"{self.url}: status {status}; the key in ${self.key_variable} {told}") from None
        if status == 404:
            raise UserError(
                f"{self.url}: no model {self.model.name!r} there ({self._without_secret(error)}); name it with "
                "--model as the server does, and give the address up to and with /v1"
            ) from None

    def _without_secret(self, error: object) -> str:
        text = " ".join(str(error).split())[:200] or type(error).__name__
        key = os.environ.get(self.key_variable)
        return text.replace(key, "***") if key else text


def _down(error: str) -> _Attempt:
    return _Attempt(no_answer(error), is_down=True)


def body(request: Request, model: Model) -> dict[str, Any]:
    """The body of a chat completion request, which batch files hold too."""
    schema = {"name": "answer", "strict": True, "schema": request.schema}
    return {
        "model": model.name,
        "messages": [{"role": "user", "content": request.prompt}],
        "response_format": {"type": "json_schema", "json_schema": schema},
        "max_tokens": request.parameters.max_tokens,
        "temperature": request.parameters.temperature,
        "top_p": request.parameters.top_p,
        "seed": request.parameters.seed,
    }


def response_of(completion: Any) -> Response:
    """Read a chat completion.

    Args:
        completion: What the server sent, as JSON types; anything at all.

    Returns:
        Its first choice; a response without an answer where it is no chat completion, or the choice ends in a way that
        no text model has.
    """
    try:
        choice, usage = completion["choices"][0], completion.get("usage") or {}
        text, finish = choice["message"]["content"], choice["finish_reason"]
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except (TypeError, LookupError, ValueError, AttributeError):
        return no_answer("not a chat completion")
    if finish not in _FINISH or not isinstance(text, str | None):
        return no_answer(f"a completion with finish_reason {finish!r}")
    return Response(text or "", _FINISH[finish], *tokens)
