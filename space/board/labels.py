"""Names for the rows of a board, such that no two look alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from musicrs_metric.compare.load import unused
from musicrs_metric.report.words import MODALITIES

from ..submission import Entry


def labels(entries: Sequence[Entry]) -> list[str]:
    """Label submissions: by name, with the modality where several share it, with a number where they share both.

    Args:
        entries: In the order in which they came in, so that a later one does not change the number of an earlier one.

    Returns:
        One label per entry, all of them different.
    """
    times = Counter(entry.card.name for entry in entries)
    made: dict[str, None] = {}
    for entry in entries:
        name = entry.card.name
        label = name if times[name] == 1 else f"{name}, {MODALITIES[entry.card.modality]}"
        made[unused(label, made)] = None
    return list(made)
