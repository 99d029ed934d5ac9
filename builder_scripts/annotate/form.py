"""Answers as values of the fields of the page, and back."""

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
    """Number of fields of each kind on the page.

    Attributes:
        links: Largest number of links of a thread.
        entities: Largest number of entities of a thread.
    """

    links: int
    entities: int

    @staticmethod
    def of(items: Iterable[WorkItem]) -> Shape:
        """Return the smallest shape that fits every thread."""
        sizes = [(len(item.links), len(item.entities)) for item in items]
        return Shape(max(links for links, _ in sizes), max(entities for _, entities in sizes))


class Fields(NamedTuple):
    """Values of the fields of the page. Fields without a link or entity are None.

    Attributes:
        category: One of the categories, or None.
        query: The query.
        more_links: Missing links, one per line.
        more_entities: Missing entities, one per line.
        valid: Per link `yes`, `no` or None.
        instead: Per link the correct one.
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
        """Return all values, in the order of the fields of the page."""
        return [*self[:4], *self.valid, *self.instead, *self.relevant]


def write_fields(answers: Answers, shape: Shape) -> Fields:
    """Return the values of the fields for answers."""
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
    """Read answers from the fields.

    Args:
        item: The thread.
        shape: Shape of the page.
        flat: Values from a browser, in the order of `Fields.flat`.
        done: The annotator wants to finish the thread.

    Raises:
        UserError: A text is longer than `LONGEST`, or the category is unknown.
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
            LinkAnswer(link.video_id, _truth(word), typed)
            for link, word, typed in zip(item.links, valid, instead, strict=False)
        ),
        more_links,
        tuple(
            EntityAnswer(entity.kind, entity.name, _truth(word))
            for entity, word in zip(item.entities, relevant, strict=False)
        ),
        more_entities,
        done,
    )


def entity_label(item: WorkItem, entity: Entity) -> str:
    """Return the label of an entity: kind and name, its sources, and an excerpt of the first one."""
    texts = {item.thread_id: f"{item.title} {item.text}"} | {reply.id: reply.text for reply in item.replies}
    naming = [texts[name] for name in entity.named_in if name in texts]
    by = "the asker" if item.thread_id in entity.named_in else ""
    replies = len(set(entity.named_in) - {item.thread_id})
    said = f"{replies} {'reply' if replies == 1 else 'replies'}" if replies else ""
    who = " and ".join(part for part in (by, said) if part)
    return f"{entity}{who and f' · named by {who}'}" + (f"\n{_around(naming[0], entity.name)}" if naming else "")


def _around(text: str, name: str) -> str:
    flat = " ".join(text.split())
    position = max(flat.lower().find(name.lower()), 0)
    start, end = max(position - _BEFORE, 0), position + len(name) + _AFTER
    return f"{'…' if start else ''}{flat[start:end]}{'…' if end < len(flat) else ''}"


def _word(answer: bool | None) -> str | None:
    return None if answer is None else YES if answer else NO


def _truth(word: str) -> bool | None:
    return {YES: True, NO: False}.get(word)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    if len(value) > LONGEST:
        raise UserError(f"a text of {len(value):,} characters; expected at most {LONGEST:,}")
    return value
