"""Labels from votes: common answers, decisions of a person, and majorities."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from musicrs_metric.errors import UserError, count, plain, some

from .disagreements import disagreements
from .judgement import Judgement
from .votes import Question, QuestionVotes, assemble
from .worklist import MUSIC, WorkItem


def settle(
    items: Sequence[WorkItem],
    all_votes: Sequence[QuestionVotes],
    decided: Mapping[Question, str],
    *,
    majority: bool = False,
) -> list[Judgement]:
    """Settle every question.

    Args:
        items: The work list.
        all_votes: All votes.
        decided: Decisions of a person, by question.
        majority: Let more than half of the annotators decide each question without a decision.

    Returns:
        One judgement per thread that has a vote, in the order of the work list.

    Raises:
        UserError: Questions are open, or a thread is settled as music without a judgement as music.
    """
    decisions = {entry.question: entry.choices()[0][0] for entry in all_votes if len(entry.choices()) == 1}
    differing = disagreements(all_votes)
    if majority:
        decisions |= {
            disagreement.question: disagreement.majority
            for disagreement in differing
            if disagreement.majority is not None
        }
    decisions |= decided
    category = {question.thread_id: answer for question, answer in decisions.items() if question.about == "category"}
    # Disagreements about a thread without music do not matter.
    left = [
        disagreement
        for disagreement in differing
        if disagreement.question not in decisions and category.get(disagreement.question.thread_id, MUSIC) == MUSIC
    ]
    if left:
        threads = some(
            [plain(thread_id) for thread_id in dict.fromkeys(disagreement.question.thread_id for disagreement in left)]
        )
        raise UserError(
            f"{count(len(left), 'disagreement')} not settled, in {threads}; fill the column settled of "
            "disagreements.csv, or use --majority for those with a majority"
        )
    by_thread: dict[str, dict[Question, str]] = defaultdict(dict)
    for question, answer in decisions.items():
        by_thread[question.thread_id][question] = answer
    judges = Counter({b.question.thread_id: len(b.votes) for b in all_votes if b.question.about == "category"})
    return [
        complete(item, assemble(item, by_thread[item.thread_id], judges[item.thread_id]))
        for item in items
        if item.thread_id in by_thread
    ]


def complete(item: WorkItem, judgement: Judgement) -> Judgement:
    """Return a judgement that says everything that later stages ask.

    Raises:
        UserError: It is about another thread's links or entities, or leaves some of a music thread unjudged.
    """
    links = [link.proposed for link in judgement.links if link.verdict != "added"]
    entities = [(entity.kind, entity.name) for entity in judgement.entities if entity.verdict != "added"]
    proposed_links = [link.video_id for link in item.links]
    proposed_entities = [(entity.kind, entity.name) for entity in item.entities]
    strange = set(links) - set(proposed_links) or set(entities) - set(proposed_entities)
    missing = set(proposed_links) - set(links) or set(proposed_entities) - set(entities)
    if strange:
        raise UserError(
            f"thread {plain(item.thread_id)}: {some(sorted(map(str, strange)))} judged, but not in the work list"
        )
    if judgement.category == MUSIC and missing:
        raise UserError(
            f"thread {plain(item.thread_id)} is settled as music, but no annotator judged "
            f"{some(sorted(map(str, missing)))}; finish the thread on the page"
        )
    return judgement
