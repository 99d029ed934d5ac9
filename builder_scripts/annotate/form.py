"""The answers as values of the page's fields, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from musicrs_metric.errors import UserError

from .answers import Answers, EntityAnswer, LinkAnswer
from .worklist import CATEGORIES, Entity, WorkItem

YES, NO = "yes", "no"
LONGEST = 4_000
_BEFORE, _AFTER = 30, 60


class Shape(NamedTuple):
    """How many fields of each kind the page has.

    Attributes:
        links: Links of the longest thread.
        entities: Entities of the richest one.
    """

    links: int
    entities: int

    @staticmethod
    def of(items: Iterable[WorkItem]) -> Shape:
        """The smallest page on which every thread has room."""
        sizes = [(len(item.links), len(item.entities)) for item in items]
        return Shape(max(links for links, _ in sizes), max(entities for _, entities in sizes))


class Fields(NamedTuple):
    """Values of the page's fields; fields beyond the thread's own links and entities are None.

    Attributes:
        category: One of the categories, or None.
        query: The request.
        more_links: Missing links, one a line.
        more_entities: Missing entities, one a line.
        valid: Per link `yes`, `no` or None.
        instead: Per link the right one.
        relevant: Per entity `yes`, `no` or None.
    """

    category: str | None
    query: str
    more_links: str
    more_entities: str
    valid: tuple[str | None, ...]
    instead: tuple[str | None, ...]
    relevant: tuple[str | None, ...]

    def flat(self) -> list[str | None]:
        """All values, in the order of the page's fields."""
        return [*self[:4], *self.valid, *self.instead, *self.relevant]


def write_fields(answers: Answers, shape: Shape) -> Fields:
    """Put answers into fields."""
    links, entities = answers.links, answers.entities
    none = (None,) * (shape.links - len(links))
    return Fields(
        answers.category,
        answers.query,
        answers.more_links,
        answers.more_entities,
        (*(_word(link.valid) for link in links), *none),
        (*(link.instead for link in links), *none),
        (*(_word(entity.relevant) for entity in entities), *(None,) * (shape.entities - len(entities))),
    )


def read_fields(item: WorkItem, shape: Shape, flat: Sequence[Any], *, done: bool) -> Answers:
    """Read answers out of the fields.

    Args:
        item: The thread that they are about.
        shape: The page's.
        flat: Values in the order of `Fields.flat`, as a browser sent them.
        done: Whether the annotator asks for the thread to be finished.

    Raises:
        UserError: A text is longer than `LONGEST`, or there is no such category.
    """
    values = [_text(value) for value in flat]
    category, query, more_links, more_entities = values[:4]
    valid, rest = values[4 : 4 + shape.links], values[4 + shape.links :]
    instead, relevant = rest[: shape.links], rest[shape.links :]
    known = next((known for known in CATEGORIES if known == category), None)
    if category and known is None:
        raise UserError(f"no such category; expected {', '.join(CATEGORIES)}")
    return Answers(
        item.thread_id,
        known,
        query,
        tuple(
            LinkAnswer(link.video_id, _truth(said), typed)
            for link, said, typed in zip(item.links, valid, instead, strict=False)
        ),
        more_links,
        tuple(
            EntityAnswer(entity.kind, entity.name, _truth(said))
            for entity, said in zip(item.entities, relevant, strict=False)
        ),
        more_entities,
        done,
    )


def entity_label(item: WorkItem, entity: Entity) -> str:
    """What stands above an entity's field: its kind and name, who names it, and a piece of the first such text."""
    texts = {item.thread_id: f"{item.title} {item.text}"} | {reply.id: reply.text for reply in item.replies}
    naming = [texts[name] for name in entity.named_in if name in texts]
    by = "the asker" if item.thread_id in entity.named_in else ""
    replies = len(set(entity.named_in) - {item.thread_id})
    said = f"{replies} {'reply' if replies == 1 else 'replies'}" if replies else ""
    who = " and ".join(part for part in (by, said) if part)
    return f"{entity}{who and f' · named by {who}'}" + (f"\n{_around(naming[0], entity.name)}" if naming else "")


def _around(text: str, name: str) -> str:
    flat = " ".join(text.split())
    place = max(flat.lower().find(name.lower()), 0)
    start, end = max(place - _BEFORE, 0), place + len(name) + _AFTER
    return f"{'…' if start else ''}{flat[start:end]}{'…' if end < len(flat) else ''}"


def _word(said: bool | None) -> str | None:
    return None if said is None else YES if said else NO


def _truth(word: str) -> bool | None:
    return {YES: True, NO: False}.get(word)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    if len(value) > LONGEST:
        raise UserError(f"a text of {len(value):,} characters; expected at most {LONGEST:,}")
    return value
