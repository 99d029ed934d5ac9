"""Raw entries of one annotator about one thread, finished or not."""

from __future__ import annotations

from dataclasses import dataclass

from ..extract.mentions import Kind
from .worklist import Category, WorkItem


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """Answer about a link.

    Attributes:
        video_id: Video of the link.
        valid: The link leads to the music of the thread. None without an answer.
        instead: The correct link, as typed. Empty for none.
    """

    video_id: str
    valid: bool | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class EntityAnswer:
    """Answer about an entity.

    Attributes:
        kind: Kind of the entity.
        name: Name of the entity.
        relevant: The entity belongs to the thread. None without an answer.
    """

    kind: Kind
    name: str
    relevant: bool | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers about a thread.

    Attributes:
        thread_id: The thread.
        category: Category of the thread. None without an answer.
        query: The query, edited or not.
        links: One answer per link of the thread.
        more_links: Missing links, one per line, as typed.
        entities: One answer per entity of the thread.
        more_entities: Missing entities as `kind: name`, one per line, as typed.
        done: The annotator has finished the thread, without `judgement.problems`.
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
    """Return an empty form, with the derived query."""
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
    """Fit stored answers to a new work list. Old questions disappear, and new ones have no answer.

    Args:
        item: The thread in the new work list.
        answers: Answers from an older work list.

    Returns:
        The answers, in the order of the item. They are not done if there is a new question.
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
