"""Tab Threads: a thread with its query, clips, ground truth and pool, and the rankings of several systems."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import quote

from musicrs_dataset.records import Thread
from musicrs_metric.matching import Pool

from ..board.rows import SubmissionRow
from ..board.threads import Ranked
from . import display_names
from .address import Address
from .dataset_threads import PlayableClip
from .form_controls import filter_choice, form, joined_choice, link, search
from .html import Html, join, tag

SIDE_BY_SIDE = 3
_LISTED = 60
_SHOWN = 20  # titles of a ranking, as many as the largest cutoff
_OUTCOMES: Mapping[str, str] = {"no_audio": "without audio", "empty": "empty answer", "truncated": "cut off"}


def chooser(genres: Sequence[str], address: Address) -> Html:
    """Return the search fields."""
    return form(
        "Search threads",
        search("Words in the query or the titles", address),
        filter_choice("genre", "Genre", {genre: genre for genre in genres}, address),
    )


def search_threads(threads: Sequence[Thread], address: Address) -> list[Thread]:
    """Return the threads of a genre that contain all words in their query, post, titles or id."""
    wanted = address.find.casefold().split()
    return [
        thread
        for thread in threads
        if (not address.genre or thread.genre == address.genre)
        and (not wanted or all(word in _text(thread) for word in wanted))
    ]


def listing(threads: Sequence[Thread], address: Address) -> Html:
    """Render links to the threads, at most the first 60."""
    listed = threads[:_LISTED]
    items = [
        tag(
            "li",
            link(
                address,
                tag("span", _title(thread), class_="title"),
                tag(
                    "small", f"{thread.genre} · {display_names.plural(len(thread.ground_truth), 'relevant candidate')}"
                ),
                thread=thread.thread_id,
                class_="current" if thread.thread_id == address.thread else None,
            ),
        )
        for thread in listed
    ]
    number = display_names.plural(len(threads), "thread")
    if len(listed) < len(threads):
        number += f", the first {len(listed)} shown"
    return tag(
        "nav", tag("p", number, class_="soft", role="status"), tag("ul", items), class_="listing", aria_label="Threads"
    )


def panel(
    thread: Thread,
    pool: Sequence[str],
    relevant: Collection[int],
    clips: Sequence[PlayableClip],
    ranked: Sequence[Ranked],
    rows: Sequence[SubmissionRow],
) -> Html:
    """Render a thread.

    Args:
        thread: The thread.
        pool: Its candidates in the pool design that is shown.
        relevant: Positions in the pool of the relevant candidates.
        clips: Its clips.
        ranked: Rankings of the chosen systems.
        rows: Systems to choose from.
    """
    titles = [tag("li", title, dir="auto") for title in thread.ground_truth]
    candidates = [tag("li", title, class_="hit" if i in relevant else None, dir="auto") for i, title in enumerate(pool)]
    return tag(
        "article",
        tag("p", f"r/{thread.subreddit} · {thread.genre} · {thread.thread_id}", class_="soft"),
        tag("h2", _title(thread), dir="auto"),
        _folded("The post", tag("p", thread.post, class_="post", dir="auto")) if thread.post else None,
        tag("h3", "Audio"),
        _players(thread, clips),
        tag("h3", f"Ground truth ({len(titles)})"),
        tag("ul", titles, class_="inline") if titles else _soft("Empty: this thread counts as 0 for every system."),
        tag("h3", f"Rankings, the first {_SHOWN} titles"),
        _system_chooser(ranked, rows),
        tag("div", [_ranking(system, Pool(pool), relevant) for system in ranked], class_="side-by-side"),
        _folded(f"The pool ({display_names.plural(len(pool), 'candidate')})", tag("ol", candidates, class_="pool")),
        id="thread",
    )


def _folded(title: str, content: Html) -> Html:
    return tag("details", tag("summary", title), content)


def _soft(text: str) -> Html:
    return tag("p", text, class_="soft")


def _title(thread: Thread) -> str:
    return thread.query or "A thread with clips and without a query"


def _text(thread: Thread) -> str:
    parts = (thread.thread_id, thread.query or "", thread.post or "", *thread.ground_truth, *thread.candidates)
    return "\n".join(parts).casefold()


def _players(thread: Thread, clips: Sequence[PlayableClip]) -> Html:
    if not clips:
        linked = display_names.plural(len(thread.links), "link")
        return tag("p", f"The dataset has no clip of this thread ({linked} in the post).", class_="soft")
    return tag("ul", [_player(number, clip) for number, clip in enumerate(clips, 1)], class_="clips")


def _player(number: int, clip: PlayableClip) -> Html:
    label = f"Clip {number}, {clip.duration_s:.0f} s"
    url = f"gradio_api/file={quote(str(clip.file))}"
    return tag("li", tag("span", label), tag("audio", controls=True, preload="none", src=url, aria_label=label))


def _system_chooser(ranked: Sequence[Ranked], rows: Sequence[SubmissionRow]) -> Html:
    options = {"": "Choose a system", **{row.key: row.label for row in rows}}
    chosen = [system.row.key for system in ranked] + [""] * SIDE_BY_SIDE
    names = ("First system", "Second system", "Third system")
    fields = [joined_choice("systems", name, options, key) for name, key in zip(names, chosen, strict=False)]
    return form("Choose systems", *fields)


def _ranking(ranked: Ranked, pool: Pool, relevant: Collection[int]) -> Html:
    prediction = ranked.prediction
    if prediction is None:
        content = tag("p", "No prediction: this thread counts as 0.", class_="warn")
    else:
        items = list(_items(prediction.ranking, pool, relevant))
        n_hits = sum(kind == "hit" for kind, _ in items)
        outcome = (
            "" if prediction.outcome in (None, "ok") else f", {_OUTCOMES.get(prediction.outcome, prediction.outcome)}"
        )
        content = join(
            _soft(f"{n_hits} of {display_names.plural(len(relevant), 'relevant candidate')}{outcome}"),
            tag("ol", [item for _, item in items]),
        )
    return tag("section", tag("h4", ranked.row.label, dir="auto"), content, class_="ranking")


def _items(ranking: Sequence[str], pool: Pool, relevant: Collection[int]) -> Iterator[tuple[str, Html]]:
    """Yield the first titles with their kind. As in the scores, an unknown title counts and a repeated one does not."""
    seen: set[int] = set()
    shown = 0
    for title in ranking:
        place = pool.resolve(title)
        if place in seen:
            continue
        if shown == _SHOWN:
            return
        shown += 1
        kind, note = "", None
        if place is None:
            kind, note = "unknown", "not in the pool"
        else:
            seen.add(place)
            kind, note = ("hit", "relevant") if place in relevant else ("", None)
        yield (
            kind,
            tag("li", title, tag("span", f" ({note})", class_="note") if note else None, class_=kind, dir="auto"),
        )
