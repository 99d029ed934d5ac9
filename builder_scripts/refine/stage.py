"""Corpus of stage `refine`: threads with enough answers, and their ground truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from musicrs_dataset.records import Comment, Entities, Link

from ..extract.mentions import Kind
from ..manifest import Counts
from .merges import Spellings
from .options import RefineOptions
from .ranking import Asked, Ranking, Reply, by_upvotes, named, rank
from .schema import CorpusThread


class Conversation(NamedTuple):
    """Thread with the output of the earlier stages.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        subreddit: Name of the subreddit.
        created_utc: Time in seconds since 1970.
        score: Upvotes minus downvotes. None if unknown.
        post: Title and text.
        query: The query. None if there is none.
        failure: Reason of a missing query.
        named: Entities of the post, as extracted.
        replies: Replies with their entities, as extracted.
        links: The YouTube links of the post.
    """

    thread_id: str
    subreddit: str
    created_utc: int
    score: int | None
    post: str
    query: str | None
    failure: str | None
    named: Entities
    replies: tuple[Reply, ...]
    links: tuple[Link, ...]


class Refined(NamedTuple):
    """The corpus.

    Attributes:
        threads: Threads that are kept, in the given order.
        counts: Counts of threads, and of mentions in their replies.
    """

    threads: list[CorpusThread]
    counts: dict[str, Counts]


def count_spellings(conversations: Iterable[Conversation]) -> Counter[tuple[Kind, str]]:
    """Count the threads of each spelling by kind, posts included."""
    total: Counter[tuple[Kind, str]] = Counter()
    for conversation in conversations:
        texts = (conversation.named, *(reply.entities for reply in conversation.replies))
        total.update({mention for entities in texts for mention in named(entities)})
    return total


def refine(
    conversations: Iterable[Conversation], spell: Spellings, options: RefineOptions, genres: Mapping[str, str]
) -> Refined:
    """Find the answers of each thread. Keep the threads with a query and a number of answers within the limits.

    Args:
        conversations: The threads.
        spell: Final spelling of each title.
        options: Number and kind of answers.
        genres: Genre by subreddit.

    Returns:
        The corpus. A mention counts as kept if it brings its title into the ground truth.
    """
    threads: list[CorpusThread] = []
    verdicts: Counter[str] = Counter()
    mentions = Counts(0, 0)
    for raw in conversations:
        conversation = _spelled(raw, spell)
        asked = Asked(conversation.post, conversation.query or "", conversation.named)
        ranking = rank(conversation.replies, asked, options.kinds)
        verdict = _verdict(conversation, len(ranking.answers), options)
        verdicts[verdict] += 1
        mentions += _count_mentions(conversation, ranking, options.top, kept=not verdict)
        if not verdict:
            threads.append(_thread(conversation, ranking, options.top, genres[conversation.subreddit]))
    counts = Counts.by_reason(dict(sorted(verdicts.items())))
    return Refined(threads, {"threads": counts, "mentions in replies": mentions})


def _verdict(conversation: Conversation, n_answers: int, options: RefineOptions) -> str:
    """Return the reason to drop a thread; "" for none."""
    if conversation.query is None:
        return f"no request ({conversation.failure})"
    if n_answers < options.min_answers:
        return f"fewer than {options.min_answers} answers"
    if n_answers > options.max_answers:
        return f"more than {options.max_answers} answers"
    return ""


def _count_mentions(conversation: Conversation, ranking: Ranking, top: int, *, kept: bool) -> Counts:
    seen = sum(len(named(reply.entities)) for reply in conversation.replies)
    if not kept:
        return Counts(seen, 0, {"of a thread that was left out": seen})
    beyond = max(len(ranking.answers) - top, 0)
    dropped = dict(ranking.dropped) | {f"beyond the {top} most upvoted": beyond}
    return Counts(seen, len(ranking.answers) - beyond, dropped)


def _thread(conversation: Conversation, ranking: Ranking, top: int, genre: str) -> CorpusThread:
    return CorpusThread(
        thread_id=conversation.thread_id,
        subreddit=conversation.subreddit,
        genre=genre,
        created_utc=conversation.created_utc,
        score=conversation.score,
        query=conversation.query or "",
        post=conversation.post,
        submission_entities=conversation.named,
        comments=tuple(
            Comment(reply.comment_id, reply.score, reply.entities) for reply in by_upvotes(conversation.replies)
        ),
        answers=tuple(ranking.answers),
        ground_truth=tuple(answer.name for answer in ranking.answers[:top]),
        all_entities=tuple(ranking.names),
        links=conversation.links,
    )


def _spelled(conversation: Conversation, spell: Spellings) -> Conversation:
    replies = tuple(reply._replace(entities=_spelled_names(reply.entities, spell)) for reply in conversation.replies)
    return conversation._replace(named=_spelled_names(conversation.named, spell), replies=replies)


def _spelled_names(entities: Entities, spell: Spellings) -> Entities:
    return Entities(
        tuple(spell("song", name) for name in entities.songs),
        tuple(spell("artist", name) for name in entities.artists),
        tuple(spell("album", name) for name in entities.albums),
    )
