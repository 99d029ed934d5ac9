"""Titles of threads outside the benchmark, as distractors that are nobody's answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..extract.mentions import Kind
from ..layout import Work
from ..refine.merges import Spellings, read_merges
from ..refine.ranking import named
from ..refine.stage import count_spellings
from ..refine.tables import read_conversations


def titles_outside(work: Work, inside: Collection[str], kinds: Sequence[Kind]) -> dict[str, list[str]]:
    """Collect what the replies of all other filtered threads name.

    Args:
        work: The work folder, refined.
        inside: Ids of the threads of the benchmark.
        kinds: What may be recommended.

    Returns:
        Subreddit to titles, in their merged spelling.
    """
    conversations = read_conversations(work)
    spell = Spellings(count_spellings(conversations), read_merges(work.merges))
    titles: dict[str, dict[str, None]] = {}
    for conversation in conversations:
        if conversation.thread_id not in inside:
            mentions = [mention for reply in conversation.replies for mention in named(reply.entities)]
            own = titles.setdefault(conversation.subreddit, {})
            own.update(dict.fromkeys(spell(kind, name) for kind, name in mentions if kind in kinds))
    return {subreddit: list(own) for subreddit, own in titles.items()}
