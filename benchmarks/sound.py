"""Time to cut and load clips, relative to bare decoding and resampling, and the memory of a build with audio.

    python -m benchmarks sound [--clips 10] [--gigabytes 1] [--rounds 5]

A source is three minutes of stereo at 44.1 kHz; a clip is 30 s from its middle. The floor reads that stretch with
soundfile and resamples one channel with soxr to the rate of the clips: no mixing, no checks. For clips as they are
stored it decodes the bytes and resamples them to 16 kHz. Packing is timed apart, as the floor has none.

The build makes Parquet of five-minute WAV files, one for each thread, every second of which goes into a clip.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import soundfile
import soxr

from musicrs_dataset.audio.clips import load_clip
from musicrs_dataset.audio.cutting import Cut, Samples, cut
from musicrs_dataset.audio.folder import AudioFolder
from musicrs_dataset.mini import load_mini
from musicrs_dataset.records import Clip, Link
from musicrs_dataset.repo.build import build
from musicrs_dataset.schema import CLIP_RATE
from musicrs_dataset.sources import About

from .side_by_side import Contender, compare, peak_memory, report

RATE, START, SECONDS, MODEL_RATE = 44_100, 60, 30, 16_000
MOST = 1 / 0.8
FORMS = {"WAV": "PCM_16", "FLAC": "PCM_16", "MP3": "MPEG_LAYER_III", "OGG": "VORBIS"}
_GB_SECONDS = 10**9 / (4 * RATE)  # of 16-bit stereo


def stereo(seconds: float) -> Samples:
    """Noise with a tone in it; compresses about as badly as loud music."""
    rng = np.random.default_rng(0)
    time = np.arange(int(seconds * RATE))[:, None] / RATE
    tone = 0.3 * np.sin(2 * np.pi * np.array([440, 660]) * time)
    return (tone + 0.05 * rng.standard_normal(tone.shape)).astype(np.float32)


def bare_stretch(path: Path) -> Samples:
    """The floor of cutting."""
    with soundfile.SoundFile(path) as file:
        file.seek(START * RATE)
        channels = file.read(SECONDS * RATE, dtype="float32", always_2d=True)
    resampled: Samples = soxr.resample(np.ascontiguousarray(channels[:, 0]), RATE, CLIP_RATE)
    return resampled


def bare_clip(clip: Clip) -> Samples:
    """The floor of loading."""
    samples, rate = soundfile.read(io.BytesIO(clip.audio), dtype="float32")
    resampled: Samples = soxr.resample(samples, rate, MODEL_RATE)
    return resampled


def cut_from_middle(path: Path) -> Cut:
    """This project: a stretch mixed to mono, resampled and checked."""
    return cut(path, START, SECONDS)


def time_cutting(folder: Path, clips: int, rounds: int) -> Cut:
    """Compare cutting with its floor for each form of source; returns a piece."""
    for form, subtype in FORMS.items():
        path = folder / f"source.{form.lower()}"
        with soundfile.SoundFile(path, "w", RATE, 2, subtype, format=form) as file:
            for second in stereo(START + SECONDS + 90).reshape(
                -1, RATE, 2
            ):  # a long piece of Vorbis crashes libsndfile
                file.write(second)
        _compare(f"{clips} clips of {SECONDS} s from {form}", [bare_stretch, cut_from_middle], path, clips, rounds)
    return cut_from_middle(path)


def time_loading(piece: Cut, clips: int, rounds: int) -> None:
    """Compare loading with its floor, and packing with it."""
    clip = Clip(piece.flac(), "clip.flac", "", 0.0, piece.duration_s)
    load = partial(load_clip, rate=MODEL_RATE)
    _compare(f"{clips} stored clips of {SECONDS} s to {MODEL_RATE} Hz", [bare_clip, load], clip, clips, rounds)
    contenders = [
        Contender("unpacking", lambda audio: [soundfile.read(io.BytesIO(audio)) for _ in range(clips)]),
        Contender("packing as FLAC", lambda piece: [piece.flac() for _ in range(clips)], lambda _: piece),
    ]
    title = f"{clips} clips of {SECONDS} s, {len(clip.audio) / 1e6:.1f} MB each"
    compare(title, contenders, lambda: clip.audio, rounds=rounds, targets={})


def measure_build(folder: Path, gigabytes: float) -> None:
    """Print the peak of memory while audio becomes Parquet."""
    n = round(gigabytes * _GB_SECONDS / 300)
    source = folder / "source.wav"
    soundfile.write(source, stereo(300), RATE)
    (folder / "audio").mkdir()
    threads = []
    for i, thread in enumerate((load_mini(clips=False) * (n // 28 + 1))[:n]):
        (folder / "audio" / f"v{i:04d}.wav").hardlink_to(source)
        threads.append(replace(thread, thread_id=f"t3_{i:04d}", links=(Link(f"v{i:04d}", 0.0, ""),)))
    about = About(name="benchmark", license="cc0-1.0", attribution="Made up.")
    audio = AudioFolder(folder / "audio")
    peak = peak_memory(lambda: build(threads, folder / "out", about=about, add_clips=audio.add_clips))
    written = sum(shard.stat().st_size for shard in folder.glob("out/musicrs/*/*.parquet"))
    if peak is not None:
        print(
            f"build of {n * source.stat().st_size / 1e9:.2f} GB of WAV, {audio.report.seconds / 3600:.2f} h, to "
            f"{written / 1e9:.2f} GB of Parquet: {peak:,.0f} MB of memory at the peak   at most 1,000"
        )
        report("memory", {"wav_bytes": n * source.stat().st_size, "parquet_bytes": written, "peak_mb": round(peak)})


def _compare(title: str, ways: Sequence[Callable[[Any], object]], source: object, clips: int, rounds: int) -> None:
    names = ("floor: soundfile and soxr", "musicrs_dataset")
    contenders = [Contender(name, partial(_repeat, way, clips)) for name, way in zip(names, ways, strict=True)]
    compare(title, contenders, lambda: source, rounds=rounds, targets={names[1]: MOST})


def _repeat(way: Callable[[Any], object], times: int, source: object) -> None:
    for _ in range(times):
        way(source)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the ratios and the peak.

    Args:
        argv: `--clips N`, `--gigabytes N` and `--rounds N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks sound")
    parser.add_argument("--clips", type=int, default=10)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args(argv)
    with TemporaryDirectory() as folder:
        measure_build(Path(folder), arguments.gigabytes)
    with TemporaryDirectory() as folder:
        piece = time_cutting(Path(folder), arguments.clips, arguments.rounds)
    time_loading(piece, arguments.clips, arguments.rounds)


if __name__ == "__main__":
    main()
