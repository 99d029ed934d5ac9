"""Corpus after annotation: apply the labels, and rank the answers again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from musicrs_dataset.records import Entities
from musicrs_metric.matching import normalise

from ..annotate.judgement import Judgement, entity_key
from ..annotate.worklist import MUSIC
from ..extract.mentions import Kind
from ..extract.text_matching import Words
from ..manifest import Counts
from ..refine.ranking import IN_POST, IN_QUERY, REPEATED
from ..refine.schema import Answer, CorpusThread

_LEFT_OUT = "of a thread that was left out"


class AnswerLimits(NamedTuple):
    """Limits of `refine`, applied once more.

    Attributes:
        min_answers: Threads with fewer answers are dropped.
        top: The `top` most upvoted answers are the ground truth.
    """

    min_answers: int
    top: int


class LabelledCorpus(NamedTuple):
    """Corpus after annotation.

    Attributes:
        threads: Kept threads, in the order of the corpus.
        counts: Counts of threads and answers, with the answers that annotators added.
    """

    threads: list[CorpusThread]
    counts: dict[str, Counts]


def apply_labels(
    corpus: Iterable[CorpusThread], labels: Mapping[str, Judgement], replies: Mapping[str, str], limits: AnswerLimits
) -> LabelledCorpus:
    """Apply the labels of annotators.

    A rejected entity disappears everywhere, and the next answers move up. An added title has the rank of the most
    upvoted reply that names it, or the last rank if no reply names it. As in `refine`, a title that post or query
    names is no answer. Annotators may have changed the query.

    Args:
        corpus: The threads of `refine`.
        labels: Label by thread.
        replies: Text of replies by comment id.
        limits: Limits of the answers of a thread.

    Returns:
        The threads about music with enough answers and a link.
    """
    threads: list[CorpusThread] = []
    verdicts: Counter[str] = Counter()
    answers = Counts(0, 0)
    for thread in corpus:
        label = labels.get(thread.thread_id)
        if label is None or label.category != MUSIC:
            verdicts["not judged" if label is None else label.category] += 1
            answers += Counts(len(thread.answers), 0, {_LEFT_OUT: len(thread.answers)})
            continue
        labelled, dropped = _labelled(thread, label, replies, limits.top)
        verdict = _verdict(labelled, limits)
        verdicts[verdict] += 1
        seen = len(labelled.answers) + dropped.total()
        if verdict:
            answers += Counts(seen, 0, {_LEFT_OUT: seen})
        else:
            threads.append(labelled)
            beyond = max(len(labelled.answers) - limits.top, 0)
            reasons = dropped | Counter({f"beyond the {limits.top} most upvoted": beyond})
            answers += Counts(seen, len(labelled.ground_truth), reasons)
    dropped_threads = {reason: n for reason, n in sorted(verdicts.items()) if reason}
    counts = Counts(verdicts.total(), len(threads), dropped_threads)
    return LabelledCorpus(threads, {"threads": counts, "answers": answers})


def _verdict(thread: CorpusThread, limits: AnswerLimits) -> str:
    if len(thread.answers) < limits.min_answers:
        return f"fewer than {limits.min_answers} answers left"
    return "" if thread.links else "no link left"


def _labelled(
    thread: CorpusThread, label: Judgement, replies: Mapping[str, str], top: int
) -> tuple[CorpusThread, Counter[str]]:
    rejected = {entity_key(entry.kind, entry.name) for entry in label.entities if entry.verdict == "irrelevant"}
    added = [(entry.kind, entry.name) for entry in label.entities if entry.verdict == "added"]
    named_by_asker = {normalise(name) for names in _lists(thread.submission_entities) for name in names}
    post, query = Words(thread.post), Words(label.query)
    answers: dict[str, Answer] = {}
    dropped: Counter[str] = Counter()
    for answer in _in_order(thread, added, replies):
        form = normalise(answer.name)
        if entity_key(answer.kind, answer.name) in rejected:
            dropped["struck out"] += 1
        elif form in answers:
            dropped[REPEATED] += 1
        elif form in named_by_asker or post.name(answer.name):
            dropped[IN_POST] += 1
        elif query.name(answer.name):
            dropped[IN_QUERY] += 1
        else:
            answers[form] = answer
    names = [name for name in thread.all_entities if normalise(name) not in {form for _, form in rejected}]
    names += [name for _, name in added]
    labelled = replace(
        thread,
        query=label.query,
        submission_entities=_without(thread.submission_entities, rejected),
        comments=tuple(replace(entry, entities=_without(entry.entities, rejected)) for entry in thread.comments),
        answers=tuple(answers.values()),
        ground_truth=tuple(answer.name for answer in answers.values())[:top],
        all_entities=tuple({normalise(name): name for name in reversed(names)}.values())[::-1],
        links=label.kept_links(),
    )
    return labelled, dropped


def _in_order(thread: CorpusThread, added: Sequence[tuple[Kind, str]], replies: Mapping[str, str]) -> list[Answer]:
    """Return answers by the rank of their reply. An added title without a reply has the thread id in its place."""
    rank = {comment.id: rank for rank, comment in enumerate(thread.comments)}
    texts = [(comment, Words(replies.get(comment.id, ""))) for comment in thread.comments] if added else []
    answers = list(thread.answers)
    for kind, name in added:
        source = next((comment for comment, text in texts if text.name(name)), None)
        score, source_id = (source.score, source.id) if source else (None, thread.thread_id)
        answers.append(Answer(kind, name, score, source_id))
    return sorted(answers, key=lambda answer: rank.get(answer.comment_id, len(rank)))


def _without(entities: Entities, rejected: set[tuple[Kind, str]]) -> Entities:
    def left(kind: Kind, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if entity_key(kind, name) not in rejected)

    return Entities(left("song", entities.songs), left("artist", entities.artists), left("album", entities.albums))


def _lists(entities: Entities) -> tuple[Sequence[str], ...]:
    return entities.songs, entities.artists, entities.albums
