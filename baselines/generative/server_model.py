"""A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, `transformers serve` or a hosted one.

`musicrs_metric.base.chat` sends the requests and waits. Before the first thread, a short request in the form of the run
asks for a single word. A wrong URL, model or key ends the run there. The client also finds the fields that the server
refuses once for the whole run, so that no answer depends on the order of requests.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.base.chat import Chat, ChatError, ChatReply, ChatServer
from musicrs_metric.errors import UserError, show

from .audio_limits import AudioLimits
from .language_model import Completion, LanguageModel, Prompt

# After this many threads in a row without an answer, the server is the cause, not the threads.
MAX_FAILURES = 10
_TOKEN = re.compile(r"[^\W\d_]+|\d|[^\w\s]|_")
_SILENCE_S = 1.0  # of audio in the first request


@dataclass
class ServerModel(LanguageModel):
    """A model that a server runs.

    Attributes:
        server: The server.
        limits: Limits of the audio input, as the user set them.
        concurrency: Requests in flight.
        schema: JSON schema of the answers, for servers that can enforce one; None for none.
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
        """Name of the model on the server. The server does not report its weights."""
        return self.server.model

    def n_tokens(self, text: str) -> int:
        """Estimate the tokens of a text from above: one per digit and sign, and one per three bytes of a word."""
        return sum((len(piece.encode()) + 2) // 3 for piece in _TOKEN.findall(text))

    def load(self) -> None:
        """Find the form of request that the server accepts.

        Raises:
            UserError: The server does not answer, or refuses every form of a request.
        """
        self._chat = Chat(self.server)
        silence = np.zeros(round(_SILENCE_S * self.limits.sampling_rate), dtype=np.float32)
        prompt = Prompt("Say yes.", (silence,) if self.sends_audio else ())
        try:
            self._chat.learn(messages(prompt, self.limits.sampling_rate), self._fields(self.first_budget))
        except ChatError as error:
            if error.is_down:
                raise UserError(f"{self.server.url}: {error}; is it a server with OpenAI's API?") from None
            content = "a second of silence and a single word" if self.sends_audio else "even a single word"
            raise UserError(f"{self.server.url}: refuses {content}, {error}") from None

    def findings(self) -> dict[str, Any]:
        """Return the fields that the server refuses; empty before `load`."""
        return {} if self._chat is None else self._chat.form.to_dict()

    def describe_run(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:  # noqa: ARG002
        """Return model, server and concurrency."""
        return [f"{self.server.model} at {self.server.url}, {self.concurrency} requests at once"]

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Send all prompts at once.

        If one fails, the other answers are kept for the calls that then ask for the prompts one by one.

        Args:
            prompts: At least one.
            budget: Most tokens of an answer.

        Returns:
            One completion per prompt, in the order of the prompts.

        Raises:
            ChatError: A prompt got no answer.
            UserError: No prompt has got an answer for a while, or the server refuses all of these.
        """
        keys = [_key(prompt, budget) for prompt in prompts]
        unasked = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in self._kept}
        with ThreadPoolExecutor(self.concurrency) as pool:
            new = pool.map(lambda prompt: self._ask(prompt, budget), unasked.values())
            answers = self._kept | dict(zip(unasked, new, strict=True))
        self._count_failures([answers[key] for key in unasked])
        failed = next((answer for key in keys if isinstance(answer := answers[key], ChatError)), None)
        keep_all = failed is not None and len(prompts) > 1
        self._kept = {key: answer for key, answer in answers.items() if keep_all or key not in keys}
        if failed is not None:
            raise failed
        return [answer for key in keys if isinstance(answer := answers[key], Completion)]

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
                    f"{self.server.url}: {MAX_FAILURES} threads in a row got no answer, the last with: {answer}; all "
                    "answers are kept; fix the server, then run the same command again"
                )


def messages(prompt: Prompt, rate: int) -> list[dict[str, Any]]:
    """Return a prompt as one user turn: its audio first, then its text.

    Args:
        prompt: The prompt.
        rate: Sampling rate of its clips in Hz.
    """
    if not prompt.clips:
        return [{"role": "user", "content": prompt.text}]
    audio = [
        {"type": "input_audio", "input_audio": {"data": wav(clip, rate), "format": "wav"}} for clip in prompt.clips
    ]
    return [{"role": "user", "content": [*audio, {"type": "text", "text": prompt.text}]}]


def wav(clip: Samples, rate: int) -> str:
    """Return a clip as a WAV file of 16 bits, in base64."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, clip, rate, format="WAV", subtype="PCM_16")
    return base64.b64encode(file.getvalue()).decode()


def _details(prompt: Prompt, reply: ChatReply) -> dict[str, Any]:
    """Return the fields of a reply for its answer record, without its text."""
    usage = reply.usage
    tokens = {"prompt": usage.prompt, "reasoning": usage.reasoning, "answer": usage.answer}
    fields: dict[str, Any] = {"tokens": tokens, "prompt_bytes": len(prompt.text.encode(errors="replace"))}
    if reply.reasoning:
        fields["reasoning"] = reply.reasoning
    return fields | {"model": reply.model, "finish_reason": reply.finish_reason, "cut": reply.finish == "cut"}


def _key(prompt: Prompt, budget: int) -> str:
    digest = hashlib.sha256(f"{budget}\0{prompt.text}".encode(errors="replace"))
    for clip in prompt.clips:
        digest.update(clip.tobytes())
    return digest.hexdigest()
