"""A small world: dumps in which people recommend invented songs, a model that reads them, people who judge them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from builder_scripts.annotate.judgement import JudgedEntity, JudgedLink, Judgement
from builder_scripts.annotate.worklist import WorkItem, read_worklist
from builder_scripts.lines import write_lines

from .dump_lines import MONTHS, comment, encode, submission
from .dumps import write_dump
from .llm_stub import Reply

MONTH = "2019-06"
SUBREDDITS = ("jazz", "metal")
NEW_SUBREDDITS = ("country", "folk")  # that the paper does not have
THREADS, OUTSIDE = 10, 4  # of each subreddit; the last ones of them are about something else
ASKER, WRITER = "NoSuchListener_{}", "some-reviewer-{}"
SECRET = "my aunt Hildegard"  # stands in the post of the first thread
_FIRST = ("Amber", "Broken", "Copper", "Distant", "Eastern", "Fading", "Golden", "Hollow", "Iron", "Jagged", "Kind")
_SECOND = ("Lantern", "Meadow", "Northwind", "Orchard", "Parade", "Quarry", "River", "Staircase", "Tunnel", "Umbrella")


def thread_id(subreddit: str, number: int) -> str:
    """Reddit name of a thread."""
    return f"t3_{subreddit[0]}{number:03d}"


def video(subreddit: str, number: int) -> str:
    """Id of the video that a thread links to."""
    return f"{subreddit[:3]}_video{number % 10}A"


def songs(subreddit: str, number: int) -> list[str]:
    """What the replies of a thread recommend: three titles of its own and one of the subreddit's favourites."""
    titles = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    titles = titles[(*SUBREDDITS, *NEW_SUBREDDITS).index(subreddit) % 2 :: 2]
    return [*titles[3 * number : 3 * number + 3], titles[-1 - number % 2]]


def write_dumps(folder: Path, subreddits: Sequence[str] = SUBREDDITS) -> None:
    """Write a month of submissions and of comments, with some that must be left out."""
    rng = random.Random(0)
    posts, replies = [], []
    for subreddit in subreddits:
        for number in range(THREADS + OUTSIDE):
            posts.append(_post(rng, subreddit, number))
            replies += [_reply(rng, subreddit, number, *said) for said in enumerate(songs(subreddit, number))]
        plain = {"id": f"{subreddit[0]}none", "author": "x", "created_utc": MONTHS[MONTH], "title": "No link here"}
        posts.append(submission(MONTH, rng, subreddit=subreddit, **plain))
    for kind, lines in (("RS", posts), ("RC", replies)):
        write_dump(folder / f"{kind}_{MONTH}.zst", (encode(line, MONTH) + b"\n" for line in lines))


def _post(rng: random.Random, subreddit: str, number: int) -> dict[str, Any]:
    name, when = thread_id(subreddit, number), MONTHS[MONTH] + number
    mentioned = f"As in https://youtu.be/{video(subreddit, number)} that u/{WRITER.format(number)} shared."
    private = f" It was played for {SECRET}." if (subreddit, number) == ("jazz", 0) else ""
    return submission(
        MONTH, rng, id=name[3:], subreddit=subreddit, author=ASKER.format(number), created_utc=when,
        retrieved_on=when + 9, score=50 + number, title=f"Slow {subreddit} number {number}, please",
        selftext=mentioned + private,
    )  # fmt: skip


def _reply(rng: random.Random, subreddit: str, number: int, place: int, song: str) -> dict[str, Any]:
    thread, when = thread_id(subreddit, number), MONTHS[MONTH] + number
    return comment(
        MONTH, rng, id=f"{thread[3:]}{place}", subreddit=subreddit, author=WRITER.format(place), link_id=thread,
        parent_id=thread, created_utc=when + 60, retrieved_on=when + 999, score=20 - place,
        body=f'Try "{song}", it never hurries.',
    )  # fmt: skip


def answer(prompt: str, before: int) -> Reply:
    """What the model says: quoted names are songs, and a request repeats the title."""
    if "Put its request into words" in prompt:
        title = json.loads(prompt.partition("Title of the post (JSON string): ")[2].split("\n")[0])
        return Reply(json.dumps({"query": f"I am looking for {title.lower()}, as u/{WRITER.format(3)} likes them."}))
    body = json.loads(re.findall(r"^(?:Reply|Text of the post) \(JSON string\): (.*)$", prompt, re.MULTILINE)[-1])
    names = re.findall(r'"([^"]+)"', body)
    return Reply(json.dumps({"entities": [{"name": name, "type": "song"} for name in names]}))


def judge(worklist: Path, labels: Path) -> None:
    """Judge every thread as people would, and write the labels."""
    write_lines(labels, _judgements(read_worklist(worklist)))


def _judgements(items: Sequence[WorkItem]) -> Iterator[Judgement]:
    for item in items:
        number = int(item.thread_id[4:])
        links = [JudgedLink("valid", link.video_id, link.start_s, link.url, link.video_id) for link in item.links]
        entities = [JudgedEntity("relevant", entity.kind, entity.name) for entity in item.entities]
        if number == 1:  # another recording is meant, and the best answer is none
            other = video("newer", 1)
            links = [replace(links[0], verdict="corrected", video_id=other, url=f"https://youtu.be/{other}")]
            entities[0] = replace(entities[0], verdict="irrelevant")
        music = number < THREADS
        yield Judgement(item.thread_id, "music" if music else "pop culture", item.query, tuple(links), tuple(entities))
