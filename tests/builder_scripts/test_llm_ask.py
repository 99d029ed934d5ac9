"""A question is put at most twice, and every one of them ends as a value or as a reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from builder_scripts.llm import Outcome, Parameters, Question, RefusedError, Request, Response, ask
from builder_scripts.llm.ask import count_outcomes, describe_outcomes
from builder_scripts.llm.request import no_answer

from .scripted import Scripted


def read_positive(value: Any) -> int:
    if value["n"] < 0:
        raise RefusedError("negative")
    return int(value["n"])


def is_number(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("n"), int)


AGAIN = {"unreadable": "JSON only.", "negative": "Positive only."}


def question(prompt: str) -> Question[int]:
    return Question(Request(prompt, "t@1", {}, Parameters(100)), is_number, read_positive, AGAIN)


class Script(Scripted):
    """Answers the first and the second asking of each prompt; keeps what it was asked."""

    def __init__(self, **replies: Sequence[Response | str]) -> None:
        super().__init__()
        self._replies = replies
        self.rounds: list[list[Request]] = []

    def reply(self, requests: Sequence[Request]) -> list[Response]:
        turn = len(self.rounds)
        self.rounds.append(list(requests))
        replies = [self._replies[request.prompt.split("\n")[0]][turn] for request in requests]
        return [Response(reply, "stop") if isinstance(reply, str) else reply for reply in replies]


@pytest.mark.parametrize(
    ("first", "second", "value", "outcome"),
    [
        ('{"n": 1}', None, 1, Outcome(None, "strict", 1)),
        ("so: {'n': 1}", None, 1, Outcome(None, "repaired", 1)),
        ("no", 'here {"n": 2}', 2, Outcome(None, "unwrapped", 2)),
        ("no", "no", None, Outcome("unreadable", None, 2)),
        ('{"n": -1}', '{"n": 3}', 3, Outcome(None, "strict", 2)),
        ('{"n": -1}', '{"n": -1}', None, Outcome("negative", None, 2)),
        ('{"n": -1}', "no", None, Outcome("unreadable", None, 2)),
        (Response('{"n": 1}', "length"), '{"n": 4}', 4, Outcome(None, "strict", 2)),
        (Response('{"n": 1}', "length"), Response('{"n": 1}', "length"), None, Outcome("cut", None, 2)),
        (Response("", "filtered"), Response("", "filtered"), None, Outcome("filtered", None, 2)),
        ("", " ", None, Outcome("empty", None, 2)),
        (no_answer("status 500"), None, None, Outcome("no answer", None, 1)),
        ("no", no_answer("status 500"), None, Outcome("no answer", None, 2)),
    ],
)
def test_every_way_that_a_question_can_go(first: Any, second: Any, value: int | None, outcome: Outcome) -> None:
    """A cut answer is no data even where it reads as JSON; no answer at all is not asked for again."""
    script = Script(p=[first, second])
    ((found, how),) = ask([question("p")], script)
    assert (found, how) == (value, outcome)
    assert len(script.rounds) == outcome.asked


def test_the_second_asking_says_what_was_wrong() -> None:
    """Asked in one round, each with its own sentence; only what was cut gets more room."""
    script = Script(
        a=["no", '{"n": 1}'], b=['{"n": 5}'], c=['{"n": -1}', '{"n": 2}'], d=[Response("{", "length"), '{"n": 3}']
    )
    answers = ask([question(prompt) for prompt in "abcd"], script)
    assert [answer.value for answer in answers] == [1, 5, 2, 3]
    assert [(request.prompt, request.parameters.max_tokens) for request in script.rounds[1]] == [
        ("a\n\nJSON only.", 100),
        ("c\n\nPositive only.", 100),
        ("d\n\nJSON only.", 200),
    ]


def test_outcomes_add_up() -> None:
    """In = kept + dropped by reason; the note says how answers were read."""
    outcomes = [Outcome(None, "strict", 1)] * 3 + [Outcome(None, "repaired", 2), Outcome("cut", None, 2)]
    counts = count_outcomes(outcomes)
    assert (counts.seen, counts.kept, counts.dropped) == (5, 4, {"cut": 1})
    assert counts.add_up()
    assert describe_outcomes(outcomes) == "answers read: strict 3, repaired 1; asked twice: 2"
