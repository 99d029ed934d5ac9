"""Chat completions as they go over the wire: the body of a request, its sound, and what comes back."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from musicrs_dataset.cutting import Samples
from musicrs_metric.errors import show

from .listener import Completion, Prompt


class NoAnswerError(Exception):
    """A request that got no answer.

    Attributes:
        is_down: Whether the server failed, rather than refuse this one request.
    """

    def __init__(self, message: str, *, is_down: bool) -> None:
        super().__init__(message)
        self.is_down = is_down


class RefusedError(NoAnswerError):
    """A request that the server does not understand, or that is too long for it."""


@dataclass(frozen=True)
class Manner:
    """What of a request a server understands.

    Attributes:
        schema: JSON schema that answers are to keep to; None where the server cannot hold a model to one.
        budget: What it calls the most tokens of an answer.
    """

    schema: Mapping[str, Any] | None
    budget: str = "max_completion_tokens"

    def body(self, prompt: Prompt, rate: int, budget: int) -> dict[str, Any]:
        """The body of a request but for the model.

        Args:
            prompt: The prompt.
            rate: Sampling rate of its clips in Hz.
            budget: Most tokens of the answer.
        """
        body = {"messages": [{"role": "user", "content": content(prompt, rate)}], "temperature": 0, self.budget: budget}
        if self.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def content(prompt: Prompt, rate: int) -> str | list[dict[str, Any]]:
    """A prompt as the content of a message: its sound first, then its words; words alone where there is no sound.

    Args:
        prompt: The prompt.
        rate: Sampling rate of its clips in Hz.
    """
    if not prompt.clips:
        return prompt.text
    sound = [
        {"type": "input_audio", "input_audio": {"data": wav(clip, rate), "format": "wav"}} for clip in prompt.clips
    ]
    return [*sound, {"type": "text", "text": prompt.text}]


def wav(clip: Samples, rate: int) -> str:
    """A clip as a WAV file of 16 bits, in base64."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, clip, rate, format="WAV", subtype="PCM_16")
    return base64.b64encode(file.getvalue()).decode()


def completion_of(found: Any) -> Completion:
    """Read a chat completion.

    Args:
        found: What the server sent, as JSON types; anything at all.

    Raises:
        NoAnswerError: It is no chat completion, or was withheld by a filter.
    """
    try:
        choice, usage = found["choices"][0], found.get("usage") or {}
        message, finish = choice["message"], choice["finish_reason"]
        text = message.get("content") or message.get("refusal") or ""
        n_tokens = int(usage.get("completion_tokens") or 0)
    except (TypeError, LookupError, ValueError, OverflowError, AttributeError):
        raise NoAnswerError("what came is no chat completion", is_down=True) from None
    if isinstance(text, list):  # of parts
        text = "".join(str(part.get("text") or "") for part in text if isinstance(part, dict))
    if not isinstance(text, str):
        raise NoAnswerError(f"the answer is {show(text)}, expected a text", is_down=True)
    if finish not in ("stop", "length"):
        raise NoAnswerError(f"the answer ended with finish_reason {show(finish)}", is_down=False)
    return Completion(text, n_tokens, finish == "length")
