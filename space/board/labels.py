"""Names of the rows, such that no two look the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from musicrs_metric.base.numbers import MODALITIES
from musicrs_metric.compare.load import unused

from ..look_alikes import look, script_mark
from ..submission import SubmissionEntry

_CHANCE = ("chance", "Chance")  # labels of the row of chance in exports and on the page


def labels(entries: Sequence[SubmissionEntry]) -> list[str]:
    """Label submissions by name, with the modality if several share the name, with a number if they share both.

    Args:
        entries: In the order of arrival, so that a later submission does not change the number of an earlier one.

    Returns:
        One label per entry. No two look the same, and none looks like the row of chance. A name in letters that look
        Latin and are not states their script.
    """
    names = [entry.card.name + script_mark(entry.card.name) for entry in entries]
    times = Counter(map(look, [*_CHANCE[:1], *names]))
    taken = set(map(look, _CHANCE))
    result = []
    for entry, name in zip(entries, names, strict=True):
        label = name if times[look(name)] == 1 else f"{name}, {MODALITIES[entry.card.modality]}"
        seen = look(label)
        free = unused(seen, taken)
        taken.add(free)
        result.append(label + free.removeprefix(seen))
    return result
