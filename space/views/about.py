"""Tab About: the task, the meaning of the numbers, the limits of the pools, how to take part and how to cite."""

from __future__ import annotations

from musicrs_metric.citation import BIBTEX

from ..board.table_rows import TableRow
from . import display_names
from .address import Address
from .html import Html, join, tag

_PAPER = "https://arxiv.org/abs/2509.19469"
_SUBMIT = "musicrs-metric submit runs/mine --space URL"


def about(chance: TableRow, address: Address) -> Html:
    """Render the tab.

    Args:
        chance: The row of chance on the pool design that is shown.
        address: State of the page.
    """
    return tag(
        "article",
        tag("h2", "The task"),
        _task(),
        tag("h2", "How to read the table"),
        tag("dl", [join(tag("dt", term), tag("dd", text)) for term, text in _terms(chance)]),
        tag("h2", "Information in the pools"),
        tag("p", _POOLS),
        tag("h2", "Take part"),
        *_taking_part(address),
        tag("h2", "Cite"),
        tag("pre", BIBTEX.strip(), tabindex=0),
        class_="text",
    )


def _task() -> Html:
    return tag(
        "p",
        "MusiCRS (",
        tag("a", "Surana et al. 2025", href=_PAPER, rel="noopener noreferrer", target="_blank"),
        ") takes threads from Reddit in which a user asks for music. A system takes the query as text (query only), "
        "the linked clips (audio only), or both. It ranks the pool of the thread: about one hundred songs, artists and "
        "albums. Relevant candidates are those that the community recommended.",
    )


def _terms(chance: TableRow) -> tuple[tuple[str, str], ...]:
    level = display_names.percent(chance.values.get("recall@20"))
    return (
        (
            "Scores",
            "recall@20 is the share of the relevant candidates among the first twenty. nDCG@20 weights them by their "
            "rank. MRR is one over the rank of the first one. Scores are means over all threads. A thread without a "
            "prediction, or without a relevant candidate, counts as 0. The leaderboard computes all scores from the "
            "predictions and reads none from a file.",
        ),
        (
            f"Chance is {level}, not 0",
            "A random order of a pool also has relevant candidates at its top. Its expected score is exact. It follows "
            "from the number of candidates and of relevant ones. "
            f"Rule for {chance.verdict_rule}. The verdict of a row depends on that row alone. It covers the "
            f"{chance.unit}s with a prediction.",
        ),
        (
            "Intervals",
            "95 %: the range of the score over other threads of the same kind. From 450 threads on it comes from ten "
            "thousand resamples of the threads, below from Gaffke’s bounds. Fewer than five threads have none. To "
            "decide if two systems differ, use their paired difference (tab Compare), not the overlap of their "
            "intervals.",
        ),
        (
            "Rank and group",
            "The rank is among the systems that read the same, on the same pools. Group 1 holds the best system and "
            "all that a paired t test, corrected for the better systems of the group, does not separate from it. Group "
            "2 is built in the same way from the rest, and so on.",
        ),
        (
            "Reads",
            "The data that a system uses beyond its own thread. Pools and relevant candidates of other threads help "
            "more than music does, so these systems have ranks of their own.",
        ),
        (
            "Reported",
            "Results from Table 1 of the paper. Their predictions are not public. They cannot be recomputed, and have "
            "no interval and no rank.",
        ),
    )


_POOLS = (
    "The distractors of a published pool come from other threads of the same subreddit. A title that is popular there, "
    "or relevant in another thread, is therefore more often a distractor here. Counting titles ranks below chance. "
    "Ranking the relevant candidates of other threads last reaches high scores without music. The balanced pools of "
    "this project remove the information in the counts. No pools remove the information in labels: a system that was "
    "trained on these threads must declare it."
)


def _taking_part(address: Address) -> tuple[Html, ...]:
    return (
        tag(
            "p",
            "Write one JSON object per thread, ",
            tag("code", '{"thread_id": "t3_...", "ranking": ["best", "next", ...]}'),
            ", in any order and with any program. Send the file on the tab ",
            tag("a", "Submit", href=address.to(tab="submit"), data_go=True),
            " or from the command line:",
        ),
        tag("pre", _SUBMIT, tabindex=0),
    )
