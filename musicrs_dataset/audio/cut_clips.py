"""Clips of a stopped `audio cut`, one file per thread, so that the next start does not cut them again.

A file contains one line of JSON, then the bytes of the clips. Its name is a hash of everything that the clips depend
on. A clip is cut again if its bytes do not match its checksum.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.files import replacing_derived, strict_json, to_json

from ..records import Clip, Thread
from ..repo.manifest import installed_versions
from ..schema import CLIP_RATE
from .clip_plan import ClipPlan

_PACKAGES = ("musicrs", "soundfile", "soxr", "av")


class CutClip(NamedTuple):
    """A clip, and remarks on it for the user."""

    clip: Clip
    remarks: tuple[str, ...]


ThreadClips = tuple[list[CutClip], dict[int, str]]
"""The clips of a thread, and the reasons of links without usable audio."""


class CutClips:
    """Folder with the clips of a stopped command.

    Args:
        folder: The folder; created with the first file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, thread: Thread, files: Mapping[int, Sequence[Path]], plan: ClipPlan) -> str:
        """Compute the file name of a thread's clips from its links, audio files, clip plan and library versions.

        Args:
            thread: The thread.
            files: Files by the position of each link.
            plan: Number and length of the clips.

        Returns:
            A hash of 32 hexadecimal digits.
        """
        links = [(link.video_id, link.start_s) for link in thread.links]
        audio = {link: [_identity(path) for path in paths] for link, paths in files.items()}
        versions = installed_versions(_PACKAGES)
        named = [f"{name} {versions[name]}" if name in versions else name for name in _PACKAGES]
        about = [thread.thread_id, links, audio, asdict(plan), CLIP_RATE, named]
        return hashlib.sha256(to_json(about).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def get(self, key: str) -> ThreadClips | None:
        """Return the clips with their remarks, and the failures by link; None if they must be cut."""
        try:
            head, _, audio = (self._folder / key).read_bytes().partition(b"\n")
            values = strict_json(head.decode())
            clips = []
            for about in values["clips"]:
                clip = Clip(audio[: about["bytes"]], **about["clip"])
                if len(clip.audio) != about["bytes"] or hashlib.sha256(clip.audio).hexdigest() != clip.sha256:
                    return None
                clips.append(CutClip(clip, tuple(about["remarks"])))
                audio = audio[about["bytes"] :]
            return clips, {int(link): reason for link, reason in values["failures"].items()}
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, key: str, cut: ThreadClips) -> None:
        """Write the clips of a thread; a kill leaves the complete file or none."""
        clips, failures = cut
        about = []
        for clip, remarks in clips:
            fields = asdict(replace(clip, audio=b""))
            del fields["audio"]
            about.append({"bytes": len(clip.audio), "clip": fields, "remarks": remarks})
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing_derived(self._folder / key) as file:
            file.write(to_json({"clips": about, "failures": failures}).encode() + b"\n")
            file.writelines(clip.audio for clip, _ in clips)

    def remove(self) -> None:
        """Remove the folder with all files."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _identity(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return str(path.absolute()), status.st_size, status.st_mtime_ns
