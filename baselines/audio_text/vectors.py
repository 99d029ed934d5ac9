"""Vectors of texts and clips: the model embeds each distinct one once, and a cache on disk keeps the result."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from musicrs_dataset.audio.clips import content_hash, load_clips, windows
from musicrs_dataset.audio.cutting import Samples
from musicrs_dataset.records import Clip

from ..embedding.batches import fill_batch
from ..embedding.vector_cache import VectorCache, Vectors
from ..system import Context
from .model import AudioTextModel

# Lengths of short clips that wait for a full batch. Without a limit, all clips might be in memory.
_LENGTHS_WAITING = 16


def normalise(vectors: Vectors) -> Vectors:
    """Bring rows to length 1. A row of zeros stays as it is.

    Args:
        vectors: Shape (..., d).
    """
    lengths = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))[..., None]
    scaled: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


class ClipExcerpt(NamedTuple):
    """The part of a clip that the model gets.

    Attributes:
        clip: The clip.
        seconds: Seconds from its start; None for the whole clip.
    """

    clip: Clip
    seconds: float | None = None


class TextVectors:
    """Embeds texts.

    Args:
        model: The model.
        context: Context of the system, with the cache folder.
    """

    def __init__(self, model: AudioTextModel, context: Context) -> None:
        self._model, self._cache = model, _open_cache(model, context.cache, "text")

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: n texts, repeats allowed; n at least 1.

        Returns:
            Shape (n, d): rows of length 1.
        """
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        return self._cache.fetch(
            keys, lambda indices: normalise(self._model.embed_text([texts[index] for index in indices]))
        )

    def save(self) -> None:
        """Save new vectors to the cache."""
        self._cache.save()


class ClipVectors:
    """Embeds clips window by window, while threads decode the next clips.

    Args:
        model: The model.
        context: Context of the system, with device and cache folder.
    """

    def __init__(self, model: AudioTextModel, context: Context) -> None:
        self._model, self._context = model, context
        self._cache = _open_cache(model, context.cache, "audio")

    def __call__(self, excerpts: Sequence[ClipExcerpt]) -> Vectors:
        """Embed clips.

        Args:
            excerpts: n excerpts, repeats allowed; n at least 1.

        Returns:
            Shape (n, d): the sum of the normalised windows of each clip. So the normalised sum of some rows is the
            normalised mean over all windows of these clips.

        Raises:
            UnusableAudioError: A clip cannot be decoded.
        """
        keys = [self._key(excerpt) for excerpt in excerpts]
        return self._cache.fetch(keys, lambda indices: self._embed([excerpts[index] for index in indices]))

    def save(self) -> None:
        """Save new vectors to the cache."""
        self._cache.save()

    def _key(self, excerpt: ClipExcerpt) -> bytes:
        settings = f"{self._model.window_s} {excerpt.seconds}"
        return hashlib.sha256(content_hash(excerpt.clip) + settings.encode()).digest()

    def _embed(self, excerpts: Sequence[ClipExcerpt]) -> Vectors:
        sums: dict[int, Vectors] = {}
        for batch in self._batches(excerpts):
            rows = fill_batch([window for _, window in batch], self._model.windows_at_once, self._context.device)
            for (index, _), vector in zip(batch, normalise(self._model.embed_audio(rows)), strict=False):
                sums[index] = sums[index] + vector if index in sums else vector
        return np.stack([sums[index] for index in range(len(excerpts))])

    def _batches(self, excerpts: Sequence[ClipExcerpt]) -> Iterator[list[tuple[int, Samples]]]:
        """Yield batches of windows, each with the index of its clip. The windows of one clip stay in order."""
        model = self._model
        size = round(model.window_s * model.sampling_rate)
        groups: dict[int, list[tuple[int, Samples]]] = defaultdict(list)
        for index, samples in enumerate(load_clips(excerpts, model.sampling_rate)):
            for window in windows(samples, size, model.sampling_rate):
                group = size if model.one_length else len(window)
                groups[group].append((index, window))
                if len(groups[group]) == model.windows_at_once:
                    yield groups.pop(group)
            if len(groups) > _LENGTHS_WAITING:
                yield groups.pop(next(iter(groups)))
        yield from groups.values()


def _open_cache(model: AudioTextModel, folder: Path | None, kind: str) -> VectorCache:
    name = hashlib.sha256(f"{type(model).__name__} {model.revision}".encode()).hexdigest()[:16]
    return VectorCache(None if folder is None else folder / f"{type(model).__name__}-{kind}-{name}.npz")
