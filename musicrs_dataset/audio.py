"""Clips for threads from a folder of audio files that somebody already has.

Layout of the folder; of the files for a link, the first in this order that can be decoded is taken:
`<thread_id>/<video_id>.*`, `<thread_id>/NN.*` (NN is the link's place in the thread, 00 the first), `<video_id>.*`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from musicrs_metric.errors import UserError

from .cutting import Cut, UnusableAudioError, cut
from .records import Clip, Link, LinkStatus, Thread

MAX_CLIPS = 10
TOTAL_SECONDS = 300.0  # shared evenly by the clips of a thread

Files = Mapping[int, Sequence[Path]]


@dataclass
class AudioReport:
    """What became of the audio of a dataset.

    Attributes:
        threads: Threads seen.
        with_audio: Those that got at least one clip.
        clips: Clips cut.
        seconds: Their total length.
        links: Links seen.
        without_file: Links for which the folder has no file.
        unusable: One line per link whose files are of no use.
        silent: One line per clip that is used though nothing is heard in it.
    """

    threads: int = 0
    with_audio: int = 0
    clips: int = 0
    seconds: float = 0.0
    links: int = 0
    without_file: int = 0
    unusable: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The summary for a person."""
        return [
            f"audio: {self.clips} clips, {self.seconds / 3600:.2f} h, for {self.with_audio} of {self.threads} threads; "
            f"{self.without_file} of {self.links} links have no file",
            *(f"unusable: {line}" for line in self.unusable),
            *(f"silent: {line}" for line in self.silent),
        ]


class AudioFolder:
    """Gives threads their clips.

    Args:
        folder: A folder laid out as the module says.

    Attributes:
        report: What became of the threads so far.

    Raises:
        UserError: There is no such folder, it holds no file, or the libraries for audio are not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        _check_libraries()
        self.report = AudioReport()
        self._files = _index(Path(folder))

    def add_clips(self, thread: Thread) -> Thread:
        """Cut the clips of a thread: n = min(10, usable links) of 300 / n seconds each, in the order of the links.

        Args:
            thread: A thread; clips that it has are replaced. A link to the same second of the same video as an earlier
                one brings no clip.

        Returns:
            The thread with its clips, perhaps none. The status of links that were cut is `ok`, of those whose files are
            of no use `retry`; the others keep theirs.
        """
        files = self._files_of(thread)
        cuts, failures = _share(thread.links, files)
        status: dict[int, LinkStatus] = dict.fromkeys(failures, "retry")
        status.update(dict.fromkeys(cuts, "ok"))
        links = tuple(replace(link, status=status.get(i, link.status)) for i, link in enumerate(thread.links))
        clips = tuple(
            Clip(cut.flac(), f"{thread.thread_id}-{place:02d}.flac", links[place].video_id, cut.start_s, cut.duration_s)
            for place, cut in cuts.items()
        )
        self._count(thread, files, cuts, failures)
        return replace(thread, clips=clips, links=links)

    def _files_of(self, thread: Thread) -> Files:
        files, seen = {}, set()
        for place, link in enumerate(thread.links):
            stretch = (link.video_id, link.start_s)
            if stretch not in seen:
                seen.add(stretch)
                keys = ((thread.thread_id, link.video_id), (thread.thread_id, f"{place:02d}"), ("", link.video_id))
                files[place] = [path for key in keys for path in self._files.get(key, ())]
        return files

    def _count(self, thread: Thread, files: Files, cuts: Mapping[int, Cut], failures: Mapping[int, str]) -> None:
        report = self.report
        report.threads += 1
        report.with_audio += bool(cuts)
        report.clips += len(cuts)
        report.seconds += sum(cut.duration_s for cut in cuts.values())
        report.links += len(files)
        report.without_file += sum(not found for found in files.values())
        report.unusable += [f"{thread.thread_id}: {why}" for why in failures.values()]
        report.silent += [
            f"{thread.thread_id}: {thread.links[place].video_id}" for place, cut in cuts.items() if cut.is_silent
        ]


def _share(links: Sequence[Link], files: Files) -> tuple[dict[int, Cut], dict[int, str]]:
    """Cut the first usable links; those left share the time of a link that fails, so all are cut anew."""
    usable = {place: paths for place, paths in files.items() if paths}
    failures: dict[int, str] = {}
    while usable:
        chosen = list(usable)[:MAX_CLIPS]
        cuts: dict[int, Cut] = {}
        for place in chosen:
            try:
                cuts[place] = _cut_first(usable[place], links[place].start_s, TOTAL_SECONDS / len(chosen))
            except UnusableAudioError as reason:
                failures[place] = str(reason)
        if len(cuts) == len(chosen):
            return cuts, failures
        usable = {place: paths for place, paths in usable.items() if place not in failures}
    return {}, failures


def _cut_first(paths: Sequence[Path], start_s: float, seconds: float) -> Cut:
    reasons = []
    for path in paths:
        try:
            return cut(path, start_s, seconds)
        except UnusableAudioError as reason:
            reasons.append(str(reason))
    raise UnusableAudioError("; ".join(reasons))


def _index(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Files by (name of the folder inside, or "", and file name up to the first dot), in alphabetical order."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such directory; expected a folder of audio files")
    files: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in sorted([*folder.glob("*"), *folder.glob("*/*")]):
        if path.is_file():
            inside = "" if path.parent == folder else path.parent.name
            files[inside, path.name.split(".")[0]].append(path)
    if not files:
        raise UserError(f"{folder}: no files in it; expected <video_id>.* or <thread_id>/<video_id>.*")
    return files


def _check_libraries() -> None:
    try:
        for library in ("soundfile", "soxr"):
            import_module(library)
    except (ImportError, OSError) as error:  # OSError: soundfile without its C library
        raise UserError(f"clips need soundfile and soxr ({error}); run `pip install 'musicrs[audio]'`") from error
