"""Audio files of a cache: `audio/<first two letters>/<video_id>.<ext>`, each with a JSON file next to it.

A file gets its name in one step, after it is complete and its JSON is written. Every file with such a name is therefore
complete. Downloads under way are in `partial/<video_id>/`; the next run resumes them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import to_json, write_text

from ...youtube import video_id as video_id_in


def is_video_id(text: str) -> bool:
    """Return True if a text is a video id and nothing else; other texts must touch neither a path nor a URL."""
    return video_id_in(f"https://youtu.be/{text}") == text


class AudioCache:
    """The files of a cache.

    Args:
        cache: Folder of the cache; created when the first download begins.
    """

    def __init__(self, cache: Path) -> None:
        self._audio, self._partial = cache / "audio", cache / "partial"

    def videos(self) -> dict[str, Path]:
        """Map the id of every downloaded video to its file."""
        paths = sorted(self._audio.glob("??/*")) if self._audio.is_dir() else []
        return {path.stem: path for path in paths if path.suffix != ".json" and is_video_id(path.stem)}

    def partial(self, video_id: str) -> Path:
        """Return the folder of a download under way; created if missing.

        Raises:
            ValueError: The text is no video id.
        """
        folder = self._partial / _checked(video_id)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def admit(self, video_id: str, file: Path, about: dict[str, Any]) -> Path:
        """Move a downloaded file to its place, and remove the rest of its download.

        Args:
            video_id: Id of the video.
            file: The complete file, in the folder that `partial` returned.
            about: Facts for the JSON file; plain JSON types.

        Returns:
            The new path.

        Raises:
            ValueError: The text is no video id.
        """
        target = self._audio / video_id[:2] / f"{_checked(video_id)}{file.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target.with_suffix(".json"), [to_json(about, indent=2), "\n"])
        with file.open("rb") as content:
            os.fsync(content.fileno())
        file.replace(target)
        shutil.rmtree(self._partial / video_id, ignore_errors=True)
        return target


def _checked(video_id: str) -> str:
    if not is_video_id(video_id):
        raise ValueError(f"{video_id!r} is no video id")
    return video_id
