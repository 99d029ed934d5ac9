"""Questions whose answers are read and checked: one that cannot be used is asked for once more, then given up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from .generate import Generate
from .ladder import Rung, read_json
from .request import Request, Response

T = TypeVar("T")
UNREADABLE, CUT, FILTERED, NO_ANSWER = "unreadable", "cut", "filtered", "no answer"
_UNFINISHED = {"length": CUT, "filtered": FILTERED}


class RefusedError(ValueError):
    """An answer that is JSON but not what was asked for.

    Attributes:
        reason: A word or two, for the counts and for the choice of what to say when asking again.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A request and how to read its answer.

    Attributes:
        request: What is asked.
        wanted: Tells whether a JSON value has the shape that was asked for.
        read: Makes the result of such a value; raises `RefusedError` where it is of no use.
        again: What to add to the question when it is put again, by the reason of the failure; "unreadable" serves
            reasons without a sentence of their own.
    """

    request: Request
    wanted: Callable[[Any], bool]
    read: Callable[[Any], T]
    again: Mapping[str, str]

    def repeated(self, failure: str) -> Request:
        """The request for the second time: with what was wrong, and with more room where the answer was cut off."""
        return self.request.again(self.again.get(failure, self.again[UNREADABLE]), longer=failure == CUT)


class Outcome(NamedTuple):
    """How a question went.

    Attributes:
        failure: Why there is no result: "cut", "filtered", "unreadable", "no answer" or a reason of the reader; None
            where there is one.
        rung: How far down the ladder of `read_json` it was found; None where there is none.
        asked: How often the question was put, 1 or 2.
    """

    failure: str | None
    rung: Rung | None
    asked: int


class Answer(NamedTuple, Generic[T]):
    """What came of a question; the value is None where the outcome is a failure."""

    value: T | None
    outcome: Outcome


def ask(questions: Sequence[Question[T]], generate: Generate) -> list[Answer[T]]:
    """Put questions and read the answers.

    Args:
        questions: What to ask.
        generate: Answers requests.

    Returns:
        One answer per question, in their order. A question that got no answer at all is not put again: the backend has
        tried for long enough.
    """
    first = generate([question.request for question in questions])
    answers = [_read(question, response, 1) for question, response in zip(questions, first, strict=True)]
    failures = {at: answer.outcome.failure for at, answer in enumerate(answers) if answer.outcome.failure}
    retries = {at: questions[at].repeated(failure) for at, failure in failures.items() if failure != NO_ANSWER}
    if retries:
        for at, response in zip(retries, generate(list(retries.values())), strict=True):
            answers[at] = _read(questions[at], response, 2)
    return answers


def _read(question: Question[T], response: Response, asked: int) -> Answer[T]:
    if response.finish != "stop":
        failure = NO_ANSWER if response.finish is None else _UNFINISHED[response.finish]
        return Answer(None, Outcome(failure, None, asked))
    found = read_json(response.text, question.wanted)
    if found is None:
        return Answer(None, Outcome(UNREADABLE, None, asked))
    try:
        return Answer(question.read(found.value), Outcome(None, found.rung, asked))
    except RefusedError as refused:
        return Answer(None, Outcome(refused.reason, None, asked))
