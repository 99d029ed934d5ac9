"""A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, `transformers serve` or a hosted one.

The `openai` client does the waiting: it asks again after timeouts, lost connections, 429 and 5xx, backs off
exponentially with jitter, and obeys `Retry-After` up to two minutes. Before the first thread the server is asked for a
word: a wrong address, model or key is told then, and what the server refuses of a request (structured output, the
newer or older name of the budget) is found out once for the whole run, so that no answer depends on which came first.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from musicrs_metric.errors import UserError, show

from .ears import Ears
from .listener import Completion, Listener, Prompt
from .wire import Manner, NoAnswerError, RefusedError, completion_of

if TYPE_CHECKING:
    from openai import OpenAI

# So many threads in a row without an answer that the server, not the threads, is to blame.
PATIENCE = 10
_EXAMPLE_URL = "http://127.0.0.1:8000/v1"
_REFUSED = (400, 422)
_BUSY = (408, 409, 425, 429)
_TOKEN = re.compile(r"[^\W\d_]+|\d|[^\w\s]|_")


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that speaks the chat completions of OpenAI.

    Attributes:
        url: Up to and with `/v1`.
        model: What it calls the model.
        key_variable: Environment variable that holds the key, which is written down nowhere. Where it is unset, the
            word "none" is sent.
        concurrency: Requests in flight.
        timeout_s: How long one attempt may take, in seconds.
        retries: Further attempts after the first.

    Raises:
        UserError: The URL is none of http or https, or holds a password; or the key cannot be one.
    """

    url: str
    model: str
    key_variable: str
    concurrency: int = 8
    timeout_s: float = 600.0
    retries: int = 6

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            well_formed = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
        except ValueError:  # such as a port that is no number
            well_formed = False
        if not well_formed or not self.url.isprintable() or " " in self.url:
            raise UserError(f"--base-url {show(self.url)}: expected an address like {_EXAMPLE_URL}")
        if parts.username is not None or parts.query or parts.fragment:  # cards and logs show addresses
            raise UserError(
                f"--base-url: expected no password and no `?` or `#` in it; put the key into ${self.key_variable}"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise UserError(f"${self.key_variable}: holds what no key has, such as a line end or a letter beyond ASCII")

    @property
    def _key(self) -> str:
        return os.environ.get(self.key_variable, "").strip()  # files that hold a key end in a line end

    def client(self) -> OpenAI:
        """A client; it may be used by several threads at once."""
        from openai import OpenAI

        return OpenAI(
            base_url=self.url,
            api_key=self._key or "none",
            organization="",
            project="",
            timeout=self.timeout_s,
            max_retries=self.retries,
        )

    def ask(self, client: OpenAI, body: Mapping[str, Any]) -> Any:
        """Ask for a chat completion.

        Args:
            client: From `client`.
            body: The request but for the model.

        Returns:
            What the server sent, as JSON types.

        Raises:
            UserError: No such model or address, or a refused key.
            NoAnswerError: No answer came, for any other reason.
        """
        import openai

        try:
            # Raw, for the client takes whatever comes with status 200.
            raw = client.chat.completions.with_raw_response.create(model=self.model, **body)
            return raw.http_response.json()
        except openai.APITimeoutError:
            message = f"no answer within {self.timeout_s:g} s, {self.retries + 1} times"
            raise NoAnswerError(message, is_down=True) from None
        except openai.APIConnectionError as error:
            reason = self._without_secret(error.__cause__ or error)
            raise NoAnswerError(f"no connection ({reason})", is_down=True) from None
        except openai.APIStatusError as error:
            self._stop_at(error.status_code, error)
            is_down = error.status_code >= 500 or error.status_code in _BUSY
            message = f"status {error.status_code}: {self._without_secret(error)}"
            if error.status_code in _REFUSED:
                raise RefusedError(message, is_down=False) from None
            raise NoAnswerError(message, is_down=is_down) from None
        except (openai.OpenAIError, ValueError, RecursionError) as error:  # a body that is no JSON, or a bottomless one
            raise NoAnswerError(f"no chat completion came: {self._without_secret(error)}", is_down=True) from None

    def _stop_at(self, status: int, error: Exception) -> None:
        if status in (401, 403):
            told = "was refused" if self._key else "is not set"
            raise UserError(f"{self.url}: status {status}; the key in ${self.key_variable} {told}") from None
        if status == 404:
            raise UserError(
                f"{self.url}: no model {show(self.model)} there ({self._without_secret(error)}); name it with "
                "--model-name as the server does, and give --base-url up to and with /v1"
            ) from None

    def _without_secret(self, error: object) -> str:
        text = " ".join(str(error).split()) or type(error).__name__
        return (text.replace(self._key, "***") if self._key else text)[:200]


@dataclass
class ServerListener(Listener):
    """A model that a server runs.

    Attributes:
        server: Where.
        ears: What it can hear, as the user says.
        schema: JSON schema that answers are to keep to, where the server can hold a model to one; None for none.
    """

    server: Server
    ears: Ears
    schema: Mapping[str, Any] | None = None
    _client: OpenAI | None = field(default=None, init=False)
    _manner: Manner | None = field(default=None, init=False)
    _kept: dict[str, Completion | NoAnswerError] = field(default_factory=dict, init=False)
    _n_down: int = field(default=0, init=False)

    @property
    def revision(self) -> str:
        """What the server calls its model; which weights it has, it does not say."""
        return self.server.model

    def n_tokens(self, text: str) -> int:
        """A generous guess: each digit and sign a token, and one for three bytes of a word."""
        return sum((len(piece.encode()) + 2) // 3 for piece in _TOKEN.findall(text))

    def load(self) -> None:
        """Find out how the server wants to be asked.

        Raises:
            UserError: It does not answer, or refuses every way of asking.
        """
        self._client = self.server.client()
        schemas = [None] if self.schema is None else [self.schema, None]
        refusal = ""
        for manner in [Manner(schema, budget) for schema in schemas for budget in ("max_tokens", Manner.budget)]:
            try:
                self.server.ask(self._client, manner.body(Prompt("Say yes."), self.ears.sampling_rate, 16))
            except RefusedError as error:
                refusal = str(error)
            except NoAnswerError as error:
                raise UserError(f"{self.server.url}: {error}; is it a server with OpenAI's API?") from None
            else:
                self._manner = manner
                return
        raise UserError(f"{self.server.url}: refuses even a single word, {refusal}")

    def outlook(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:  # noqa: ARG002
        """Who is going to be asked."""
        return [f"{self.server.model} at {self.server.url}, {self.server.concurrency} requests at once"]

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Ask for all prompts at once; the answers stand in the order of the prompts, whichever comes first.

        What came of the others is kept when one fails, and is there when they are asked for one by one.

        Args:
            prompts: At least one.
            budget: Most tokens of an answer.

        Raises:
            NoAnswerError: A prompt got no answer.
            UserError: None has got one for a while, or none of these can be asked.
        """
        keys = [_key(prompt, budget) for prompt in prompts]
        asked = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in self._kept}
        with ThreadPoolExecutor(self.server.concurrency) as pool:
            answers = pool.map(lambda prompt: self._ask(prompt, budget), asked.values())
            found = self._kept | dict(zip(asked, answers, strict=True))
        self._count_failures([found[key] for key in asked])
        failed = next((answer for key in keys if isinstance(answer := found[key], NoAnswerError)), None)
        keep_all = failed is not None and len(prompts) > 1
        self._kept = {key: answer for key, answer in found.items() if keep_all or key not in keys}
        if failed is not None:
            raise failed
        return [answer for key in keys if isinstance(answer := found[key], Completion)]

    def _ask(self, prompt: Prompt, budget: int) -> Completion | NoAnswerError:
        if self._client is None or self._manner is None:
            raise RuntimeError("call load first")
        try:
            completion = self.server.ask(self._client, self._manner.body(prompt, self.ears.sampling_rate, budget))
            return completion_of(completion)
        except NoAnswerError as error:
            return error

    def _count_failures(self, answers: Sequence[Completion | NoAnswerError]) -> None:
        for answer in answers:
            self._n_down = self._n_down + 1 if isinstance(answer, NoAnswerError) and answer.is_down else 0
            if self._n_down >= PATIENCE:
                raise UserError(
                    f"{self.server.url}: {PATIENCE} threads in a row got no answer, at last: {answer}; what was "
                    "answered is kept, run again when the server is well"
                )


def _key(prompt: Prompt, budget: int) -> str:
    digest = hashlib.sha256(f"{budget}\0{prompt.text}".encode(errors="replace"))
    for clip in prompt.clips:
        digest.update(clip.tobytes())
    return digest.hexdigest()
