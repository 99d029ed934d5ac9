"""Amount of audio per thread, by hand, for models with every kind of limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baselines.generative.audio_fit import SLACK, PromptClips, ThreadLoad, fit, tokens
from baselines.generative.audio_limits import AudioLimits
from musicrs_metric.errors import UserError

# Ten tokens per second and two per clip, 30 s per clip, and a context of 1,000 tokens in addition to the slack.
EARS = AudioLimits(
    sampling_rate=100, context=1000 + SLACK, tokens_per_second=10, tokens_per_clip=2, clip_limit_s=30.0,
    template_tokens=0, weights_gib=1, cache_kib_per_token=1,
)  # fmt: skip


def load(*clips: float, text: int = 100, answer: int = 100, least: int = 100, name: str = "t") -> ThreadLoad:
    return ThreadLoad(name, clips, text, answer, least)


@pytest.mark.parametrize(
    ("clips", "seconds", "expected"),
    [
        ((), 300, 200),  # no audio, nothing to fit
        ((30,), 300, 200 + 302),
        ((31,), 300, 200 + 2 * (155 + 2)),  # two pieces of 15.5 s
        ((45,), 300, 200 + 2 * (225 + 2)),
        ((30, 50), 300, 200 + 302 + 2 * (250 + 2)),  # 1,006 is over: less audio is used, see below
        ((100,), 79, 200 + 3 * (264 + 2)),  # 79 s are three pieces of 26 s and a third, 264 tokens each, rounded up
    ],
)
def test_tokens_by_hand(clips: tuple[float, ...], seconds: float, expected: int) -> None:
    """What a plan says that a thread takes, slack left out."""
    plan = PromptClips(EARS, seconds, True, 0, "t")
    assert plan.tokens(load(*clips)) - SLACK == expected


def test_the_most_that_fits_every_thread_is_chosen() -> None:
    """Of 1,000 tokens 200 are words; two clips of 40 s as four pieces leave 792, so 79 s; one thread binds all."""
    plan = fit(EARS, [load(40, 40), load(1), load()])
    assert plan.seconds == 79.0
    assert plan.audio_used([40, 40]) == [39.5, 39.5]
    assert plan.audio_used([1]) == [1]
    assert plan.most_tokens - SLACK == 200 + 4 * (198 + 2)  # 19.75 s are 197.5 tokens
    assert plan.fullest == "t"
    assert fit(EARS, [load(40, 40), load(40, 40, text=200)]).seconds == 69.0


def test_where_the_context_is_short_the_answer_is_given_what_is_left() -> None:
    """With 920 and 948 tokens of text, a second of audio leaves 68 and 40 tokens; with 949, too few for an answer."""
    loads = [load(9, text=text, least=40, name=str(text)) for text in (500, 920, 948, 949)]
    plan = fit(EARS, loads)
    assert (plan.seconds, plan.too_long, plan.n_shortened) == (1.0, ("949",), 2)
    assert [plan.answer(each) for each in loads[:3]] == [100, 68, 40]
    assert [plan.tokens(each) - SLACK for each in loads[:3]] == [612, 1000, 1000]


def test_seconds_that_are_asked_for_come_before_a_long_answer() -> None:
    """With 820 tokens of text, 10 s of audio leave 78 tokens; 14 s leave fewer than 40, and 13.5 s leave 43."""
    one = load(20, text=820, least=40)
    plan = fit(EARS, [one], 10.0)
    assert (plan.answer(one), plan.n_shortened) == (78, 1)
    with pytest.raises(UserError, match=r"1 thread would be cut; 13\.5 fits all"):
        fit(EARS, [one], 14.0)


def test_no_more_than_a_dataset_offers_is_chosen() -> None:
    """300 s, or the limit of the model per prompt."""
    wide = replace(EARS, context=100_000)
    assert fit(wide, [load(600)]).seconds == 300
    assert fit(replace(wide, total_limit_s=30.0), [load(15, 15)]).seconds == 30
    joined = replace(wide, several_clips=False, clip_limit_s=120.0)
    assert fit(joined, [load(100, 100)]).seconds == 120


def test_a_plan_that_was_asked_for_is_kept_or_refused_with_numbers() -> None:
    """What exceeds the model's hearing, or the context of any thread."""
    assert fit(EARS, [load(30, 30)], 20).audio_used([30, 30]) == [10, 10]
    with pytest.raises(UserError) as refused:
        fit(EARS, [load(30, 30, 30, name="t3_a"), load(1)], 90)
    assert str(refused.value) == (
        "--seconds 90: thread t3_a takes 1138 tokens (132 for text, 906 for audio, 100 for the answer), the context "
        "holds 1032; 1 thread would be cut; 79 fits all"
    )
    with pytest.raises(
        UserError, match="--seconds 31: the model takes 30 s per prompt and would silently drop the rest"
    ):
        fit(replace(EARS, total_limit_s=30.0), [load(15)], 31)


def test_a_plan_leaves_something_of_every_clip() -> None:
    """0.1 s of each, below which a clip counts as empty; else every thread would fail, and not say why."""
    assert fit(EARS, [load(*[30] * 10), load()], 1.0).audio_used([30] * 10) == [0.1] * 10
    with pytest.raises(UserError) as refused:
        fit(EARS, [load(1), load(*[30] * 10, name="t3_a")], 0.99)
    assert str(refused.value) == (
        "--seconds 0.99: thread t3_a has 10 clips, and each needs at least 0.1 s; name at least 1"
    )


def test_what_a_template_adds_is_reckoned_with() -> None:
    """Its tokens are missing for sound: 64 of them are 6.5 s."""
    assert fit(replace(EARS, template_tokens=64), [load(40, 40)]).seconds == 79.0 - 6.5


def test_a_thread_of_too_many_words_binds_nobody() -> None:
    """It is named, and fails alone; where none fits, nothing can be done."""
    plan = fit(EARS, [load(30, text=950, name="wordy"), load(30, name="fits")])
    assert (plan.seconds, plan.too_long) == (300, ("wordy",))
    with pytest.raises(UserError, match="no thread fits: short, the shortest, takes 1164 tokens"):
        fit(EARS, [load(30, text=1020, name="short"), load(30, text=2000)])


@pytest.mark.parametrize("length", [1, 479_999, 480_000, 480_001, 480_100, 720_000, 1_440_000])
def test_pieces_are_whole_and_none_is_too_long(length: int) -> None:
    """Together they are the clip; what resampling may add, a sample, is dropped."""
    clip = np.arange(length, dtype=np.float32)
    pieces = PromptClips(replace(EARS, sampling_rate=16_000), 300, True, 0, "t").pieces([clip])
    whole = 480_000 if length == 480_001 else length
    assert max(map(len, pieces)) <= 480_000
    assert np.array_equal(np.concatenate(pieces), clip[:whole])
    assert len(pieces) == -(-whole // 480_000)


def test_a_model_of_one_clip_hears_them_joined() -> None:
    """In order."""
    plan = PromptClips(replace(EARS, several_clips=False), 30, True, 0, "t")
    (joined,) = plan.pieces([np.zeros(3, np.float32), np.ones(2, np.float32)])
    assert joined.tolist() == [0, 0, 0, 1, 1]


def test_a_fixed_number_of_tokens_is_no_reason_to_hear_less() -> None:
    """88 tokens however long the sound, as in SALMONN."""
    fixed = replace(EARS, tokens_per_second=0, tokens_per_clip=88, total_limit_s=30.0, several_clips=False)
    plan = fit(fixed, [load(*[30] * 10)])
    assert (plan.seconds, plan.most_tokens - SLACK) == (30, 200 + 88)
    assert plan.audio_used([30] * 10) == [3.0] * 10


LOADS = st.builds(
    ThreadLoad,
    thread_id=st.just("t"),
    clips=st.lists(st.floats(0.1, 60), max_size=10),
    text=st.integers(0, 900),
    answer=st.integers(150, 300),
    min_answer=st.integers(1, 150),
)


@given(st.lists(LOADS, min_size=1, max_size=6), st.booleans(), st.sampled_from([None, 7.0, 30.0]))
def test_a_plan_fits_and_a_longer_one_would_not(loads: list[ThreadLoad], several: bool, limit: float | None) -> None:
    """Whatever the threads: none that is not named as too long exceeds the context, and half a second more would.

    An answer has its full length, or all that a second of sound leaves, and never less than it needs.
    """
    limits = replace(EARS, several_clips=several, clip_limit_s=limit)
    room = [one for one in loads if tokens(limits, one._replace(answer=one.min_answer), 1.0) <= limits.context]
    try:
        plan = fit(limits, loads)
    except UserError:
        assert not room
        return
    given = [one._replace(answer=plan.answer(one)) for one in room]
    for full, one in zip(room, given, strict=True):
        assert full.min_answer <= one.answer <= full.answer
        assert one.answer == full.answer or tokens(limits, one, 1.0) == limits.context
    assert len(plan.too_long) == len(loads) - len(room)
    assert plan.most_tokens == max(map(plan.tokens, room)) <= limits.context
    most = 300 if several or limit is None else limit
    assert plan.seconds == most or any(tokens(limits, one, plan.seconds + 0.5) > limits.context for one in given)
