"""Names of the rows, such that no two look the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from musicrs_metric.base.numbers import MODALITIES
from musicrs_metric.compare.load import unused

from ..submission import SubmissionEntry

# Joiners and variation selectors change the look of letters in some scripts, and are invisible by themselves.
_UNSEEN = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_CHANCE = ("chance", "Chance")  # labels of the row of chance in exports and on the page


def labels(entries: Sequence[SubmissionEntry]) -> list[str]:
    """Label submissions by name, with the modality if several share the name, with a number if they share both.

    Args:
        entries: In the order of arrival, so that a later submission does not change the number of an earlier one.

    Returns:
        One label per entry. No two look the same, and none looks like the row of chance.
    """
    times = Counter([*_CHANCE, *(_seen(entry.card.name) for entry in entries)])
    taken = set(_CHANCE)
    result = []
    for entry in entries:
        name = entry.card.name
        label = name if times[_seen(name)] == 1 else f"{name}, {MODALITIES[entry.card.modality]}"
        seen = _seen(label)
        free = unused(seen, taken)
        taken.add(free)
        result.append(label + free.removeprefix(seen))
    return result


def _seen(label: str) -> str:
    return _UNSEEN.sub("", label)
