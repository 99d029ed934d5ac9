"""Answers of a thread, in order of the upvotes of their replies."""

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
        score: Upvotes minus downvotes. None if unknown.
        created_utc: Time in seconds since 1970.
        by_asker: The asker wrote the reply.
        entities: Entities in final spelling.
    """

    comment_id: str
    score: int | None
    created_utc: int
    by_asker: bool
    entities: Entities


class Asked(NamedTuple):
    """Texts and names of the asker. None of them is an answer.

    Attributes:
        post: Title and text.
        query: The query.
        names: Entities of the post, in final spelling.
    """

    post: str
    query: str
    names: Entities


@dataclass
class Ranking:
    """The answers of one thread.

    Attributes:
        answers: Best first.
        names: Every name of the wanted kinds, each title once, in the same order.
        dropped: Mentions that are no answers, by reason.
    """

    answers: list[Answer] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def by_upvotes(replies: Iterable[Reply]) -> list[Reply]:
    """Order replies: most upvoted first, unknown scores last. On ties, older replies come first, then by id."""
    return sorted(
        replies,
        key=lambda reply: (
            -(-math.inf if reply.score is None else reply.score),
            reply.created_utc,
            reply.comment_id,
        ),
    )


def named(entities: Entities) -> list[tuple[Kind, str]]:
    """Return the names with their kinds: songs, artists, albums."""
    return [
        *(("song", name) for name in entities.songs),
        *(("artist", name) for name in entities.artists),
        *(("album", name) for name in entities.albums),
    ]


def rank(replies: Sequence[Reply], asked: Asked, kinds: Collection[Kind]) -> Ranking:
    """Rank the entities in the replies of a thread.

    The rank of a title is that of the most upvoted reply that names it. Titles of one reply keep the order of the
    extraction. A name is no answer if it has another kind, if only replies by the asker have it, if the post names it
    (the asker knows it), or if the query names it (word matching alone would find it).

    Args:
        replies: The replies, in any order.
        asked: Texts and names of the asker.
        kinds: Kinds of entities to recommend.

    Returns:
        The answers, each title once.
    """
    ranking = Ranking()
    named_by_asker = {normalise(name) for _, name in named(asked.names)}
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
            elif reply.by_asker:  # another reply may still name it
                ranking.dropped[BY_ASKER] += 1
            else:
                judged.add(form)
                if form in named_by_asker or post.name(name):
                    ranking.dropped[IN_POST] += 1
                elif query.name(name):
                    ranking.dropped[IN_QUERY] += 1
                else:
                    ranking.answers.append(Answer(kind, name, reply.score, reply.comment_id))
    ranking.names = list(names.values())
    return ranking
