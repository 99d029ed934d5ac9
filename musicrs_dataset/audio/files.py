"""Match the audio files of a folder to the links of threads.

A folder may be the cache that `audio fetch` fills (`audio/<two letters>/<video_id>.*`), a flat one (`<video_id>.*`), or
have one folder per thread: `<thread_id>/<video_id>.*`, `<thread_id>/NN.*` with the position of the link in the thread
(00 is the first), or as many files as the thread has links, in their order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError

from ..records import Thread

# Other files of downloaders, and incomplete downloads.
_NO_AUDIO = {".description", ".jpg", ".json", ".part", ".png", ".srt", ".temp", ".txt", ".vtt", ".webp", ".ytdl"}


class AudioFiles:
    """Audio files of a folder, by name and subfolder.

    Args:
        folder: A folder with a layout that the module describes; symbolic links are followed.

    Raises:
        UserError: The folder is missing, or has no files.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UserError(f"{folder}: no such directory; expected a folder of audio files")
        self._named: dict[tuple[str, str], list[Path]] = defaultdict(list)
        self._of_thread: dict[str, list[Path]] = defaultdict(list)
        paths = [path for root in (folder, folder / "audio") for pattern in ("*", "*/*") for path in root.glob(pattern)]
        for path in sorted(set(paths)):
            if path.is_file() and not path.name.startswith(".") and path.suffix.lower() not in _NO_AUDIO:
                self._add(path, "" if path.parent in (folder, folder / "audio") else path.parent.name)
        if not self._named:
            raise UserError(f"{folder}: no files in it; expected <video_id>.* or <thread_id>/<video_id>.*")

    def of(self, thread: Thread) -> Mapping[int, Sequence[Path]]:
        """Find the files of a thread.

        Args:
            thread: The thread.

        Returns:
            Position of each link to the files that may contain its audio, the likeliest first. Files of the thread come
            first (by video id, by position, by order), then the file for all threads. A link to the same second of the
            same video as an earlier one is excluded.
        """
        positions: dict[tuple[str, float], int] = {}
        for position, link in enumerate(thread.links):
            positions.setdefault((link.video_id, link.start_s), position)
        in_order = self._in_order(thread, len(positions))
        files = {}
        for i, ((video_id, _), position) in enumerate(positions.items()):
            keys = [(thread.thread_id, video_id), (thread.thread_id, f"{position:02d}")]
            own = [path for key in keys for path in self._named.get(key, [])]
            files[position] = [*own, *in_order[i : i + 1], *self._named.get(("", video_id), [])]
        return files

    def _add(self, path: Path, subfolder: str) -> None:
        name = path.name.split(".")[0]
        if subfolder == name[:2]:  # a folder of the cache
            subfolder = ""
        self._named[subfolder, name].append(path)
        if subfolder:
            self._of_thread[subfolder].append(path)

    def _in_order(self, thread: Thread, n_links: int) -> list[Path]:
        """List the files of the thread's folder if none names a link and there is one per link."""
        paths = self._of_thread.get(thread.thread_id, [])
        names = {path.name.split(".")[0] for path in paths}
        links = {link.video_id for link in thread.links} | {f"{position:02d}" for position in range(len(thread.links))}
        return sorted(paths, key=_by_number) if len(paths) == n_links and not names & links else []


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Sort clip_2 before clip_10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path.name)]
