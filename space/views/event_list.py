"""Event log in the notice for leaderboard owners."""

from __future__ import annotations

from collections.abc import Sequence

from ..events import Event
from .html import Html, data_table, tag

_SHOWN_OF_KEY = 12


def event_list(events: Sequence[Event]) -> Html:
    """Render the last events, newest first; empty without any."""
    if not events:
        return Html()
    rows = [
        tag("tr", [tag("td", text, dir="auto") for text in (event.time[:19], event.event, event.key[:_SHOWN_OF_KEY],
                                                            event.caller, event.note)])
        for event in events
    ]  # fmt: skip
    table = data_table(("Time (UTC)", "Event", "Key", "Caller (hash)", "Note"), rows, class_="figures events")
    head = tag("summary", f"Only you see this: the last {len(events)} events")
    return tag("details", head, tag("div", table, class_="scroll", tabindex=0), class_="warn")
