"""Clips for threads from a folder of audio files: downloads of `audio fetch`, or what somebody already has."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from musicrs_metric.errors import UserError, count

from ..records import Clip, Link, LinkStatus, Thread
from .clip_plan import ClipPlan
from .cut_clips import CutClips
from .cutting import SHORTEST, Cut, UnusableAudioError, cut, rms_dbfs
from .decoding import require
from .download_ledger import known_statuses
from .files import AudioFiles

Files = Mapping[int, Sequence[Path]]
Result = TypeVar("Result")


class _Made(NamedTuple):
    clip: Clip
    remarks: tuple[str, ...]


@dataclass
class AudioReport:
    """What became of the audio of a dataset.

    Attributes:
        threads: Threads seen.
        with_audio: Those that got at least one clip.
        clips: Clips cut.
        seconds: Their total length.
        links: Status of the links to the number of them; links to one stretch of a video count once.
        unusable: One line per link whose files are of no use.
        remarks: One line per clip that is used though something is odd about it: silence, a file that breaks off.
    """

    threads: int = 0
    with_audio: int = 0
    clips: int = 0
    seconds: float = 0.0
    links: Counter[LinkStatus] = field(default_factory=Counter)
    unusable: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(
        self, thread_id: str, made: Sequence[_Made], failures: Iterable[str], statuses: Iterable[LinkStatus]
    ) -> None:
        """Count the next thread."""
        self.threads += 1
        self.with_audio += bool(made)
        self.clips += len(made)
        self.seconds += sum(one.clip.duration_s for one in made)
        self.links.update(statuses)
        self.unusable += [f"{thread_id}: {why}" for why in failures]
        self.remarks += [f"{thread_id}: {remark}" for one in made for remark in one.remarks]

    def lines(self) -> list[str]:
        """The summary for a person."""
        statuses = ", ".join(f"{n} {status}" for status, n in sorted(self.links.items()))
        return [
            f"audio: {count(self.clips, 'clip')}, {self.seconds / 3600:.2f} h, for {self.with_audio} of "
            f"{self.threads} threads; links: {statuses or 'none'}",
            *(f"unusable: {line}" for line in self.unusable),
            *(f"used, but: {line}" for line in self.remarks),
        ]


class AudioFolder:
    """Gives threads their clips.

    Args:
        folder: A folder laid out as `musicrs_dataset.audio.files` says.
        plan: Number and length of the clips.
        keep: Folder in which the clips of each thread are kept until `forget` is called, so that a stopped command does
            not cut them again; None for none.

    Attributes:
        plan: The same.
        report: What became of the threads so far.

    Raises:
        UserError: There is no such folder, it holds no file, or the libraries for audio are not installed.
    """

    def __init__(self, folder: str | Path, plan: ClipPlan | None = None, keep: Path | None = None) -> None:
        require("clips need", "soundfile", "soxr")
        self.plan = plan or ClipPlan()
        self.report = AudioReport()
        self._folder = Path(folder)
        self._files = AudioFiles(self._folder)
        self._statuses = known_statuses(self._folder)
        self._kept = None if keep is None else CutClips(keep)

    def check_matches(self, threads: Iterable[Thread]) -> None:
        """Refuse a folder in which no file belongs to any thread: it is the wrong one, or its files have other names.

        Args:
            threads: The threads that are to get clips.

        Raises:
            UserError: No file is named by a video or a thread.
        """
        if not any(paths for thread in threads for paths in self._files.of(thread).values()):
            raise UserError(
                f"{self._folder}: none of its files belongs to a thread; "
                "expected <video_id>.*, <thread_id>/<video_id>.* or <thread_id>/NN.*"
            )

    def add_clips(self, thread: Thread) -> Thread:
        """Cut the clips of a thread: n = min(10, usable links) of 300 / n seconds each, in the order of the links.

        Args:
            thread: A thread; clips that it has are replaced. A link to the same second of the same video as an earlier
                one brings no clip.

        Returns:
            The thread with its clips, perhaps none. The status of links whose sound can be read is `ok`, of those whose
            files are of no use `retry`, of those without a file what the download said; the others keep theirs.
        """
        files = self._files.of(thread)
        made, failures = self._kept_or_made(thread, files)
        statuses = {
            (link.video_id, link.start_s): self._status(link, files[place], place in failures)
            for place, link in enumerate(thread.links)
            if place in files
        }
        links = tuple(replace(link, status=statuses[link.video_id, link.start_s]) for link in thread.links)
        self.report.add(thread.thread_id, made, failures.values(), statuses.values())
        return replace(thread, clips=tuple(one.clip for one in made), links=links)

    def forget(self) -> None:
        """Remove the kept clips, because the dataset that holds them is complete."""
        if self._kept is not None:
            self._kept.remove()

    def _kept_or_made(self, thread: Thread, files: Files) -> tuple[list[_Made], dict[int, str]]:
        if self._kept is None:
            return self._make(thread, files)
        key = self._kept.key(thread, files, self.plan)
        if kept := self._kept.get(key):
            return [_Made(*one) for one in kept[0]], kept[1]
        made, failures = self._make(thread, files)
        self._kept.put(key, ([(one.clip, one.remarks) for one in made], failures))
        return made, failures

    def _make(self, thread: Thread, files: Files) -> tuple[list[_Made], dict[int, str]]:
        """Make the clips; a link that fails leaves its share of the time to the others, so all are looked at first."""
        places = [place for place, paths in files.items() if paths]
        looked_at, failures = _each(places, partial(_cut_first, thread, files, SHORTEST))
        usable = list(looked_at)
        while usable:
            chosen = self.plan.choose(thread.thread_id, usable)
            seconds = self.plan.total_s / len(chosen)
            made, failed = _each(chosen, partial(_make_clip, thread, files, seconds))
            if not failed:
                return list(made.values()), failures
            failures |= failed
            usable = [place for place in usable if place not in failed]
        return [], failures

    def _status(self, link: Link, paths: Sequence[Path], has_failed: bool) -> LinkStatus:
        if paths:
            return "retry" if has_failed else "ok"
        return self._statuses.get(link.video_id, link.status)


def _each(places: Iterable[int], job: Callable[[int], Result]) -> tuple[dict[int, Result], dict[int, str]]:
    """Do a job for each place, several at a time: the results, and the reasons of those whose audio is of no use."""
    done, failed = {}, {}
    with ThreadPoolExecutor() as pool:  # reading, resampling and packing release Python's lock
        for place, future in [(place, pool.submit(job, place)) for place in places]:
            try:
                done[place] = future.result()
            except UnusableAudioError as reason:
                failed[place] = str(reason)
    return done, failed


def _make_clip(thread: Thread, files: Files, seconds: float, place: int) -> _Made:
    piece = _cut_first(thread, files, seconds, place)
    audio = piece.flac()
    clip = Clip(
        audio,
        f"{thread.thread_id}-{place:02d}.flac",
        thread.links[place].video_id,
        piece.start_s,
        piece.duration_s,
        rms_dbfs(piece.samples),
        hashlib.sha256(audio).hexdigest(),
    )
    return _Made(clip, piece.remarks)


def _cut_first(thread: Thread, files: Files, seconds: float, place: int) -> Cut:
    """Cut from the first file of a link that is of use."""
    reasons = []
    for path in files[place]:
        try:
            return cut(path, thread.links[place].start_s, seconds)
        except UnusableAudioError as reason:
            reasons.append(str(reason))
    raise UnusableAudioError("; ".join(reasons))
