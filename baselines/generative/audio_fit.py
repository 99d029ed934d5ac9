"""Choose how much of the clips a model gets, for a whole dataset and before the run, so that no input is cut.

The processor of a model silently drops audio that is too long. Therefore the clips are fitted beforehand to the limits
per clip and per prompt, and to the context that prompt, audio and answer share. Every thread gets the same number of
seconds. Its clips share them evenly, each from its start. The number is the largest that fits every thread. A clip that
exceeds the limit per clip is split into equal pieces if the model takes several clips. Otherwise all clips are joined.
If the text of a thread and a second of audio leave less than a long answer takes, the answer gets the rest. A thread
fails only if the rest does not hold a whole ranking.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from musicrs_dataset.audio.cutting import SHORTEST, Samples
from musicrs_metric.errors import UserError, count

from .audio_limits import AudioLimits

# Most audio of a thread that a dataset holds. A larger share is never chosen, but the user may set it.
OFFERED_S = 300.0
# Tokens left free: text and audio together may take a token or two more than both take apart.
SLACK = 32
_STEP = 0.5  # seconds
_ROUNDING = 0.001  # seconds by which a clip may exceed its stated length
_LEAST = 1.0  # seconds; a thread without room for this much counts as too long


class ThreadLoad(NamedTuple):
    """Amount of context that a thread needs.

    Attributes:
        thread_id: The thread.
        clips: Lengths of its clips in seconds.
        text: Tokens of the prompt without audio.
        answer: Tokens of the longest answer.
        min_answer: Fewest tokens of an answer. In a short context the answer gets no more.
    """

    thread_id: str
    clips: Sequence[float]
    text: int
    answer: int
    min_answer: int


class PromptClips(NamedTuple):
    """Amount of audio that the model gets of every thread.

    Attributes:
        limits: Limits of the model.
        seconds: Most seconds per thread; 0 without audio.
        chosen: Whether they were fitted. If not, the user set them.
        most_tokens: Tokens of the fullest thread, prompt, audio and answer together.
        fullest: The fullest thread.
        too_long: Threads whose text leaves no room for a second of audio. They fail, and do not limit other threads.
        n_shortened: Number of other threads whose longest answer was shortened.
    """

    limits: AudioLimits
    seconds: float
    chosen: bool
    most_tokens: int
    fullest: str
    too_long: tuple[str, ...] = ()
    n_shortened: int = 0

    def audio_used(self, clips: Sequence[float]) -> list[float]:
        """Return the seconds of each clip that reach the model.

        Args:
            clips: Lengths of the clips in seconds.
        """
        return _shares(clips, self.seconds)

    def tokens(self, load: ThreadLoad) -> int:
        """Return the tokens of a thread, prompt, audio and answer together."""
        return tokens(self.limits, load._replace(answer=self.answer(load)), self.seconds)

    def answer(self, load: ThreadLoad) -> int:
        """Return the most tokens of the answer to a thread."""
        return _shortened(self.limits, load, None if self.chosen else self.seconds).answer

    def pieces(self, clips: Sequence[Samples]) -> tuple[Samples, ...]:
        """Join or split clips for a prompt.

        Args:
            clips: The used part of each clip, at least one, at the rate of the model.

        Returns:
            One or more clips, none longer than the limit per clip.
        """
        if not self.limits.several_clips:
            return (np.concatenate(clips),) if clips else ()
        return tuple(piece for clip in clips for piece in self._split(clip))

    def _split(self, clip: Samples) -> list[Samples]:
        rate, limit = self.limits.sampling_rate, self.limits.clip_limit_s
        pieces = np.array_split(clip, _n_pieces(self.limits, len(clip) / rate))
        # Resampling may have added a sample.
        return pieces if limit is None else [piece[: math.floor(limit * rate)] for piece in pieces]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, for the run card."""
        return {
            "seconds": self.seconds,
            "context": self.limits.context,
            "most_tokens": self.most_tokens,
            "fullest": self.fullest,
            "too_long": list(self.too_long),
            "shortened": self.n_shortened,
        }

    # The run card and the identity of a run hold this text: a changed word would refuse older run folders.
    def __str__(self) -> str:
        limits = self.limits
        by = "the most that fits every thread" if self.chosen else "as asked for"
        how = "each from its start" if limits.several_clips else "each from its start, joined into one"
        split = ""
        if limits.several_clips and limits.clip_limit_s is not None:
            split = f"; a clip of more than {limits.clip_limit_s:g} s is split into equal pieces"
        return f"up to {self.seconds:g} s of a thread ({by}), shared evenly by its clips, {how}{split}"


def fit(limits: AudioLimits, loads: Sequence[ThreadLoad], seconds: float | None = None) -> PromptClips:
    """Choose how much of the clips the model gets.

    Args:
        limits: Limits of the model.
        loads: Loads of all threads, at least one.
        seconds: Seconds that the user set; None for the most that fits, up to 300 s.

    Returns:
        The plan.

    Raises:
        UserError: No thread fits, or the seconds that the user set exceed a limit of the model or the context of a
            thread, or leave less than 0.1 s of a clip.
    """
    most = _most_of_a_prompt(limits)
    min_seconds = min(_LEAST, most if seconds is None else seconds)
    full, loads = loads, [_shortened(limits, load, seconds) for load in loads]
    room = [load for load in loads if tokens(limits, load, min_seconds) <= limits.context]
    if not room:
        best = min(loads, key=lambda load: tokens(limits, load, min_seconds))
        raise UserError(
            f"no thread fits: {best.thread_id}, the shortest, takes {_sum(limits, best, min_seconds)}, the context "
            f"holds {limits.context}; name a smaller --answer-tokens"
        )
    over: list[ThreadLoad] = []
    if seconds is None:
        chosen = _longest(limits, room, min(most, OFFERED_S))
    elif seconds > most:
        raise UserError(
            f"--seconds {seconds:g}: the model takes {most:g} s per prompt and would silently drop the rest; "
            f"name at most {most:g}"
        )
    else:
        _check_shares(loads, seconds)
        chosen = seconds
        over = [load for load in room if tokens(limits, load, seconds) > limits.context]
    fullest = max(room, key=lambda load: tokens(limits, load, chosen))
    if over:
        raise UserError(
            f"--seconds {seconds:g}: thread {fullest.thread_id} takes {_sum(limits, fullest, chosen)}, the context "
            f"holds {limits.context}; {count(len(over), 'thread')} would be cut; {_longest(limits, room, chosen):g} "
            "fits all"
        )
    return PromptClips(
        limits=limits,
        seconds=chosen,
        chosen=seconds is None,
        most_tokens=tokens(limits, fullest, chosen),
        fullest=fullest.thread_id,
        too_long=tuple(load.thread_id for load in loads if load not in room),
        n_shortened=sum(load.answer < own.answer for load, own in zip(loads, full, strict=True) if load in room),
    )


def tokens(limits: AudioLimits, load: ThreadLoad, seconds: float) -> int:
    """Return the tokens of a thread with this much audio: text, audio, answer and slack."""
    return limits.template_tokens + load.text + _audio_tokens(limits, load, seconds) + load.answer + SLACK


def _shortened(limits: AudioLimits, load: ThreadLoad, seconds: float | None) -> ThreadLoad:
    """Shorten the longest answer until the audio fits: the seconds that the user set, or the fewest."""
    reserved = min(_LEAST, _most_of_a_prompt(limits)) if seconds is None else seconds
    left = limits.context - tokens(limits, load._replace(answer=0), reserved)
    return load._replace(answer=min(load.answer, max(left, load.min_answer)))


def _check_shares(loads: Sequence[ThreadLoad], seconds: float) -> None:
    most = max(loads, key=lambda load: len(load.clips))
    if seconds < SHORTEST * len(most.clips):
        raise UserError(
            f"--seconds {seconds:g}: thread {most.thread_id} has {count(len(most.clips), 'clip')}, and each needs at "
            f"least {SHORTEST} s; name at least {SHORTEST * len(most.clips):g}"
        )


def _audio_tokens(limits: AudioLimits, load: ThreadLoad, seconds: float) -> int:
    lengths = [length for length in _shares(load.clips, seconds) if length]
    if lengths and not limits.several_clips:
        lengths = [sum(lengths)]
    n_pieces = [_n_pieces(limits, length) for length in lengths]
    return sum(n * limits.tokens(length / n) for n, length in zip(n_pieces, lengths, strict=True))


def _n_pieces(limits: AudioLimits, length: float) -> int:
    return 1 if limits.clip_limit_s is None else max(math.ceil((length - _ROUNDING) / limits.clip_limit_s), 1)


def _shares(clips: Sequence[float], seconds: float) -> list[float]:
    share = seconds / max(len(clips), 1)
    return [min(length, share) for length in clips]


def _most_of_a_prompt(limits: AudioLimits) -> float:
    bounds = [limits.total_limit_s, None if limits.several_clips else limits.clip_limit_s]
    return min((bound for bound in bounds if bound is not None), default=math.inf)


def _longest(limits: AudioLimits, loads: Sequence[ThreadLoad], most: float) -> float:
    """Return the largest share that fits all threads, in steps of half a second."""
    steps = range(int(most / _STEP) + 1)
    too_many = bisect_left(steps, True, key=lambda step: _exceeds(limits, loads, step * _STEP))
    return (too_many - 1) * _STEP


def _exceeds(limits: AudioLimits, loads: Sequence[ThreadLoad], seconds: float) -> bool:
    return any(tokens(limits, load, seconds) > limits.context for load in loads)


def _sum(limits: AudioLimits, load: ThreadLoad, seconds: float) -> str:
    audio = _audio_tokens(limits, load, seconds)
    text = limits.template_tokens + load.text + SLACK
    return f"{text + audio + load.answer} tokens ({text} for text, {audio} for audio, {load.answer} for the answer)"
