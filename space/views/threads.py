"""One conversation: what was asked, how it sounds, what could be recommended, and what each system made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import quote

from musicrs_dataset.records import Thread
from musicrs_metric.matching import Pool

from ..board.rows import SubmissionRow
from ..board.threads import Ranked
from . import display_names
from .address import Address
from .conversations import PlayableClip
from .form_controls import filter_choice, form, joined_choice, link, search
from .html import Html, join, tag

SIDE_BY_SIDE = 3
_LISTED = 60
_SHOWN = 20  # places of a ranking, as many as the largest cutoff counts
_OUTCOMES: Mapping[str, str] = {"no_audio": "without audio", "empty": "empty answer", "truncated": "cut off"}


def chooser(genres: Sequence[str], address: Address) -> Html:
    """The fields that search threads."""
    return form(
        "Search threads",
        search("Words in the request or the titles", address),
        filter_choice("genre", "Genre", {genre: genre for genre in genres}, address),
    )


def found(threads: Sequence[Thread], address: Address) -> list[Thread]:
    """The threads that fit genre and words; words are looked for in requests, posts, titles and ids."""
    wanted = address.find.casefold().split()
    return [
        thread
        for thread in threads
        if (not address.genre or thread.genre == address.genre)
        and (not wanted or all(word in _text(thread) for word in wanted))
    ]


def listing(threads: Sequence[Thread], address: Address) -> Html:
    """The threads as links; of very many the first ones."""
    shown = threads[:_LISTED]
    more = len(threads) - len(shown)
    items = [
        tag(
            "li",
            link(
                address,
                tag("span", _title(thread), class_="title"),
                tag("small", f"{thread.genre} · {display_names.plural(len(thread.ground_truth), 'right answer')}"),
                thread=thread.thread_id,
                class_="current" if thread.thread_id == address.thread else None,
            ),
        )
        for thread in shown
    ]
    told = display_names.plural(len(threads), "thread") + (f", the first {len(shown)} shown" if more else "")
    return tag(
        "nav", tag("p", told, class_="soft", role="status"), tag("ul", items), class_="listing", aria_label="Threads"
    )


def panel(
    thread: Thread,
    pool: Sequence[str],
    right: Collection[int],
    sounds: Sequence[PlayableClip],
    ranked: Sequence[Ranked],
    rows: Sequence[SubmissionRow],
) -> Html:
    """Make the panel of a thread.

    Args:
        thread: The thread.
        pool: Its candidates in the design of pools that is shown.
        right: Places in the pool of what is right.
        sounds: Its clips.
        ranked: What the chosen systems made of it.
        rows: Systems that can be chosen.
    """
    answers = [tag("li", title, dir="auto") for title in thread.ground_truth]
    candidates = [tag("li", title, class_="hit" if i in right else None, dir="auto") for i, title in enumerate(pool)]
    return tag(
        "article",
        tag("p", f"r/{thread.subreddit} · {thread.genre} · {thread.thread_id}", class_="soft"),
        tag("h2", _title(thread), dir="auto"),
        _folded("The post", tag("p", thread.post, class_="post", dir="auto")) if thread.post else None,
        tag("h3", "Audio"),
        _players(thread, sounds),
        tag("h3", f"Right answers ({len(answers)})"),
        tag("ul", answers, class_="inline") if answers else _soft("None: this thread counts as 0 for every system."),
        tag("h3", f"Rankings, the first {_SHOWN} places"),
        _system_chooser(ranked, rows),
        tag("div", [_ranking(one, Pool(pool), right) for one in ranked], class_="side-by-side"),
        _folded(f"The pool ({display_names.plural(len(pool), 'candidate')})", tag("ol", candidates, class_="pool")),
        id="thread",
    )


def _folded(title: str, content: Html) -> Html:
    return tag("details", tag("summary", title), content)


def _soft(text: str) -> Html:
    return tag("p", text, class_="soft")


def _title(thread: Thread) -> str:
    return thread.query or "A request by its clips alone"


def _text(thread: Thread) -> str:
    parts = (thread.thread_id, thread.query or "", thread.post or "", *thread.ground_truth, *thread.candidates)
    return "\n".join(parts).casefold()


def _players(thread: Thread, sounds: Sequence[PlayableClip]) -> Html:
    if not sounds:
        linked = display_names.plural(len(thread.links), "link")
        return tag("p", f"This dataset carries no clip of this thread ({linked} in the post).", class_="soft")
    return tag("ul", [_player(number, sound) for number, sound in enumerate(sounds, 1)], class_="clips")


def _player(number: int, sound: PlayableClip) -> Html:
    label = f"Clip {number}, {sound.duration_s:.0f} s"
    url = f"gradio_api/file={quote(str(sound.file))}"
    return tag("li", tag("span", label), tag("audio", controls=True, preload="none", src=url, aria_label=label))


def _system_chooser(ranked: Sequence[Ranked], rows: Sequence[SubmissionRow]) -> Html:
    options = {"": "Choose a system", **{row.key: row.label for row in rows}}
    chosen = [one.row.key for one in ranked] + [""] * SIDE_BY_SIDE
    names = ("First system", "Second system", "Third system")
    fields = [joined_choice("systems", name, options, key) for name, key in zip(names, chosen, strict=False)]
    return form("Choose systems", *fields)


def _ranking(one: Ranked, pool: Pool, right: Collection[int]) -> Html:
    made = one.prediction
    if made is None:
        shown = tag("p", "No prediction: this thread counts as 0.", class_="warn")
    else:
        items = list(_items(made.ranking, pool, right))
        n_right = sum(kind == "hit" for kind, _ in items)
        outcome = "" if made.outcome in (None, "ok") else f", {_OUTCOMES.get(made.outcome, made.outcome)}"
        shown = join(
            _soft(f"{n_right} of {display_names.plural(len(right), 'right answer')}{outcome}"),
            tag("ol", [item for _, item in items]),
        )
    return tag("section", tag("h4", one.row.label, dir="auto"), shown, class_="ranking")


def _items(ranking: Sequence[str], pool: Pool, right: Collection[int]) -> Iterator[tuple[str, Html]]:
    """The first places with their kind, by the rule of the scores: a repeat takes no place, what is unknown does."""
    seen: set[int] = set()
    shown = 0
    for title in ranking:
        place = pool.resolve(title)
        if place in seen:
            continue
        if shown == _SHOWN:
            return
        shown += 1
        kind, told = "", None
        if place is None:
            kind, told = "unknown", "not in the pool"
        else:
            seen.add(place)
            kind, told = ("hit", "right") if place in right else ("", None)
        yield (
            kind,
            tag("li", title, tag("span", f" ({told})", class_="told") if told else None, class_=kind, dir="auto"),
        )
