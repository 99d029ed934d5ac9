"""Threads without clips: the policy, the score, the card and the record of the audio used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from baselines.commands.summary import score_result
from baselines.data import Data, as_references, load_data
from baselines.launch import build_system
from baselines.run.missing_audio import choose_policy
from baselines.system import Context, Declaration, MissingAudio, System, Task
from musicrs_dataset.records import Clip, Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.base.seeds import shuffled
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Outcome, Prediction, read_predictions
from musicrs_metric.runs.run_card import Modality, read_run_card
from tests.baselines.toys import Command, run_toy, thread

AUDIO_SYSTEM = f"{__name__}:AudioSystem"


class AudioSystem(System):
    """Ranks the relevant candidate first, and keeps the bytes of the audio that it got."""

    declaration = Declaration(
        name="audio_system", paradigm="retrieval", modalities=("audio_query", "query_only", "audio_only"),
        reads="thread", description="A toy.", batch_size=2,
    )  # fmt: skip
    uses_audio = True

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.given: dict[str, list[bytes]] = {}

    def audio_used(self, thread: Thread) -> list[float]:
        return [min(clip.duration_s, 30.0) for clip in thread.clips or ()]

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        return [self.answer(task.thread) for task in batch]

    def answer(self, one: Thread) -> Prediction:
        self.given[one.thread_id] = [clip.audio for clip in one.clips or ()]
        outcome: Outcome | None = "truncated" if one.thread_id == "t3" else None
        return Prediction(one.thread_id, tuple(sorted(one.candidates)), outcome=outcome)


def clips(*seconds: float) -> tuple[Clip, ...]:
    return tuple(
        Clip(b"sound %d" % place, f"{place}.flac", f"AAAAAAAAAA{place}", 0.0, duration)
        for place, duration in enumerate(seconds)
    )


def data(modality: Modality) -> Data:
    """Five threads: t0 and t2 have clips, t1 has none, t3 an empty list and t4 no column of clips at all."""
    have = {"t0": clips(35, 8), "t1": (), "t2": clips(20), "t3": (), "t4": None}
    threads = [thread(name, "BAC", ["A"], clips=clips) for name, clips in have.items()]
    return Data(threads, as_references(threads, "toy", modality))


def audio_system(modality: Modality, chosen: MissingAudio | None = None) -> AudioSystem:
    made = build_system(AUDIO_SYSTEM, modality, missing_audio=chosen)
    assert isinstance(made, AudioSystem)
    return made


def test_without_clips_a_thread_scores_nothing_and_is_counted(tmp_path: Path) -> None:
    """audio_only: an empty ranking, outcome no_audio, not asked; the mean is over all five."""
    system = audio_system("audio_only")
    result = run_toy(system, data("audio_only"), tmp_path / "run")
    predictions = read_predictions(tmp_path / "run/predictions.jsonl").predictions
    assert [(p.ranking, p.outcome, p.n_answered) for p in predictions] == [
        (("A", "B", "C"), None, None),
        ((), "no_audio", 0),
        (("A", "B", "C"), None, None),
        ((), "no_audio", 0),
        ((), "no_audio", 0),
    ]
    assert sorted(system.given) == ["t0", "t2"]
    scores = score_result(result, data("audio_only").references)
    assert scores.n == 5
    assert scores.values["recall@1"] == pytest.approx(2 / 5)
    assert result.card.missing_audio == "zero"
    assert result.card.outcomes == {"no_audio": 3, "ok": 2}


def test_with_a_query_the_system_ranks_by_it(tmp_path: Path) -> None:
    """In audio_query, all are ranked. The outcome marks threads without clips, unless they have another outcome."""
    system = audio_system("audio_query")
    result = run_toy(system, data("audio_query"), tmp_path / "run")
    assert [len(system.given[f"t{i}"]) for i in range(5)] == [2, 0, 1, 0, 0]
    assert [p.outcome for p in result.predictions] == [None, "no_audio", None, "truncated", "no_audio"]
    assert all(p.ranking == ("A", "B", "C") for p in result.predictions)
    assert result.card.missing_audio == "text"


def test_a_policy_can_be_chosen(tmp_path: Path) -> None:
    """zero in audio_query gives empty rankings; error stops before anything is asked or written."""
    result = run_toy(audio_system("audio_query", "zero"), data("audio_query"), tmp_path / "zero")
    assert [len(p.ranking) for p in result.predictions] == [3, 0, 3, 0, 0]
    strict = audio_system("audio_query", "error")
    with pytest.raises(UserError, match="no clips in 3 threads, such as t1; build the dataset with their audio"):
        run_toy(strict, data("audio_query"), tmp_path / "error")
    assert strict.given == {}
    assert not (tmp_path / "error").exists()


def test_another_policy_is_another_run(tmp_path: Path) -> None:
    """The folder of one is not taken up by the other."""
    run_toy(audio_system("audio_query"), data("audio_query"), tmp_path / "run", limit=1)
    with pytest.raises(UserError, match="missing_audio was 'text' and is now 'zero'"):
        run_toy(audio_system("audio_query", "zero"), data("audio_query"), tmp_path / "run")


@pytest.mark.parametrize(
    ("model", "modality", "chosen", "expected"),
    [
        (AUDIO_SYSTEM, "audio_query", None, "text"),
        (AUDIO_SYSTEM, "audio_only", None, "zero"),
        (AUDIO_SYSTEM, "query_only", None, None),
        ("random", "audio_only", None, None),
        ("clap", "audio_query", "error", "error"),
    ],
)
def test_who_needs_a_policy(
    model: str, modality: Modality, chosen: MissingAudio | None, expected: MissingAudio | None
) -> None:
    """Systems that use audio, in modalities with audio."""
    from baselines.registry import system_class

    assert choose_policy(system_class(model), modality, chosen) == expected


@pytest.mark.parametrize(
    ("model", "modality", "chosen", "message"),
    [
        (AUDIO_SYSTEM, "audio_only", "text", "--missing-audio text: audio_only has no query to rank by"),
        (
            AUDIO_SYSTEM,
            "query_only",
            "zero",
            "--missing-audio zero: audio_system uses no clips in query_only; leave it out",
        ),
        ("random", "audio_only", "zero", "--missing-audio zero: random uses no clips in audio_only; leave it out"),
    ],
)
def test_a_policy_without_a_sense_is_refused(
    model: str, modality: Modality, chosen: MissingAudio, message: str
) -> None:
    """The message says why."""
    with pytest.raises(UserError, match=message):
        build_system(model, modality, missing_audio=chosen)


def test_a_system_that_hears_nothing_ranks_every_thread(tmp_path: Path) -> None:
    """A random order needs no clip, so it is no thread short in audio_only."""
    made = data("audio_only")
    result = run_toy(build_system("random", "audio_only"), made, tmp_path / "run")
    expected = [tuple(shuffled("BAC", 0, one.thread_id, "random")) for one in made.threads]
    assert [p.ranking for p in result.predictions] == expected
    assert result.card.audio_coverage is None
    assert not (tmp_path / "run/audio.jsonl").exists()


def test_the_run_records_what_was_offered_and_heard(tmp_path: Path) -> None:
    """The model gets 30 of 35 s, and all of 8 s. The card has the share of threads with clips, and means over those."""
    run_toy(audio_system("audio_only"), data("audio_only"), tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run/audio.jsonl").read_text().splitlines()]
    assert lines[0] == {
        "thread_id": "t0",
        "clips": [
            {"video_id": "AAAAAAAAAA0", "offered_s": 35.0, "used_s": 30.0},
            {"video_id": "AAAAAAAAAA1", "offered_s": 8.0, "used_s": 8.0},
        ],
    }
    assert [len(line["clips"]) for line in lines] == [2, 0, 1, 0, 0]
    coverage = read_run_card(tmp_path / "run").audio_coverage
    assert coverage == {"threads": 0.4, "seconds_offered": (35 + 8 + 20) / 2, "seconds_used": (30 + 8 + 20) / 2}


class Faulty(AudioSystem):
    """Fails on t0, and cannot read the answer that it got for t2."""

    def answer(self, one: Thread) -> Prediction:
        if one.thread_id == "t0":
            raise ValueError("a clip cannot be decoded")
        return Prediction(one.thread_id, tuple(one.candidates), outcome="failed", n_answered=0)

    def take_answer_records(self) -> list[dict[str, Any]]:
        return [{"thread_id": "t2", "answer": "no list"}]


def test_of_a_thread_that_failed_nothing_was_used(tmp_path: Path) -> None:
    """Its clips are offered and counted as unused; an answer that cannot be read has used them."""
    system = build_system(f"{__name__}:Faulty", "audio_only")
    run_toy(system, data("audio_only"), tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run/audio.jsonl").read_text().splitlines()]
    used = {line["thread_id"]: [clip["used_s"] for clip in line["clips"]] for line in lines}
    assert (used["t0"], used["t2"]) == ([0.0, 0.0], [20.0])
    coverage = read_run_card(tmp_path / "run").audio_coverage
    assert coverage == {"threads": 0.4, "seconds_offered": (35 + 8 + 20) / 2, "seconds_used": 20 / 2}


def dataset(folder: Path) -> Path:
    """A dataset on disk: the first two mini threads have a clip each, the third has none."""
    threads, about = resolve_source("mini", clips=False)
    sounds = [clips(5), clips(7), ()]
    made = [
        Thread(**{name: getattr(one, name) for name in one.__slots__} | {"clips": sound})
        for one, sound in zip(threads, sounds, strict=False)
    ]
    build(made, folder, about=about)
    return folder


@pytest.mark.parametrize("modality", ["audio_query", "audio_only"])
def test_clips_on_disk_are_read_in_their_thread_s_turn(tmp_path: Path, modality: Modality) -> None:
    """Threads are held without sound; a system is given the bytes that were stored, in any order of threads."""
    loaded = load_data(str(dataset(tmp_path / "data")), modality)
    assert [[(clip.audio, clip.duration_s) for clip in one.clips or ()] for one in loaded.threads] == [
        [(b"", 5.0)], [(b"", 7.0)], [],
    ]  # fmt: skip
    system = audio_system(modality)
    run_toy(system, loaded, tmp_path / "run")
    ids = loaded.references.thread_ids
    assert system.given[ids[0]] == system.given[ids[1]] == [b"sound 0"]
    assert loaded.clips is not None
    assert [[clip.duration_s for clip in loaded.clips(place)] for place in (2, 1, 0, 1)] == [[], [7], [5], [7]]


def test_the_command_line_takes_a_policy(tmp_path: Path, command: Command) -> None:
    """From the flag to the card and the printed counts."""
    folder = dataset(tmp_path / "data")
    line = ["run", "--model", AUDIO_SYSTEM, "-d", folder, "--modality", "audio_query"]
    done = command(*line, "--missing-audio", "zero", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "1 no_audio, 2 ok" in done.stdout
    assert read_run_card(tmp_path / "run").missing_audio == "zero"
    done = command(*line, "--missing-audio", "error", "--out", tmp_path / "other")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no clips in 1 thread, such as" in done.stderr


@pytest.mark.parametrize("modality", ["audio_query", "audio_only"])
def test_a_dataset_without_any_clip_is_refused(tmp_path: Path, modality: Modality) -> None:
    """Every thread would score nothing, or be ranked by its query under the name of another modality."""
    threads = [thread(name, "BAC", ["A"], clips=()) for name in ("t0", "t1")]
    with pytest.raises(UserError, match="no thread of the dataset has a clip"):
        run_toy(audio_system(modality), Data(threads, as_references(threads, "toy", modality)), tmp_path / "run")
    assert not (tmp_path / "run").exists()
