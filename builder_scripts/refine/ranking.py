"""What of the replies of a thread is an answer, and in which order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from musicrs_dataset.records import Entities
from musicrs_metric.matching import normalise

from ..extract.mentions import Kind
from ..extract.text_matching import Words
from .schema import Answer

OTHER_KIND, BY_ASKER, REPEATED = "of another kind", "in a reply of the asker", "named before in the thread"
IN_POST, IN_QUERY = "named in the post", "named in the query"


class Reply(NamedTuple):
    """A first-level reply.

    Attributes:
        comment_id: Reddit name, `t1_...`.
        score: Upvotes minus downvotes; None where they are not known.
        created_utc: When, in seconds since 1970.
        by_asker: The asker wrote it.
        entities: What it names, in final spelling.
    """

    comment_id: str
    score: int | None
    created_utc: int
    by_asker: bool
    entities: Entities


class Asked(NamedTuple):
    """What the asker gave away, none of which is an answer.

    Attributes:
        post: Title and text.
        query: The derived request.
        names: What the post names, in final spelling.
    """

    post: str
    query: str
    names: Entities


@dataclass
class Ranking:
    """The answers of one thread.

    Attributes:
        answers: Best first.
        names: Every name of the wanted kinds, answer or not, each title once, in the same order.
        dropped: Mentions that are no answer, by reason.
    """

    answers: list[Answer] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def by_upvotes(replies: Iterable[Reply]) -> list[Reply]:
    """Order replies: most upvoted first, those of unknown score last; of equals the older, then by id."""
    return sorted(
        replies,
        key=lambda reply: (
            -(-math.inf if reply.score is None else reply.score),
            reply.created_utc,
            reply.comment_id,
        ),
    )


def named(entities: Entities) -> list[tuple[Kind, str]]:
    """The names with their kinds: songs, artists, albums."""
    return [
        *(("song", name) for name in entities.songs),
        *(("artist", name) for name in entities.artists),
        *(("album", name) for name in entities.albums),
    ]


def rank(replies: Sequence[Reply], asked: Asked, kinds: Collection[Kind]) -> Ranking:
    """Rank what the replies of a thread name.

    A title stands where the most upvoted reply that names it stands; titles of one reply in the order of the
    extraction. No answer is: a name of another kind; what only the asker's own replies name; what the post names, for
    the asker knows it; and what stands in the request, for there it could be found without knowing any music.

    Args:
        replies: The replies, in any order.
        asked: What the asker gave away.
        kinds: What may be recommended.

    Returns:
        The answers, each title once.
    """
    ranking = Ranking()
    given = {normalise(name) for _, name in named(asked.names)}
    post, query = Words(asked.post), Words(asked.query)
    names: dict[str, str] = {}
    judged: set[str] = set()
    for reply in by_upvotes(replies):
        for kind, name in named(reply.entities):
            form = normalise(name)
            if kind not in kinds:
                ranking.dropped[OTHER_KIND] += 1
                continue
            names.setdefault(form, name)
            if form in judged:
                ranking.dropped[REPEATED] += 1
            elif reply.by_asker:  # a reply of somebody else may still name it
                ranking.dropped[BY_ASKER] += 1
            else:
                judged.add(form)
                if form in given or post.name(name):
                    ranking.dropped[IN_POST] += 1
                elif query.name(name):
                    ranking.dropped[IN_QUERY] += 1
                else:
                    ranking.answers.append(Answer(kind, name, reply.score, reply.comment_id))
    ranking.names = list(names.values())
    return ranking
