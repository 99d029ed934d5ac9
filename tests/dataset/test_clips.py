from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from musicrs_dataset.audio.clips import content_hash, load_clip, load_clips, windows
from musicrs_dataset.audio.cutting import Samples, UnusableAudioError
from musicrs_dataset.records import Clip

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("soxr")


def packed(samples: Samples, rate: int, form: str = "WAV", subtype: str = "FLOAT") -> Clip:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=form, subtype=subtype)
    return Clip(file.getvalue(), "clip", "AAAAAAAAAAA", 0.0, len(samples) / rate)


def of_file(path: Path) -> Clip:
    return Clip(path.read_bytes(), path.name, "AAAAAAAAAAA", 0.0, 0.0)


def sine(seconds: float, rate: int, hertz: float = 440.0) -> Samples:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def peak(samples: Samples, rate: int) -> float:
    """Frequency of the strongest bin, in Hz."""
    return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))


@pytest.mark.parametrize("target", [16_000, 24_000, 48_000])
@pytest.mark.parametrize(("rate", "seconds"), [(8_000, 1.0), (11_025, 1.0), (48_000, 1.0), (96_000, 0.5)])
def test_a_tone_keeps_its_pitch_and_length(cases: Path, rate: int, seconds: float, target: int) -> None:
    """A rate that is ignored would put 440 Hz at 880, 638.5, 146.7 or 73.3 Hz, and change the length as much."""
    samples = load_clip(of_file(cases / f"h03/rate_{rate}.wav"), target)
    assert len(samples) == pytest.approx(seconds * target, abs=1)
    assert peak(samples, target) == pytest.approx(440, abs=2)
    assert samples.dtype == np.float32
    assert samples.ndim == 1


def test_nothing_folds_back_into_a_lower_rate() -> None:
    """A tone of 10 kHz has no place at 16 kHz: it must vanish (below -80 dB), not come back at 6 kHz."""
    samples = load_clip(packed(sine(1, 48_000, 10_000), 48_000), 16_000)
    assert np.abs(samples[1_000:-1_000]).max() < 0.5 * 10 ** (-80 / 20)


def test_sound_after_half_a_minute_of_silence_is_found(cases: Path) -> None:
    """35 s make four windows of 10 s; the last ends with the clip, and the tone of the last 5 s is in it."""
    clip = of_file(cases / "h05/silence30_then_tone5_8k.wav")
    samples = load_clip(clip, 16_000)
    assert len(samples) == 35 * 16_000
    parts = windows(samples, 160_000, 16_000)
    assert [len(part) for part in parts] == [160_000] * 4
    assert [bool(np.abs(part).max() > 0.1) for part in parts] == [False, False, False, True]
    assert peak(parts[3][80_000:], 16_000) == pytest.approx(440, abs=2)


def test_only_the_wanted_seconds_are_taken(cases: Path) -> None:
    """Of the same file the first 30 s are silence, and so is what is heard of it then."""
    samples = load_clip(of_file(cases / "h05/silence30_then_tone5_8k.wav"), 8_000, seconds=30)
    assert len(samples) == 240_000
    assert not samples.any()


@pytest.mark.parametrize("channels", [2, 6])
def test_channels_in_opposite_phase_do_not_become_silence(channels: int) -> None:
    """Their mean is zero everywhere; the tone must still be there."""
    tone = sine(1, 16_000)
    signs = np.array([1, -1] * (channels // 2), dtype=np.float32)
    samples = load_clip(packed(tone[:, None] * signs, 16_000), 16_000)
    assert np.abs(samples) == pytest.approx(np.abs(tone), abs=1e-6)


def test_stereo_is_mixed() -> None:
    """Half of the sum of both channels."""
    left, right = sine(1, 16_000, 300), sine(1, 16_000, 500)
    samples = load_clip(packed(np.stack([left, right], axis=1), 16_000), 16_000)
    assert samples == pytest.approx((left + right) / 2, abs=1e-6)


@pytest.mark.parametrize(("form", "subtype"), [("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")])
def test_the_same_bytes_give_the_same_samples(form: str, subtype: str) -> None:
    """Bit for bit, and the hash that vectors are kept under depends on the bytes alone."""
    clip = packed(sine(1, 44_100), 44_100, form, subtype)
    again = Clip(bytes(clip.audio), "other name", "BBBBBBBBBBB", 5.0, 1.0)
    assert np.array_equal(load_clip(clip, 48_000), load_clip(again, 48_000))
    assert content_hash(clip) == content_hash(again)
    assert content_hash(clip) != content_hash(packed(sine(1, 44_100, 441), 44_100, form, subtype))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zero_bytes.mp3", "cannot be decoded (it is empty)"),
        ("html_error_page.mp3", "cannot be decoded"),
        ("truncated_mid_header.wav", "cannot be decoded"),
        ("zero_frames.wav", "has less than 0.1 s of audio"),
        ("one_sample.wav", "has less than 0.1 s of audio"),
    ],
)
def test_what_is_no_clip_is_named(cases: Path, name: str, reason: str) -> None:
    """The message is one line with the name of the file."""
    with pytest.raises(UnusableAudioError) as caught:
        load_clip(of_file(cases / "h01" / name), 16_000)
    assert str(caught.value).startswith(f"{name}: {reason}")
    assert "\n" not in str(caught.value)


def test_samples_that_are_no_numbers_are_refused() -> None:
    """One NaN would make a vector of NaN."""
    samples = sine(1, 16_000)
    samples[500] = np.nan
    with pytest.raises(UnusableAudioError, match="clip: has samples that are not numbers"):
        load_clip(packed(samples, 16_000), 16_000)


@pytest.mark.parametrize(
    ("n", "starts"),
    [
        (100, [0]),
        (60, [0]),  # shorter than a window: one shorter window
        (200, [0, 100]),
        (205, [0, 100]),  # 0.05 s are left over, which is too little
        (210, [0, 100, 110]),  # 0.1 s: the last window ends with the clip
        (399, [0, 100, 200, 299]),
    ],
)
def test_windows_are_exact(n: int, starts: list[int]) -> None:
    """Windows of 100 samples at 100 Hz lie end to end; the last one may overlap, none is padded."""
    samples = np.arange(n, dtype=np.float32)
    parts = windows(samples, 100, 100)
    assert [int(part[0]) for part in parts] == starts
    assert [len(part) for part in parts] == [min(n, 100)] * len(starts)
    assert all(np.array_equal(part, samples[int(part[0]) :][: len(part)]) for part in parts)


def clips(n: int) -> list[Clip]:
    return [packed(np.full(4_000, place / n, dtype=np.float32), 16_000) for place in range(n)]


def test_clips_come_in_order() -> None:
    """However many threads decode them."""
    loaded = list(load_clips(((clip, None) for clip in clips(30)), 16_000))
    assert [samples[0] for samples in loaded] == pytest.approx([place / 30 for place in range(30)])


def test_no_more_than_a_few_clips_are_decoded_ahead() -> None:
    """One clip is taken of a thousand: those after the next few are not even looked at."""
    looked = []

    def endless() -> Iterator[tuple[Clip, float | None]]:
        clip = clips(1)[0]
        for place in range(1_000):
            looked.append(place)
            yield clip, None

    loading = load_clips(endless(), 16_000, workers=2)
    next(loading)
    assert len(looked) == 4
    loading.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("clips")]


def test_decoding_goes_on_while_a_clip_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the first clip is being used, those that follow get done."""
    done = threading.Semaphore(0)

    def load(*_: object) -> Samples:
        done.release()
        return np.zeros(1, np.float32)

    monkeypatch.setattr("musicrs_dataset.audio.clips.load_clip", load)
    loading = load_clips([(clip, None) for clip in clips(4)], 16_000, workers=2)
    next(loading)
    assert all(done.acquire(timeout=30) for _ in range(4))
    loading.close()  # type: ignore[attr-defined]


def test_a_broken_clip_is_reported_in_its_turn() -> None:
    """The clips before it are delivered, and no thread is left behind."""
    broken = Clip(b"no sound", "broken.flac", "AAAAAAAAAAA", 0.0, 1.0)
    loading = load_clips([(clip, None) for clip in [*clips(2), broken, *clips(2)]], 16_000)
    next(loading), next(loading)
    with pytest.raises(UnusableAudioError, match=r"broken\.flac: cannot be decoded"):
        next(loading)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("clips")]
