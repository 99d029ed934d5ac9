from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.commands.summary import score_result
from baselines.data import Data, Swap, as_references
from baselines.launch import build_system
from baselines.run.control import input_sources, swap_inputs
from baselines.system import Context, MissingAudio, Task
from musicrs_dataset.records import Clip, Link, Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Modality
from tests.baselines.toys import Toy, run_toy, thread, toy_data

READS = Context(modality="query_only")
HEARS = Context(modality="audio_query", missing_audio="text")


def data_of(threads: Sequence[Thread]) -> Data:
    return Data(threads, as_references(threads, "toy", "query_only"))


def sounding(name: str, genre: str = "Jazz", n_clips: int = 1) -> Thread:
    """A thread whose text, links and clips all bear its name."""
    clips = tuple(Clip(name.encode(), f"{i}.flac", f"{name}-{i}", 0.0, 30.0) for i in range(n_clips))
    text = {"query": f"query {name}", "post": f"post {name}", "submission_entities": (f"entity {name}",)}
    links = (Link(name, 0.0, f"https://youtu.be/{name}"),)
    return thread(name, ["A", "B"], ["A"], genre=genre, clips=clips, links=links, **text)


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=40), st.integers(0, 2**31))
def test_nobody_gets_their_own_input(genres: list[str], seed: int) -> None:
    """Each genre's inputs go round within it, each used once; one that is alone in its genre gets another genre's."""
    giver = input_sources(genres, seed)
    assert input_sources(genres, seed) == giver
    assert all(given != place for place, given in enumerate(giver))
    counts = Counter(genres)
    together = [place for place, genre in enumerate(genres) if counts[genre] > 1]
    assert all(genres[giver[place]] == genres[place] for place in together)
    assert sorted(giver[place] for place in together) == together
    assert all(genres[giver[place]] != genres[place] for place in range(len(genres)) if place not in together)


def test_every_other_thread_gives_equally_often() -> None:
    """Over 6,000 seeds, each of five others 1,200 times to the first, within five standard deviations (31 each)."""
    counts = Counter(input_sources(["Jazz"] * 6, seed)[0] for seed in range(6_000))
    assert set(counts) == {1, 2, 3, 4, 5}
    assert all(abs(count - 1_200) < 5 * 31 for count in counts.values())


def test_a_swapped_query_brings_all_the_words_of_one_asker() -> None:
    """Query, post and entities are those of one other thread; sound, pool, labels and references are the thread's."""
    before = data_of([sounding(f"t{i}") for i in range(6)])
    after = swap_inputs(before, "shuffled-query", READS)
    for own, swapped in zip(before.threads, after.threads, strict=True):
        assert swapped.query is not None
        name = swapped.query.removeprefix("query ")
        assert name != own.thread_id
        words = {"query": f"query {name}", "post": f"post {name}", "submission_entities": (f"entity {name}",)}
        assert swapped == replace(own, **words)  # type: ignore[arg-type]
    assert after.references is before.references


@pytest.mark.parametrize("stored", [False, True])
def test_swapped_clips_are_those_of_one_other_thread(stored: bool) -> None:
    """In memory or read when their turn comes; words and labels stay, and silence neither comes nor goes."""
    threads = [sounding(f"t{i}", n_clips=i % 4) for i in range(8)]  # t0 and t4 have no clips
    before = data_of(threads)
    if stored:
        before = before._replace(clips=lambda place: threads[place].clips or ())
    after = swap_inputs(before, "shuffled-audio", HEARS)
    for place, (own, swapped) in enumerate(zip(before.threads, after.threads, strict=True)):
        used_audio = after.clips(place) if after.clips else swapped.clips
        assert used_audio == swapped.clips
        names = {clip.audio.decode() for clip in used_audio or ()} | {link.video_id for link in swapped.links}
        assert len(names) == 1
        assert (own.thread_id in names) == (not own.clips)
        assert bool(used_audio) == bool(own.clips)
        assert replace(swapped, clips=own.clips, links=own.links) == own


def test_threads_alone_in_their_genre_are_counted() -> None:
    """Two of five; the card says so."""
    threads = [sounding(f"t{i}", genre) for i, genre in enumerate(["Jazz", "Metal", "Jazz", "Pop", "Jazz"])]
    control = swap_inputs(data_of(threads), "shuffled-query", READS).control
    assert control == ("shuffled-query", 2)


@pytest.mark.parametrize(
    ("swap", "modality", "policy", "n_clips", "message"),
    [
        ("shuffled-audio", "query_only", None, 1, "the system uses no clips in query_only; try shuffled-query"),
        ("shuffled-query", "audio_only", "zero", 1, "audio_only has no query; try shuffled-audio"),
        ("shuffled-audio", "audio_only", "zero", 0, "0 threads with clips, expected at least two to swap"),
    ],
)
def test_a_control_without_anything_to_swap_is_refused(
    swap: Swap, modality: Modality, policy: MissingAudio | None, n_clips: int, message: str
) -> None:
    """It would be the plain run under another name."""
    data = data_of([sounding("t0", n_clips=n_clips), sounding("t1", n_clips=n_clips)])
    with pytest.raises(UserError, match=f"--control {swap}: {message}"):
        swap_inputs(data, swap, Context(modality=modality, missing_audio=policy))


def test_one_thread_has_nobody_to_swap_with() -> None:
    """There is no other thread."""
    with pytest.raises(UserError, match="1 thread in the dataset, expected at least two"):
        swap_inputs(toy_data(1), "shuffled-query", READS)


def test_the_card_and_the_name_say_that_it_is_a_control(tmp_path: Path) -> None:
    """No table takes it for the plain run, whatever the user calls it, and the plain run's folder is not taken up."""
    swapped = swap_inputs(toy_data(), "shuffled-query", READS)
    run_toy(Toy(), toy_data(), tmp_path / "plain")
    card = run_toy(Toy(), swapped, tmp_path / "control", name="mine").card
    assert (card.name, card.extra["control"], card.extra["control_other_genre"]) == (
        "mine, shuffled-query",
        "shuffled-query",
        0,
    )
    assert card.fingerprint == toy_data().references.fingerprint
    with pytest.raises(UserError, match="control was null and is now 'shuffled-query'"):
        run_toy(Toy(), swapped, tmp_path / "plain")


class Reader(Toy):
    """Puts the letter that the query names first."""

    def answer(self, task: Task) -> Prediction:
        pool = sorted(task.thread.candidates, key=lambda name: (name != task.thread.query, name))
        return Prediction(task.thread.thread_id, tuple(pool))


def test_a_system_that_reads_falls_to_chance(tmp_path: Path) -> None:
    """1 of 10 letters is right: from 1 to 0.1, within four standard deviations of 200 draws (0.021 each)."""
    letters = "ABCDEFGHIJ"
    data = data_of([thread(f"t{i}", letters, [letters[i % 10]], query=letters[i % 10]) for i in range(200)])
    plain = score_result(run_toy(Reader(), data, tmp_path / "plain"), data.references)
    swapped = swap_inputs(data, "shuffled-query", READS)
    control = score_result(run_toy(Reader(), swapped, tmp_path / "control"), data.references)
    assert plain.values["recall@1"] == 1
    assert control.values["recall@1"] == pytest.approx(0.1, abs=4 * 0.021)


@pytest.mark.upstream
def test_words_of_another_thread_are_worth_nothing(published: Data, tmp_path: Path) -> None:
    """What lexical gains over chance (20.42 recall@20, 14.21 ndcg@20; a random run strays by 0.78, 0.53) is gone."""
    pytest.importorskip("bm25s")
    system = build_system("lexical", "query_only")
    swapped = swap_inputs(published, "shuffled-query", system.context)
    scores = score_result(run_toy(system, swapped, tmp_path), published.references)
    assert 100 * (scores.values["recall@20"] or 0) < 20.42 + 3 * 0.78
    assert 100 * (scores.values["ndcg@20"] or 0) < 14.21 + 3 * 0.53
