"""Texts and clips as vectors: each distinct one goes through the model once, and is found again on disk."""

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

from ..embedding.batches import filled
from ..embedding.vector_cache import VectorCache, Vectors
from ..system import Context
from .model import AudioTextModel

# Lengths of short clips of which some wait for more; without a limit all clips might come to lie in memory.
_LENGTHS_WAITING = 16


def normalise(vectors: Vectors) -> Vectors:
    """Bring rows to length 1; a row of zeros stays one.

    Args:
        vectors: Shape (..., d).
    """
    lengths = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))[..., None]
    scaled: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


class ClipExcerpt(NamedTuple):
    """What is heard of a clip.

    Attributes:
        clip: The clip.
        seconds: Only that much of it, from its start; None for all.
    """

    clip: Clip
    seconds: float | None = None


class TextVectors:
    """Embeds texts.

    Args:
        model: The model.
        context: Tells the cache folder.
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
            keys, lambda places: normalise(self._model.embed_text([texts[place] for place in places]))
        )

    def save(self) -> None:
        """Save new vectors to the cache."""
        self._cache.save()


class ClipVectors:
    """Embeds clips, window by window, while others decode the clips that follow.

    Args:
        model: The model.
        context: Tells the device and the cache folder.
    """

    def __init__(self, model: AudioTextModel, context: Context) -> None:
        self._model, self._context = model, context
        self._cache = _open_cache(model, context.cache, "audio")

    def __call__(self, excerpts: Sequence[ClipExcerpt]) -> Vectors:
        """Embed clips.

        Args:
            excerpts: n of them, repeats allowed; n at least 1.

        Returns:
            Shape (n, d): the sum of the clip's windows, each of which was brought to length 1. So the mean over all
            windows of several clips, brought to length 1, is the sum of their rows, brought to length 1.

        Raises:
            UnusableAudioError: A clip cannot be decoded.
        """
        keys = [self._key(excerpt) for excerpt in excerpts]
        return self._cache.fetch(keys, lambda places: self._embed([excerpts[place] for place in places]))

    def save(self) -> None:
        """Save new vectors to the cache."""
        self._cache.save()

    def _key(self, excerpt: ClipExcerpt) -> bytes:
        how = f"{self._model.window_s} {excerpt.seconds}"
        return hashlib.sha256(content_hash(excerpt.clip) + how.encode()).digest()

    def _embed(self, excerpts: Sequence[ClipExcerpt]) -> Vectors:
        sums: dict[int, Vectors] = {}
        for batch in self._batches(excerpts):
            rows = filled([window for _, window in batch], self._model.windows_at_once, self._context.device)
            for (place, _), vector in zip(batch, normalise(self._model.embed_audio(rows)), strict=False):
                sums[place] = sums[place] + vector if place in sums else vector
        return np.stack([sums[place] for place in range(len(excerpts))])

    def _batches(self, excerpts: Sequence[ClipExcerpt]) -> Iterator[list[tuple[int, Samples]]]:
        """Windows that may share a batch, with the places of the clips they come from; those of one clip in order."""
        model = self._model
        size = round(model.window_s * model.sampling_rate)
        groups: dict[int, list[tuple[int, Samples]]] = defaultdict(list)
        for place, samples in enumerate(load_clips(excerpts, model.sampling_rate)):
            for window in windows(samples, size, model.sampling_rate):
                group = size if model.one_length else len(window)
                groups[group].append((place, window))
                if len(groups[group]) == model.windows_at_once:
                    yield groups.pop(group)
            if len(groups) > _LENGTHS_WAITING:
                yield groups.pop(next(iter(groups)))
        yield from groups.values()


def _open_cache(model: AudioTextModel, folder: Path | None, kind: str) -> VectorCache:
    name = hashlib.sha256(f"{type(model).__name__} {model.revision}".encode()).hexdigest()[:16]
    return VectorCache(None if folder is None else folder / f"{type(model).__name__}-{kind}-{name}.npz")
