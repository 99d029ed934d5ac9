"""Names for the rows of a board, such that no two look alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from musicrs_metric.base.numbers import MODALITIES
from musicrs_metric.compare.load import unused

from ..submission import SubmissionEntry

# Joiners and variation selectors, which change how letters of some scripts look, and show nothing by themselves.
_UNSEEN = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_CHANCE = ("chance", "Chance")  # what exports and page call the line that is no submission


def labels(entries: Sequence[SubmissionEntry]) -> list[str]:
    """Label submissions: by name, with the modality where several share it, with a number where they share both.

    Args:
        entries: In the order in which they came in, so that a later one does not change the number of an earlier one.

    Returns:
        One label per entry; no two show the same, and none shows what the line of chance does.
    """
    times = Counter([*_CHANCE, *(_seen(entry.card.name) for entry in entries)])
    taken = set(_CHANCE)
    made = []
    for entry in entries:
        name = entry.card.name
        label = name if times[_seen(name)] == 1 else f"{name}, {MODALITIES[entry.card.modality]}"
        seen = _seen(label)
        free = unused(seen, taken)
        taken.add(free)
        made.append(label + free.removeprefix(seen))
    return made


def _seen(label: str) -> str:
    return _UNSEEN.sub("", label)
