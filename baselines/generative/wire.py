"""Prompts as they go over the wire: the messages of a request, and its audio."""

from __future__ import annotations

import base64
import io
from typing import Any

from musicrs_dataset.audio.cutting import Samples

from .language_model import Prompt


def messages(prompt: Prompt, rate: int) -> list[dict[str, Any]]:
    """A prompt as one user turn: its audio first, then its words; words alone where there is no audio.

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
    """A clip as a WAV file of 16 bits, in base64."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, clip, rate, format="WAV", subtype="PCM_16")
    return base64.b64encode(file.getvalue()).decode()
