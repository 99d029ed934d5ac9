"""What a model can hear, declared before anything heavy is loaded; `fitting` fits the clips of a dataset to it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AudioLimits:
    """How much sound reaches a model, and what that costs.

    Attributes:
        sampling_rate: What the model is given, in Hz, mono.
        context: Tokens that prompt, sound and answer may take together.
        tokens_per_second: Tokens that a second of sound takes.
        tokens_per_clip: Tokens that a clip takes beside: markers, labels; or all of them where the number is fixed.
        clip_limit_s: What the model hears of one clip, in seconds; it drops the rest in silence, so nothing longer is
            handed to it. None for no limit.
        total_limit_s: What it hears of a whole prompt, in seconds; None for no limit but the context.
        several_clips: Whether a prompt may hold several clips; otherwise they are joined into one.
        template_tokens: Most tokens that a chat template adds to a request in words.
        silence_s: Seconds of silence that the `titles` protocol gives the model where there is nothing to hear, as was
            published; 0 for none.
        weights_gib: Memory of the weights in bfloat16, in GiB.
        float32_gib: Memory of further weights that stay in float32 whatever the number format.
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
        """Tokens of one clip of that length, rounded up."""
        return math.ceil(seconds * self.tokens_per_second) + self.tokens_per_clip
