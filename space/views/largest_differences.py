"""The threads on which two systems lie furthest apart."""

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
    """For each of two systems the threads on which it is furthest ahead, as links to both rankings.

    Args:
        a: The first system.
        b: The second.
        threads: The conversations, in the order of the rows' tables.
        address: What the page shows.
    """
    apart = a.table.values[address.metric] - b.table.values[address.metric]
    order = np.argsort(-apart, kind="stable").tolist()
    return tag(
        "div",
        _threads_of(f"Where {a.label} is furthest ahead", [i for i in order if apart[i] > 0], apart, threads, address),
        _threads_of(
            f"Where {b.label} is furthest ahead", [i for i in order[::-1] if apart[i] < 0], apart, threads, address
        ),
        class_="halves",
    )


def _threads_of(
    title: str, places: Sequence[int], apart: Floats, threads: Sequence[Thread | None], address: Address
) -> Html:
    items = [
        tag(
            "li",
            link(
                address,
                tag("small", f"{display_names.points(float(apart[i]))} · {thread.genre} "),
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
    shown = tag("ul", items, class_="furthest") if items else tag("p", "Nowhere.")
    return tag("div", tag("h4", title, dir="auto"), shown)
