"""The paper's filters and the rules that it leaves open, as numbers and switches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """What makes a thread a conversation, and a comment a reply (MusiCRS paper, section 3).

    A submission or comment that several dumps hold counts once, as it was captured last; where that is not known, as
    the last dump by name has it. What was taken back by then, by its author, a moderator or Reddit, is left out; a
    capture without its time that was taken back counts as the last one. A row is left out for the first reason that
    holds, in the order of `builder_scripts.threads.filters`.

    Attributes:
        min_replies: A thread needs that many first-level replies that pass the rules below.
        min_chars: A reply needs that many code points, blanks around it apart.
        keep_deleted: Take what was deleted or removed as it was captured before, where a dump has that. Off by default:
            who takes something back should not find it in a benchmark.
        keep_bots: Keep what programs wrote (see `builder_scripts.mine.authors.is_bot`).
        keep_stickied: Keep the comments that moderators have pinned to the top.
        asker_counts: Count the asker's own replies among the `min_replies`. They stay replies of the thread either way.
    """

    min_replies: int = 3
    min_chars: int = 5
    keep_deleted: bool = False
    keep_bots: bool = False
    keep_stickied: bool = False
    asker_counts: bool = True
