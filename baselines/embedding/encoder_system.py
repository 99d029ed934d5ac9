"""Base of the systems that embed texts with an encoder of the user's choice, in this process or behind a server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError

from ..audio_text.checkpoints import HELP
from ..options import flag, option
from ..system import Context, RunFacts, System
from .encoder_files import Encoder, Pooling, find_encoder
from .endpoints import ServerEmbedder, ServerOptions
from .text_embedder import TextEmbedder

# Texts of the user that may hold fields.
_TEMPLATES = ("name_prefix", "query_prefix", "instruction", "request")
# Braces with quotes in them are no field, such as JSON.
_FIELD = re.compile(r"\{([^{}\"']*)\}")


@dataclass(frozen=True)
class EncoderOptions(ServerOptions):
    """Options of every system that embeds texts."""

    weights: str | None = option(None, f"{HELP}; required, unless --base-url names a server")
    pooling: Pooling | None = option(  # noqa: RUF009
        None, "vector of a text: mean, cls or last state; [the model's own]"
    )
    max_tokens: int | None = option(None, "most tokens of a text; [the model's own, at most 512]")
    name_prefix: str | None = option(None, "text before each candidate, with {genre} and {subreddit}; [none]")


class EncoderSystem(System):
    """A system that embeds texts."""

    Options: ClassVar[type[Any]] = EncoderOptions

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        check_fields({name: getattr(options, name, None) for name in _TEMPLATES})
        self._encoder = self.find_encoder()
        self.failures_are_temporary = options.base_url is not None
        self._embed = ServerEmbedder(options.server()) if options.base_url else TextEmbedder(self._encoder, context)

    def find_encoder(self) -> Encoder:
        """Find the model that the options name, and read its settings.

        Raises:
            UserError: No model is named, or it cannot be used.
        """
        options = self.options
        if options.model_name is not None or options.base_url is not None:
            server = options.server(("weights", "pooling", "max_tokens"))
            self.declaration = replace(self.declaration, model_id=server.model, open_weights=None, licence=None)
            return Encoder(Path(), server.model, "")
        if not options.weights:
            raise UserError(f"--weights: missing; expected {HELP}, such as sentence-transformers/all-mpnet-base-v2")
        self.declaration = self.declaration.for_weights(options.weights)
        if self.declaration.model_id is None:  # a folder
            self.declaration = replace(self.declaration, model_id=Path(options.weights).resolve().name)
        return find_encoder(options.weights, options.pooling, options.max_tokens)

    def run_facts(self) -> RunFacts:
        """Return the revision of the weights, and the settings that come from the model's files."""
        encoder = self._encoder
        local = {"pooling": encoder.pooling, "max_tokens": encoder.max_tokens}
        extra = {"encoder": local} if self.options.base_url is None else {}
        return RunFacts(model_revision=encoder.revision, extra=extra)

    def close(self) -> None:
        """Save the vectors."""
        self._embed.save()

    def _names(self, thread: Thread) -> list[str]:
        prefix = filled_in(self.options.name_prefix or "", thread)
        return [prefix + name for name in thread.candidates]


def filled_in(template: str, thread: Thread) -> str:
    """Replace {genre} and {subreddit} in a text."""
    return template.replace("{genre}", thread.genre).replace("{subreddit}", thread.subreddit)


def check_fields(templates: Mapping[str, str | None], known: Sequence[str] = ("genre", "subreddit")) -> None:
    """Refuse a text with an unknown field, which would be embedded as it is.

    Args:
        templates: Texts by the names of their options.
        known: Fields that `filled_in` replaces.

    Raises:
        UserError: A text has one.
    """
    for name, text in templates.items():
        for field in _FIELD.findall(text or ""):
            if field not in known:
                expected = "{genre} or {subreddit}, or no field" if known else "no field"
                raise UserError(f"{flag(name)}: holds {{{field}}}; expected {expected}")
