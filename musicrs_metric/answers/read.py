"""The reading of one answer: its ranking by stated rules, and the account of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..base.thinking import without_thinking
from ..matching import Pool, normalise
from ..runs.prediction_line import Outcome
from .candidates import Candidates
from .choose import chosen
from .found import FoundList
from .joining import joined
from .markup import MOST_READ, answer_region, plain
from .prose import invented, named_in_prose
from .result import Item, Ledger, Reading
from .scan import scan

REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|as an ai\b|unable to|not able to"
    r"|(?:can(?:not|['’]?t| not)|could(?:n['’]t| not)|won['’]t|will not|do(?:n['’]t| not) have)\b)"
    r"|抱歉|无法|不能",
    re.IGNORECASE,
)


def read_answer(text: str, pool: Pool, *, numbered: bool, cut: bool) -> Reading:
    """Read the ranking that a language model wrote, in a stated order.

    1. Thinking is removed (`base.thinking`). A block that never ends leaves nothing behind its start.
    2. Wrapping becomes plain lines (`markup`): fences, links, LaTeX and its boxes, HTML and XML. The text between
       `<answer>` and `</answer>` is read alone where it names a candidate.
    3. All lists are found, each with its place in the answer: JSON (`values`), tables (`tables`), rows such as
       `[3] > [1]` (`rows`) and lines (`lines`). Structured forms are put in the order that they mean: by rank, else by
       score, the highest first, ties as listed (`fields`, `maps`, `scores`).
    4. The heading, the key or the words in front of a list say what it is (`headings`): the final ranking, a ranking,
       the next part of a list, a draft, a walk through the candidates, a list of what is left out, a remark.
    5. Parts are joined (`joining`): a list that goes on where the one before stopped and shares no candidate with it.
    6. The ranking is the last list of two candidates or more that states a ranking (`choose`): a heading says so, or
       its form does (`>`, ranks, scores, numbered lines, JSON, lines and rows of nothing but candidates). Drafts,
       walks, remarks and lists of what is left out state no ranking. If the last list is not called final and only
       repeats the start of a longer ranking, it is a summary, and the longer ranking counts.
    7. A list in the order of the pool (all candidates, its first three or more, or any five) is a walk through the
       prompt and no ranking. There are two exceptions: a heading or the form says that it is a ranking, or the answer
       is this list alone in the form that the prompt asked for.
    8. If no list states a ranking, the first of these that exists is read: the last other list of two or more; a single
       candidate called the answer; a draft; a single candidate; a list under the heading of a walk whose order is not
       that of the pool. In an answer without a list, the candidates in quotes, bold or brackets or between commas
       count. An answer that only walks through the candidates is "failed", and its ranking is filled in random order.

    Args:
        text: The answer; anything at all.
        pool: The candidates.
        numbered: Whether the prompt asked for numbers: the distinct candidates, counted from 1 in the order of the
            pool. Titles are read all the same; without it a number is only ever a title.
        cut: Whether the model was stopped by its budget.

    Returns:
        The reading; it takes time linear in the length of the text.
    """
    visible = without_thinking(text.encode(errors="replace").decode()[: 4 * MOST_READ], cut=cut)
    candidates = Candidates(pool, numbered=numbered)
    answer, found = _best_region(visible.text, candidates)
    items = list(filter(_is_something, found.items))
    if cut and (last := _unfinished(items, answer, candidates)) is not None:
        items[last] = items[last]._replace(place=None)
    places = tuple(dict.fromkeys(item.place for item in items if item.place is not None))
    n_unknown = sum(item.place is None for item in items)
    ledger = Ledger(
        named=len(places),
        repeated=len(items) - n_unknown - len(places),
        unknown=n_unknown,
        filled=len(pool) - len(places),
        truncated=cut or visible.is_open or found.is_open,
        refusal=not places and not found.has_walk and REFUSAL.search(answer) is not None,
    )
    is_empty = not visible.is_open and not any(map(str.isalnum, answer))
    return Reading(places, tuple(items), ledger, _outcome(ledger, is_empty))


def _outcome(ledger: Ledger, is_empty: bool) -> Outcome:
    if not ledger.named:
        return "empty" if is_empty else "refusal" if ledger.refusal else "failed"
    if not (ledger.filled or ledger.repeated or ledger.unknown):
        return "ok"
    return "truncated" if ledger.truncated else "repaired"


class _Ranking(NamedTuple):
    items: tuple[Item, ...] = ()
    is_open: bool = False
    has_walk: bool = False  # though no ranking
    is_final: bool = False  # its heading says so


def _best_region(text: str, candidates: Candidates) -> tuple[str, _Ranking]:
    """The lines that were read, and the ranking in them."""
    region = answer_region(text)
    if region is not None:
        # A correction behind the answer counts; other words there do not.
        for part, is_behind in ((region.behind, True), (region.inside, False)):
            answer = plain(part, numbered=candidates.numbered)
            ranking = _ranking(answer, candidates)
            if ranking.is_final if is_behind else any(item.place is not None for item in ranking.items):
                return answer, ranking
    answer = plain(text, numbered=candidates.numbered)
    return answer, _ranking(answer, candidates)


def _ranking(answer: str, candidates: Candidates) -> _Ranking:
    lists = joined(scan(answer, candidates), candidates)
    naming = [found for found in lists if found.places]
    found = chosen(naming, candidates, is_alone=_is_alone(naming, answer))
    if found is not None:
        return _Ranking(found.items, found.is_open, is_final=found.purpose == "final" and found.is_headed)
    if naming:
        return _Ranking(is_open=naming[-1].is_open, has_walk=True)
    items = named_in_prose(answer, candidates)
    if not items and lists:
        return _Ranking(lists[-1].items, lists[-1].is_open)
    return _Ranking(tuple(items or invented(answer)))


def _is_alone(lists: Sequence[FoundList], answer: str) -> bool:
    """Check whether an answer is one list and nothing else."""
    n_lines = sum(bool(line.strip()) for line in answer.split("\n"))
    return (
        len(lists) == 1
        and (lists[0].kind == "values" or n_lines <= max(1, len(lists[0].entries)))
        and n_lines <= 1 + lists[0].end - lists[0].start
    )


def _is_something(item: Item) -> bool:
    """Check whether an item names a candidate or may be a title at all: a marker without text is neither."""
    return item.place is not None or any(map(str.isalnum, item.text))


def _unfinished(items: Sequence[Item], answer: str, candidates: Candidates) -> int | None:
    """The item that stands where the answer was cut, if it may be the beginning of another candidate."""
    end = answer.rstrip()
    # A title of punctuation alone, such as `!!!`, has no text left.
    at = next((at for at in reversed(range(len(items))) if items[at].text and end.endswith(items[at].text)), None)
    if at is None or items[at].place is None:
        return None
    text = items[at].text
    if candidates.numbered and text.isdecimal():
        return at if candidates.goes_on(text) else None
    start, named = normalise(text), {item.place for item in items}
    others = (title for title, place in candidates.pool.place.items() if place not in named)
    return at if any(normalise(title).startswith(start) for title in others) else None
