"""Limits of the audio input of a model, declared before weights load. `audio_fit` fits the clips to them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AudioLimits:
    """Amount of audio that a model takes, and its cost in tokens and memory.

    Attributes:
        sampling_rate: Sampling rate of the input in Hz, mono.
        context: Tokens of prompt, audio and answer together.
        tokens_per_second: Tokens per second of audio.
        tokens_per_clip: Further tokens per clip, such as markers and labels; all of them if the number is fixed.
        clip_limit_s: Longest clip in seconds. The model would silently drop the rest, so it gets no longer clip. None
            for no limit.
        total_limit_s: Most audio of a prompt in seconds; None for no limit but the context.
        several_clips: Whether a prompt may hold several clips. If not, they are joined into one.
        template_tokens: Most tokens that a chat template adds to a text request.
        silence_s: Seconds of silence that replace missing clips under the protocol `titles`, as published; 0 for none.
        weights_gib: Memory of the weights in bfloat16, in GiB.
        float32_gib: Memory of the weights that stay in float32 whatever the number format.
        cache_kib_per_token: Memory of the key-value cache per token in bfloat16, in KiB.
    """

    sampling_rate: int
    context: int
    tokens_per_second: float
    tokens_per_clip: int = 0
    clip_limit_s: float | None = None
    total_limit_s: float | None = None
    several_clips: bool = True
    template_tokens: int = 64
    silence_s: float = 0.0
    weights_gib: float
    float32_gib: float = 0.0
    cache_kib_per_token: float

    def tokens(self, seconds: float) -> int:
        """Return the tokens of one clip of this length, rounded up."""
        return math.ceil(seconds * self.tokens_per_second) + self.tokens_per_clip
