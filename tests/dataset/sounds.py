"""Sound files of every kind, made from formulas."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import soundfile

from musicrs_dataset.records import Clip

RATE = 8_000
Samples = npt.NDArray[np.float32]


def tone(hertz: float, seconds: float, rate: int = RATE) -> Samples:
    """A sine of half the full scale, shape (n,)."""
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


def save(path: Path, samples: Samples, rate: int = RATE, **form: str) -> Path:
    """Write a file with soundfile; its form is that of the name's ending unless `format` and `subtype` say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, **form)
    return path


def encode(path: Path, samples: Samples, rate: int, *, codec: str, form: str) -> Path:
    """Write a mono file with PyAV."""
    with av.open(str(path), "w", format=form) as container:
        stream: Any = container.add_stream(codec, rate=rate, layout="mono")
        to_codec = av.AudioResampler(format=stream.codec_context.format or "s16", layout="mono", rate=rate)
        whole = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        whole.sample_rate, whole.pts = rate, 0
        queue = av.AudioFifo()
        queue.write(whole)
        while frame := queue.read(stream.codec_context.frame_size or rate, partial=True):
            for piece in to_codec.resample(frame):
                container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path


def silent_video(path: Path) -> Path:
    """Write a video without sound."""
    with av.open(str(path), "w", format="mp4") as container:
        stream: Any = container.add_stream("mpeg4", rate=5)
        stream.width = stream.height = 16
        for _ in range(5):
            frame = av.VideoFrame.from_ndarray(np.zeros((16, 16, 3), np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def heard(clip: Clip) -> tuple[Samples, int]:
    """The samples of a clip, and their rate."""
    samples, rate = soundfile.read(io.BytesIO(clip.audio), dtype="float32")
    return samples, rate


def pitch(samples: Samples, rate: int) -> float:
    """The strongest frequency, in hertz."""
    return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))
