"""Questions with checked answers. If an answer cannot be used, the question is asked once more in the same run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ..manifest import Counts, StageManifest
from .generate import Answers, Judge
from .json_salvage import SalvageMethod, read_json
from .request import Request, Response

T = TypeVar("T")
UNREADABLE, CUT, FILTERED, EMPTY, NO_ANSWER = "unreadable", "cut", "filtered", "empty", "no answer"
# The next run asks these questions again.
FAILURES = (NO_ANSWER, CUT, EMPTY, UNREADABLE, FILTERED)
_UNFINISHED = {"length": CUT, "filtered": FILTERED}


class RefusedError(ValueError):
    """Answer in JSON that is not the answer to the question.

    Attributes:
        reason: Reason in a word or two, for the counts and for the sentence of the second question.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """Request and the reading of its answer.

    Attributes:
        request: The request.
        wanted: Returns True for a JSON value of the right form.
        read: Reads such a value. Raises `RefusedError` if it cannot be used.
        again: Sentence of the second question, by the reason of the failure. "unreadable" serves all other reasons.
    """

    request: Request
    wanted: Callable[[Any], bool]
    read: Callable[[Any], T]
    again: Mapping[str, str]

    def repeated(self, failure: str) -> Request:
        """Return the second request. It names the failure, and allows more tokens after a cut answer."""
        return self.request.again(self.again.get(failure, self.again[UNREADABLE]), longer=failure == CUT)


class Outcome(NamedTuple):
    """Outcome of a question.

    Attributes:
        failure: Reason of a missing result: one of `FAILURES`, or the reason of a refused answer. None for a result.
        rung: Method of `read_json` that found the result. None without a result.
        asked: Number of times the question was asked, 1 or 2.
    """

    failure: str | None
    rung: SalvageMethod | None
    asked: int


class Answer(NamedTuple, Generic[T]):
    """Result of a question. The value is None if the outcome is a failure."""

    value: T | None
    outcome: Outcome


def ask(questions: Sequence[Question[T]], answers: Answers) -> list[Answer[T]]:
    """Ask questions and read the answers.

    A question that failed in an earlier run starts again with its first request. A server that works again thus gives
    the same outcome as a server that never failed.

    Args:
        questions: The questions.
        answers: Cache and backend.

    Returns:
        One answer per question, in their order. A question without an answer is not asked again, because the backend
        has tried several times.
    """
    progress = _Progress(questions, answers)
    progress.recall()
    progress.put(progress.positions(lambda answer: answer is None or is_failure(answer.outcome)), asked=1)
    progress.put(progress.positions(_once_more), asked=2)
    answers.leave(
        [questions[position].request for position in progress.positions(lambda a: a is None or is_failure(a.outcome))]
    )
    return [answer or Answer(None, Outcome(NO_ANSWER, None, 1)) for answer in progress.answers]


def is_failure(outcome: Outcome) -> bool:
    """Return True for a failure of model or server, but not for a refused answer."""
    return outcome.failure in FAILURES


def _once_more(answer: Answer[Any] | None) -> bool:
    failure = answer and answer.outcome.failure
    return bool(answer and failure and failure != NO_ANSWER and answer.outcome.asked == 1)


def count_outcomes(outcomes: Sequence[Outcome]) -> Counts:
    """Count questions: kept with a result, or dropped by the reason of their failure."""
    reasons = Counter(outcome.failure or "" for outcome in outcomes)
    return Counts.by_reason(dict(sorted(reasons.items())))


def has_failures(manifest: StageManifest) -> bool:
    """Return True if a stage ended with failed questions, which must be asked again."""
    return any(counts.dropped.get(reason) for counts in manifest.counts.values() for reason in FAILURES)


def describe_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Describe the methods that read the answers, and the number of questions asked twice."""
    rungs = Counter(outcome.rung for outcome in outcomes if outcome.rung is not None)
    methods = ", ".join(f"{rung} {n:,}" for rung, n in rungs.most_common()) or "none"
    return f"answers read: {methods}; asked twice: {sum(outcome.asked == 2 for outcome in outcomes):,}"


class _Progress(Generic[T]):
    """Questions and their answers so far."""

    def __init__(self, questions: Sequence[Question[T]], answers: Answers) -> None:
        self._questions = questions
        self._source = answers
        self.answers: list[Answer[T] | None] = [None] * len(questions)

    def positions(self, wanted: Callable[[Answer[T] | None], bool]) -> list[int]:
        return [position for position, answer in enumerate(self.answers) if wanted(answer)]

    def recall(self) -> None:
        """Read answers from the cache, after one request or two."""
        everything = range(len(self._questions))
        self._source.recall(self._requests(everything, 1), self._judge(everything, 1))
        unanswered = self.positions(_once_more)
        self._source.recall(self._requests(unanswered, 2), self._judge(unanswered, 2))

    def put(self, positions: Sequence[int], asked: int) -> None:
        """Ask for the first or the second time, and read the answers."""
        if positions:
            self._source.generate(self._requests(positions, asked), self._judge(positions, asked))

    def _requests(self, positions: Iterable[int], asked: int) -> list[Request]:
        if asked == 1:
            return [self._questions[position].request for position in positions]
        failures = ((position, self.answers[position]) for position in positions)
        return [
            self._questions[position].repeated((answer and answer.outcome.failure) or UNREADABLE)
            for position, answer in failures
        ]

    def _judge(self, positions: Sequence[int], asked: int) -> Judge:
        def judge(at: int, response: Response) -> str | None:
            position = positions[at]
            answer = _read(self._questions[position], response, asked)
            # A missing answer adds nothing to an earlier failure.
            if answer.outcome.failure != NO_ANSWER or self.answers[position] is None or asked == 2:
                self.answers[position] = answer
            return answer.outcome.failure if is_failure(answer.outcome) else None

        return judge


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
        return Answer(question.read(found.value), Outcome(None, found.method, asked))
    except RefusedError as refused:
        return Answer(None, Outcome(refused.reason, None, asked))
