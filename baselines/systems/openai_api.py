"""Any model behind an OpenAI-compatible server, asked by prompt; another model needs no code.

The user sets the audio limits of the model, because a server does not report them: `--clip-limit-s 30 --context 8192`
fits clips as for Qwen2-Audio. A server that takes one clip per prompt needs joined clips, `--joined`. vLLM takes
several if it was started with `--limit-mm-per-prompt '{"audio": 10}'`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from musicrs_dataset.records import Thread
from musicrs_metric.base.chat import ChatServer, read_extra_body
from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.predictions import Prediction

from ..generative.audio_limits import AudioLimits
from ..generative.empty_answers import EmptyAnswers
from ..generative.server_model import ServerModel
from ..generative.settings import RENAMED, GenerativeOptions, ProtocolName
from ..generative.system import Generative
from ..options import option
from ..run.usage import Prices, amount, cut_prompt_facts, cut_prompt_lines, cut_prompts
from ..system import ALL_MODALITIES, Context, Declaration, Task

_COUNTED = ("thread_id", "prompt_bytes", "tokens")
_ITEMS: dict[ProtocolName, Mapping[str, str]] = {
    "listwise": {"type": "integer"}, "titles": {"type": "string"}, "generate_then_match": {"type": "string"}
}  # fmt: skip


def _extra_body(path: str) -> str:
    """Return the file as one line of JSON: the run card shows it, and a run with other fields is another run."""
    return to_json(read_extra_body(Path(path)))


@dataclass(frozen=True)
class OpenAIOptions(GenerativeOptions):
    """Options of `openai_api`."""

    protocol: ProtocolName = option(  # noqa: RUF009
        "listwise",
        "protocol of the ranking: listwise, titles or generate_then_match; constrained and pointwise need a model in "
        "this process",
        aliases=RENAMED,
    )
    base_url: str = option("http://127.0.0.1:8000/v1", "URL of the server, up to and with /v1", identity=False)
    model_name: str | None = option(None, "name of the model on the server; required")
    api_key_env: str = option("MUSICRS_LLM_KEY", "environment variable that holds the key", identity=False)
    extra_body: str | None = option(
        None,
        "JSON file with further fields of every request, for example to switch thinking off; never omitted",
        read=_extra_body,
    )
    price_read: float = option(0.0, "price per million tokens of prompts", identity=False)
    price_written: float = option(0.0, "price per million tokens of reasoning and answers", identity=False)
    concurrency: int = option(
        8, "requests at a time within one batch; a larger number needs a larger --batch-size", identity=False
    )
    timeout_s: float = option(600.0, "most seconds per attempt", identity=False)
    retries: int = option(6, "further attempts after the first", identity=False)
    answer_format: Literal["json", "text"] | None = option(
        None, "json asks for structured output, if the server supports it; [listwise: json, others: text]"
    )
    audio: Literal["input_audio", "none"] = option("input_audio", "form of the clips; none for a model without audio")
    context: int = option(32_768, "most tokens of prompt, audio and answer together")
    tokens_per_second: float = option(25.0, "tokens per second of audio")
    clip_limit_s: float | None = option(None, "most seconds of one clip; longer clips are split")
    total_limit_s: float | None = option(None, "most seconds of audio in a prompt")
    joined: bool = option(False, "join the clips of a thread into one")

    def check(self) -> None:
        """Check options as `GenerativeOptions.check` does, and those of the server."""
        super().check()
        if self.protocol not in _ITEMS:
            raise UserError(
                f"--protocol {self.protocol}: needs a model in this process, because no server lets a caller restrict "
                "its next token to the candidates, or reports their probabilities; use listwise, titles or "
                "generate_then_match"
            )
        if not self.model_name:
            raise UserError("--model-name: missing; expected the name of the model on the server, see its /v1/models")
        if self.concurrency < 1 or self.retries < 0 or not self.timeout_s > 0:
            raise UserError("--concurrency, --retries, --timeout-s: expected at least 1, at least 0, more than 0")
        if not (0 <= self.price_read < math.inf and 0 <= self.price_written < math.inf):
            raise UserError("--price-read, --price-written: expected a price of at least 0")
        for flag, value in (
            ("clip-limit-s", self.clip_limit_s),
            ("total-limit-s", self.total_limit_s),
            ("tokens-per-second", self.tokens_per_second),
        ):
            if value is not None and not 0 < value < math.inf:
                raise UserError(f"--{flag} {value:g}: expected a positive number")

    @property
    def limits(self) -> AudioLimits:
        """Audio limits of the model, as the user set them."""
        return AudioLimits(
            sampling_rate=16_000,
            context=self.context,
            tokens_per_second=self.tokens_per_second,
            tokens_per_clip=16,
            clip_limit_s=self.clip_limit_s,
            total_limit_s=self.total_limit_s,
            several_clips=not self.joined,
            weights_gib=0.0,
            cache_kib_per_token=0.0,
        )

    @property
    def schema(self) -> dict[str, Any] | None:
        """JSON schema of the answers; None if only the prompt states the form."""
        if (self.answer_format or ("json" if self.protocol == "listwise" else "text")) == "text":
            return None
        return {
            "type": "object",
            "properties": {"ranking": {"type": "array", "items": _ITEMS[self.protocol]}},
            "required": ["ranking"],
            "additionalProperties": False,
        }


class OpenAIApi(Generative):
    """Asks a server."""

    declaration = Declaration(
        name="openai_api",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks a model behind an OpenAI-compatible server for a ranking.",
        note="Only the server knows its weights, and two runs may differ.",
        needs=("openai", "soundfile", "soxr"),
        batch_size=8,
    )
    Options = OpenAIOptions
    failures_are_temporary = True

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._empty = EmptyAnswers(options.answer_tokens)
        self._counts: list[dict[str, Any]] = []  # of the answers of this session, until a prompt is cut
        self._has_warned = False
        self._warnings: list[str] = []

    def make_language_model(self) -> ServerModel:
        """Make the model that the server runs."""
        options: OpenAIOptions = self.options
        if options.audio == "none" and self.sends_audio:
            raise UserError(f"--audio none: {self.context.modality} needs a model that takes audio; use query_only")
        server = ChatServer(
            url=options.base_url,
            model=options.model_name or "",
            key_variable=options.api_key_env,
            timeout_s=options.timeout_s,
            retries=options.retries,
            extra_body=json.loads(options.extra_body or "{}"),
        )
        return ServerModel(
            server,
            options.limits,
            options.concurrency,
            options.schema,
            sends_audio=self.sends_audio,
            **({"first_budget": options.answer_tokens} if options.answer_tokens else {}),
        )

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Ask for all threads of the batch together.

        Raises:
            UserError: The answers are empty; see `EmptyAnswers`.
        """
        predictions = super().rank(batch)
        records = self._records[-len(batch) :]
        self._warn_of_cut_prompts(records)
        self._empty.watch(predictions, records)
        return predictions

    def warnings(self) -> list[str]:
        """Return a warning that the server cuts prompts, once."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def estimate(self, threads: Sequence[Thread]) -> list[str]:
        """Return the most tokens of prompts and answers, and their cost."""
        answers = sum(self.plan.answer(self._load(thread)) for thread in threads)
        prompts = sum(int(self.cost(thread)) for thread in threads) - answers
        prices = Prices.of({"price_read": self.options.price_read, "price_written": self.options.price_written})
        cost = prices.cost({"prompt": prompts, "answer": answers})
        line = (
            f"{count(len(threads), 'request')}: about {prompts:,} tokens of prompts, at most {answers:,} of reasoning "
            "and answers"
        )
        return [line + (f"; cost at most about {amount(cost)}" if any(prices) else "")]

    def _warn_of_cut_prompts(self, records: Sequence[dict[str, Any]]) -> None:
        if not self._has_warned:
            self._counts += [{key: record.get(key) for key in _COUNTED} for record in records]
            self._warnings += cut_prompt_lines(cut_prompt_facts(cut_prompts(self._counts)))
            self._has_warned = bool(self._warnings)
