"""Any model behind an OpenAI-compatible server, asked in words: the next model needs no code.

What the model hears is the user's to say, for a server does not tell: with `--clip-limit-s 30 --context 8192` clips
are fitted as they are for Qwen2-Audio. A server that runs one clip a prompt is given all clips joined, `--joined`; vLLM
runs several where it was started with `--limit-mm-per-prompt '{"audio": 10}'`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from musicrs_metric.errors import UserError

from ..generative.ears import Ears
from ..generative.server import Server, ServerListener
from ..generative.settings import RENAMED, GenerativeOptions, ProtocolName
from ..generative.system import Generative
from ..options import option
from ..system import ALL_MODALITIES, Declaration

_ITEMS: dict[ProtocolName, Mapping[str, str]] = {"listwise": {"type": "integer"}, "titles": {"type": "string"}}


@dataclass(frozen=True)
class OpenAIOptions(GenerativeOptions):
    """Options of `openai_api`."""

    protocol: ProtocolName = option(  # noqa: RUF009
        "listwise",
        "how a ranking is asked for: listwise or titles; constrained and pointwise take a model in this process",
        aliases=RENAMED,
    )
    base_url: str = option("http://127.0.0.1:8000/v1", "address of the server, up to and with /v1")
    model_name: str | None = option(None, "what the server calls the model; has to be given")
    api_key_env: str = option("MUSICRS_LLM_KEY", "environment variable that holds the key")
    concurrency: int = option(
        8, "requests at once, of one batch; a larger one takes a larger --batch-size", identity=False
    )
    timeout_s: float = option(600.0, "seconds that one attempt may take", identity=False)
    retries: int = option(6, "further attempts after the first", identity=False)
    answer_format: Literal["json", "text"] | None = option(
        None, "json asks for structured output, where the server can; [listwise: json, titles: text]"
    )
    audio: Literal["input_audio", "none"] = option("input_audio", "how clips are sent; none where the model hears none")
    context: int = option(32_768, "tokens that prompt, sound and answer may take together")
    tokens_per_second: float = option(25.0, "tokens that a second of sound takes")
    clip_limit_s: float | None = option(None, "what the model hears of one clip, in seconds; longer ones are split")
    total_limit_s: float | None = option(None, "what the model hears of a whole prompt, in seconds")
    joined: bool = option(False, "join the clips of a thread into one")

    def check(self) -> None:
        """See `GenerativeOptions.check`."""
        super().check()
        if self.protocol not in _ITEMS:
            raise UserError(
                f"--protocol {self.protocol}: takes a model in this process, for no server lets a caller restrict its "
                "next token to the candidates or tells how likely they are; use listwise or titles"
            )
        if not self.model_name:
            raise UserError("--model-name: not given; expected what the server calls its model, see its /v1/models")
        if self.concurrency < 1 or self.retries < 0 or not self.timeout_s > 0:
            raise UserError("--concurrency, --retries, --timeout-s: expected at least 1, at least 0, more than 0")

        for flag, value in (
            ("clip-limit-s", self.clip_limit_s),
            ("total-limit-s", self.total_limit_s),
            ("tokens-per-second", self.tokens_per_second),
        ):
            if value is not None and not 0 < value < math.inf:
                raise UserError(f"--{flag} {value:g}: expected a positive number")

    @property
    def ears(self) -> Ears:
        """What the model hears, as the user says."""
        return Ears(
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
        """What answers have to look like; None where the prompt alone says so."""
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
        note="Which weights answer is known to the server alone, and two runs need not agree to the letter.",
        needs=("openai", "soundfile", "soxr"),
        batch_size=8,
    )
    Options = OpenAIOptions

    def make_listener(self) -> ServerListener:
        """The model that the server runs."""
        options: OpenAIOptions = self.options
        if options.audio == "none" and self.is_heard:
            raise UserError(f"--audio none: {self.context.modality} needs a model that hears; use query_only")
        server = Server(
            url=options.base_url,
            model=options.model_name or "",
            key_variable=options.api_key_env,
            concurrency=options.concurrency,
            timeout_s=options.timeout_s,
            retries=options.retries,
        )
        return ServerListener(server, options.ears, options.schema)
