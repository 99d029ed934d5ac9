"""Questions whose answers are read and checked: one that cannot be used is asked for once more in the same run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ..manifest import Counts, StageManifest
from .generate import Answers
from .json_salvage import SalvageMethod, read_json
from .request import Request, Response

T = TypeVar("T")
UNREADABLE, CUT, FILTERED, EMPTY, NO_ANSWER = "unreadable", "cut", "filtered", "empty", "no answer"
# These are no answers of the model: they are asked again by the next run.
FAILURES = (NO_ANSWER, CUT, EMPTY, UNREADABLE, FILTERED)
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
        failure: Why there is no result: one of `FAILURES`, or the reason for which the reader refused an answer; None
            where there is a result.
        rung: How far down the ladder of `read_json` it was found; None where there is none.
        asked: How often the question was put, 1 or 2.
    """

    failure: str | None
    rung: SalvageMethod | None
    asked: int


class Answer(NamedTuple, Generic[T]):
    """What came of a question; the value is None where the outcome is a failure."""

    value: T | None
    outcome: Outcome


def ask(questions: Sequence[Question[T]], answers: Answers) -> list[Answer[T]]:
    """Put questions and read the answers.

    What failed in an earlier run is asked again from its first request on, so that a server that is well now gives
    the same outcome as one that was never ill.

    Args:
        questions: What to ask.
        answers: The store, and who is asked what it lacks.

    Returns:
        One answer per question, in their order. A question that got no answer at all is not put again: the backend has
        tried for long enough.
    """
    sheet = _Sheet(questions, answers)
    sheet.recall()
    sheet.put(sheet.places(lambda answer: answer is None or is_failure(answer.outcome)), again=False)
    sheet.put(sheet.places(_once_more), again=True)
    answers.leave([questions[place].request for place in sheet.places(lambda a: a is None or is_failure(a.outcome))])
    return [answer or Answer(None, Outcome(NO_ANSWER, None, 1)) for answer in sheet.answers]


def is_failure(outcome: Outcome) -> bool:
    """Tell a failure of model or server from a result, and from an answer that was read and refused."""
    return outcome.failure in FAILURES


def _once_more(answer: Answer[Any] | None) -> bool:
    failure = answer and answer.outcome.failure
    return bool(answer and failure and failure != NO_ANSWER and answer.outcome.asked == 1)


def count_outcomes(outcomes: Sequence[Outcome]) -> Counts:
    """Count questions: those with a result are kept, the others dropped by the reason of their failure."""
    dropped = Counter(outcome.failure for outcome in outcomes if outcome.failure is not None)
    return Counts(len(outcomes), len(outcomes) - dropped.total(), dict(sorted(dropped.items())))


def has_failures(manifest: StageManifest) -> bool:
    """Tell whether a stage ended although questions had failed, so that they are to be asked again."""
    return any(counts.dropped.get(reason) for counts in manifest.counts.values() for reason in FAILURES)


def describe_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Say by which rung of the ladder the answers were read, and how often a question was put again."""
    rungs = Counter(outcome.rung for outcome in outcomes if outcome.rung is not None)
    told = ", ".join(f"{rung} {n:,}" for rung, n in rungs.most_common()) or "none"
    return f"answers read: {told}; asked twice: {sum(outcome.asked == 2 for outcome in outcomes):,}"


class _Sheet(Generic[T]):
    """Questions, and what is known of their answers."""

    def __init__(self, questions: Sequence[Question[T]], answers: Answers) -> None:
        self._questions = questions
        self._source = answers
        self.answers: list[Answer[T] | None] = [None] * len(questions)

    def places(self, wanted: Callable[[Answer[T] | None], bool]) -> list[int]:
        return [place for place, answer in enumerate(self.answers) if wanted(answer)]

    def recall(self) -> None:
        """Take from the store what is settled there, after one request or two."""
        everything = range(len(self._questions))
        self._look_up(everything, [question.request for question in self._questions], asked=1)
        unsettled = self.places(_once_more)
        self._look_up(unsettled, [self._repeated(place) for place in unsettled], asked=2)

    def put(self, places: Sequence[int], *, again: bool) -> None:
        """Ask, and read what comes."""
        if not places:
            return
        requests = [self._repeated(place) if again else self._questions[place].request for place in places]

        def judge(at: int, response: Response) -> str | None:
            place = places[at]
            answer, before = self._read(place, response, 2 if again else 1), self.answers[place]
            # That nobody answered now says nothing new of a question that failed before.
            if answer.outcome.failure != NO_ANSWER or before is None or again:
                self.answers[place] = answer
            return answer.outcome.failure if is_failure(answer.outcome) else None

        self._source.generate(requests, judge)

    def _look_up(self, places: Sequence[int], requests: Sequence[Request], asked: int) -> None:
        def judge(at: int, response: Response) -> str | None:
            place = places[at]
            answer = self.answers[place] = self._read(place, response, asked)
            return answer.outcome.failure if is_failure(answer.outcome) else None

        self._source.recall(requests, judge)

    def _repeated(self, place: int) -> Request:
        answer = self.answers[place]
        return self._questions[place].repeated((answer and answer.outcome.failure) or UNREADABLE)

    def _read(self, place: int, response: Response, asked: int) -> Answer[T]:
        return _read(self._questions[place], response, asked)


def _read(question: Question[T], response: Response, asked: int) -> Answer[T]:
    failure = NO_ANSWER if response.finish is None else _UNFINISHED.get(response.finish)
    if failure is None and not response.text.strip():
        failure = EMPTY
    if failure:
        return Answer(None, Outcome(failure, None, asked))
    found = read_json(response.text, question.wanted)
    if found is None:
        return Answer(None, Outcome(UNREADABLE, None, asked))
    try:
        return Answer(question.read(found.value), Outcome(None, found.rung, asked))
    except RefusedError as refused:
        return Answer(None, Outcome(refused.reason, None, asked))
