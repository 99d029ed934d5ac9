"""Judgements from finished answers: category, query, and a verdict for each link and entity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from musicrs_dataset.records import Link
from musicrs_dataset.youtube import start_seconds, video_id
from musicrs_metric.errors import count, show
from musicrs_metric.matching import normalise

from ..extract.mentions import KINDS, Kind
from .answers import Answers, LinkAnswer
from .worklist import MUSIC, Category, Entity, WorkItem

LinkVerdict = Literal["valid", "invalid", "corrected", "added"]
EntityVerdict = Literal["relevant", "irrelevant", "added"]


@dataclass(frozen=True, slots=True)
class JudgedLink:
    """Link with its verdict.

    Attributes:
        verdict: `invalid` links are discarded; all others are kept.
        video_id: The video to use, or the discarded one.
        start_s: Start in the video, in seconds.
        url: The link as in the thread, or a canonical one if it was corrected or added.
        proposed: Video of the proposed link. None for an added link.
    """

    verdict: LinkVerdict
    video_id: str
    start_s: float
    url: str
    proposed: str | None


@dataclass(frozen=True, slots=True)
class JudgedEntity:
    """Entity with its verdict.

    Attributes:
        verdict: `irrelevant` entities are removed; all others are kept.
        kind: Kind of the entity.
        name: Name of the entity.
    """

    verdict: EntityVerdict
    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Decisions about a thread: one line of the labels file.

    Attributes:
        thread_id: The thread.
        category: Category. Only `music` goes into the benchmark.
        query: The query.
        links: Judged links, in the order of the thread. Complete if the category is `music`.
        entities: Judged entities, in the order of the thread. Complete if the category is `music`.
        judges: Number of annotators of the thread.
    """

    thread_id: str
    category: Category
    query: str
    links: tuple[JudgedLink, ...]
    entities: tuple[JudgedEntity, ...]
    judges: int = 1

    def kept_links(self) -> tuple[Link, ...]:
        """Return the links to use, each video once, as in a record of the dataset. Their status is unknown."""
        kept: dict[str, Link] = {}
        for link in self.links:
            if link.verdict != "invalid":
                kept.setdefault(link.video_id, Link(link.video_id, link.start_s, link.url))
        return tuple(kept.values())


def canonical_url(url: str) -> str | None:
    """Return a YouTube link in canonical form. None if it names no video.

    Examples:
        >>> canonical_url("youtu.be/jNQXAC9IVRw?si=x&t=1m30s")
        'https://www.youtube.com/watch?v=jNQXAC9IVRw&t=90s'
    """
    video = video_id(url)
    if video is None:
        return None
    start = start_seconds(url)
    return f"https://www.youtube.com/watch?v={video}" + (f"&t={start:.10g}s" if start else "")


def read_entity(line: str) -> Entity | None:
    """Read a typed entity, `song: So What`. None for a line of another form."""
    kind, colon, name = (part.strip() for part in line.partition(":"))
    known = next((known for known in KINDS if known == kind.lower()), None)
    return Entity(known, " ".join(name.split())) if known and colon and normalise(name) else None


def problems(item: WorkItem, answers: Answers) -> list[str]:
    """List the problems of an unfinished thread.

    Links and entities of a thread without music need no answer, because the thread is dropped.

    Args:
        item: The thread.
        answers: The answers, fitted to the item.

    Returns:
        One line per problem.
    """
    lines = [*_link_problems(answers), *_added_problems(item, answers)]
    if answers.category is None:
        return ["say what the thread is about", *lines]
    if answers.category != MUSIC:
        return lines
    open_links = sum(link.valid is None and not link.instead.strip() for link in answers.links)
    open_entities = sum(entity.relevant is None for entity in answers.entities)
    if open_links:
        lines.append(f"{count(open_links, 'link')} without an answer")
    if open_entities:
        lines.append(f"{open_entities} {'entity' if open_entities == 1 else 'entities'} without an answer")
    if not answers.query.strip():
        lines.append("the query is empty")
    return lines


def is_finished(item: WorkItem, answers: Answers) -> bool:
    """Return True if answers, fitted to the item, are done and have no problem."""
    return answers.done and not problems(item, answers)


def judge(item: WorkItem, answers: Answers) -> Judgement:
    """Read finished answers.

    Args:
        item: The thread.
        answers: Answers without `problems`.

    Returns:
        The judgement, without unanswered questions.

    Raises:
        ValueError: The answers have a problem.
    """
    if answers.category is None or problems(item, answers):
        raise ValueError(f"{item.thread_id}: {'; '.join(problems(item, answers))}")
    links = [_judged_link(link, answer) for link, answer in zip(item.links, answers.links, strict=True)]
    links += [judged_url("added", line, None) for line in _lines(answers.more_links)]
    entities = [
        JudgedEntity("relevant" if entity.relevant else "irrelevant", entity.kind, entity.name)
        for entity in answers.entities
        if entity.relevant is not None
    ]
    added = [entity for line in _lines(answers.more_entities) if (entity := read_entity(line))]
    entities += [JudgedEntity("added", entity.kind, entity.name) for entity in added]
    query = " ".join(answers.query.split())
    known = tuple(link for link in links if link is not None)
    return Judgement(item.thread_id, answers.category, query, known, tuple(entities))


def judged_url(verdict: LinkVerdict, url: str, proposed: str | None) -> JudgedLink | None:
    """Read a typed link. None if it names no video."""
    canonical, video = canonical_url(url), video_id(url)
    return JudgedLink(verdict, video, start_seconds(url), canonical, proposed) if canonical and video else None


def _judged_link(link: Link, answer: LinkAnswer) -> JudgedLink | None:
    if answer.instead.strip():
        return judged_url("corrected", answer.instead, link.video_id)
    if answer.valid is None:
        return None
    return JudgedLink("valid" if answer.valid else "invalid", link.video_id, link.start_s, link.url, link.video_id)


def _link_problems(answers: Answers) -> Iterator[str]:
    videos = [link.video_id for link in answers.links if link.valid and not link.instead.strip()]
    typed = [(f"link {number}", link.instead) for number, link in enumerate(answers.links, 1) if link.instead.strip()]
    typed += [("missing links", line) for line in _lines(answers.more_links)]
    for number, link in enumerate(answers.links, 1):
        if link.valid and link.instead.strip():
            yield f"link {number} is both valid and replaced"
    for where, url in typed:
        video = video_id(url)
        if video is None:
            yield f"{where}: {show(url.strip())} names no YouTube video"
        elif video in videos:
            yield f"{where}: the video {video} is there already"
        else:
            videos.append(video)


def _added_problems(item: WorkItem, answers: Answers) -> Iterator[str]:
    known = {entity_key(entity.kind, entity.name) for entity in item.entities}
    for line in _lines(answers.more_entities):
        entity = read_entity(line)
        if entity is None:
            yield f"missing entities: found {show(line)}, expected song, artist or album, a colon and the name"
        elif entity_key(entity.kind, entity.name) in known:
            yield f"missing entities: {show(str(entity))} is there already"
        else:
            known.add(entity_key(entity.kind, entity.name))


def entity_key(kind: Kind, name: str) -> tuple[Kind, str]:
    """Return the identity of an entity: its kind, and the form of its name that the metric matches."""
    return kind, normalise(name)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
