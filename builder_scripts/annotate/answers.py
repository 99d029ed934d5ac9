"""What one annotator has answered about one thread so far, just as it was ticked and typed, finished or not."""

from __future__ import annotations

from dataclasses import dataclass

from ..extract.mentions import Kind
from .worklist import Category, WorkItem


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What was answered about a link.

    Attributes:
        video_id: The link's video.
        valid: Whether it leads to the music that the thread is about; None where there is no answer yet.
        instead: The right link, as typed; empty where there is none.
    """

    video_id: str
    valid: bool | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class EntityAnswer:
    """What was answered about an entity.

    Attributes:
        kind: What it is.
        name: Its name.
        relevant: Whether it is music that belongs to the conversation; None where there is no answer yet.
    """

    kind: Kind
    name: str
    relevant: bool | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """All that was answered about a thread.

    Attributes:
        thread_id: The thread.
        category: What it is about; None where there is no answer yet.
        query: The request, edited or not.
        links: One answer per link of the thread.
        more_links: Missing links, one a line, as typed.
        entities: One answer per entity of the thread.
        more_entities: Missing entities, one a line as `kind: name`, as typed.
        done: Whether the annotator has finished the thread; `judgement.problems` then finds none.
    """

    thread_id: str
    category: Category | None
    query: str
    links: tuple[LinkAnswer, ...]
    more_links: str
    entities: tuple[EntityAnswer, ...]
    more_entities: str
    done: bool = False


def no_answers(item: WorkItem) -> Answers:
    """The form before anybody has touched it: the derived query and nothing else."""
    return Answers(
        thread_id=item.thread_id,
        category=None,
        query=item.query,
        links=tuple(LinkAnswer(link.video_id) for link in item.links),
        more_links="",
        entities=tuple(EntityAnswer(entity.kind, entity.name) for entity in item.entities),
        more_entities="",
    )


def fit(item: WorkItem, answers: Answers) -> Answers:
    """Bring stored answers in line with a work list that was made anew: old questions go, new ones are unanswered.

    Args:
        item: The thread as it is now.
        answers: What was answered when its links or entities were others.

    Returns:
        The answers, in the order of the item; no longer done where it has a new question.
    """
    links = {link.video_id: link for link in answers.links}
    entities = {(entity.kind, entity.name): entity for entity in answers.entities}
    blank = no_answers(item)
    return Answers(
        thread_id=item.thread_id,
        category=answers.category,
        query=answers.query,
        links=tuple(links.get(new.video_id, new) for new in blank.links),
        more_links=answers.more_links,
        entities=tuple(entities.get((new.kind, new.name), new) for new in blank.entities),
        more_entities=answers.more_entities,
        done=answers.done
        and all(new.video_id in links for new in blank.links)
        and all((new.kind, new.name) in entities for new in blank.entities),
    )
