"""Session of annotation: threads and progress of each annotator, and the saving of answers."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from musicrs_metric.errors import UserError, plain

from .annotation_store import AnnotationStore
from .answers import Answers, fit, no_answers
from .assign import assign
from .judgement import is_finished, problems
from .worklist import WorkItem

Step = Literal["here", "previous", "next", "unfinished"]


class Progress(NamedTuple):
    """Progress of an annotator.

    Attributes:
        annotator: Name of the annotator.
        finished: Number of finished threads.
        total: Number of assigned threads.
    """

    annotator: str
    finished: int
    total: int


@dataclass(frozen=True)
class View:
    """View of an annotator.

    Attributes:
        annotator: Name of the annotator.
        item: The thread. None if the annotator has none.
        answers: Answers about the thread. None without a thread.
        place: Position of the thread among those of the annotator, from 0.
        progress: Progress of all annotators.
    """

    annotator: str
    item: WorkItem | None
    answers: Answers | None
    place: int
    progress: tuple[Progress, ...]

    @property
    def mine(self) -> Progress:
        """Progress of this annotator."""
        return next(entry for entry in self.progress if entry.annotator == self.annotator)


class Sent(NamedTuple):
    """Time at which a page sent its answers, so that a late message does not undo a newer one.

    Attributes:
        page: Visit of the page.
        at: Clock of the page. It is compared with itself only.
    """

    page: str
    at: float


class AnnotationSession:
    """Work list with its annotators.

    Args:
        items: The work list.
        store: Store of the answers.
        overlap: Number of annotators per thread.
        resting: Names of annotators without new threads.
    """

    def __init__(
        self, items: Sequence[WorkItem], store: AnnotationStore, overlap: int, resting: Collection[str] = ()
    ) -> None:
        self.items = {item.thread_id: item for item in items}
        self._store = store
        self._overlap = overlap
        self._resting = {name.casefold() for name in resting}
        self._seen: dict[tuple[str, str], tuple[Answers, bool]] = {}
        self._newest: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def join(self, name: str, thread_id: str | None = None) -> View:
        """Register an annotator, and show the given thread or the first unfinished one.

        Raises:
            UserError: The name is not valid.
        """
        annotator = self._store.join(name)
        return self.view(annotator, thread_id, "here" if thread_id in self.items else "unfinished")

    def view(self, annotator: str, thread_id: str | None, step: Step) -> View:
        """Show a thread.

        Args:
            annotator: A registered annotator.
            thread_id: The current thread.
            step: The next thread relative to the current one. `unfinished` is the next unfinished thread, with a wrap
                at the end, or the current thread.

        Raises:
            UserError: No annotator has this name.
        """
        answers_of = {name: self._store.answers(name) for name in self._store.annotators()}
        if annotator not in answers_of:
            raise UserError(f"no annotator named {plain(annotator)} has joined; enter your name again")
        shares = self._assign(answers_of)
        progress = tuple(
            Progress(
                name, sum(self._done(name, thread, answers_of[name]) for thread in shares[name]), len(shares[name])
            )
            for name in sorted(shares)
        )
        mine = shares[annotator]
        if thread_id in self.items and thread_id not in mine:  # a new annotator got it while it was on the screen
            mine = [thread for thread in self.items if thread in {*mine, thread_id}]
        if not mine:
            return View(annotator, None, None, 0, progress)
        left = [not self._done(annotator, thread, answers_of[annotator]) for thread in mine]
        place = _place(mine.index(thread_id) if thread_id in mine else None, step, left)
        item = self.items[mine[place]]
        return View(annotator, item, self._current(answers_of[annotator], item), place, progress)

    def save(self, annotator: str, answers: Answers, sent: Sent | None = None) -> list[str]:
        """Save answers. They are on disk when this returns.

        Args:
            annotator: A registered annotator.
            answers: The answers. `done` finishes the thread. A finished thread stays finished while its answers have no
                problem.
            sent: Time of sending. None if the order is certain.

        Returns:
            Problems of the thread. Empty for a finished one.

        Raises:
            UserError: Thread or annotator are unknown.
            OSError: The answers cannot be written.
        """
        item = self.item(answers.thread_id)
        with self._lock:
            saved = self._current(self._store.answers(annotator), item)
            if sent is not None and self._overtaken(sent, item.thread_id):
                answers = replace(saved, done=answers.done)
            left = problems(item, answers)
            answers = replace(answers, done=(answers.done or saved.done) and not left)
            if answers != saved:
                self._store.save(annotator, answers)
            return left

    def item(self, thread_id: str) -> WorkItem:
        """Return a thread of the work list.

        Raises:
            UserError: The thread is unknown.
        """
        if thread_id not in self.items:
            raise UserError(f"no thread {plain(thread_id)} in the work list; load the page again")
        return self.items[thread_id]

    def _overtaken(self, sent: Sent, thread_id: str) -> bool:
        key = (sent.page, thread_id)
        newest = self._newest[key] = max(sent.at, self._newest.get(key, sent.at))
        return sent.at < newest

    def _current(self, by_thread: Mapping[str, Answers], item: WorkItem) -> Answers:
        answers = by_thread.get(item.thread_id)
        return no_answers(item) if answers is None else fit(item, answers)

    def _done(self, annotator: str, thread_id: str, by_thread: Mapping[str, Answers]) -> bool:
        answers = by_thread.get(thread_id)
        if answers is None:
            return False
        # Every view needs all threads of all annotators, and nearly all answers are those of the last view.
        seen, done = self._seen.get((annotator, thread_id), (None, False))
        if seen is not answers:
            done = is_finished(self.items[thread_id], fit(self.items[thread_id], answers))
            self._seen[annotator, thread_id] = (answers, done)
        return done

    def _assign(self, answers_of: Mapping[str, Mapping[str, Answers]]) -> dict[str, list[str]]:
        begun: dict[str, set[str]] = defaultdict(set)
        for annotator, answers in answers_of.items():
            for thread_id in answers:
                begun[thread_id].add(annotator)
        resting = {name for name in answers_of if name.casefold() in self._resting}
        return assign(self.items, list(answers_of), self._overlap, begun, resting)


def _place(place: int | None, step: Step, left: Sequence[bool]) -> int:
    """Return the position after a step from a position (None: before the first). `left` marks unfinished threads."""
    at = -1 if place is None else place
    if step == "unfinished":
        around = [*range(at + 1, len(left)), *range(at)]
        return next((there for there in around if left[there]), max(at, 0))
    return min(max(at + {"here": 0, "previous": -1, "next": 1}[step], 0), len(left) - 1)
