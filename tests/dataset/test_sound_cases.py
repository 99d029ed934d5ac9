"""Sound files as they come: every form, rate and channel layout, odd names, hours long, damaged, or no sound at all."""

from __future__ import annotations

import tracemalloc
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from musicrs_dataset.audio.cutting import Cut, UnusableAudioError, cut, resample
from musicrs_dataset.audio.folder import AudioFolder
from musicrs_dataset.loading import load_threads
from musicrs_dataset.records import Link
from musicrs_dataset.repo.build import build
from musicrs_dataset.schema import CLIP_RATE

from .sounds import RATE, encode, heard, pitch, save, silent_video, tone
from .support import ABOUT, thread

# What a person has on disk: written by soundfile, or by FFmpeg's libraries.
FORMS: dict[str, Callable[[Path, np.ndarray, int], Path]] = {
    "wav": lambda path, samples, rate: save(path, samples, rate, format="WAV", subtype="PCM_16"),
    "wav of floats": lambda path, samples, rate: save(path, samples, rate, format="WAV", subtype="FLOAT"),
    "flac": lambda path, samples, rate: save(path, samples, rate, format="FLAC"),
    "mp3": lambda path, samples, rate: save(path, samples, rate, format="MP3"),
    "ogg vorbis": lambda path, samples, rate: save(path, samples, rate, format="OGG", subtype="VORBIS"),
    "ogg opus": lambda path, samples, rate: save(path, samples, rate, format="OGG", subtype="OPUS"),
    "m4a": lambda path, samples, rate: encode(path, samples, rate, codec="aac", form="mp4"),
    "aac": lambda path, samples, rate: encode(path, samples, rate, codec="aac", form="adts"),
    "webm": lambda path, samples, rate: encode(path, samples, rate, codec="libopus", form="webm"),
    "mkv": lambda path, samples, rate: encode(path, samples, rate, codec="ac3", form="matroska"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["a", "a.mp3", "a.wav", "a.txt"])
def test_forms_by_their_content(tmp_path: Path, form: str, name: str) -> None:
    """Every form is read, whatever its name says, and an offset in it is met to within 50 ms."""
    rate = 48_000
    path = FORMS[form](tmp_path / name, np.concatenate([tone(400, 2, rate), tone(1000, 2, rate)]), rate)
    piece = cut(path, 2.0, 1.5)
    assert piece.duration_s == pytest.approx(1.5, abs=0.01)
    assert pitch(piece.samples, CLIP_RATE) == pytest.approx(1000, abs=1)
    turn = cut(path, 1.0, 2.0).samples  # 400 Hz, then 1000 Hz: the turn is where the energy at 1000 Hz sets in
    time = np.arange(len(turn)) / CLIP_RATE
    high = np.abs(np.cumsum(turn * np.exp(-2j * np.pi * 1000 * time)))
    assert time[np.argmax(high > 0.05 * high[-1])] == pytest.approx(1.05, abs=0.05)


@pytest.mark.parametrize(
    ("rate", "seconds"), [(8_000, 1), (11_025, 1), (16_000, 1), (44_100, 1), (48_000, 1), (96_000, 0.5)]
)
def test_rates(tmp_path: Path, rate: int, seconds: float) -> None:
    """Whatever the rate of a file, pitch and length stay, and so they do in a clip loaded for 16 kHz."""
    samples = cut(save(tmp_path / "a.wav", tone(440, seconds, rate), rate), 0.0, 30.0).samples
    assert abs(len(samples) - seconds * CLIP_RATE) <= 1
    assert pitch(samples, CLIP_RATE) == pytest.approx(440, abs=2)
    for_model = resample(samples, CLIP_RATE, 16_000)
    assert abs(len(for_model) - seconds * 16_000) <= 1
    assert pitch(for_model, 16_000) == pytest.approx(440, abs=2)


def test_collected_rates(cases: Path) -> None:
    """The same for files that made other programs shift the pitch."""
    lengths = {"rate_8000": 48_000, "rate_11025": 48_000, "rate_48000": 48_000, "rate_96000": 24_000}
    for name, length in lengths.items():
        samples = cut(cases / "h03" / f"{name}.wav", 0.0, 30.0).samples
        assert abs(len(samples) - length) <= 1
        assert pitch(samples, CLIP_RATE) == pytest.approx(440, abs=2)


@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize("signs", ["alike", "opposite"])
def test_channels(tmp_path: Path, channels: int, signs: str) -> None:
    """Any number of channels is heard at its level, also where their mean would be silence."""
    weights = np.resize([1, -1 if signs == "opposite" else 1], channels)
    path = save(tmp_path / "a.flac", tone(440, 1)[:, None] * weights, RATE)
    assert np.sqrt(np.mean(cut(path, 0.0, 1.0).samples ** 2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.01)


def write_broken(folder: Path) -> None:
    """Write what people have found in folders of audio."""
    whole = save(folder / "ok_mono_16k_1s.wav", tone(440, 1, 16_000), 16_000).read_bytes()
    save(folder / "all_silence_1s.wav", np.zeros(16_000, np.float32), 16_000)
    save(folder / "one_sample.wav", tone(440, 1, 16_000)[1:2], 16_000)
    save(folder / "zero_frames.wav", tone(440, 0), 16_000)
    silent_video(folder / "video_without_audio.mp4")
    (folder / "truncated_header_claims_1s.wav").write_bytes(whole[: 44 + 2 * 4_000])
    (folder / "truncated_mid_header.wav").write_bytes(whole[:30])
    (folder / "html_error_page.mp3").write_text("<!DOCTYPE html><html><body>404 Not Found</body></html>")
    (folder / "zero_bytes.mp3").write_bytes(b"")


@pytest.mark.parametrize("collected", [False, True])
def test_broken_files(tmp_path: Path, request: pytest.FixtureRequest, collected: bool) -> None:
    """Of broken files those that hold sound are read, and the reason is told for the others."""
    folder: Path = request.getfixturevalue("cases") / "h01" if collected else tmp_path
    if not collected:
        write_broken(folder)
    usable: dict[str, Cut] = {}
    reasons: dict[str, str] = {}
    for path in folder.iterdir():
        try:
            usable[path.name] = cut(path, 0.0, 30.0)
        except UnusableAudioError as reason:
            reasons[path.name] = str(reason).removeprefix(path.name).strip()
    assert {name: (piece.duration_s, piece.remarks) for name, piece in usable.items()} == {
        "ok_mono_16k_1s.wav": (1.0, ()),
        "all_silence_1s.wav": (1.0, ("all_silence_1s.wav is silent from 0 s on for 1 s",)),
        "truncated_header_claims_1s.wav": (
            0.25,
            ("truncated_header_claims_1s.wav is cut off: it ends after 0.25 s, earlier than its header states",),
        ),
    }
    undecodable = "cannot be decoded: it is no audio file, or it is damaged"
    assert reasons == {
        "one_sample.wav": "has less than 0.1 s of audio",
        "zero_frames.wav": "has less than 0.1 s of audio",
        "zero_bytes.mp3": "is empty",
        "video_without_audio.mp4": "is a video without sound",
        "html_error_page.mp3": undecodable,
        "truncated_mid_header.wav": undecodable,
    }


def test_broken_files_stop_nothing(tmp_path: Path) -> None:
    """In a thread whose links lead to all of them, the usable ones get clips, every other a line."""
    write_broken(tmp_path)
    names = sorted(path.stem for path in tmp_path.iterdir())
    folder = AudioFolder(tmp_path)
    made = folder.add_clips(thread("t3_a", "jazz", "Jazz", "A B", "A", links=tuple(Link(n, 0.0, n) for n in names)))
    usable = ["all_silence_1s", "ok_mono_16k_1s", "truncated_header_claims_1s"]
    assert [clip.video_id for clip in made.clips or ()] == usable
    assert {link.video_id: link.status for link in made.links} == {n: "ok" if n in usable else "retry" for n in names}
    assert len(folder.report.unusable) == 6
    assert len(folder.report.remarks) == 2


@pytest.mark.parametrize("form", ["flac", "mp3", "m4a", "webm"])
def test_damage_in_the_middle(tmp_path: Path, form: str) -> None:
    """A file with garbage in it gives what can be decoded around it."""
    path = FORMS[form](tmp_path / "a", tone(440, 10, 48_000), 48_000)
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 2_000] = np.random.default_rng(0).bytes(2_000)
    path.write_bytes(damaged)
    assert cut(path, 0.0, 2.0).duration_s == 2.0
    assert cut(path, 0.0, 30.0).duration_s > 4.0


@pytest.mark.parametrize("form", ["flac", "mp3", "webm"])
def test_cut_off(tmp_path: Path, form: str) -> None:
    """A file that breaks off gives what is there, with a remark; within what is there it gives all and no remark."""
    path = FORMS[form](tmp_path / "a", tone(440, 20, 48_000), 48_000)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    piece = cut(path, 0.0, 30.0)
    assert 5.0 < piece.duration_s < 15.0
    assert "cut off" in piece.remarks[0]
    within = cut(path, 1.0, 2.0)
    assert (within.duration_s, within.remarks) == (2.0, ())


def test_silence_then_sound(cases: Path) -> None:
    """The beginning of such a file is told to be silent; an offset reaches the sound behind it."""
    path = cases / "h05" / "silence30_then_tone5_8k.wav"
    assert cut(path, 0.0, 30.0).remarks == (f"{path.name} is silent from 0 s on for 30 s",)
    assert cut(path, 30.0, 10.0).duration_s == 5.0
    for start in (28.0, 30.0):
        assert pitch(cut(path, start, 7.0).samples, CLIP_RATE) == pytest.approx(440, abs=1)
    assert cut(path, 0.0, 35.0).remarks == ()


def sparse_wav(path: Path, hours: int) -> None:
    """Hours of stereo at 48 kHz that take no room on disk: silence, with a tone ten seconds before the end."""
    n = hours * 3600 * 48_000
    save(path, np.zeros((1, 2), np.float32), 48_000, format="WAV", subtype="PCM_16")
    head = bytearray(path.read_bytes()[:44])
    head[4:8], head[40:44] = (36 + 4 * n).to_bytes(4, "little"), (4 * n).to_bytes(4, "little")
    sound = (np.repeat(tone(440, 10, 48_000)[:, None], 2, axis=1) * 32_767).astype("<i2").tobytes()
    with path.open("wb") as file:
        file.write(head)
        file.seek(44 + 4 * n - len(sound))
        file.write(sound)


def long_mkv(path: Path, hours: int) -> None:
    """An hour or more for FFmpeg's libraries, with a tone ten seconds before the end."""
    silence = np.zeros(hours * 3600 * RATE - 10 * RATE, np.float32)
    encode(path, np.concatenate([silence, tone(440, 10)]), RATE, codec="pcm_s16le", form="matroska")


@pytest.mark.parametrize(("write", "hours"), [(sparse_wav, 5), (long_mkv, 1)])
def test_ten_seconds_of_hours(tmp_path: Path, write: Callable[[Path, int], None], hours: int) -> None:
    """Ten seconds out of hours cost no more memory and reading than ten seconds."""
    path = tmp_path / "long"
    write(path, hours)
    counters = Path("/proc/self/io")
    before = int(counters.read_text().split()[1]) if counters.exists() else 0
    tracemalloc.start()
    try:
        samples = cut(path, hours * 3600 - 10, 10.0).samples
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    read = int(counters.read_text().split()[1]) - before if counters.exists() else 0
    assert len(samples) == 10 * CLIP_RATE
    assert pitch(samples, CLIP_RATE) == pytest.approx(440, abs=1)
    assert peak < 40e6
    assert read < 10e6


NAMES = (
    "ノストス.wav",
    unicodedata.normalize("NFC", "Déjà Vu.wav"),
    unicodedata.normalize("NFD", "Déjà Vu.wav"),
    "a b#c?d%20e.wav",
    "-lrVO3pPDP4.wav",
    "https:--youtu.be.wav",
    "concat:a.wav",
    "%d.wav",
)


@pytest.mark.parametrize("form", ["wav", "webm"])
def test_odd_names(tmp_path: Path, form: str) -> None:
    """Names with accents, signs and leading hyphens, links and long folders are names like any other, byte for byte."""
    folder = tmp_path / ("f" * 240)
    folder.mkdir()
    for i, name in enumerate(NAMES):
        FORMS[form](tmp_path / "plain", tone(500 + 100 * i, 1, 16_000), 16_000).rename(folder / name)
    (folder / "link.wav").symlink_to(folder / NAMES[0])
    names = [*NAMES, "link.wav"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    links = tuple(Link(name.split(".")[0], 0.0, name) for name in names)
    asker = thread("t3_a", "jazz", "Jazz", "A B", "A", links=links)
    build([asker], tmp_path / "out", about=ABOUT, add_clips=AudioFolder(folder).add_clips)
    [read] = load_threads(tmp_path / "out", "audio_only")
    made = read.clips or ()
    assert [clip.video_id.encode() for clip in made] == [name.split(".")[0].encode() for name in names]
    assert {link.status for link in read.links} == {"ok"}
    assert all(clip.duration_s == pytest.approx(1.0, abs=0.02) for clip in made)
    assert [round(pitch(*heard(clip)), -1) for clip in made] == [*(500 + 100 * i for i in range(len(NAMES))), 500]


def test_lists_are_not_followed(tmp_path: Path) -> None:
    """A file that names other files or addresses opens none of them."""
    save(tmp_path / "secret.wav", tone(440, 5))
    lists = {
        "a.m3u8": f"#EXTM3U\n#EXTINF:5,\nfile://{tmp_path}/secret.wav\n#EXT-X-ENDLIST\n",
        "b.mp3": f"ffconcat version 1.0\nfile {tmp_path}/secret.wav\n",
        "c.wav": f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=audio 9 RTP/AVP 0\na=control:{tmp_path}/secret.wav\n",
    }
    for name, text in lists.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(UnusableAudioError, match="cannot be decoded"):
            cut(tmp_path / name, 0.0, 1.0)


def test_a_file_that_nobody_may_read(tmp_path: Path) -> None:
    """A folder in the place of a file, or a link to nowhere, is unusable by name and not a crash."""
    (tmp_path / "gone.wav").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.wav").mkdir()
    for name in ("gone.wav", "folder.wav"):
        with pytest.raises(UnusableAudioError, match=f"{name} cannot be opened"):
            cut(tmp_path / name, 0.0, 1.0)


def test_samples_that_are_no_numbers(tmp_path: Path) -> None:
    """A file of NaN or of infinite samples is unusable, not a clip."""
    for value in (np.nan, np.inf):
        soundfile.write(tmp_path / "a.wav", np.full(RATE, value, dtype=np.float32), RATE, subtype="FLOAT")
        with pytest.raises(UnusableAudioError, match="not numbers"):
            cut(tmp_path / "a.wav", 0.0, 30.0)
