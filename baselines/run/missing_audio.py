"""Policies for threads without clips, and the record of the audio that a run used.

zero    The thread gets an empty ranking, which scores 0 and is counted. Default in audio_only.
text    The system ranks by the query alone. Default in audio_query.
error   The run stops.

With zero and text, the outcome of the thread is "no_audio". The run card names the policy. A clip that exists and
cannot be decoded is different: its thread fails, and the log names it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from musicrs_dataset.records import Thread
from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.errors import UserError, count, show, some
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Modality

from ..system import MissingAudio, System, Task


def choose_policy(system: type[System], modality: Modality, chosen: MissingAudio | None) -> MissingAudio | None:
    """Choose the policy for threads without clips.

    Args:
        system: The system.
        modality: Data of a thread that the system uses.
        chosen: Policy that the user set; None for the default.

    Returns:
        The policy; None if the system uses no clips.

    Raises:
        UserError: The user set a policy although the system uses no clips, or "text" although there is no query.
    """
    if not system.uses_audio or modality == "query_only":
        if chosen is not None:
            name = system.declaration.name
            raise UserError(f"--missing-audio {chosen}: {name} uses no clips in {modality}; leave it out")
        return None
    if chosen == "text" and modality == "audio_only":
        raise UserError("--missing-audio text: audio_only has no query to rank by; expected zero or error")
    return chosen or ("zero" if modality == "audio_only" else "text")


def check_clips(threads: Sequence[Thread], policy: MissingAudio | None) -> None:
    """Refuse a run that needs clips if there are none, or if the policy is "error" and one thread has none.

    Raises:
        UserError: No thread has a clip and the system uses clips, or the policy is "error" and a thread has none.
    """
    if policy is None:
        return
    without = [thread.thread_id for thread in threads if not thread.clips]
    if len(without) == len(threads):
        raise UserError(
            "no thread of the dataset has a clip, so there is no audio to use; build it with --audio (see "
            "`python -m musicrs_dataset audio --help`), or run with --modality query_only"
        )
    if policy == "error" and without:
        raise UserError(
            f"no clips in {count(len(without), 'thread')}, such as {without[0]}; build the dataset with their audio, "
            "or choose another --missing-audio"
        )


def rank_by_policy(system: System, batch: Sequence[Task]) -> list[Prediction]:
    """Ask a system for rankings, and apply the policy to threads without clips.

    Args:
        system: The system.
        batch: At least one task.

    Returns:
        One prediction per task, in the order of the batch.

    Raises:
        TypeError: The system did not return a list of predictions.
        ValueError: The system returned predictions of other threads, or too few or too many.
    """
    policy = system.context.missing_audio
    asked = [task for task in batch if policy != "zero" or task.thread.clips]
    answers = _checked(system.rank(asked), [task.thread.thread_id for task in asked]) if asked else []
    answer_to = {answer.thread_id: answer for answer in answers}
    return [
        _marked(answer_to[task.thread.thread_id], has_audio=policy is None or bool(task.thread.clips))
        if task.thread.thread_id in answer_to
        else Prediction(task.thread.thread_id, (), outcome="no_audio", n_answered=0)
        for task in batch
    ]


def _checked(answers: Any, asked: Sequence[str]) -> Sequence[Prediction]:
    """Check that `System.rank` returned one prediction per task, in order."""
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise TypeError(f"rank returned {show(answers)}, expected a list with one Prediction per thread")
    other = next((answer for answer in answers if not isinstance(answer, Prediction)), None)
    if other is not None:
        raise TypeError(f"rank returned a list with {show(other)} in it, expected one Prediction per thread")
    answered = [answer.thread_id for answer in answers]
    if answered != list(asked):
        raise ValueError(
            f"rank got {count(len(asked), 'thread')} and returned {count(len(answered), 'prediction')}"
            + (f", of {some(answered)} in place of {some(asked)}" if len(asked) == len(answered) else "")
            + "; expected one per thread, in their order"
        )
    return answers


def _marked(prediction: Prediction, has_audio: bool) -> Prediction:
    if has_audio or prediction.outcome not in (None, "ok"):
        return prediction
    return replace(prediction, outcome="no_audio")


class AudioUsage(NamedTuple):
    """Audio used of a thread.

    Attributes:
        thread: The thread.
        seconds: Seconds of each of its clips that reached the model.
    """

    thread: Thread
    seconds: Sequence[float]

    def line(self) -> str:
        """Return the line of `audio.jsonl`: length and used part of each clip, in seconds."""
        pairs = zip(self.thread.clips or (), self.seconds, strict=True)
        clips = [{"video_id": clip.video_id, "offered_s": clip.duration_s, "used_s": used} for clip, used in pairs]
        return to_json({"thread_id": self.thread.thread_id, "clips": clips}) + "\n"


class AudioCoverage:
    """Audio used in a run, thread by thread.

    Args:
        system: The system.
        threads: The threads that it ranked.
        failed: Threads without an answer, whose clips count as unused.
    """

    FILE = "audio.jsonl"

    def __init__(self, system: System, threads: Iterable[Thread], failed: Container[str] = ()) -> None:
        self._usage = [
            AudioUsage(
                thread,
                [0.0] * len(thread.clips or ()) if thread.thread_id in failed else system.audio_used(thread),
            )
            for thread in threads
        ]

    def coverage(self) -> dict[str, float]:
        """Return the share of threads with clips, and the mean seconds that these offer and that were used."""
        with_clips = [usage for usage in self._usage if usage.thread.clips]
        n = max(len(with_clips), 1)
        offered = sum(clip.duration_s for usage in with_clips for clip in usage.thread.clips or ())
        used = sum(sum(usage.seconds) for usage in with_clips)
        shares = {
            "threads": len(with_clips) / len(self._usage),
            "seconds_offered": offered / n,
            "seconds_used": used / n,
        }
        return {name: round(value, 6) for name, value in shares.items()}

    def write(self, folder: Path) -> None:
        """Write `audio.jsonl`, one line per thread."""
        write_text(folder / self.FILE, (usage.line() for usage in self._usage))
