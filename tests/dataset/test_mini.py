"""The toy dataset: its counts, its promises about pools, and that its audio sounds as described."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from musicrs_dataset.mini import load_mini
from musicrs_dataset.mini.catalogue import load_catalogue
from musicrs_dataset.mini.synth import Sound
from musicrs_dataset.records import Thread
from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT, GENRES
from musicrs_metric.matching import normalise
from musicrs_metric.scoring import score

from .support import clip_sounds

Samples = npt.NDArray[np.float64]

VIDEO_ID_END = "AEIMQUYcgkosw048"  # 64 bits in base64url leave 16 values for the last of 11 characters


@pytest.fixture(scope="module")
def threads() -> list[Thread]:
    return load_mini(clips=False)


@pytest.fixture(scope="module")
def heard() -> list[tuple[Sound, Samples]]:
    """The description and the decoded samples of every clip."""
    soundfile = pytest.importorskip("soundfile")
    sounds, clips = clip_sounds(), []
    for thread in load_mini():
        for clip in thread.clips or ():
            samples, rate = soundfile.read(io.BytesIO(clip.audio))
            assert rate == 48_000
            assert samples.ndim == 1
            assert clip.duration_s == len(samples) / 48_000
            clips.append((sounds[clip.video_id], samples))
    return clips


def test_four_threads_per_genre_from_all_subreddits(threads: list[Thread]) -> None:
    assert Counter(t.genre for t in threads) == dict.fromkeys(GENRES, 4)
    assert {t.subreddit for t in threads} == set(GENRE_OF_SUBREDDIT)
    assert all(t.genre == GENRE_OF_SUBREDDIT[t.subreddit] for t in threads)
    assert [t.thread_id for t in threads] == [f"t3_mini{i:02d}" for i in range(1, 29)]


def test_pools_hold_about_a_hundred_names_and_every_answer(threads: list[Thread]) -> None:
    sizes = [len(t.candidates) for t in threads]
    assert min(sizes) >= 90
    assert max(sizes) == 100
    assert sizes.count(100) > len(sizes) / 2
    for thread in threads:
        assert 4 <= len(thread.ground_truth) <= 10
        assert set(thread.ground_truth) <= set(thread.candidates)
        assert len({normalise(name) for name in thread.candidates}) == len(thread.candidates)


def test_names_are_written_as_in_the_published_pools(threads: list[Thread]) -> None:
    """No comma (their parser splits there), no outer space, composed Unicode."""
    for name in {name for thread in threads for name in thread.candidates}:
        assert name == name.strip()
        assert "," not in name
        assert unicodedata.is_normalized("NFC", name)


def test_ground_truth_follows_the_votes(threads: list[Thread]) -> None:
    """Every recommendation counts, most upvoted first, until ten are found."""
    for thread in threads:
        votes = {
            name: comment.score or 0.0
            for comment in thread.comments
            for kind in (comment.entities.songs, comment.entities.artists, comment.entities.albums)
            for name in kind
        }
        assert set(votes) == set(thread.all_entities)
        chosen = [votes.pop(name) for name in thread.ground_truth]
        assert chosen == sorted(chosen, reverse=True)
        assert not votes or (len(chosen) == 10 and max(votes.values()) <= chosen[-1])


def test_some_thread_names_more_than_ten(threads: list[Thread]) -> None:
    assert any(len(t.all_entities) > len(t.ground_truth) for t in threads)


def test_no_distractor_is_an_unlabelled_answer(threads: list[Thread]) -> None:
    """The pool holds nothing that the asker or a reply named, other than the answers, and nothing else in the style."""
    style_of = {name: style for style in load_catalogue() for name in style.names}
    for thread in threads:
        distractors = set(thread.candidates) - set(thread.ground_truth)
        assert not distractors & {*thread.submission_entities, *thread.all_entities}
        assert style_of[thread.ground_truth[0]] not in {style_of[name] for name in distractors}
        assert {style_of[name].subreddit for name in distractors} == {thread.subreddit}


def test_every_name_stands_equally_often_within_a_subreddit(threads: list[Thread]) -> None:
    for subreddit in GENRE_OF_SUBREDDIT:
        counts = Counter(name for t in threads if t.subreddit == subreddit for name in t.candidates)
        assert len(set(counts.values())) == 1


def _recall_interval(threads: list[Thread], value: Callable[[Thread, str], float]) -> tuple[float, float, float]:
    """Recall@20 of ranking by a value, highest first, ties by place: low end, chance, high end."""
    rankings = [sorted(t.candidates, key=lambda name, t=t: -value(t, name)) for t in threads]  # type: ignore[misc]
    scores = score(rankings, [t.ground_truth for t in threads], [t.candidates for t in threads])
    assert scores.interval is not None
    assert scores.chance is not None
    low, high = scores.interval["recall@20"]
    chance = scores.chance["recall@20"]
    assert chance is not None
    return low, chance, high


@pytest.mark.parametrize("sign", [1, -1], ids=["commonest first", "rarest first"])
def test_counting_names_tells_nothing(threads: list[Thread], sign: int) -> None:
    count = Counter((t.subreddit, name) for t in threads for name in t.candidates)
    low, chance, high = _recall_interval(threads, lambda t, name: sign * count[t.subreddit, name])
    assert low <= chance <= high


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "form",
    [len, lambda name: len(name.split()), lambda name: name.startswith(("The ", "A ")), lambda name: -ord(name[0])],
    ids=["length", "words", "article", "alphabet"],
)
def test_the_form_of_a_name_tells_nothing(threads: list[Thread], form: Callable[[str], float], sign: int) -> None:
    low, chance, high = _recall_interval(threads, lambda _, name: sign * form(name))
    assert low <= chance <= high


@pytest.mark.parametrize("kind", ["songs", "artists", "albums"])
def test_the_kind_of_a_name_tells_nothing(threads: list[Thread], kind: str) -> None:
    of_kind = {name for style in load_catalogue() for name in getattr(style.entities, kind)}
    low, chance, high = _recall_interval(threads, lambda _, name: name in of_kind)
    assert low <= chance <= high


def test_catalogue_names_are_distinct() -> None:
    names = [name for style in load_catalogue() for name in style.names]
    assert len({normalise(name) for name in names}) == len(names)


def test_links_are_possible_videos(threads: list[Thread]) -> None:
    links = [link for thread in threads for link in thread.links]
    assert [len(t.links) for t in threads] == [2] * 28
    assert len({link.video_id for link in links}) == 56
    assert all(len(link.video_id) == 11 and link.video_id[-1] in VIDEO_ID_END for link in links)
    assert all(link.video_id in link.url for link in links)
    assert all(f"t={link.start_s:.0f}" in link.url for link in links if link.start_s)
    assert 0 < sum(link.start_s > 0 for link in links) < len(links)


def test_without_clips_it_is_light() -> None:
    """The text alone needs neither soundfile nor anything slow to import."""
    code = (
        "import sys; from musicrs_dataset.mini import load_mini; threads = load_mini(clips=False); "
        "assert all(t.clips is None for t in threads); "
        "print(sorted({'soundfile', 'scipy', 'pandas', 'torch', 'datasets', 'pyarrow'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_it_is_the_same_in_every_process() -> None:
    """Text and audio hash alike in two processes whose string hashes differ."""
    pytest.importorskip("soundfile")
    code = (
        "import hashlib; from musicrs_dataset.mini import load_mini; from tests.dataset.support import clip_sounds; "
        "from musicrs_dataset.mini.synth import flac, synthesise; "
        "clips = [flac(synthesise(sound, seed)) for seed, sound in list(clip_sounds().items())[::9]]; "
        "print(hashlib.sha256(repr((load_mini(clips=False), clips)).encode()).hexdigest())"
    )
    digests = {
        subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_clips_last_eight_to_twelve_seconds(heard: list[tuple[Sound, Samples]]) -> None:
    assert len(heard) == 56
    for sound, samples in heard:
        assert len(samples) == sound.seconds * 48_000
        assert 8 <= sound.seconds <= 12
        assert 0.1 < np.abs(samples).max() < 1


def test_clips_are_as_bright_as_described(heard: list[tuple[Sound, Samples]]) -> None:
    for sound, samples in heard:
        power = np.abs(np.fft.rfft(samples)) ** 2
        centroid = (power * np.fft.rfftfreq(len(samples), 1 / 48_000)).sum() / power.sum()
        assert centroid == pytest.approx(sound.brightness, rel=0.03)


def test_clips_keep_the_described_tempo(heard: list[tuple[Sound, Samples]]) -> None:
    """Where notes are dense enough to have a beat, onsets repeat at its period (octaves aside)."""
    with_beat = [(sound, samples) for sound, samples in heard if sound.density >= 0.3]
    assert len(with_beat) > 25
    for sound, samples in with_beat:
        assert _tempo_near(samples, sound.tempo) == pytest.approx(sound.tempo, rel=0.01)


def _tempo_near(samples: Samples, tempo: float) -> float:
    """The strongest periodicity of the onsets, in beats per minute, from 0.7 to 1.4 times `tempo`."""
    hop = 480
    frames = np.lib.stride_tricks.sliding_window_view(samples, 2048)[::hop] * np.hanning(2048)
    onsets = np.maximum(np.diff(np.abs(np.fft.rfft(frames, axis=1)), axis=0), 0).sum(axis=1)
    onsets -= onsets.mean()
    similarity = np.correlate(onsets, onsets, "full")[len(onsets) - 1 :] / np.arange(len(onsets), 0, -1)
    beat = 60 / tempo * 48_000 / hop
    low, high = int(beat / 1.4), int(beat / 0.7)
    peak = low + int(np.argmax(similarity[low:high]))
    before, top, after = similarity[peak - 1 : peak + 2]
    lag = peak + (before - after) / (2 * (before - 2 * top + after))  # the vertex of the parabola through the three
    return float(60 * 48_000 / hop / lag)


def test_clips_are_in_the_described_mode(heard: list[tuple[Sound, Samples]]) -> None:
    """Key profiles on the chroma of the whole clip name the mode of at least nine in ten."""
    right = sum(_mode(samples) == sound.mode for sound, samples in heard)
    assert right >= 0.9 * len(heard)
    assert {sound.mode for sound, _ in heard} == {"major", "minor"}


# Probe-tone ratings: Krumhansl and Kessler 1982, doi:10.1037/0033-295X.89.4.334.
PROFILES = {
    "major": [6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88],
    "minor": [6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17],
}


def _mode(samples: Samples) -> str:
    frequency = np.fft.rfftfreq(len(samples), 1 / 48_000)
    heard = (frequency > 60) & (frequency < 2000)
    pitch_class = np.round(12 * np.log2(frequency[heard] / 440)).astype(int) % 12
    chroma = np.bincount(pitch_class, np.abs(np.fft.rfft(samples))[heard], minlength=12)
    fits = [
        (float(np.corrcoef(np.roll(profile, tonic), chroma)[0, 1]), mode)
        for mode, profile in PROFILES.items()
        for tonic in range(12)
    ]
    return max(fits)[1]


def test_dense_clips_are_louder(heard: list[tuple[Sound, Samples]]) -> None:
    """Loudness goes with density and drums, so that a quiet request is answered by quiet audio."""
    loudness: dict[bool, list[float]] = {True: [], False: []}
    for sound, samples in heard:
        loudness[sound.density >= 0.8].append(float(np.sqrt(np.mean(samples**2))))
    assert min(loudness[True]) > np.median(loudness[False])


def test_the_answers_sound_like_the_clips(threads: list[Thread]) -> None:
    """Clips are performances of the style that the ground truth belongs to."""
    style_of = {name: style for style in load_catalogue() for name in style.names}
    sounds = clip_sounds()
    for thread in threads:
        described = style_of[thread.ground_truth[0]].sound
        for link in thread.links:
            clip = sounds[link.video_id]
            assert clip.tempo == pytest.approx(described.tempo, rel=0.05)
            assert clip.brightness == pytest.approx(described.brightness, rel=0.11)
            assert (clip.mode, clip.timbre) == (described.mode, described.timbre)
