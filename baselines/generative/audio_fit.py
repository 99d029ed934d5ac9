"""How much of the clips a model is given: settled for a whole dataset before anything runs, so that nothing is cut.

A model's processor drops what is too long in silence. So the clips are fitted beforehand to what the model hears of
one clip and of all, and to the context that prompt, sound and answer share. Every thread is given the same number of
seconds, which its clips share evenly, each from its start; the number is the largest that fits every thread. A clip
that is longer than the model hears of one is split into equal pieces where it takes several, and where it takes one,
all clips are joined. Where a thread's words and a second of sound leave less than a long answer takes, the answer is
given what is left, and a thread fails only where that does not hold a whole ranking.
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

# What a dataset offers of a thread at most; a larger share is never chosen, but may be asked for.
OFFERED_S = 300.0
# Tokens left free: what joins prompt and sound may take one or another token more than both take apart.
SLACK = 32
_STEP = 0.5  # seconds
_ROUNDING = 0.001  # seconds by which a clip may exceed what its length says
_LEAST = 1.0  # seconds; a thread that has no room for as much counts as too long


class ThreadLoad(NamedTuple):
    """What a thread asks of a context.

    Attributes:
        thread_id: The thread.
        clips: Lengths of its clips in seconds.
        text: Tokens of the prompt without sound.
        answer: Tokens of the longest answer.
        min_answer: Tokens that an answer has to have at least; where the context is short, it is given no more.
    """

    thread_id: str
    clips: Sequence[float]
    text: int
    answer: int
    min_answer: int


class PromptClips(NamedTuple):
    """What is heard of every thread.

    Attributes:
        limits: Of the model.
        seconds: Most seconds of a thread; 0 where nothing is heard.
        chosen: Whether they were fitted; otherwise the user named them.
        most_tokens: Tokens of the fullest thread, prompt, sound and answer together.
        fullest: That thread.
        too_long: Threads whose words leave no room for a second of sound; they fail, and bind nobody else.
        n_shortened: Number of other threads whose answer is given less than it might take.
    """

    limits: AudioLimits
    seconds: float
    chosen: bool
    most_tokens: int
    fullest: str
    too_long: tuple[str, ...] = ()
    n_shortened: int = 0

    def audio_used(self, clips: Sequence[float]) -> list[float]:
        """Seconds of each clip that reach the model.

        Args:
            clips: Their lengths.
        """
        return _heard(clips, self.seconds)

    def tokens(self, load: ThreadLoad) -> int:
        """Tokens of a thread, prompt, sound and answer together."""
        return tokens(self.limits, load._replace(answer=self.answer(load)), self.seconds)

    def answer(self, load: ThreadLoad) -> int:
        """Most tokens of the answer to a thread."""
        return _shortened(self.limits, load, None if self.chosen else self.seconds).answer

    def pieces(self, clips: Sequence[Samples]) -> tuple[Samples, ...]:
        """What a prompt is given.

        Args:
            clips: What is heard of each clip, at least one, at the model's rate.

        Returns:
            One or more clips, none longer than the model hears of one.
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
        """The plan for programs."""
        return {
            "seconds": self.seconds,
            "context": self.limits.context,
            "most_tokens": self.most_tokens,
            "fullest": self.fullest,
            "too_long": list(self.too_long),
            "shortened": self.n_shortened,
        }

    def __str__(self) -> str:
        limits = self.limits
        by = "the most that fits every thread" if self.chosen else "as asked for"
        how = "each from its start" if limits.several_clips else "each from its start, joined into one"
        split = ""
        if limits.several_clips and limits.clip_limit_s is not None:
            split = f"; a clip of more than {limits.clip_limit_s:g} s is split into equal pieces"
        return f"up to {self.seconds:g} s of a thread ({by}), shared evenly by its clips, {how}{split}"


def fit(limits: AudioLimits, loads: Sequence[ThreadLoad], seconds: float | None = None) -> PromptClips:
    """Choose how much of the clips is heard.

    Args:
        limits: Of the model.
        loads: Those of all threads; at least one.
        seconds: What the user asks for; None for the most that fits, up to 300 s.

    Returns:
        The plan.

    Raises:
        UserError: No thread fits, or what the user asks for exceeds what the model hears or the context of a thread, or
            leaves less than 0.1 s of a clip.
    """
    most = _most_of_a_prompt(limits)
    min_seconds = min(_LEAST, most if seconds is None else seconds)
    asked, loads = loads, [_shortened(limits, load, seconds) for load in loads]
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
            f"--seconds {seconds:g}: the model hears {most:g} s of a prompt and would drop the rest in silence; "
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
    too_long = tuple(load.thread_id for load in loads if load not in room)
    n_shortened = sum(load.answer < full.answer for load, full in zip(loads, asked, strict=True) if load in room)
    return PromptClips(
        limits, chosen, seconds is None, tokens(limits, fullest, chosen), fullest.thread_id, too_long, n_shortened
    )


def tokens(limits: AudioLimits, load: ThreadLoad, seconds: float) -> int:
    """Tokens that a thread takes if so many seconds of it are heard: words, sound, answer and some slack."""
    return limits.template_tokens + load.text + _sound(limits, load, seconds) + load.answer + SLACK


def _shortened(limits: AudioLimits, load: ThreadLoad, seconds: float | None) -> ThreadLoad:
    """The same with the longest answer that leaves room for the seconds that are asked for, or for the fewest."""
    reserved = min(_LEAST, _most_of_a_prompt(limits)) if seconds is None else seconds
    left = limits.context - tokens(limits, load._replace(answer=0), reserved)
    return load._replace(answer=min(load.answer, max(left, load.min_answer)))


def _check_shares(loads: Sequence[ThreadLoad], seconds: float) -> None:
    most = max(loads, key=lambda load: len(load.clips))
    if seconds < SHORTEST * len(most.clips):
        raise UserError(
            f"--seconds {seconds:g}: thread {most.thread_id} has {count(len(most.clips), 'clip')}, of each of which at "
            f"least {SHORTEST} s have to be heard; name at least {SHORTEST * len(most.clips):g}"
        )


def _sound(limits: AudioLimits, load: ThreadLoad, seconds: float) -> int:
    heard = [length for length in _heard(load.clips, seconds) if length]
    if heard and not limits.several_clips:
        heard = [sum(heard)]
    n_pieces = [_n_pieces(limits, length) for length in heard]
    return sum(n * limits.tokens(length / n) for n, length in zip(n_pieces, heard, strict=True))


def _n_pieces(limits: AudioLimits, length: float) -> int:
    return 1 if limits.clip_limit_s is None else max(math.ceil((length - _ROUNDING) / limits.clip_limit_s), 1)


def _heard(clips: Sequence[float], seconds: float) -> list[float]:
    share = seconds / max(len(clips), 1)
    return [min(length, share) for length in clips]


def _most_of_a_prompt(limits: AudioLimits) -> float:
    seconds = [limits.total_limit_s, None if limits.several_clips else limits.clip_limit_s]
    return min((limit for limit in seconds if limit is not None), default=math.inf)


def _longest(limits: AudioLimits, loads: Sequence[ThreadLoad], most: float) -> float:
    """The largest share that fits all, in steps of half a second."""
    steps = range(int(most / _STEP) + 1)
    too_many = bisect_left(steps, True, key=lambda step: _exceeds(limits, loads, step * _STEP))
    return (too_many - 1) * _STEP


def _exceeds(limits: AudioLimits, loads: Sequence[ThreadLoad], seconds: float) -> bool:
    return any(tokens(limits, load, seconds) > limits.context for load in loads)


def _sum(limits: AudioLimits, load: ThreadLoad, seconds: float) -> str:
    sound = _sound(limits, load, seconds)
    words = limits.template_tokens + load.text + SLACK
    return f"{words + sound + load.answer} tokens ({words} for words, {sound} for sound, {load.answer} for the answer)"
