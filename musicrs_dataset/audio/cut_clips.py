"""Clips of a stopped `audio cut`, one file per thread, so that the next start does not cut them again.

A file holds one line of JSON and then the clips' bytes, end to end. Its name is a hash of everything that the clips
depend on. A clip whose bytes do not match its checksum is cut again.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import replacing_derived, strict_json, to_json

from ..records import Clip, Thread
from ..schema import CLIP_RATE
from .clip_plan import ClipPlan

Remarks = tuple[str, ...]
Cut = tuple[list[tuple[Clip, Remarks]], dict[int, str]]


class CutClips:
    """The folder of these files.

    Args:
        folder: The folder, made when the first file is written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, thread: Thread, files: Mapping[int, Sequence[Path]], plan: ClipPlan) -> str:
        """Name the clips of a thread by its links, its audio files, the plan and the libraries that cut.

        Args:
            thread: The thread.
            files: Files by the place of each link.
            plan: Number and length of the clips.
        """
        links = [(link.video_id, link.start_s) for link in thread.links]
        audio = {place: [_identity(path) for path in paths] for place, paths in files.items()}
        about = [thread.thread_id, links, audio, asdict(plan), CLIP_RATE, _versions()]
        return hashlib.sha256(to_json(about).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def get(self, key: str) -> Cut | None:
        """Return the clips with their remarks, and the failures by place; None where they must be cut."""
        try:
            head, _, sound = (self._folder / key).read_bytes().partition(b"\n")
            stated = strict_json(head.decode())
            made = []
            for about in stated["clips"]:
                clip = Clip(sound[: about["bytes"]], **about["clip"])
                if len(clip.audio) != about["bytes"] or hashlib.sha256(clip.audio).hexdigest() != clip.sha256:
                    return None
                made.append((clip, tuple(about["remarks"])))
                sound = sound[about["bytes"] :]
            return made, {int(place): reason for place, reason in stated["failures"].items()}
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, key: str, cut: Cut) -> None:
        """Write the clips of a thread; after a kill there is the whole file or none."""
        made, failures = cut
        clips = [{"bytes": len(clip.audio), "clip": _without_audio(clip), "remarks": remarks} for clip, remarks in made]
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing_derived(self._folder / key) as file:
            file.write(to_json({"clips": clips, "failures": failures}).encode() + b"\n")
            file.writelines(clip.audio for clip, _ in made)

    def remove(self) -> None:
        """Remove the folder with all files."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _without_audio(clip: Clip) -> dict[str, Any]:
    about = asdict(replace(clip, audio=b""))
    del about["audio"]
    return about


def _identity(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return str(path.absolute()), status.st_size, status.st_mtime_ns


def _versions() -> list[str]:
    found = []
    for name in ("musicrs", "soundfile", "soxr", "av"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(name)
    return found
