"""Threads of a dataset as samples of Inspect: the project's own prompt, the clips as WAV files, and the labels."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentText

from ..answers.list_protocol import ListProtocol
from ..errors import UserError
from ..runs.references import fingerprint

if TYPE_CHECKING:
    from musicrs_dataset.records import Thread

SAMPLING_RATE = 16_000  # Hz; Inspect takes WAV and MP3 only, and 48 kHz would triple each request


def make_samples(
    dataset: str, config: str, protocol: ListProtocol, *, seconds: float, seed: int
) -> tuple[list[Sample], dict[str, Any]]:
    """Return one sample per thread, and the facts about the data that the log must hold.

    Args:
        dataset: Directory or name of the dataset.
        config: Configuration: query_only, audio_only or audio_query.
        protocol: Protocol of the prompt.
        seconds: Most seconds of audio per thread, shared evenly by its clips, each from its start.
        seed: Seed of the order of the candidates, if the protocol shuffles them.

    Raises:
        UserError: The dataset cannot be read, or audio is missing in every thread.
    """
    # The tasks must be in this package (see `_registry`), but only `musicrs_dataset` reads queries and clips.
    from musicrs_dataset.loading import iter_threads

    with_audio = config != "query_only"
    folder = _temporary_folder() if with_audio else None
    samples, labels = [], []
    for thread in iter_threads(dataset, config, audio=with_audio):
        clips = [] if folder is None else _wav_files(thread, folder, seconds)
        samples.append(_sample(thread, protocol, clips, seed))
        labels.append((thread.thread_id, thread.candidates, thread.ground_truth))
    if with_audio and not any(sample.metadata["n_clips"] for sample in samples if sample.metadata):
        raise UserError(
            f"{dataset}: no thread of configuration {config} has a clip; build the dataset with --audio, or run the "
            "task query_only"
        )
    return samples, {"config": config, "fingerprint": fingerprint(labels), "n_threads": len(samples)}


def _sample(thread: Thread, protocol: ListProtocol, clips: Sequence[Path], seed: int) -> Sample:
    shown = protocol.shown(thread.candidates, seed, thread.thread_id)
    text = protocol.prompt(shown, thread.query, len(clips))
    audio = [ContentAudio(audio=str(clip), format="wav") for clip in clips]
    return Sample(
        id=thread.thread_id,
        input=[ChatMessageUser(content=[*audio, ContentText(text=text)] if audio else text)],
        target=list(thread.ground_truth) or "",
        metadata={
            "genre": thread.genre,
            "candidates": list(thread.candidates),
            "ground_truth": list(thread.ground_truth),
            "n_clips": len(clips),
        },
    )


def _wav_files(thread: Thread, folder: Path, seconds: float) -> list[Path]:
    """Write the clips of a thread: 16 kHz, mono, 16 bits."""
    import soundfile

    from musicrs_dataset.audio.clips import load_clip

    clips = thread.clips or ()
    paths = []
    for number, clip in enumerate(clips, 1):
        samples = load_clip(clip, SAMPLING_RATE, min(clip.duration_s, seconds / len(clips)))
        paths.append(folder / f"{thread.thread_id}_{number}.wav")
        soundfile.write(paths[-1], samples, SAMPLING_RATE, format="WAV", subtype="PCM_16")
    return paths


def _temporary_folder() -> Path:
    """Return a folder that is removed at the end. Hundreds of clips in memory would take gigabytes."""
    folder = tempfile.mkdtemp(prefix="musicrs-inspect-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
