"""Which file of a folder holds the sound of which link.

A folder may be the cache that `audio fetch` fills (`audio/<two letters>/<video_id>.*`), a flat one (`<video_id>.*`), or
have one folder per thread: `<thread_id>/<video_id>.*`, `<thread_id>/NN.*` with the link's place in the thread (00 the
first), or as many files as the thread has links, in their order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError

from ..records import Thread

# What downloaders leave beside the sound, or before it is whole.
_NO_SOUND = {".description", ".jpg", ".json", ".part", ".png", ".srt", ".temp", ".txt", ".vtt", ".webp", ".ytdl"}


class AudioFiles:
    """The files of a folder, by what their names and folders say.

    Args:
        folder: A folder laid out as the module says; symbolic links are followed.

    Raises:
        UserError: There is no such folder, or no file in it.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UserError(f"{folder}: no such directory; expected a folder of audio files")
        self._named: dict[tuple[str, str], list[Path]] = defaultdict(list)
        self._of_thread: dict[str, list[Path]] = defaultdict(list)
        paths = [path for root in (folder, folder / "audio") for pattern in ("*", "*/*") for path in root.glob(pattern)]
        for path in sorted(set(paths)):
            if path.is_file() and not path.name.startswith(".") and path.suffix.lower() not in _NO_SOUND:
                self._add(path, "" if path.parent in (folder, folder / "audio") else path.parent.name)
        if not self._named:
            raise UserError(f"{folder}: no files in it; expected <video_id>.* or <thread_id>/<video_id>.*")

    def of(self, thread: Thread) -> Mapping[int, Sequence[Path]]:
        """Find the files of a thread.

        Args:
            thread: The thread.

        Returns:
            Place of each link to the files that its sound may be in, the likeliest first: the thread's own file by
            the name of the video, by place, by order, then the file for all threads. A link to the same second of the
            same video as an earlier one is left out.
        """
        places: dict[tuple[str, float], int] = {}
        for place, link in enumerate(thread.links):
            places.setdefault((link.video_id, link.start_s), place)
        in_order = self._in_order(thread, len(places))
        found = {}
        for i, ((video_id, _), place) in enumerate(places.items()):
            own = [(thread.thread_id, video_id), (thread.thread_id, f"{place:02d}")]
            shared = self._named.get(("", video_id), [])
            found[place] = [*(path for key in own for path in self._named.get(key, [])), *in_order[i : i + 1], *shared]
        return found

    def _add(self, path: Path, inside: str) -> None:
        name = path.name.split(".")[0]
        if inside == name[:2]:  # as the cache sorts its files
            inside = ""
        self._named[inside, name].append(path)
        if inside:
            self._of_thread[inside].append(path)

    def _in_order(self, thread: Thread, n_links: int) -> list[Path]:
        """The files of the thread's folder, where none of them names a link and there is one for each."""
        paths = self._of_thread.get(thread.thread_id, [])
        names = {path.name.split(".")[0] for path in paths}
        links = {link.video_id for link in thread.links} | {f"{place:02d}" for place in range(len(thread.links))}
        return sorted(paths, key=_by_number) if len(paths) == n_links and not names & links else []


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Sorts clip_2 before clip_10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path.name)]
