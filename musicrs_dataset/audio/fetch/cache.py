"""The audio files of a cache: `audio/<first two letters>/<video_id>.<ext>`, each with a JSON file beside it.

A file appears under its name in one step, when it is whole and its JSON is written: whatever bears a name there needs
no second look. Downloads under way lie in `partial/<video_id>/` and are taken up again.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import to_json, write_text

from ...youtube import video_id as named_by


def is_video_id(text: str) -> bool:
    """Whether a text is the id of a video and nothing else; what is not must touch neither a path nor a URL."""
    return named_by(f"https://youtu.be/{text}") == text


class AudioStore:
    """The files of a cache.

    Args:
        cache: The cache; made when the first download begins.
    """

    def __init__(self, cache: Path) -> None:
        self._audio, self._partial = cache / "audio", cache / "partial"

    def videos(self) -> dict[str, Path]:
        """Id to file of every video that is here."""
        found = sorted(self._audio.glob("??/*")) if self._audio.is_dir() else []
        return {path.stem: path for path in found if path.suffix != ".json" and is_video_id(path.stem)}

    def partial(self, video_id: str) -> Path:
        """Folder for a download under way, made if missing.

        Raises:
            ValueError: That is no video id.
        """
        folder = self._partial / _checked(video_id)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def admit(self, video_id: str, file: Path, about: dict[str, Any]) -> Path:
        """Give a downloaded file its name, and drop what else was left of its download.

        Args:
            video_id: What it is.
            file: The whole file, in the folder `partial` gave.
            about: What is known of it; plain JSON types.

        Returns:
            Where it lies now.

        Raises:
            ValueError: That is no video id.
        """
        target = self._audio / video_id[:2] / f"{_checked(video_id)}{file.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target.with_suffix(".json"), [to_json(about, indent=2), "\n"])
        with file.open("rb") as whole:
            os.fsync(whole.fileno())
        file.replace(target)
        shutil.rmtree(self._partial / video_id, ignore_errors=True)
        return target


def _checked(video_id: str) -> str:
    if not is_video_id(video_id):
        raise ValueError(f"{video_id!r} is no video id")
    return video_id
