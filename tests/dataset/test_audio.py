"""Clips from a folder of files: which file, which stretch, how long, how loud; and that nothing there stops a build."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from musicrs_dataset.audio import AudioFolder
from musicrs_dataset.build import build
from musicrs_dataset.cutting import UnusableAudioError, cut, to_mono
from musicrs_dataset.records import Clip, Link, Thread
from musicrs_metric.errors import UserError

from .support import ABOUT, TINY

RATE = 8_000
Samples = npt.NDArray[np.float32]


def tone(hertz: float, seconds: float, rate: int = RATE) -> Samples:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


def save(path: Path, samples: Samples, rate: int = RATE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate)
    return path


def heard(clip: Clip) -> tuple[Samples, int]:
    samples, rate = soundfile.read(io.BytesIO(clip.audio), dtype="float32")
    return samples, rate


def pitch(samples: Samples, rate: int) -> float:
    """The strongest frequency, in hertz."""
    return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))


def linked(*links: tuple[str, float]) -> Thread:
    """A thread with links to (video id, start)."""
    return replace(TINY[0], links=tuple(Link(video, start, f"https://youtu.be/{video}") for video, start in links))


def test_clip_of_a_link(tmp_path: Path) -> None:
    """One usable link gives one clip from its start, mono FLAC at 48 kHz, with its place in the video."""
    save(tmp_path / "V1.wav", np.concatenate([tone(400, 20), tone(1000, 20)]))
    thread = AudioFolder(tmp_path).add_clips(linked(("V1", 20.0)))
    [clip] = thread.clips or ()
    samples, rate = heard(clip)
    assert (clip.video_id, clip.start_s, clip.duration_s, rate, len(samples)) == ("V1", 20.0, 20.0, 48_000, 960_000)
    assert pitch(samples, rate) == pytest.approx(1000, abs=1)
    assert soundfile.info(io.BytesIO(clip.audio)).subtype == "PCM_16"
    assert thread.links[0].status == "ok"


@pytest.mark.parametrize(("links", "clips", "seconds"), [(1, 1, 40), (10, 10, 30), (12, 10, 30)])
def test_five_minutes_are_shared(tmp_path: Path, links: int, clips: int, seconds: float) -> None:
    """min(10, links) clips of 300 / n seconds each, as far as the files go, in the order of the links."""
    for i in range(links):
        save(tmp_path / f"V{i:02d}.wav", tone(400, 40))
    folder = AudioFolder(tmp_path)
    made = folder.add_clips(linked(*((f"V{i:02d}", 0.0) for i in range(links)))).clips or ()
    assert [clip.video_id for clip in made] == [f"V{i:02d}" for i in range(clips)]
    assert {clip.duration_s for clip in made} == {seconds}
    assert folder.report.seconds == clips * seconds


def test_unusable_links_leave_their_share(tmp_path: Path) -> None:
    """Links without a file or with a bad one are counted by name; the others share the whole time."""
    for name in ("V0", "V2", "V4", "V5", "V6", "V7"):
        save(tmp_path / f"{name}.wav", tone(400, 62))
    (tmp_path / "V1.mp3").write_text("<html>not found</html>", encoding="utf-8")
    folder = AudioFolder(tmp_path)
    thread = folder.add_clips(linked(*((f"V{i}", 0.0) for i in range(6))))
    assert [clip.video_id for clip in thread.clips or ()] == ["V0", "V2", "V4", "V5"]
    assert {clip.duration_s for clip in thread.clips or ()} == {62}  # of a share of 75
    assert [link.status for link in thread.links] == ["ok", "retry", "ok", "new", "ok", "ok"]
    assert folder.report.without_file == 1
    assert len(folder.report.unusable) == 1
    assert "t3_a: V1.mp3 cannot be decoded" in folder.report.unusable[0]
    assert "1 of 6 links have no file" in folder.report.lines()[0]


def test_which_file(tmp_path: Path) -> None:
    """The thread's own file goes before the place of the link, and that before a file for all threads."""
    save(tmp_path / "V0.wav", tone(500, 1))
    save(tmp_path / "V1.wav", tone(500, 1))
    save(tmp_path / "V2.wav", tone(500, 1))
    save(tmp_path / "t3_a" / "01.wav", tone(1000, 1))
    save(tmp_path / "t3_a" / "02.wav", tone(1000, 1))
    save(tmp_path / "t3_a" / "V2.wav", tone(2000, 1))
    save(tmp_path / "t3_b" / "V0.wav", tone(3000, 1))
    clips = AudioFolder(tmp_path).add_clips(linked(("V0", 0.0), ("V1", 0.0), ("V2", 0.0))).clips or ()
    assert [round(pitch(*heard(clip))) for clip in clips] == [500, 1000, 2000]


def test_a_readable_file_is_found_beside_others(tmp_path: Path) -> None:
    """Notes and downloads in unknown formats beside a readable file of the same name do no harm."""
    (tmp_path / "V0.info.json").write_text("{}", encoding="utf-8")
    (tmp_path / "V0.aac").write_bytes(b"\xff\xf1nothing")
    save(tmp_path / "V0.flac", tone(500, 1))
    folder = AudioFolder(tmp_path)
    assert len(folder.add_clips(linked(("V0", 0.0))).clips or ()) == 1
    assert not folder.report.unusable


def test_same_stretch_once(tmp_path: Path) -> None:
    """Two links to the same second of a video give one clip; two starts in it give two."""
    save(tmp_path / "V0.wav", tone(500, 10))
    folder = AudioFolder(tmp_path)
    assert len(folder.add_clips(linked(("V0", 0.0), ("V0", 0.0))).clips or ()) == 1
    assert len(folder.add_clips(linked(("V0", 0.0), ("V0", 5.0))).clips or ()) == 2


def test_start_past_the_end(tmp_path: Path) -> None:
    """A start that the file does not reach gives its beginning, and says so."""
    save(tmp_path / "V0.wav", np.concatenate([tone(400, 2), tone(1000, 2)]))
    [clip] = AudioFolder(tmp_path).add_clips(linked(("V0", 90.0))).clips or ()
    assert (clip.start_s, clip.duration_s) == (0.0, 4.0)
    assert pitch(*heard(clip)) in (pytest.approx(400, abs=1), pytest.approx(1000, abs=1))


def test_anti_phase_stereo_is_heard(tmp_path: Path) -> None:
    """Channels that cancel out do not become silence; ordinary stereo is their mean."""
    left = tone(440, 1)
    save(tmp_path / "V0.wav", np.stack([left, -left], axis=1))
    [clip] = AudioFolder(tmp_path).add_clips(linked(("V0", 0.0))).clips or ()
    samples, _ = heard(clip)
    assert np.sqrt(np.square(samples).mean()) == pytest.approx(0.5 / np.sqrt(2), rel=0.01)
    assert to_mono(np.stack([left, 0 * left], axis=1)) == pytest.approx(left / 2)


@pytest.mark.parametrize("rate", [8_000, 11_025, 44_100, 48_000, 96_000])
def test_rates(tmp_path: Path, rate: int) -> None:
    """Whatever the rate of a file, pitch and length stay."""
    samples = cut(save(tmp_path / "a.wav", tone(440, 1, rate), rate), 0.0, 30.0).samples
    assert len(samples) == 48_000
    assert pitch(samples, 48_000) == pytest.approx(440, abs=1)


def test_same_file_same_bytes(tmp_path: Path) -> None:
    """Cutting twice gives the same bytes, so that a rebuilt dataset is the same."""
    save(tmp_path / "V0.wav", tone(440, 3, 44_100), 44_100)
    first, second = (AudioFolder(tmp_path).add_clips(linked(("V0", 0.5))).clips for _ in range(2))
    assert first == second


def test_silence_is_used_and_told(tmp_path: Path) -> None:
    """Digital silence makes a clip, with a line in the summary."""
    save(tmp_path / "V0.wav", np.zeros(RATE, dtype=np.float32))
    folder = AudioFolder(tmp_path)
    assert len(folder.add_clips(linked(("V0", 0.0))).clips or ()) == 1
    assert "silent: t3_a: V0" in folder.report.lines()


def test_samples_that_are_no_numbers(tmp_path: Path) -> None:
    """A file of NaN is unusable, not a clip."""
    path = tmp_path / "a.wav"
    soundfile.write(path, np.full(RATE, np.nan, dtype=np.float32), RATE, subtype="FLOAT")
    with pytest.raises(UnusableAudioError, match="no numbers"):
        cut(path, 0.0, 30.0)


def test_broken_files(cases: Path) -> None:
    """Of the collected broken files those that hold sound are read, and the others are refused with a reason."""
    usable: dict[str, float] = {}
    refused: dict[str, str] = {}
    for path in (cases / "h01").iterdir():
        try:
            usable[path.name] = cut(path, 0.0, 30.0).duration_s
        except UnusableAudioError as reason:
            refused[path.name] = str(reason)
    assert usable == {"all_silence_1s.wav": 1.0, "ok_mono_16k_1s.wav": 1.0, "truncated_header_claims_1s.wav": 0.25}
    assert len(refused) == 6
    assert all(name in reason for name, reason in refused.items())


def test_odd_names(tmp_path: Path) -> None:
    """Names with accents, hash signs and leading hyphens are names like any other."""
    names = ["ノストス", "De\u0301ja\u0300", "D\u00e9j\u00e0", "a b#c%20e", "-lrVO3pPDP4"]
    for name in names:
        save(tmp_path / f"{name}.wav", tone(440, 1))
    folder = AudioFolder(tmp_path)
    clips = folder.add_clips(linked(*((name, 0.0) for name in names))).clips or ()
    assert [clip.video_id for clip in clips] == names


def test_folders_that_are_none(tmp_path: Path) -> None:
    """A folder that is missing or empty is told before anything is built."""
    with pytest.raises(UserError, match="no such directory"):
        AudioFolder(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no files in it"):
        AudioFolder(tmp_path)


def test_build_with_audio(tmp_path: Path) -> None:
    """The clips and the coverage stand in the dataset and on its card."""
    save(tmp_path / "audio" / "AAAAAAAAAAA.wav", tone(440, 18))
    folder = AudioFolder(tmp_path / "audio")
    made = build(TINY[:2], tmp_path / "out", about=ABOUT, add_clips=folder.add_clips)
    card = (made / "README.md").read_text(encoding="utf-8")
    assert "| `audio_only` | the clips alone | as published | 2 of 2 threads |" in card
    assert "Clips: 2, 0.01 hours, mono at 48 kHz" in card
    assert folder.report.with_audio == 2
