"""Threads of the dataset for the page. A clip becomes a file when a user opens its thread."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePath
from typing import NamedTuple

from musicrs_dataset.audio.lazy_clips import LazyClips
from musicrs_dataset.loading import available_configs, iter_threads
from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError

_SUFFIXES = frozenset({".flac", ".ogg", ".opus", ".mp3", ".wav"})
_MOST_FILES = 200
# Texts are read first from a configuration without audio, because a dataset on the Hub may have gigabytes of it.
_TEXT_FIRST = ("query_only", "audio_query", "audio_only")
_AUDIO = ("audio_query", "audio_only")


class PlayableClip(NamedTuple):
    """A clip that the page can play.

    Attributes:
        file: Its file, named by a hash of its content.
        start_s: Start in its video in seconds.
        duration_s: Duration in seconds.
    """

    file: Path
    start_s: float
    duration_s: float


class DatasetThreads:
    """The threads of a dataset and, once a user opens one, its clips. Safe to use from many threads of execution.

    Args:
        dataset: Directory of a built dataset, its installed name, or its id on the Hub.

    Raises:
        UserError: The dataset cannot be read.
    """

    def __init__(self, dataset: str) -> None:
        self._dataset = dataset
        built = available_configs(dataset)
        self.threads: Sequence[Thread] = _read(dataset, [name for name in _TEXT_FIRST if name in built] or built)
        self.place = {thread.thread_id: place for place, thread in enumerate(self.threads)}
        self._audio = next((name for name in _AUDIO if name in built), None)
        self._folder = tempfile.TemporaryDirectory(prefix="musicrs-clips-", ignore_cleanup_errors=True)
        self._reading = threading.Lock()
        self._lazy_clips: LazyClips | None = None

    @property
    def folder(self) -> Path:
        """Folder of the clips that were opened last."""
        return Path(self._folder.name)

    def thread(self, thread_id: str) -> Thread | None:
        """Return a thread; None if the id is unknown."""
        place = self.place.get(thread_id)
        return None if place is None else self.threads[place]

    def clips(self, thread_id: str) -> list[PlayableClip]:
        """Return the clips of a thread as files; empty if the dataset has none."""
        place = self.place.get(thread_id)
        if place is None or self._audio is None:
            return []
        with self._reading:  # one part of a file is in memory at a time
            if self._lazy_clips is None:
                try:
                    self._lazy_clips = LazyClips(self._dataset, self._audio)
                except UserError:  # the dataset has no clips
                    self._audio = None
                    return []
            clips = [
                PlayableClip(self._file(clip.audio, clip.name), clip.start_s, clip.duration_s)
                for clip in self._lazy_clips(place)
                if clip.audio and PurePath(clip.name).suffix.lower() in _SUFFIXES
            ]
            self._forget_oldest()
        return clips

    def _file(self, audio: bytes, name: str) -> Path:
        path = self.folder / (sha256(audio).hexdigest() + PurePath(name).suffix.lower())
        if path.exists():
            os.utime(path)
        else:
            part = path.with_suffix(".part")
            part.write_bytes(audio)
            part.replace(path)
        return path

    def _forget_oldest(self) -> None:
        files = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in files[:-_MOST_FILES]:
            path.unlink(missing_ok=True)


def _read(dataset: str, configs: Sequence[str]) -> tuple[Thread, ...]:
    """Read the threads of the first configuration that can be read."""
    *others, last = configs
    for config in others:
        with suppress(UserError):
            return tuple(iter_threads(dataset, config, audio=False))
    return tuple(iter_threads(dataset, last, audio=False))
