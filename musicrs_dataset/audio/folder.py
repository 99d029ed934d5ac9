"""Cut clips for threads from a folder of audio files: downloads of `audio fetch`, or files of the user."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from musicrs_metric.errors import UserError, count

from ..records import Clip, Link, LinkStatus, Thread
from .clip_plan import ClipPlan
from .cut_clips import CutClip, CutClips, ThreadClips
from .cutting import SHORTEST, Cut, UnusableAudioError, cut, rms_dbfs
from .decoding import require
from .download_ledger import known_statuses
from .files import AudioFiles

Files = Mapping[int, Sequence[Path]]
Result = TypeVar("Result")


@dataclass
class AudioReport:
    """Counts of the clips and links of a dataset.

    Attributes:
        threads: Number of threads.
        with_audio: Threads with at least one clip.
        clips: Number of clips.
        seconds: Total length of the clips.
        links: Status to number of links; links to the same second of a video count once.
        unusable: One line per link without a usable file.
        remarks: One line per suspicious clip that is used, such as silence or a truncated file.
    """

    threads: int = 0
    with_audio: int = 0
    clips: int = 0
    seconds: float = 0.0
    links: Counter[LinkStatus] = field(default_factory=Counter)
    unusable: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(
        self, thread_id: str, clips: Sequence[CutClip], failures: Iterable[str], statuses: Iterable[LinkStatus]
    ) -> None:
        """Add the next thread to the counts."""
        self.threads += 1
        self.with_audio += bool(clips)
        self.clips += len(clips)
        self.seconds += sum(cut_clip.clip.duration_s for cut_clip in clips)
        self.links.update(statuses)
        self.unusable += [f"{thread_id}: {why}" for why in failures]
        self.remarks += [f"{thread_id}: {remark}" for cut_clip in clips for remark in cut_clip.remarks]

    def lines(self) -> list[str]:
        """Return the summary as lines of text."""
        statuses = ", ".join(f"{n} {status}" for status, n in sorted(self.links.items()))
        return [
            f"audio: {count(self.clips, 'clip')}, {self.seconds / 3600:.2f} h, for {self.with_audio} of "
            f"{self.threads} threads; links: {statuses or 'none'}",
            *(f"unusable: {line}" for line in self.unusable),
            *(f"used, but: {line}" for line in self.remarks),
        ]


class AudioFolder:
    """Folder of audio files that the clips of threads are cut from.

    Args:
        folder: A folder with a layout that `musicrs_dataset.audio.files` describes.
        plan: Number and length of the clips.
        keep: Folder that stores the clips of each thread until `forget` is called, so that a resumed command does not
            cut them again; None for none.

    Attributes:
        plan: Number and length of the clips.
        report: Counts of the threads so far.

    Raises:
        UserError: The folder is missing or empty, or the libraries for audio are not installed.
    """

    def __init__(self, folder: str | Path, plan: ClipPlan | None = None, keep: Path | None = None) -> None:
        require("clips need", "soundfile", "soxr")
        self.plan = plan or ClipPlan()
        self.report = AudioReport()
        self._folder = Path(folder)
        self._files = AudioFiles(self._folder)
        self._statuses = known_statuses(self._folder)
        self._store = None if keep is None else CutClips(keep)

    def check_matches(self, threads: Iterable[Thread]) -> None:
        """Refuse a folder without a file for any thread: a wrong folder, or files with other names.

        Args:
            threads: The threads that need clips.

        Raises:
            UserError: No file belongs to a thread.
        """
        if not any(paths for thread in threads for paths in self._files.of(thread).values()):
            raise UserError(
                f"{self._folder}: none of its files belongs to a thread; "
                "expected <video_id>.*, <thread_id>/<video_id>.* or <thread_id>/NN.*"
            )

    def add_clips(self, thread: Thread) -> Thread:
        """Cut the clips of a thread: n = min(10, usable links) of 300 / n seconds each, in the order of the links.

        Args:
            thread: A thread; its earlier clips are replaced. A link to the same second of the same video as an earlier
                one gets no clip.

        Returns:
            The thread with its clips, perhaps none. Links with readable audio get the status `ok`, links with unusable
            files `retry`. Links without a file get the status of their download, or keep theirs.
        """
        files = self._files.of(thread)
        clips, failures = self._stored_or_cut(thread, files)
        statuses = {
            (link.video_id, link.start_s): self._status(link, files[position], position in failures)
            for position, link in enumerate(thread.links)
            if position in files
        }
        links = tuple(replace(link, status=statuses[link.video_id, link.start_s]) for link in thread.links)
        self.report.add(thread.thread_id, clips, failures.values(), statuses.values())
        return replace(thread, clips=tuple(cut_clip.clip for cut_clip in clips), links=links)

    def forget(self) -> None:
        """Remove the stored clips, because the dataset with them is complete."""
        if self._store is not None:
            self._store.remove()

    def _stored_or_cut(self, thread: Thread, files: Files) -> ThreadClips:
        if self._store is None:
            return self._cut(thread, files)
        key = self._store.key(thread, files, self.plan)
        clips = self._store.get(key)
        if clips is None:
            clips = self._cut(thread, files)
            self._store.put(key, clips)
        return clips

    def _cut(self, thread: Thread, files: Files) -> ThreadClips:
        """Cut the clips. The working links share the time of a failed link, so all links are tested first."""
        links = [link for link, paths in files.items() if paths]
        tested, failures = _each(links, partial(_cut_first, thread, files, SHORTEST))
        usable = list(tested)
        while usable:
            chosen = self.plan.choose(thread.thread_id, usable)
            seconds = self.plan.total_s / len(chosen)
            clips, failed = _each(chosen, partial(_cut_clip, thread, files, seconds))
            if not failed:
                return list(clips.values()), failures
            failures |= failed
            usable = [link for link in usable if link not in failed]
        return [], failures

    def _status(self, link: Link, paths: Sequence[Path], has_failed: bool) -> LinkStatus:
        if paths:
            return "retry" if has_failed else "ok"
        return self._statuses.get(link.video_id, link.status)


def _each(links: Iterable[int], job: Callable[[int], Result]) -> tuple[dict[int, Result], dict[int, str]]:
    """Run a job per link in parallel; returns the results, and the reasons of links without usable audio."""
    results, reasons = {}, {}
    with ThreadPoolExecutor() as pool:  # reading, resampling and encoding release Python's lock
        for link, future in [(link, pool.submit(job, link)) for link in links]:
            try:
                results[link] = future.result()
            except UnusableAudioError as reason:
                reasons[link] = str(reason)
    return results, reasons


def _cut_clip(thread: Thread, files: Files, seconds: float, link: int) -> CutClip:
    excerpt = _cut_first(thread, files, seconds, link)
    audio = excerpt.flac()
    clip = Clip(
        audio,
        f"{thread.thread_id}-{link:02d}.flac",
        thread.links[link].video_id,
        excerpt.start_s,
        excerpt.duration_s,
        rms_dbfs(excerpt.samples),
        hashlib.sha256(audio).hexdigest(),
    )
    return CutClip(clip, excerpt.remarks)


def _cut_first(thread: Thread, files: Files, seconds: float, link: int) -> Cut:
    """Cut from the first usable file of a link."""
    reasons = []
    for path in files[link]:
        try:
            return cut(path, thread.links[link].start_s, seconds)
        except UnusableAudioError as reason:
            reasons.append(str(reason))
    raise UnusableAudioError("; ".join(reasons))
