"""Single questions of judgements, to compare, count and settle them one by one.

| question | subject | votes |
|---|---|---|
| category | the thread | a category |
| link | a proposed link | `valid`, `invalid`, or the URL of the correct one |
| added link | a video that an annotator added | its URL, or `leave out` |
| entity | a proposed entity | `relevant` or `irrelevant` |
| added entity | an entity that an annotator added | `kind: name`, or `leave out` |
| query | the thread | the text |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, get_args

from musicrs_dataset.records import Link

from .annotation_store import AnnotationStore
from .answers import fit
from .judgement import (
    EntityVerdict,
    JudgedEntity,
    JudgedLink,
    Judgement,
    LinkVerdict,
    entity_key,
    is_finished,
    judge,
    judged_url,
    read_entity,
)
from .worklist import CATEGORIES, MUSIC, WorkItem

QuestionKind = Literal["category", "link", "added link", "entity", "added entity", "query"]
LEAVE_OUT = "leave out"
_ORDER = get_args(QuestionKind)
_LINK_VERDICTS: Mapping[str, LinkVerdict] = {"valid": "valid", "invalid": "invalid"}
_ENTITY_VERDICTS: Mapping[str, EntityVerdict] = {"relevant": "relevant", "irrelevant": "irrelevant"}


class Question(NamedTuple):
    """Question about one thread.

    Attributes:
        thread_id: The thread.
        about: Kind of the question.
        subject: Video of the link, or the entity as `kind: name`. Empty for questions about the thread.
    """

    thread_id: str
    about: QuestionKind
    subject: str = ""


class QuestionVotes(NamedTuple):
    """Question with its votes.

    Attributes:
        question: The question.
        votes: Vote by annotator.
    """

    question: Question
    votes: Mapping[str, str]

    def choices(self) -> list[tuple[str, int]]:
        """Return the different votes with their counts, most frequent first, then in order of their text."""
        return sorted(Counter(self.votes.values()).items(), key=lambda choice: (-choice[1], choice[0]))


def finished(items: Iterable[WorkItem], store: AnnotationStore) -> dict[str, dict[str, Judgement]]:
    """Collect the judgements of all annotators.

    Args:
        items: The work list.
        store: Store of the answers.

    Returns:
        Judgements of finished threads, by annotator and thread.
    """
    threads = {item.thread_id: item for item in items}
    judged: dict[str, dict[str, Judgement]] = {}
    for annotator in store.annotators():
        by_thread = store.answers(annotator)
        judged[annotator] = {}
        for thread_id, item in threads.items():
            answers = fit(item, by_thread[thread_id]) if thread_id in by_thread else None
            if answers is not None and is_finished(item, answers):
                judged[annotator][thread_id] = judge(item, answers)
    return judged


def collect_votes(items: Iterable[WorkItem], judged: Mapping[str, Mapping[str, Judgement]]) -> list[QuestionVotes]:
    """Split judgements into questions.

    Args:
        items: The work list.
        judged: Judgements by annotator and thread.

    Returns:
        Every question with a vote, in the order of the work list. Within a thread, the category comes first and the
        query last. An annotator who judged a thread as music votes `leave out` on the additions of others.
    """
    all_votes = []
    for item in items:
        judgements = {name: threads[item.thread_id] for name, threads in judged.items() if item.thread_id in threads}
        by_annotator = {name: decisions_of(judgement) for name, judgement in judgements.items()}
        questions = dict.fromkeys(question for decisions in by_annotator.values() for question in decisions)
        for question in sorted(questions, key=lambda question: _ORDER.index(question.about)):
            votes = {name: decisions[question] for name, decisions in by_annotator.items() if question in decisions}
            if question.about in ("added link", "added entity"):
                music = [name for name, judgement in judgements.items() if judgement.category == MUSIC]
                votes = dict.fromkeys(music, LEAVE_OUT) | votes
            all_votes.append(QuestionVotes(question, votes))
    return all_votes


def decisions_of(judgement: Judgement) -> dict[Question, str]:
    """Split one judgement into questions. `assemble` is the inverse."""
    thread_id = judgement.thread_id
    decisions: dict[Question, str] = {Question(thread_id, "category"): judgement.category}
    for link in judgement.links:
        if link.verdict == "added":
            decisions[Question(thread_id, "added link", link.video_id)] = link.url
        else:
            vote = link.url if link.verdict == "corrected" else link.verdict
            decisions[Question(thread_id, "link", link.proposed or link.video_id)] = vote
    for entity in judgement.entities:
        name = f"{entity.kind}: {entity.name}"
        if entity.verdict == "added":  # spellings that the metric matches are votes on one question
            subject = ": ".join(entity_key(entity.kind, entity.name))
            decisions[Question(thread_id, "added entity", subject)] = name
        else:
            decisions[Question(thread_id, "entity", name)] = entity.verdict
    if judgement.category == MUSIC:
        decisions[Question(thread_id, "query")] = judgement.query
    return decisions


def assemble(item: WorkItem, decisions: Mapping[Question, str], judges: int) -> Judgement:
    """Build a judgement from decisions.

    Args:
        item: The thread.
        decisions: Decision by question. Decisions about other threads are ignored. Questions without a decision are
            left out.
        judges: Number of annotators of the thread.

    Raises:
        KeyError: The category has no decision.
    """
    thread_id = item.thread_id
    category = decisions[Question(thread_id, "category")]
    links: list[JudgedLink | None] = []
    for link in item.links:
        decision = decisions.get(Question(thread_id, "link", link.video_id))
        if decision is not None:
            links.append(_settled_link(link, decision))
    entities = [
        JudgedEntity(_ENTITY_VERDICTS[decision], entity.kind, entity.name)
        for entity in item.entities
        if (decision := decisions.get(Question(thread_id, "entity", str(entity))))
    ]
    for question, decision in decisions.items():
        if question.thread_id != thread_id or decision == LEAVE_OUT:
            continue
        if question.about == "added link":
            links.append(judged_url("added", decision, None))
        elif question.about == "added entity" and (added := read_entity(decision)):
            entities.append(JudgedEntity("added", added.kind, added.name))
    return Judgement(
        thread_id=thread_id,
        category=next(known for known in CATEGORIES if known == category),
        query=decisions.get(Question(thread_id, "query"), item.query),
        links=tuple(link for link in links if link is not None),
        entities=tuple(entities),
        judges=judges,
    )


def _settled_link(link: Link, decision: str) -> JudgedLink | None:
    verdict = _LINK_VERDICTS.get(decision)
    if verdict is None:
        return judged_url("corrected", decision, link.video_id)
    return JudgedLink(verdict, link.video_id, link.start_s, link.url, link.video_id)
