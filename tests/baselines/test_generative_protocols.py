"""The protocols with a model whose answers and probabilities are made up: what is asked, and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pytest

from baselines.generative.audio_fit import SLACK
from baselines.generative.audio_limits import AudioLimits
from baselines.generative.language_model import Allowed, Completion, LanguageModel, LocalModel, Logprob, Prompt
from baselines.generative.protocols import PROTOCOLS, make_protocol
from baselines.generative.settings import GenerativeOptions, ProtocolName
from baselines.generative.system import Generative
from baselines.system import ALL_MODALITIES, Context, Declaration, Task
from musicrs_metric.answers import prompts
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Modality
from tests.baselines.family_checks import sounding
from tests.baselines.toys import thread

POOL = ("Alpha", "Beta", "Gamma", "Delta")
EARS = AudioLimits(
    sampling_rate=16_000, context=5000, tokens_per_second=25, silence_s=1.0, weights_gib=1, cache_kib_per_token=1
)


class Scripted(LocalModel):
    """Answers and prefers as scripted."""

    limits = EARS
    revision = "made up"
    end = 0

    def __init__(self, answer: str = "", likely: dict[str, float] | None = None, cut: bool = False) -> None:
        self.answer, self.likely, self.cut = answer, likely or {}, cut
        self.asked: list[tuple[Prompt, int]] = []

    def n_tokens(self, text: str) -> int:
        return len(self.ids(text))

    def ids(self, text: str) -> list[int]:
        return list(text.encode())

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        self.asked += [(prompt, budget) for prompt in prompts]
        return [Completion(self.answer, len(self.answer), self.cut) for _ in prompts]

    def choose(self, prompt: Prompt, allowed: Allowed, budget: int) -> list[int]:
        """Prefers the letters that come last in the alphabet."""
        self.asked.append((prompt, budget))
        answer: list[int] = []
        while (token := max(allowed(answer))) != self.end:
            answer.append(token)
        return answer

    def score(self, prompt: Prompt, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        """Return the scripted probability, and twice as much if the prompt holds a query."""
        self.asked.append((prompt, 0))
        names = [bytes(tokens).decode() for tokens in continuations]
        halved = 1.0 if "something slow" in prompt.text else 2.0
        return [Logprob(self.likely[name] * halved, len(name)) for name in names]


class Remote(LanguageModel):
    """A model behind a server."""

    limits = EARS
    revision = "made up"

    def n_tokens(self, text: str) -> int:
        return len(text)

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        raise NotImplementedError


class Asker(Generative):
    """A system around a model that is there already."""

    declaration = Declaration(
        name="asker",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="A toy.",
        batch_size=1,
    )

    def __init__(
        self, language_model: LanguageModel, protocol: str, modality: Modality = "query_only", **options: Any
    ) -> None:
        self._given = language_model
        context = Context(modality=modality, missing_audio=None if modality == "query_only" else "text")
        super().__init__(GenerativeOptions(protocol=protocol, **options), context)  # type: ignore[arg-type]

    def make_language_model(self) -> LanguageModel:
        return self._given


@dataclass
class Asked:
    """What one thread came to."""

    prediction: Prediction
    record: dict[str, Any]
    prompt: Prompt
    budget: int


def ask(
    language_model: Scripted,
    protocol: str,
    modality: Modality = "query_only",
    clips: tuple[Any, ...] = (),
    **options: Any,
) -> Asked:
    system = Asker(language_model, protocol, modality, **options)
    one = thread("t0", POOL, clips=clips, query=None if modality == "audio_only" else "something slow")
    system.inspect_threads([one])
    (prediction,) = system.rank([Task(one)])
    (note,) = system.take_answer_records()
    assert system.take_answer_records() == []
    return Asked(prediction, note, *language_model.asked[0])


def test_every_protocol_has_its_prompt() -> None:
    """One of its own, by its name."""
    assert set(PROTOCOLS) == set(get_args(ProtocolName))
    assert len({prompts.load(name).sha256 for name in PROTOCOLS}) == len(PROTOCOLS)
    assert all(protocol.name == name for name, protocol in PROTOCOLS.items())


def test_listwise_reads_numbers() -> None:
    """Numbers are those of the pool as it is shown; the rest follows in a random order, and is counted."""
    asked = ask(Scripted("3, 1, 1"), "listwise")
    assert asked.prediction.ranking[:2] == ("Gamma", "Alpha")
    assert sorted(asked.prediction.ranking) == sorted(POOL)
    assert asked.prediction.n_answered == 2
    assert asked.record["answer"] == "3, 1, 1"
    assert asked.record["ledger"] == {
        "named": 2,
        "repeated": 1,
        "unknown": 0,
        "filled": 2,
        "truncated": 0,
        "refusal": 0,
    }
    places = [asked.prompt.text.index(name) for name in POOL]
    assert places == sorted(places)
    assert "something slow" in asked.prompt.text


def test_listwise_has_room_for_the_whole_answer() -> None:
    """The budget holds the numbers of all candidates; or as many tokens as the user says."""
    pool = [f"song {number}" for number in range(100)]
    system = Asker(Scripted(), "listwise")
    one = thread("t0", pool)
    answer = " > ".join(f"[{number}]" for number in range(1, 101))
    assert system.protocol.budget(system.language_model, one) >= len(answer) + 100  # and for some talk
    assert ask(Scripted("1"), "listwise", answer_tokens=7).budget == 7


def test_talk_is_what_a_short_context_leaves_out() -> None:
    """Of a context that holds the prompt and 60 tokens, the answer gets 60: the numbers of four candidates take 21."""
    roomy = ask(Scripted("1"), "listwise")
    room = EARS.template_tokens + len(roomy.prompt.text) + SLACK
    language_model = Scripted("1")
    language_model.limits = replace(EARS, context=room + 60)
    assert (roomy.budget, ask(language_model, "listwise").budget) == (256, 60)
    language_model.limits = replace(EARS, context=room + len("[1] > [2] > [3] > [4]"))
    with pytest.raises(UserError, match="no thread fits: t0"):
        ask(language_model, "listwise")


def test_titles_keeps_what_is_invented() -> None:
    """An invented title stays in its place as a miss; 512 tokens; a cut answer says so."""
    asked = ask(Scripted("Beta, No Such Song, Alpha", cut=True), "titles")
    assert asked.prediction.ranking[:3] == ("Beta", "No Such Song", "Alpha")
    assert sorted(asked.prediction.ranking[3:]) == ["Delta", "Gamma"]
    assert (asked.prediction.n_answered, asked.prediction.outcome) == (3, "truncated")
    assert asked.budget == 512


def test_titles_shuffles_each_thread_for_itself() -> None:
    """By seed and thread."""
    system = Asker(Scripted(), "titles")
    pool = [f"song {number}" for number in range(30)]
    orders = [system.protocol.shown(thread(name, pool)) for name in ("t0", "t1", "t0")]
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(pool)
    assert orders[0] != tuple(pool)
    assert make_protocol(system.options, "query_only", seed=1).shown(thread("t0", pool)) != orders[0]


@pytest.mark.parametrize(
    ("protocol", "modality", "silence"),
    [
        ("titles", "query_only", 1),
        ("titles", "audio_query", 1),
        ("listwise", "query_only", 0),
        ("listwise", "audio_query", 0),
    ],
)
def test_silence_is_given_in_titles_alone(protocol: str, modality: Modality, silence: int) -> None:
    """One second of it where there is no clip; a text-only run of another protocol has no sound at all."""
    clips = ask(Scripted("1"), protocol, modality).prompt.clips
    assert [clip.tolist() == [0.0] * 16_000 for clip in clips] == [True] * silence


def test_silence_takes_its_room() -> None:
    """A second of it takes 25 tokens, which a plan has to know of."""
    one = thread("t0", POOL)
    taken = []
    for silence in (0.0, 1.0):
        language_model = Scripted()
        language_model.limits = replace(EARS, silence_s=silence)
        system = Asker(language_model, "titles")
        system.inspect_threads([one])
        taken.append(system.plan.most_tokens)
    assert taken[1] == taken[0] + 25


def test_clips_are_heard_up_to_their_share() -> None:
    """--seconds 2 for two clips: one second of each, at the model's rate."""
    clips = (sounding(1.5), sounding(0.4, 330.0))
    used_audio = ask(Scripted("1"), "titles", "audio_query", clips, seconds=2.0).prompt.clips
    assert [len(clip) for clip in used_audio] == [16_000, 6_400]
    assert np.abs(used_audio[0]).max() > 0.2


LIMITS = {
    "whole": EARS,
    "split": replace(EARS, clip_limit_s=0.5),
    "joined": replace(EARS, several_clips=False),
    "joined and cut": replace(EARS, several_clips=False, total_limit_s=1.0),
    "split and cut": replace(EARS, clip_limit_s=0.5, total_limit_s=2.0),
}


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
@pytest.mark.parametrize("modality", ["audio_query", "audio_only"])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("lengths", [(), (1.7,), (0.3, 2.2), (1.0, 1.0, 1.6)])
def test_prompts_count_the_clips_that_were_linked(
    protocol: str, modality: Modality, limits: str, lengths: tuple[float, ...]
) -> None:
    """Not the pieces of split or joined clips, and not the silence in place of missing clips."""
    language_model = Scripted("1", likely=dict.fromkeys(POOL, -1.0))
    language_model.limits = LIMITS[limits]
    prompt = ask(language_model, protocol, modality, tuple(map(sounding, lengths))).prompt
    said = re.findall(r"the (?:(\d+) )?clips? that you hear", prompt.text)
    assert said == ([] if not lengths else [""] if len(lengths) == 1 else [str(len(lengths))])
    if limits == "split" and lengths == (1.7,):
        assert len(prompt.clips) == 4
    if limits.startswith("joined") and lengths:
        assert len(prompt.clips) == 1


def test_only_a_protocol_that_follows_the_published_runs_differs_from_them() -> None:
    """A list for the card: of the prompt, the clips where there are some, the answers, and what the model adds."""
    told = {}
    for protocol, modality in (("titles", "audio_query"), ("titles", "query_only"), ("listwise", "audio_query")):
        system = Asker(Scripted(), protocol, modality)  # type: ignore[arg-type]
        system.inspect_threads([thread("t0", POOL)])
        unlike = system.run_facts().extra.get("unlike_published", [])
        told[protocol, modality] = [difference.partition(":")[0] for difference in unlike]
    assert told == {
        ("titles", "audio_query"): ["prompt", "clips", "answers"],
        ("titles", "query_only"): ["prompt", "answers"],
        ("listwise", "audio_query"): [],
    }


def test_an_order_of_candidates_outlives_the_name_of_its_protocol() -> None:
    """Written down when it was called `paper`: prompts, and so rankings, are the same under the name of today."""
    pool = [f"song {number}" for number in range(30)]
    shown = Asker(Scripted(), "titles").protocol.shown(thread("t0", pool))
    assert shown[:5] == ("song 9", "song 29", "song 6", "song 18", "song 26")


def test_constrained_is_what_the_model_prefers() -> None:
    """Of the letters that may come next always the last: Gamma, Delta, Beta, Alpha."""
    asked = ask(Scripted(), "constrained")
    assert asked.prediction.ranking == ("Gamma", "Delta", "Beta", "Alpha")
    assert (asked.prediction.n_answered, asked.prediction.outcome) == (4, "ok")
    assert asked.budget == sum(len(name) + 1 for name in POOL)


@pytest.mark.parametrize(
    ("normalisation", "expected"),
    [
        ("sum", {"Beta": -3.0, "Alpha": -4.0, "Delta": -5.0, "Gamma": -10.0}),
        ("mean", {"Beta": -3 / 4, "Alpha": -4 / 5, "Delta": -1.0, "Gamma": -2.0}),
        ("pmi", {"Gamma": 10.0, "Delta": 5.0, "Alpha": 4.0, "Beta": 3.0}),  # without the thread half as likely
    ],
)
def test_pointwise_by_hand(normalisation: str, expected: dict[str, float]) -> None:
    """Sum, mean by tokens, and the difference to the prompt without the thread, whose query and clips it lacks."""
    language_model = Scripted(likely={"Alpha": -4.0, "Beta": -3.0, "Gamma": -10.0, "Delta": -5.0})
    asked = ask(language_model, "pointwise", "audio_query", (sounding(1.0),), normalisation=normalisation)
    found = dict(zip(asked.prediction.ranking, asked.prediction.scores or (), strict=True))
    assert list(found) == list(expected)
    assert found == pytest.approx(expected)
    assert len(asked.prompt.clips) == 1
    if normalisation == "pmi":
        assert language_model.asked[1][0].clips == ()
        assert "something slow" not in language_model.asked[1][0].text
        assert "clip" not in language_model.asked[1][0].text


def test_candidates_written_twice_are_one() -> None:
    """Shown, numbered and ranked once."""
    system = Asker(Scripted("2"), "listwise")
    one = thread("t0", ["Alpha", "Alpha", "Beta"], query="something slow")
    system.inspect_threads([one])
    (prediction,) = system.rank([Task(one)])
    assert prediction.ranking == ("Beta", "Alpha")


@pytest.mark.parametrize("protocol", ["constrained", "pointwise"])
def test_a_server_cannot_be_constrained_nor_asked_for_probabilities(protocol: str) -> None:
    """The message says what it can do."""
    with pytest.raises(
        UserError, match=f"--protocol {protocol}: takes a model in this process; use listwise or titles"
    ):
        Asker(Remote(), protocol)


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("listwise", {"normalisation": "pmi"}, "--normalisation pmi: needs --protocol pointwise"),
        ("pointwise", {"answer_tokens": 9}, "--answer-tokens: in pointwise the candidates determine it"),
        ("listwise", {"answer_tokens": 0}, "--answer-tokens 0: expected at least 1"),
        ("listwise", {"seconds": 9.0}, "--seconds 9: query_only uses no audio; leave it out"),
        ("listwise", {"seconds": 0.0}, "--seconds 0: expected a positive number"),
        ("listwise", {"seconds": float("nan")}, "--seconds nan: expected a positive number"),
        ("listwise", {"seconds": float("inf")}, "--seconds inf: expected a positive number"),
    ],
)
def test_options_without_a_sense_are_refused(protocol: str, options: dict[str, Any], message: str) -> None:
    """Before anything is loaded."""
    with pytest.raises(UserError, match=message):
        Asker(Scripted(), protocol, **options)
