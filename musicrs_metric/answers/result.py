"""Result of reading an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..runs.prediction_line import Outcome


class Item(NamedTuple):
    """One thing that an answer lists.

    Attributes:
        text: The item as the model wrote it, without marker and quotes.
        place: The candidate that it names, by its place in the pool; None where it names none or could be several.
    """

    text: str
    place: int | None


class Ledger(NamedTuple):
    """The account of an answer: `named + repeated + unknown` are its items, `named + filled` is the pool.

    Attributes:
        named: Distinct candidates that it names.
        repeated: Items that name a candidate once more.
        unknown: Items that name no candidate: invented titles, numbers out of range, what could be several.
        filled: Candidates that it does not name.
        truncated: Whether it stops in the middle, by the model's own word or because something stays open.
        refusal: Whether it names nothing and says that the model cannot or will not answer.
    """

    named: int
    repeated: int
    unknown: int
    filled: int
    truncated: bool
    refusal: bool


@dataclass(frozen=True)
class Reading:
    """One answer, read.

    Attributes:
        places: Places of the candidates that it names, best first, each once.
        items: Everything that it lists, in order, repeats and unknown titles among it; talk is no item.
        ledger: The account.
        outcome: "ok" if it names every candidate once and nothing else; else "truncated" if it stops in the middle, and
            "repaired" if it names some. An answer that names none is "empty" if nothing was written, a "refusal", or
            "failed".
    """

    places: tuple[int, ...]
    items: tuple[Item, ...]
    ledger: Ledger
    outcome: Outcome
