"""Work list of a corpus: its threads with the texts for annotators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from musicrs_dataset.audio.download_ledger import known_statuses
from musicrs_metric.errors import UserError, plain
from musicrs_metric.matching import normalise

from ..extract.mentions import Kind
from ..extract.tables import read_posts, read_replies
from ..extract.text_matching import plain as plain_text
from ..layout import Work
from ..refine.ranking import named
from ..refine.schema import CorpusThread, read_corpus
from .worklist import Entity, Reply, WorkItem


def work_items(work: Work) -> list[WorkItem]:
    """Build the work list.

    Args:
        work: The work folder, with the output of `threads` and `refine`. After `audio`, links have a status.

    Returns:
        The threads of the corpus, in its order. Their entities have the kinds of the corpus: answers first, then other
        entities of replies, then entities of the post.

    Raises:
        UserError: A table is missing, or lacks a thread or a reply of another table.
    """
    corpus = read_corpus(work.corpus)
    posts = {post.thread_id: post for post in read_posts(work.threads)}
    bodies: dict[str, dict[str, str]] = defaultdict(dict)
    for reply in read_replies(work.replies, list(posts.values())):
        bodies[reply.thread_id][reply.comment_id or ""] = plain_text(reply.body)
    statuses = known_statuses(work.audio)
    kinds = {answer.kind for thread in corpus for answer in thread.answers}
    items = []
    for thread in corpus:
        post = posts.get(thread.thread_id)
        if post is None:
            raise UserError(f"{work.threads}: no thread {plain(thread.thread_id)} of the corpus; run refine again")
        items.append(
            WorkItem(
                thread_id=thread.thread_id,
                subreddit=thread.subreddit,
                title=plain_text(post.title),
                text=plain_text(post.body),
                query=thread.query,
                links=tuple(replace(link, status=statuses.get(link.video_id, "new")) for link in thread.links),
                entities=tuple(_entities(thread, kinds)),
                replies=tuple(_replies(thread, bodies[thread.thread_id])),
            )
        )
    return items


def _entities(thread: CorpusThread, kinds: Iterable[Kind]) -> Iterable[Entity]:
    entities: dict[tuple[Kind, str], Entity] = {}
    mentions: list[tuple[tuple[Kind, str], tuple[str, ...]]] = [
        ((answer.kind, answer.name), ()) for answer in thread.answers
    ]
    mentions += [(mention, (reply.id,)) for reply in thread.comments for mention in named(reply.entities)]
    mentions += [(mention, (thread.thread_id,)) for mention in named(thread.submission_entities)]
    for (kind, name), where in mentions:
        if kind in kinds:
            entity = entities.setdefault((kind, normalise(name)), Entity(kind, name))
            entities[kind, normalise(name)] = replace(entity, named_in=tuple(dict.fromkeys((*entity.named_in, *where))))
    return entities.values()


def _replies(thread: CorpusThread, bodies: Mapping[str, str]) -> Iterable[Reply]:
    for comment in thread.comments:
        if comment.id not in bodies:
            raise UserError(f"no text of reply {plain(comment.id)} to {plain(thread.thread_id)}; run refine again")
        yield Reply(comment.id, None if comment.score is None else int(comment.score), bodies[comment.id])
