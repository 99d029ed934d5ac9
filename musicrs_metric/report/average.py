"""The mean of several systems as if it were one, so that everything said of a system can be said of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..scoring import ThreadTable


def average(tables: Sequence[ThreadTable]) -> ThreadTable:
    """Average values thread by thread, every system weighing the same.

    Args:
        tables: At least one, over the same threads.

    Returns:
        A table of the means; hits, chance and ceiling are those of the first. A thread that any system lacks counts
        as one without a prediction.
    """
    missing = np.logical_or.reduce([table.hits.missing for table in tables])
    values = {name: np.mean([table.values[name] for table in tables], axis=0) for name in tables[0].values}
    return replace(tables[0], values=values, hits=replace(tables[0].hits, missing=missing))
