"""Clips from a folder of files: which file, which stretch, how long, how loud; and that nothing there stops a build."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from musicrs_dataset.audio.clip_plan import ClipPlan
from musicrs_dataset.audio.cutting import cut, to_mono
from musicrs_dataset.audio.download_ledger import DownloadLedger, Entry
from musicrs_dataset.audio.folder import AudioFolder
from musicrs_dataset.records import Link, Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.schema import CONFIGS, from_row, to_row
from musicrs_metric.errors import UserError

from .sounds import RATE, heard, pitch, save, tone
from .support import ABOUT, TINY


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
    names = [clip.video_id for clip in made]
    assert len(names) == clips
    assert names == sorted(set(names))
    assert {clip.duration_s for clip in made} == {seconds}
    assert folder.report.seconds == clips * seconds
    assert folder.report.links == {"ok": links}


def test_choice_among_more_links() -> None:
    """Of more than ten links ten are chosen, by seed and thread alone: each as often as any."""
    places = range(15)
    drawn = Counter(place for i in range(3_000) for place in ClipPlan().choose(f"t3_{i}", places))
    assert set(drawn) == set(places)
    # 2,000 each are expected; one standard deviation is 26.
    assert max(abs(n - 2_000) for n in drawn.values()) < 5 * 26
    assert ClipPlan().choose("t3_a", places) == ClipPlan().choose("t3_a", places)
    assert any(ClipPlan(seed=1).choose(f"t3_{i}", places) != ClipPlan().choose(f"t3_{i}", places) for i in range(3))
    assert ClipPlan().choose("t3_a", [3, 9]) == [3, 9]


def test_budget(tmp_path: Path) -> None:
    """Another budget is shared in the same way; one that leaves nothing for a clip is refused."""
    for name in ("V0", "V1", "V2"):
        save(tmp_path / f"{name}.wav", tone(400, 12))
    folder = AudioFolder(tmp_path, ClipPlan(total_s=30))
    clips = folder.add_clips(linked(("V0", 0.0), ("V1", 0.0), ("V2", 5.0))).clips or ()
    assert [clip.duration_s for clip in clips] == [10, 10, 7]
    for seconds in (0.5, -1, float("nan"), float("inf")):
        with pytest.raises(UserError, match=r"expected at least one clip, and 0\.1 s per clip"):
            ClipPlan(total_s=seconds)


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
    assert folder.report.lines() == [
        "audio: 4 clips, 0.07 h, for 1 of 1 threads; links: 1 new, 4 ok, 1 retry",
        "unusable: t3_a: V1.mp3 cannot be decoded: it is no audio file, or it is damaged",
    ]


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


@pytest.mark.parametrize("names", [["clip_2", "clip_10"], ["b", "c"], ["1 - Über", "2 - 10"]])
def test_folder_of_a_thread_in_order(tmp_path: Path, names: list[str]) -> None:
    """Where a thread's folder has one file per link and none says which, they are the links in their order."""
    for name, hertz in zip(names, (500, 1000), strict=True):
        save(tmp_path / "t3_a" / f"{name}.wav", tone(hertz, 1))
    clips = AudioFolder(tmp_path).add_clips(linked(("V0", 0.0), ("V1", 0.0))).clips or ()
    assert [(clip.video_id, round(pitch(*heard(clip)))) for clip in clips] == [("V0", 500), ("V1", 1000)]
    assert not AudioFolder(tmp_path).add_clips(linked(("V0", 0.0))).clips


def test_cache_of_downloads(tmp_path: Path) -> None:
    """In a cache of `audio fetch` files are found, and what is known of others becomes their links' status."""
    ok, gone = "-krokokokok", "gonegonegoA"
    save(tmp_path / "audio" / ok[:2] / f"{ok}.wav", tone(500, 1))
    (tmp_path / "audio" / ok[:2] / f"{ok}.json").write_text("{}")
    with DownloadLedger(tmp_path) as ledger:
        ledger.put(Entry(gone, "gone", "private"))
    for folder in (tmp_path, tmp_path / "audio"):
        thread = AudioFolder(folder).add_clips(linked((ok, 0.0), (gone, 0.0)))
        assert [clip.video_id for clip in thread.clips or ()] == [ok]
    thread = AudioFolder(tmp_path).add_clips(linked((ok, 0.0), (gone, 0.0)))
    assert [link.status for link in thread.links] == ["ok", "gone"]


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


def test_same_file_same_bytes(tmp_path: Path) -> None:
    """Cutting twice gives the same bytes, so that a rebuilt dataset is the same."""
    save(tmp_path / "V0.wav", tone(440, 3, 44_100), 44_100)
    first, second = (AudioFolder(tmp_path).add_clips(linked(("V0", 0.5))).clips for _ in range(2))
    assert first == second


def test_silence_is_used_and_told(tmp_path: Path) -> None:
    """Digital silence makes a clip, with a line in the summary."""
    save(tmp_path / "V0.wav", np.zeros(RATE, dtype=np.float32))
    folder = AudioFolder(tmp_path)
    [clip] = folder.add_clips(linked(("V0", 0.0))).clips or ()
    assert clip.rms_dbfs == -120
    assert "used, but: t3_a: V0.wav is silent from 0 s on for 1 s" in folder.report.lines()


def test_level_and_checksum(tmp_path: Path) -> None:
    """A clip carries its level, that of a sine being 3.01 dB below its peak, and the hash of its bytes."""
    save(tmp_path / "V0.wav", tone(440, 2))
    [clip] = AudioFolder(tmp_path).add_clips(linked(("V0", 0.0))).clips or ()
    assert clip.rms_dbfs == pytest.approx(20 * np.log10(0.5) - 3.01, abs=0.02)
    assert clip.sha256 == hashlib.sha256(clip.audio).hexdigest()
    row = to_row(replace(TINY[0], clips=(clip,)), CONFIGS["audio_only"])
    assert row["clip_info"][0]["rms_dbfs"] == clip.rms_dbfs
    assert from_row(row).clips == (clip,)


def test_louder_than_full_scale(tmp_path: Path) -> None:
    """Samples beyond full scale are turned down as a whole: the wave keeps its form in place of being cut flat."""
    path = tmp_path / "a.wav"
    soundfile.write(path, 8 * tone(440, 1, 48_000), 48_000, subtype="FLOAT")
    samples = cut(path, 0.0, 1.0).samples
    assert np.abs(samples - 2 * tone(440, 1, 48_000)).max() < 1e-3


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
    made = build(
        TINY[:2], tmp_path / "out", about=ABOUT, add_clips=folder.add_clips, clip_plan=ClipPlan(total_s=60, seed=3)
    )
    card = (made / "README.md").read_text(encoding="utf-8")
    assert "| `audio_only` | clips of the linked videos | as published | 2 of 2 threads |" in card
    assert "Clips: 2, 0.01 hours, mono at 48 kHz" in card
    assert "at most 10 of its links and share 60 s evenly. Seed 3 chooses the links if more are usable." in card
    assert "Links: 2 ok." in card
    assert folder.report.with_audio == 2
