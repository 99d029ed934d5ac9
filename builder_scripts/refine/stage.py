"""Stage `refine`: threads of the right size, with their ground truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from musicrs_dataset.records import Comment, Entities, Link
from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.errors import UserError

from ..extract.mentions import Kind
from ..manifest import Counts
from .merges import Spellings
from .ranking import Asked, Ranking, Reply, by_upvotes, named, rank
from .schema import CorpusThread


@dataclass(frozen=True)
class Rules:
    """What makes a thread and its ground truth.

    Attributes:
        kinds: What may be recommended; in the published data, songs.
        min_answers: Threads with fewer answers are left out.
        max_answers: Threads with more are left out.
        top: So many answers, the most upvoted, are the ground truth.
        genres: Genre of each subreddit.

    Raises:
        UserError: No number of answers is enough and not too many.
    """

    kinds: Sequence[Kind] = ("song",)
    min_answers: int = 2
    max_answers: int = 30
    top: int = 10
    genres: Mapping[str, str] = field(default_factory=lambda: dict(GENRE_OF_SUBREDDIT))

    def __post_init__(self) -> None:
        if self.max_answers < self.min_answers:
            raise UserError(
                f"--min-answers {self.min_answers} --max-answers {self.max_answers}: no thread has that many; "
                "expected a maximum that is no less than the minimum"
            )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return asdict(self)


class Conversation(NamedTuple):
    """A thread as the earlier stages left it.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        subreddit: Where it was asked.
        created_utc: When, in seconds since 1970.
        score: Upvotes minus downvotes; None where they are not known.
        post: Title and text.
        query: The derived request; None where there is none.
        failure: Why there is none.
        named: What the post names, as extracted.
        replies: With what they name, as extracted.
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
        threads: Those that were kept, in the order given.
        counts: Where the threads went, and where the mentions of their replies went.
    """

    threads: list[CorpusThread]
    counts: dict[str, Counts]


def count_spellings(conversations: Iterable[Conversation]) -> Counter[tuple[Kind, str]]:
    """Count in how many threads each spelling of each kind stands, posts included."""
    total: Counter[tuple[Kind, str]] = Counter()
    for conversation in conversations:
        texts = (conversation.named, *(reply.entities for reply in conversation.replies))
        total.update({mention for entities in texts for mention in named(entities)})
    return total


def refine(conversations: Iterable[Conversation], spell: Spellings, rules: Rules) -> Refined:
    """Give each thread its answers, and keep the threads that have a request and enough answers, yet not too many.

    Args:
        conversations: The threads.
        spell: The one spelling of each title.
        rules: What to keep.

    Returns:
        The corpus. A mention is kept where it is the one that brings its title into the ground truth.
    """
    threads: list[CorpusThread] = []
    verdicts: Counter[str | None] = Counter()
    mentions = Counts(0, 0)
    for raw in conversations:
        conversation = _spelled(raw, spell)
        asked = Asked(conversation.post, conversation.query or "", conversation.named)
        ranking = rank(conversation.replies, asked, rules.kinds)
        verdict = _verdict(conversation, len(ranking.answers), rules)
        verdicts[verdict] += 1
        mentions += _count_mentions(conversation, ranking, rules.top, kept=verdict is None)
        if verdict is None:
            threads.append(_thread(conversation, ranking, rules))
    dropped = {reason: n for reason, n in verdicts.items() if reason is not None}
    counts = Counts(verdicts.total(), len(threads), dict(sorted(dropped.items())))
    return Refined(threads, {"threads": counts, "mentions in replies": mentions})


def _verdict(conversation: Conversation, n_answers: int, rules: Rules) -> str | None:
    if conversation.query is None:
        return f"no request ({conversation.failure})"
    if n_answers < rules.min_answers:
        return f"fewer than {rules.min_answers} answers"
    if n_answers > rules.max_answers:
        return f"more than {rules.max_answers} answers"
    return None


def _count_mentions(conversation: Conversation, ranking: Ranking, top: int, *, kept: bool) -> Counts:
    seen = sum(len(named(reply.entities)) for reply in conversation.replies)
    if not kept:
        return Counts(seen, 0, {"of a thread that was left out": seen})
    beyond = max(len(ranking.answers) - top, 0)
    dropped = dict(ranking.dropped) | {f"beyond the {top} most upvoted": beyond}
    return Counts(seen, len(ranking.answers) - beyond, dropped)


def _thread(conversation: Conversation, ranking: Ranking, rules: Rules) -> CorpusThread:
    return CorpusThread(
        thread_id=conversation.thread_id,
        subreddit=conversation.subreddit,
        genre=rules.genres[conversation.subreddit],
        created_utc=conversation.created_utc,
        score=conversation.score,
        query=conversation.query or "",
        post=conversation.post,
        submission_entities=conversation.named,
        comments=tuple(
            Comment(reply.comment_id, reply.score, reply.entities) for reply in by_upvotes(conversation.replies)
        ),
        answers=tuple(ranking.answers),
        ground_truth=tuple(answer.name for answer in ranking.answers[: rules.top]),
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
