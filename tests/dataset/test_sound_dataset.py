"""A dataset with audio: the published conversations with sound of every kind, and decoding with and without help."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from musicrs_dataset.audio.folder import AudioFolder
from musicrs_dataset.loading import load_threads
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_dataset.validate import validate
from musicrs_dataset.youtube import start_seconds, video_id
from musicrs_metric.errors import UserError

from .sounds import RATE, encode, pitch, save, silent_video, tone
from .support import ABOUT, TINY, evaluate

# Each takes a path without its ending and a tone of 4 s; the length that can be had is given beside it.
KINDS: list[tuple[Callable[[Path, np.ndarray], object], float | None]] = [
    (lambda path, x: save(path.with_suffix(".wav"), x), 4),
    (lambda path, x: save(path.with_suffix(".flac"), np.stack([x, -x], axis=1)), 4),
    (lambda path, x: save(path.with_suffix(".mp3"), x, 16_000), 2),
    (lambda path, x: save(path.with_suffix(".ogg"), x), 4),
    (lambda path, x: encode(path.with_suffix(".m4a"), x, RATE, codec="aac", form="mp4"), 4),
    (lambda path, x: encode(path.with_suffix(".webm"), x, 16_000, codec="libopus", form="webm"), 2),
    (lambda path, x: save(path.with_suffix(".mp3"), x, format="WAV"), 4),
    (lambda path, x: save(path.with_suffix(".wav"), x, 96_000), 4 * 8 / 96),
    (lambda path, x: save(path.with_suffix(".wav"), 0 * x), 4),
    (lambda path, x: path.with_suffix(".webm").write_bytes(b""), None),
    (lambda path, x: path.with_suffix(".m4a").write_text("<html>gone</html>"), None),
    (lambda path, x: silent_video(path.with_suffix(".mp4")), None),
]


@pytest.mark.figures
def test_published_conversations(upstream_file: Path, upstream_rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """Clips, their lengths and the statuses of all links follow from the links and from what each file holds."""
    links = [[(video_id(url), start_seconds(url)) for url in row["valid_urls"]] for row in upstream_rows]
    videos = list(dict.fromkeys(video for row in links[:40] for video, _ in row if video))
    holds: dict[str, float | None] = {}
    for i, video in enumerate(videos):
        write, holds[video] = KINDS[i % len(KINDS)]
        (tmp_path / "audio").mkdir(exist_ok=True)
        write(tmp_path / "audio" / video, tone(440, 4))
    threads, about = resolve_source(upstream_file)
    folder = AudioFolder(tmp_path / "audio")
    build(threads, tmp_path / "out", about=about, add_clips=folder.add_clips, clip_plan=folder.plan)

    read = {config: load_threads(tmp_path / "out", config) for config in ("audio_query", "audio_only")}
    assert [thread.thread_id for thread in read["audio_only"]] == [row["name"] for row in upstream_rows]
    n_clips = 0
    for row, thread, other in zip(links, read["audio_query"], read["audio_only"], strict=True):
        assert thread.clips == other.clips
        wanted = [(video, start) for video, start in dict.fromkeys(row) if video and holds.get(video)]
        lengths = []
        for video, start in wanted:
            length = holds[video] or 0
            lengths.append(length - start if length - start >= 0.1 else length)
        assert [clip.video_id for clip in thread.clips or ()] == [video for video, _ in wanted]
        assert [clip.duration_s for clip in thread.clips or ()] == pytest.approx(lengths, abs=0.25)
        for link in thread.links:
            expected = "new" if link.video_id not in holds else "ok" if holds[link.video_id] else "retry"
            assert link.status == expected
        n_clips += len(wanted)
    assert n_clips > 50
    assert folder.report.clips == n_clips
    assert len(folder.report.unusable) == folder.report.links["retry"]
    assert f"{folder.report.with_audio} of 477 threads" in (tmp_path / "out/musicrs/README.md").read_text()


def test_checksum_is_checked(tmp_path: Path) -> None:
    """A clip whose bytes are not those that were cut is found, though it decodes."""
    save(tmp_path / "audio" / "t3_a" / "00.wav", tone(440, 2))
    save(tmp_path / "audio" / "t3_b" / "00.wav", tone(660, 2))
    folder = AudioFolder(tmp_path / "audio")
    [one, other] = [folder.add_clips(thread) for thread in TINY[:2]]
    build([one, other], tmp_path / "good", about=ABOUT)
    assert validate(tmp_path / "good", clips=True).is_valid
    [clip], [stranger] = one.clips or (), other.clips or ()
    build([replace(one, clips=(replace(clip, audio=stranger.audio),)), other], tmp_path / "bad", about=ABOUT)
    [finding] = validate(tmp_path / "bad", clips=True).invalid
    assert (finding.name, finding.where) == ("bad_clip", ("t3_a",))


@pytest.fixture
def heard(tmp_path: Path) -> Path:
    """Folder of a dataset whose first thread has a clip of 440 Hz, and whose other threads have none."""
    save(tmp_path / "audio" / "t3_a" / "00.wav", tone(440, 2))
    return build(TINY, tmp_path / "out", about=ABOUT, add_clips=AudioFolder(tmp_path / "audio").add_clips)


def ffmpeg_libraries(folder: Path) -> str:
    """A search path on which torchcodec finds FFmpeg's libraries: those in PyAV's wheel, under their usual names."""
    bundled = Path(av.__file__).parent.parent / "av.libs"
    folder.mkdir()
    for library in bundled.glob("lib[as][vw]*-*.so.*"):
        name, version = library.name.split("-")[0], library.name.split(".so.")[1].split(".")[0]
        (folder / f"{name}.so.{version}").symlink_to(library)
    cuda = [str(path) for path in bundled.parent.glob("nvidia/*/lib")]
    return ":".join([str(folder), str(bundled), *cuda])


@pytest.mark.figures
@pytest.mark.skipif(sys.platform != "linux", reason="PyAV's wheel keeps its libraries elsewhere")
def test_datasets_decodes_with_torchcodec(heard: Path, tmp_path: Path) -> None:
    """`load_dataset(...)[0]` gives decoded samples, and an empty list where a thread has no clip."""
    if find_spec("torchcodec") is None:
        pytest.skip("torchcodec is not installed")
    code = f"""
import io, json, numpy, soundfile
from torchcodec.decoders import AudioDecoder
from datasets import load_dataset
file = io.BytesIO()
soundfile.write(file, numpy.zeros(4800), 48000, format="FLAC")
try:
    AudioDecoder(file.getvalue())
except RuntimeError as error:
    print(json.dumps({{"cannot": str(error).splitlines()[0]}}))
else:
    threads = load_dataset({str(heard)!r}, "audio_only", split="test")
    [clip] = threads[0]["clips"]
    empty = threads[1]["clips"]
    print(json.dumps({{"samples": clip["array"].tolist(), "rate": clip["sampling_rate"], "empty": empty}}))
"""
    found = evaluate(code, tmp_path / "home", LD_LIBRARY_PATH=ffmpeg_libraries(tmp_path / "libraries"))
    if "cannot" in found:
        pytest.skip(f"torchcodec does not load here: {found['cannot']}")
    assert (found["rate"], found["empty"], len(found["samples"])) == (48_000, [], 96_000)
    assert pitch(np.array(found["samples"]), 48_000) == pytest.approx(440, abs=1)


def test_everything_else_works_without_a_decoder(heard: Path, tmp_path: Path) -> None:
    """Without torchcodec and PyAV threads and clips are read, and the bytes go through soundfile."""
    code = f"""
import io, json, sys
for name in ("torchcodec", "av"):
    sys.modules[name] = None  # importing it fails, as where it is not installed
import soundfile
from datasets import Audio, Sequence, load_dataset
from musicrs_dataset.loading import load_threads
threads = load_threads({str(heard)!r}, "audio_query")
rows = load_dataset({str(heard)!r}, "audio_query", split="test").cast_column("clips", Sequence(Audio(decode=False)))
files = [clip["bytes"] for clip in rows[0]["clips"]]
assert files == [clip.audio for clip in threads[0].clips]
samples, rate = soundfile.read(io.BytesIO(files[0]))
print(json.dumps([[len(thread.clips) for thread in threads], [len(row["clips"]) for row in rows], len(samples), rate]))
"""
    counts = [1, 0, 0, 0]
    assert evaluate(code, tmp_path / "home") == [counts, counts, 96_000, 48_000]


@pytest.mark.parametrize("absent", ["soundfile", "soxr"])
def test_one_message_where_a_library_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    """Whoever wants clips cut without the libraries for it is told in one line which to install, and how."""
    monkeypatch.setitem(sys.modules, absent, None)
    empty = tmp_path / "audio"
    empty.mkdir()
    with pytest.raises(
        UserError, match=r"clips need soundfile and soxr .*run `pip install 'musicrs\[audio\]'`"
    ) as told:
        AudioFolder(empty)
    assert "\n" not in str(told.value)


def test_without_pyav_the_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyAV is absent, what soundfile reads makes clips, and the rest is told with the way to read it."""
    save(tmp_path / "audio" / "t3_a" / "00.wav", tone(440, 2))
    encode(tmp_path / "audio" / "t3_a" / "AAAAAAAAAAA.m4a", tone(440, 2), RATE, codec="aac", form="mp4")
    monkeypatch.setitem(sys.modules, "av", None)
    folder = AudioFolder(tmp_path / "audio")
    [clip] = folder.add_clips(TINY[0]).clips or ()
    assert clip.duration_s == 2.0
    (tmp_path / "audio" / "t3_a" / "00.wav").unlink()
    folder = AudioFolder(tmp_path / "audio")
    assert folder.add_clips(TINY[0]).clips == ()
    assert "for other formats run `pip install 'musicrs[audio]'`" in json.dumps(folder.report.unusable)
