"""What strangers wrote is text on the page, players come from video ids alone, and fields give back what was put in."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder_scripts.annotate import page
from builder_scripts.annotate.answers import Answers, EntityAnswer, LinkAnswer
from builder_scripts.annotate.form import LONGEST, Shape, entity_label, read_fields, write_fields
from builder_scripts.annotate.session import Progress, View
from builder_scripts.annotate.worklist import CATEGORIES, Entity, Reply
from musicrs_dataset.records import Link
from musicrs_metric.errors import UserError

from .annotate_toy import ATTACK, answered, item, video


class Seen(HTMLParser):
    """Tags with attributes, and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_threads_are_text() -> None:
    """Markup of a title, a post, a reply and an entity is shown, not done."""
    seen = Seen(page.thread_panel(item(hostile=ATTACK)))
    assert {tag for tag, _ in seen.tags} <= {"article", "p", "a", "h2", "h3", "div", "ol", "li", "span", "mark"}
    assert seen.text.count(ATTACK) == 5  # title, post, three replies
    assert all(name in ("class", "title", "href", "target", "rel") for _, tags in seen.tags for name in tags)


def test_entities_are_marked() -> None:
    """Every occurrence is marked, whatever its case; the longer of two names wins."""
    thread = replace(
        item(entities=0),
        entities=(Entity("song", "So What"), Entity("song", "So What Else?")),
        replies=(Reply("t1_1", 3, "so what? SO WHAT ELSE? & so on"),),
    )
    html = page.thread_panel(thread)
    assert "<mark>so what</mark>? <mark>SO WHAT ELSE?</mark> &amp; so on" in html


def test_only_a_thread_id_becomes_an_address() -> None:
    """The link to Reddit is made from an id of the right form or not at all."""
    (address,) = [tags["href"] for tag, tags in Seen(page.thread_panel(item())).tags if tag == "a"]
    assert address == "https://redd.it/0000"
    hostile = replace(item(), thread_id="t3_x/../../evil")
    assert not [tag for tag, _ in Seen(page.thread_panel(hostile)).tags if tag == "a"]


def test_players_are_made_from_ids() -> None:
    """The player of YouTube without cookies, from the second of the link; the link itself is text."""
    link = Link(video(7), 90.4, f"https://youtu.be/{video(7)}{ATTACK}", "gone")
    seen = Seen(page.player(2, link, {}))
    (frame,) = [tags for tag, tags in seen.tags if tag == "iframe"]
    assert frame["src"] == f"https://www.youtube-nocookie.com/embed/{video(7)}?start=90"
    assert frame["loading"] == "lazy"
    assert ATTACK in seen.text
    assert "from 1:30" in seen.text
    assert "no longer on YouTube" in seen.text
    assert {tag for tag, _ in seen.tags} == {"div", "b", "br", "code", "details", "summary", "iframe"}


@pytest.mark.parametrize("bad", ['"><script>', "videoseries", "jNQXAC9IVRwx", ""])
def test_no_player_without_an_id(bad: str) -> None:
    """What is no id is never part of an address."""
    tags = {tag for tag, _ in Seen(page.player(1, Link(bad, 0, "x"), {bad: Path("/a")})).tags}
    assert not tags & {"iframe", "audio", "script"}


def test_downloaded_sound_is_played_from_here() -> None:
    """Where the audio was fetched, it is played in place of YouTube's player."""
    tags = Seen(page.player(1, Link(video(1), 5, "x"), {video(1): Path('/a b/"1".webm')})).tags
    (audio,) = [attributes for tag, attributes in tags if tag == "audio"]
    assert audio["src"] == "gradio_api/file=/a%20b/%221%22.webm#t=5"
    assert "iframe" not in {tag for tag, _ in tags}


def test_progress_puts_oneself_first() -> None:
    """Everybody's progress is shown, names as text."""
    view = View("Bob", item(), answered(item()), 3, (Progress("A<b>", 1, 4), Progress("Bob", 4, 6)))
    text = Seen(page.progress_panel(view)).text
    assert text.startswith("Thread 4 of 6. 2 threads of yours left.")
    assert text.index("Bob4 of 6") < text.index("A<b>1 of 4")


def test_who_has_no_thread_is_told() -> None:
    """A latecomer for whom nothing is left sees why the page is empty."""
    html = page.progress_panel(View("Bob", None, None, 0, (Progress("Bob", 0, 0),)))
    assert "There is no thread left that needs you." in Seen(html).text


def test_labels_of_entities() -> None:
    """Kind and name, who names it, and where."""
    thread = item(entities=1)
    assert entity_label(thread, thread.entities[0]) == "song: Song 0.0 · named by 1 reply\nTry Song 0.0!"
    asked = Entity("artist", "Nobody", (thread.thread_id, "t1_gone"))
    assert entity_label(thread, asked).startswith(
        "artist: Nobody · named by the asker and 1 reply\nMusic like number 0"
    )
    long = replace(thread, replies=(Reply("t1_1", None, f"{'a ' * 50}Song X{' b' * 50}"),))
    label = entity_label(long, Entity("song", "song x", ("t1_1",)))
    assert label.split("\n")[1].startswith("…")
    assert "Song X" in label
    assert label.endswith("…")


TEXT = st.text(max_size=20)
TRUTH = st.none() | st.booleans()


@given(data=st.data())
def test_fields_give_back_the_answers(data: st.DataObject) -> None:
    """Any answers come back from the fields of a page with room to spare."""
    thread = item(links=2, entities=2)
    answers = Answers(
        thread.thread_id, data.draw(st.none() | st.sampled_from(CATEGORIES)), data.draw(TEXT),
        tuple(LinkAnswer(link.video_id, data.draw(TRUTH), data.draw(TEXT)) for link in thread.links), data.draw(TEXT),
        tuple(EntityAnswer(entity.kind, entity.name, data.draw(TRUTH)) for entity in thread.entities), data.draw(TEXT),
    )  # fmt: skip
    shape = Shape(links=data.draw(st.integers(2, 4)), entities=data.draw(st.integers(2, 5)))
    flat = write_fields(answers, shape).flat()
    assert len(flat) == 4 + 2 * shape.links + shape.entities
    assert read_fields(thread, shape, flat, done=False) == answers


def test_what_a_browser_may_not_send() -> None:
    """A text without end and a category of one's own are refused; things that are no text count as nothing."""
    shape = Shape(2, 3)
    flat = write_fields(answered(item()), shape).flat()
    with pytest.raises(UserError, match="expected at most 4,000"):
        read_fields(item(), shape, [*flat[:1], "x" * (LONGEST + 1), *flat[2:]], done=True)
    with pytest.raises(UserError, match="no such category"):
        read_fields(item(), shape, ["spam", *flat[1:]], done=True)
    assert read_fields(item(), shape, [None, {"a": 1}, *flat[2:]], done=True).query == ""


def test_the_page_has_room_for_every_thread() -> None:
    """As many fields as the longest thread needs."""
    assert Shape.of([item(links=1, entities=5), item(links=3, entities=0)]) == Shape(3, 5)
