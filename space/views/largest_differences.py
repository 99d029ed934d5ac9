"""Threads with the largest differences between two systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.measures import Floats

from ..board.rows import SubmissionRow
from . import display_names
from .address import Address
from .form_controls import link
from .html import Html, tag

_SHOWN = 4


def largest_differences(a: SubmissionRow, b: SubmissionRow, threads: Sequence[Thread | None], address: Address) -> Html:
    """List for each of two systems the threads with its largest lead, as links to both rankings.

    Args:
        a: The first system.
        b: The second.
        threads: The threads, in the order of the rows' tables.
        address: State of the page.
    """
    differences = a.table.values[address.metric] - b.table.values[address.metric]
    order = np.argsort(-differences, kind="stable").tolist()
    return tag(
        "div",
        _threads_of(
            f"Where {a.label} has its largest leads",
            [i for i in order if differences[i] > 0],
            differences,
            threads,
            address,
        ),
        _threads_of(
            f"Where {b.label} has its largest leads",
            [i for i in order[::-1] if differences[i] < 0],
            differences,
            threads,
            address,
        ),
        class_="halves",
    )


def _threads_of(
    title: str, places: Sequence[int], differences: Floats, threads: Sequence[Thread | None], address: Address
) -> Html:
    items = [
        tag(
            "li",
            link(
                address,
                tag("small", f"{display_names.points(float(differences[i]))} · {thread.genre} "),
                thread.query or thread.thread_id,
                tab="threads",
                thread=thread.thread_id,
                systems=address.compare,
                compare="",
            ),
        )
        for i in places[:_SHOWN]
        for thread in (threads[i],)
        if thread is not None
    ]
    threads_list = tag("ul", items, class_="largest") if items else tag("p", "None.")
    return tag("div", tag("h3", title, dir="auto", class_="minor"), threads_list)
