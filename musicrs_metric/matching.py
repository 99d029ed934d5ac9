"""The matching rule: which candidate a ranked string names.

Relevance is a property of a candidate's position in the pool, not of a text. A string is resolved to a position by
exact equality first. Otherwise it is resolved by equality under `normalise`, if exactly one candidate has that form.
Stronger rules are wrong: removing all punctuation turns distractors of the published pools into hits.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

_STRAIGHT_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})
_OUTER = ' \t"'

Strings = Sequence[str]


def normalise(text: str) -> str:
    """Return the form under which two titles count as the same: the paper's rule on composed Unicode.

    NFC, lower case, curly quotes straightened, then spaces, tabs and straight double quotes removed at both ends.
    Accents, inner punctuation and inner white space carry meaning and stay.

    Args:
        text: A title as a system or a person wrote it.

    Returns:
        The normal form; an empty string matches nothing.

    Raises:
        TypeError: `text` is not a string.

    Examples:
        >>> normalise(' “I Will Wait” ')
        'i will wait'
    """
    if str.isascii(text):  # most titles, eight times quicker
        return text.lower().strip(_OUTER)
    return unicodedata.normalize("NFC", text).lower().translate(_STRAIGHT_QUOTES).strip(_OUTER)


class Pool:
    """Index of one thread's candidates that resolves strings to positions.

    A candidate that appears twice, letter for letter, is one candidate at its first position.

    Args:
        candidates: The pool in stored order.
    """

    def __init__(self, candidates: Iterable[str]) -> None:
        self.place: dict[str, int] = {}
        for place, candidate in enumerate(candidates):
            self.place.setdefault(candidate, place)
        self._by_form: dict[str, int | None] | None = None

    def __len__(self) -> int:
        return len(self.place)

    def resolve(self, text: str) -> int | None:
        """Find the position of the candidate that `text` names.

        Args:
            text: A ranked or a relevant string.

        Returns:
            The position in the pool. None if no candidate matches, or if several match only after normalisation.
        """
        place = self.place.get(text)
        if place is not None:
            return place
        if self._by_form is None:
            self._by_form = unique_forms(self.place)
        return self._by_form.get(normalise(text))


def unique_forms(places: dict[str, int]) -> dict[str, int | None]:
    """Map each normal form to the single position that has it.

    Args:
        places: Candidate string to position.

    Returns:
        Normal form to position; None if several candidates share the form. The empty form is excluded.
    """
    forms: dict[str, int | None] = {}
    for text, place in places.items():
        form = normalise(text)
        if form:
            forms[form] = None if form in forms else place
    return forms


class Judgement(NamedTuple):
    """Result of judging one ranking of one thread.

    Attributes:
        found: One byte per rank, best first, after repeats were closed up: 1 for a relevant item.
        n_relevant: Distinct relevant items of the thread, in the pool or not.
        n_reachable: Those that the pool holds; equal to `n_relevant` without a pool.
        pool_size: Distinct candidates; 0 without a pool.
        n_unknown: Ranked strings that name no candidate; 0 without a pool.
        n_duplicate: Ranked strings that name a candidate for a second time.
    """

    found: bytes
    n_relevant: int
    n_reachable: int
    pool_size: int
    n_unknown: int
    n_duplicate: int


def judge_in_pool(ranking: Strings, relevant: Strings, candidates: Strings) -> Judgement:
    """Judge a ranking of strings against a pool of candidates.

    A repeated candidate keeps its first rank, and later ranks close up. A string that names no candidate keeps its
    rank as a miss.

    Args:
        ranking: Strings, best first, of any length.
        relevant: The ground truth of the thread. An item that the pool lacks stays relevant and cannot be found.
        candidates: The pool in stored order.

    Returns:
        The judgement.

    Raises:
        TypeError: An item is not a string.
    """
    "".join(candidates)  # the quickest way to learn that all are strings
    pool = dict.fromkeys(candidates, 0)
    gold = dict.fromkeys(relevant, 1)
    n_candidates = len(pool)
    pool.update(gold)
    if len(pool) == n_candidates:
        # The usual case, distinct and exact candidates, in one look-up each: a candidate is taken out as it is ranked,
        # so that its repeat fails just as an unknown string does.
        with suppress(KeyError):
            return Judgement(bytes(map(pool.pop, ranking)), len(gold), len(gold), n_candidates, 0, 0)
    return _judge_by_place(ranking, relevant, Pool(candidates))


def _judge_by_place(ranking: Strings, relevant: Strings, pool: Pool) -> Judgement:
    gold = {text if (place := pool.resolve(text)) is None else place for text in relevant}
    seen: set[int] = set()
    found = bytearray()
    n_unknown = 0
    for text in ranking:
        place = pool.resolve(text)
        if place is None:
            n_unknown += 1
        elif place in seen:
            continue
        else:
            seen.add(place)
        found.append(place in gold)
    n_reachable = sum(isinstance(item, int) for item in gold)
    return Judgement(bytes(found), len(gold), n_reachable, len(pool), n_unknown, len(ranking) - len(found))


def judge_without_pool(ranking: Strings, relevant: Strings) -> Judgement:
    """Judge a ranking of strings without a pool.

    The matching rule applies to the relevant items; exact repeats among them count once. For all other strings, exact
    equality decides whether they are repeats.

    Args:
        ranking: Strings, best first.
        relevant: The relevant strings.

    Returns:
        The judgement, with `pool_size` 0 and `n_unknown` 0.

    Raises:
        TypeError: An item is not a string.
    """
    "".join(relevant)  # refuses what is not a string, as above
    gold = Pool(relevant)
    places = {text if (place := gold.resolve(text)) is None else place: None for text in ranking}
    found = bytes(isinstance(item, int) for item in places)
    return Judgement(found, len(gold), len(gold), 0, 0, len(ranking) - len(found))
