"""What is heard of a thread's clips, and what becomes of a thread that has none: a policy, and never an accident.

zero    The thread gets an empty ranking, which scores 0 and is counted. The default where there is nothing but clips.
text    The system ranks by the query alone. The default where there is a query.
error   The run stops.

Either way the thread's outcome is "no_audio", and the run card names the policy. A clip that is there and cannot be
decoded is another matter: it fails its thread, and the log names it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
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
    """Settle what is done with threads that have no clip.

    Args:
        system: The system.
        modality: What of a thread it is given.
        chosen: What the user said.

    Returns:
        The policy; None where the system hears nothing and needs none.

    Raises:
        UserError: The user asked for a policy where none is needed, or for a query where there is none.
    """
    if not system.uses_audio or modality == "query_only":
        if chosen is not None:
            name = system.declaration.name
            raise UserError(f"--missing-audio {chosen}: {name} hears no clips in {modality}; leave it out")
        return None
    if chosen == "text" and modality == "audio_only":
        raise UserError("--missing-audio text: audio_only has no query to fall back on; expected zero or error")
    return chosen or ("zero" if modality == "audio_only" else "text")


def check_clips(threads: Sequence[Thread], policy: MissingAudio | None) -> None:
    """Stop a run before it begins that would hear nothing at all, or must not meet a thread without clips.

    Raises:
        UserError: No thread has a clip and the system hears; or the policy is "error" and one has none.
    """
    if policy is None:
        return
    without = [thread.thread_id for thread in threads if not thread.clips]
    if len(without) == len(threads):
        raise UserError(
            "no thread of the dataset has a clip, so there is nothing to hear; build it with --audio (see "
            "`python -m musicrs_dataset audio --help`), or run with --modality query_only"
        )
    if policy == "error" and without:
        raise UserError(
            f"no clips in {count(len(without), 'thread')}, such as {without[0]}; build the dataset with their audio, "
            "or choose another --missing-audio"
        )


def rank_by_policy(system: System, batch: Sequence[Task]) -> list[Prediction]:
    """Ask a system for rankings, and deal with threads that have no clips.

    Args:
        system: The system.
        batch: At least one task.

    Returns:
        One prediction per task, in the order of the batch.

    Raises:
        TypeError: The system returned something else than a list of predictions.
        ValueError: It returned predictions of other threads than it was asked for, or of too few or too many.
    """
    policy = system.context.missing_audio
    asked = [task for task in batch if policy != "zero" or task.thread.clips]
    answers = _checked(system.rank(asked), [task.thread.thread_id for task in asked]) if asked else []
    answer_to = {answer.thread_id: answer for answer in answers}
    return [
        _marked(answer_to[task.thread.thread_id], heard=policy is None or bool(task.thread.clips))
        if task.thread.thread_id in answer_to
        else Prediction(task.thread.thread_id, (), outcome="no_audio", n_answered=0)
        for task in batch
    ]


def _checked(answers: Any, asked: Sequence[str]) -> Sequence[Prediction]:
    """What `System.rank` returned, after a look at whether it is what it is to be."""
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise TypeError(f"rank returned {show(answers)}, expected a list with one Prediction per thread")
    other = next((answer for answer in answers if not isinstance(answer, Prediction)), None)
    if other is not None:
        raise TypeError(f"rank returned a list with {show(other)} in it, expected one Prediction per thread")
    answered = [answer.thread_id for answer in answers]
    if answered != list(asked):
        raise ValueError(
            f"rank was given {count(len(asked), 'thread')} and returned {count(len(answered), 'prediction')}"
            + (f", of {some(answered)} in place of {some(asked)}" if len(asked) == len(answered) else "")
            + "; expected one per thread, in their order"
        )
    return answers


def _marked(prediction: Prediction, heard: bool) -> Prediction:
    if heard or prediction.outcome not in (None, "ok"):
        return prediction
    return replace(prediction, outcome="no_audio")


class AudioUsage(NamedTuple):
    """What was heard of a thread.

    Attributes:
        thread: The thread.
        seconds: Seconds of each of its clips that reached the model.
    """

    thread: Thread
    seconds: Sequence[float]

    def line(self) -> str:
        """The thread's line of the record: each clip with its length and what was heard of it, in seconds."""
        pairs = zip(self.thread.clips or (), self.seconds, strict=True)
        clips = [{"video_id": clip.video_id, "offered_s": clip.duration_s, "used_s": used} for clip, used in pairs]
        return to_json({"thread_id": self.thread.thread_id, "clips": clips}) + "\n"


class AudioCoverage:
    """How much of the clips a run heard, thread by thread.

    Args:
        system: The system.
        threads: The threads that it ranked.
        failed: Those that it failed on without an answer, so that nothing of their clips was used.
    """

    FILE = "audio.jsonl"

    def __init__(self, system: System, threads: Iterable[Thread], failed: Container[str] = ()) -> None:
        self._heard = [
            AudioUsage(
                thread, [0.0] * len(thread.clips or ()) if thread.thread_id in failed else system.audio_used(thread)
            )
            for thread in threads
        ]

    def coverage(self) -> dict[str, float]:
        """Share of the threads that have clips, and the mean seconds that those offer and that were used of them."""
        with_clips = [heard for heard in self._heard if heard.thread.clips]
        n = max(len(with_clips), 1)
        offered = sum(clip.duration_s for heard in with_clips for clip in heard.thread.clips or ())
        used = sum(sum(heard.seconds) for heard in with_clips)
        shares = {
            "threads": len(with_clips) / len(self._heard),
            "seconds_offered": offered / n,
            "seconds_used": used / n,
        }
        return {name: round(value, 6) for name, value in shares.items()}

    def write(self, folder: Path) -> None:
        """Write `audio.jsonl`, one line per thread."""
        write_text(folder / self.FILE, self._lines())

    def _lines(self) -> Iterator[str]:
        return (heard.line() for heard in self._heard)
