"""What the numbers mean, what they do not, and how to take part and to cite."""

from __future__ import annotations

from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.citation import BIBTEX

from ..board.table_rows import TableRow
from . import display_names
from .address import Address
from .html import Html, join, tag

_PAPER = "https://arxiv.org/abs/2509.19469"
_SUBMIT = "musicrs-metric submit runs/mine --space URL"


def about(chance: TableRow, address: Address) -> Html:
    """Make the tab.

    Args:
        chance: The line of chance on the design of pools that is shown.
        address: What the page shows.
    """
    return tag(
        "article",
        *_task(),
        *_table(chance),
        *_artefacts(),
        *_taking_part(address),
        tag("h2", "Cite"),
        tag("pre", BIBTEX.strip(), tabindex=0),
        class_="text",
    )


def _task() -> tuple[Html, ...]:
    return (
        tag("h2", "The task"),
        tag(
            "p",
            "MusiCRS (",
            tag("a", "Surana et al. 2025", href=_PAPER, rel="noopener noreferrer", target="_blank"),
            ") takes conversations from Reddit in which somebody asks for music. A system is given the request in "
            "words (query only), the clips that were linked (audio only), or both, and puts the candidates of the "
            "thread’s pool, about a hundred songs, artists and albums, in an order. What the community recommended is "
            "right.",
        ),
    )


def _table(chance: TableRow) -> tuple[Html, ...]:
    level = display_names.percent(chance.values.get("recall@20"))
    points = (
        (
            "Scores",
            "recall@20 is the share of the right answers among the first twenty, nDCG@20 weighs them by their rank, "
            "MRR is one over the rank of the first. Means over all threads; a thread without a prediction, or without "
            "a right answer, counts as 0. They are computed here from the predictions and never read from a file.",
        ),
        (
            f"Chance is {level}, not 0",
            "A random order of a pool finds right answers too; what it reaches on average follows from the sizes of "
            "pools and answers and is exact. "
            f"Rule for {VERDICT_RULE}. The verdict of a row depends on that row alone. It covers the threads with a "
            "prediction.",
        ),
        (
            "Intervals",
            "95 %: how far the score would move with other threads of the same kind. From 450 threads on by drawing "
            "threads again ten thousand times, below by Gaffke’s bounds, and not for fewer than five threads. Whether "
            "two systems differ is told by their paired difference (tab Compare), not by whether their intervals "
            "overlap.",
        ),
        (
            "Rank and group",
            "Rank among the systems that read the same, on the same pools. Group 1 is the best one and all that a "
            "paired t test cannot tell from it, corrected for all pairs; without these, group 2 is made in the same "
            "way, and so on.",
        ),
        (
            "Reads",
            "What a system looks at beyond the thread it is asked about. Other threads’ pools or answers give away "
            "more than music does, so those systems have ranks of their own.",
        ),
        (
            "Reported",
            "Figures of the paper’s Table 1. Their predictions are not public, so they cannot be computed again and "
            "have no interval and no rank.",
        ),
    )
    return (
        tag("h2", "How to read the table"),
        tag("dl", [join(tag("dt", name), tag("dd", text)) for name, text in points]),
    )


def _artefacts() -> tuple[Html, ...]:
    return (
        tag("h2", "What the pools give away"),
        tag(
            "p",
            "The wrong candidates of a published pool come from other threads of the same subreddit. A title that is "
            "popular there, or that is right elsewhere, is therefore more often wrong here: counting titles ranks "
            "below chance, and whoever ranks other threads’ answers last reaches high scores without music. The "
            "balanced pools of this project take away what counting tells. No pools take away what labels tell; a "
            "system that was trained on these threads has to say so.",
        ),
    )


def _taking_part(address: Address) -> tuple[Html, ...]:
    return (
        tag("h2", "Take part"),
        tag(
            "p",
            "Write one JSON object a thread, ",
            tag("code", '{"thread_id": "t3_...", "ranking": ["best", "next", ...]}'),
            ", in any order, from any language, and send the file on the tab ",
            tag("a", "Submit", href=address.to(tab="submit"), data_go=True),
            " or from the command row:",
        ),
        tag("pre", _SUBMIT, tabindex=0),
    )
