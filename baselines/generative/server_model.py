"""A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, `transformers serve` or a hosted one.

`musicrs_metric.base.chat` does the talking and the waiting. Before the first thread the server is asked for a word, in
the form of the run: a wrong URL, model or key ends the run there, and the fields that the server refuses are found out
once for the whole run, so that no answer depends on which came first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musicrs_metric.base.chat import Chat, ChatError, ChatReply, ChatServer
from musicrs_metric.errors import UserError, show

from .audio_limits import AudioLimits
from .language_model import Completion, LanguageModel, Prompt
from .wire import messages

# So many threads in a row without an answer that the server, not the threads, is to blame.
MAX_FAILURES = 10
_TOKEN = re.compile(r"[^\W\d_]+|\d|[^\w\s]|_")
_SILENCE_S = 1.0  # of audio in the first request


@dataclass
class ServerModel(LanguageModel):
    """A model that a server runs.

    Attributes:
        server: Where.
        limits: What it can hear, as the user says.
        concurrency: Requests in flight.
        schema: JSON schema that answers are to keep to, where the server can hold a model to one; None for none.
        sends_audio: Whether the requests of the run hold audio.
        first_budget: Most tokens of the answer to the first request.
    """

    server: ChatServer
    limits: AudioLimits
    concurrency: int = 8
    schema: Mapping[str, Any] | None = None
    sends_audio: bool = False
    first_budget: int = 256
    _chat: Chat | None = field(default=None, init=False)
    _kept: dict[str, Completion | ChatError] = field(default_factory=dict, init=False)
    _n_failed: int = field(default=0, init=False)

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
            UserError: It does not answer, or refuses every form of a request.
        """
        self._chat = Chat(self.server)
        silence = np.zeros(round(_SILENCE_S * self.limits.sampling_rate), dtype=np.float32)
        prompt = Prompt("Say yes.", (silence,) if self.sends_audio else ())
        try:
            self._chat.learn(messages(prompt, self.limits.sampling_rate), self._fields(self.first_budget))
        except ChatError as error:
            if error.is_down:
                raise UserError(f"{self.server.url}: {error}; is it a server with OpenAI's API?") from None
            what = "a second of silence and a single word" if self.sends_audio else "even a single word"
            raise UserError(f"{self.server.url}: refuses {what}, {error}") from None

    def findings(self) -> dict[str, Any]:
        """The fields that the server refuses, once it is loaded; empty before."""
        return {} if self._chat is None else self._chat.form.to_dict()

    def describe_run(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:  # noqa: ARG002
        """Who is going to be asked."""
        return [f"{self.server.model} at {self.server.url}, {self.concurrency} requests at once"]

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Ask for all prompts at once; the answers stand in the order of the prompts, whichever comes first.

        What came of the others is kept when one fails, and is there when they are asked for one by one.

        Args:
            prompts: At least one.
            budget: Most tokens of an answer.

        Raises:
            ChatError: A prompt got no answer.
            UserError: None has got one for a while, or none of these can be asked.
        """
        keys = [_key(prompt, budget) for prompt in prompts]
        asked = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in self._kept}
        with ThreadPoolExecutor(self.concurrency) as pool:
            answers = pool.map(lambda prompt: self._ask(prompt, budget), asked.values())
            found = self._kept | dict(zip(asked, answers, strict=True))
        self._count_failures([found[key] for key in asked])
        failed = next((answer for key in keys if isinstance(answer := found[key], ChatError)), None)
        keep_all = failed is not None and len(prompts) > 1
        self._kept = {key: answer for key, answer in found.items() if keep_all or key not in keys}
        if failed is not None:
            raise failed
        return [answer for key in keys if isinstance(answer := found[key], Completion)]

    def _ask(self, prompt: Prompt, budget: int) -> Completion | ChatError:
        if self._chat is None:
            raise RuntimeError("call load first")
        try:
            reply = self._chat.ask(messages(prompt, self.limits.sampling_rate), self._fields(budget))
        except ChatError as error:
            return error
        if reply.finish == "withheld":
            return ChatError(f"the answer was withheld (finish_reason {show(reply.finish_reason)})", is_down=False)
        return Completion(reply.text, reply.usage.written, reply.finish == "cut", _details(prompt, reply))

    def _fields(self, budget: int) -> dict[str, Any]:
        fields = {"temperature": 0, "max_tokens": budget}
        if self.schema is None:
            return fields
        schema = {"name": "answer", "strict": True, "schema": self.schema}
        return fields | {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _count_failures(self, answers: Sequence[Completion | ChatError]) -> None:
        for answer in answers:
            self._n_failed = self._n_failed + 1 if isinstance(answer, ChatError) else 0
            if self._n_failed >= MAX_FAILURES:
                raise UserError(
                    f"{self.server.url}: {MAX_FAILURES} threads in a row got no answer, at last: {answer}; what was "
                    "answered is kept, run again when the server is well"
                )


def _details(prompt: Prompt, reply: ChatReply) -> dict[str, Any]:
    """What is kept of a reply beside its text."""
    usage = reply.usage
    tokens = {"prompt": usage.prompt, "reasoning": usage.reasoning, "answer": usage.answer}
    kept: dict[str, Any] = {"tokens": tokens, "prompt_bytes": len(prompt.text.encode(errors="replace"))}
    if reply.reasoning:
        kept["reasoning"] = reply.reasoning
    return kept | {"model": reply.model, "finish_reason": reply.finish_reason, "cut": reply.finish == "cut"}


def _key(prompt: Prompt, budget: int) -> str:
    digest = hashlib.sha256(f"{budget}\0{prompt.text}".encode(errors="replace"))
    for clip in prompt.clips:
        digest.update(clip.tobytes())
    return digest.hexdigest()
