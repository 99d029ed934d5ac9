"""Models get audio at the rate of the processor next to their weights, not at a rate in the code."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from baselines.audio_text.checkpoints import find_checkpoint
from baselines.audio_text.vectors import ClipExcerpt, ClipVectors
from baselines.system import Context
from baselines.systems.clap import ClapEncoder
from musicrs_dataset.audio.cutting import Samples
from musicrs_dataset.records import Clip
from tests.baselines.tiny_models import save_clap

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("soxr")
pytest.importorskip("transformers")


@pytest.mark.parametrize("rate", [32_000, 48_000])
def test_clips_come_at_the_rate_of_the_processor(rate: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second of 440 Hz at 48 kHz is a second of 440 Hz at whatever rate the weights were trained on."""
    folder = save_clap(tmp_path)
    for file in folder.glob("*processor_config.json"):
        file.write_text(file.read_text().replace('"sampling_rate": 48000', f'"sampling_rate": {rate}'))
    used_audio: list[Samples] = []

    def listen(self: ClapEncoder, windows: Sequence[Samples]) -> np.ndarray:
        used_audio.extend(windows)
        return np.ones((len(windows), 2), np.float32)

    monkeypatch.setattr(ClapEncoder, "embed_audio", listen)
    sound = io.BytesIO()
    soundfile.write(sound, np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000) / 2, 48_000, format="FLAC")
    context = Context(modality="audio_only")
    model = ClapEncoder(find_checkpoint(str(folder)), context)
    ClipVectors(model, context)([ClipExcerpt(Clip(sound.getvalue(), "a", "AAAAAAAAAAA", 0.0, 1.0))])
    assert model.sampling_rate == rate
    assert {len(window) for window in used_audio} == {rate}
    assert {int(np.abs(np.fft.rfft(window)).argmax()) for window in used_audio} == {440}
