"""Personal data in texts: e-mail addresses, telephone numbers, names of accounts and handles.

Telephone numbers are found by `phonenumbers`, the port of the library that Android uses. The others follow fixed forms,
which the patterns below have in all the ways in which Reddit, its editor and JSON write them. `presidio` was not
chosen: what it adds is the recognition of people's names, and in texts about music most such names are artists.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .checks import Finding
from .records import Comment, Entities, Thread

PersonalKind = Literal["email", "telephone", "account", "handle"]

WORDS: dict[PersonalKind, tuple[str, str]] = {
    "email": ("e-mail address", "e-mail addresses"),
    "telephone": ("telephone number", "telephone numbers"),
    "account": ("account name (u/name)", "account names (u/name)"),
    "handle": ("handle (@name)", "handles (@name)"),
}
_PLACEHOLDER: dict[PersonalKind, str] = {
    "email": "[e-mail]",
    "telephone": "[telephone]",
    "account": "[account]",
    "handle": "[handle]",
}

_SLASH = r"(?:\\*/|%2F)"
_LETTER = r"(?:[A-Za-z0-9-]|\\*_)"
# `u/name`, `/u/name`, the address of a profile; JSON may have a backslash before a slash, Reddit's editor before `_`.
# In JSON a line feed ends with a letter. Channels of YouTube have the same form and are no account of Reddit.
ACCOUNT = re.compile(
    rf"(?i)((?:(?<![A-Za-z0-9_])|(?<=%2F)|(?<=\\[nrt]))(?<!youtube\.com/)(?:u|(?:(?<=[/\\])|(?<=%2F))user){_SLASH})"
    rf"({_LETTER}{{3,60}})"
)
HANDLE = re.compile(
    r"(?<![A-Za-z0-9_.@+-])@((?=[\w.\\-]*[^\W\d_])(?:[A-Za-z0-9]|\\*_)(?:[A-Za-z0-9.-]|\\*_){1,40})(?!@?\w)"
)
_EMAIL = re.compile(
    r"(?<![\w.%+-])[\w.%+'\\-]{1,64}@(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])"
    r"|(?i:(?<![\w.%+-])[\w.%+-]{1,64}\s{0,2}[\[({]\s?at\s?[\])}]\s{0,2}[\w-]{1,63}"
    r"(?:\s{0,2}(?:\.|[\[({]\s?dot\s?[\])}])\s{0,2}[\w-]{1,24}){1,3}"
    r"|(?<![\w.%+-])[\w.%+-]{1,64} at (?!the\b)[\w-]{1,63} dot (?:com|net|org|edu|de|uk|fr|io|me)\b)"
)
_PSEUDONYM = re.compile(r"[0-9a-f]{20}")  # what the builder's releases have in the place of a name
_DIGITS = re.compile(r"\d(?:[\s().+/\u2010-\u2015-]{0,3}\d){6}")
_LINK = re.compile(r"(?i)(?:https?://|www\.)[^\s\"'<>()\[\]]+")
_AFTER = re.compile(r"[^\s\"'<>()\[\]{}|,*~`]*")
_ENDS = frozenset(" \t\r\n\"'<>()[]{}|,*~`")  # of an address
_LONGEST_LEAD = 300  # characters of an address before the name
_REGIONS = ("US", "GB")  # of national numbers; those that begin with + are found wherever they are from


class Place(NamedTuple):
    """A piece of personal data in a text.

    Attributes:
        kind: What it is.
        start: Where it begins.
        end: Where it ends.
        what: The address, number or name, in one form however it is written.
    """

    kind: PersonalKind
    start: int
    end: int
    what: str


@dataclass(frozen=True)
class PersonalData:
    """The personal data of a dataset.

    Attributes:
        places: Kind to field of the thread to the number of places.
        distinct: Kind to number of different addresses, numbers or names.
        threads: Kind to the threads that have some, in dataset order.
    """

    places: dict[PersonalKind, Counter[str]]
    distinct: dict[PersonalKind, int]
    threads: dict[PersonalKind, tuple[str, ...]]

    def in_words(self) -> str:
        """Say what was found in one line; "" where nothing was."""
        kinds = [kind for kind in WORDS if kind in self.places]
        parts = []
        for kind in kinds:
            n, fields = self.distinct[kind], self.places[kind]
            where = ", ".join(f"{times:,} in {field}" for field, times in sorted(fields.items()))
            parts.append(f"{n:,} {WORDS[kind][n != 1]}, {where}")
        return "; ".join(parts)

    def findings(self) -> list[Finding]:
        """The same as findings of `validate`, with the number of places."""
        return [
            Finding(
                f"personal_{kind}",
                f"{WORDS[kind][1]} in texts, {self.distinct[kind]:,} different; `build --redact` replaces them",
                self.places[kind].total(),
                self.threads[kind],
            )
            for kind in WORDS
            if kind in self.places
        ]


def personal_data(threads: Iterable[Thread]) -> PersonalData:
    """Find the personal data in the texts of a dataset: queries, posts and the names of entities in posts and replies.

    Pools and ground truth are made of the same names, and are not counted again.
    """
    places: dict[PersonalKind, Counter[str]] = defaultdict(Counter)
    different: dict[PersonalKind, set[str]] = defaultdict(set)
    where: dict[PersonalKind, dict[str, None]] = defaultdict(dict)
    for thread in threads:
        for field, text in _texts(thread):
            for place in find_personal(text):
                places[place.kind][field] += 1
                different[place.kind].add(place.what)
                where[place.kind][thread.thread_id] = None
    return PersonalData(
        dict(places),
        {kind: len(names) for kind, names in different.items()},
        {kind: tuple(names) for kind, names in where.items()},
    )


def redacted(thread: Thread) -> Thread:
    """Return a thread with a placeholder for each piece of personal data in its texts.

    Pools, ground truth and `all_entities` stay as they are, so that its fingerprint and the scores of systems that read
    no text do. Systems that read texts may score otherwise.
    """
    comments = tuple(
        Comment(comment.id, comment.score, _redacted_entities(comment.entities)) for comment in thread.comments
    )
    return replace(
        thread,
        query=None if thread.query is None else redact(thread.query),
        post=None if thread.post is None else redact(thread.post),
        submission_entities=tuple(map(redact, thread.submission_entities)),
        comments=comments,
    )


def redact(text: str) -> str:
    """Put a placeholder, such as `[e-mail]`, in the place of each piece of personal data.

    Examples:
        >>> redact("write to ann@example.org, or ask /u/ann_b")
        'write to [e-mail], or ask [account]'
    """
    parts, end = [], 0
    for place in find_personal(text):
        parts += [text[end : place.start], _PLACEHOLDER[place.kind]]
        end = place.end
    return "".join((*parts, text[end:]))


def find_personal(text: str) -> list[Place]:
    """Find personal data in a text.

    Args:
        text: Any text, or JSON. Takes time linear in its length.

    Returns:
        Places that do not overlap, in order.
    """
    found: list[Place] = []
    end = 0
    for place in sorted((*_emails(text), *_accounts(text), *_handles(text), *_telephones(text)), key=_first_longest):
        if place.start >= end:
            found.append(place)
            end = place.end
    return found


def _first_longest(place: Place) -> tuple[int, int]:
    return place.start, -place.end


def _emails(text: str) -> Iterator[Place]:
    if "@" in text or " dot " in text.lower() or "at" in text.lower():
        for match in _EMAIL.finditer(text):
            yield Place("email", match.start(), match.end(), _plain(match[0]))


def _accounts(text: str) -> Iterator[Place]:
    end = 0
    for match in ACCOUNT.finditer(text):
        if match.start() >= end and not _PSEUDONYM.fullmatch(match[2]):
            start, end = profile_span(text, match)
            yield Place("account", start, end, _plain(match[2]))


def profile_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Say where the mention of an account begins and ends; the whole address where it is one."""
    start = match.start()
    while (
        start > max(0, match.start() - _LONGEST_LEAD) and text[start - 1] not in _ENDS and not text[start - 1].isspace()
    ):
        start -= 1
    lead = text[start : match.start()]
    if "." in lead or ":" in lead or "%" in lead:
        after = _AFTER.match(text, match.end())
        tail = after[0].rstrip(".:;!?_") if after else ""
        return start, match.end() + len(tail)
    slashes = len(lead) - len(lead.rstrip("/\\"))
    return match.start() - slashes, match.end()


def _handles(text: str) -> Iterator[Place]:
    if "@" in text:
        for match in HANDLE.finditer(text):
            name = match[1].rstrip(".-")
            yield Place("handle", match.start(), match.start() + 1 + len(name), _plain(name))


def _telephones(text: str) -> Iterator[Place]:
    if not _DIGITS.search(text):
        return
    import phonenumbers

    # Numbers in addresses are ids of things.
    text = _LINK.sub(lambda link: " " * len(link[0]), text)
    strict = phonenumbers.Leniency.EXACT_GROUPING
    searches = [(None, phonenumbers.Leniency.VALID), *((region, strict) for region in _REGIONS)]
    for region, leniency in searches:
        for match in phonenumbers.PhoneNumberMatcher(text, region, leniency=leniency):
            if region is None or not match.raw_string.isdigit():  # digits alone may be anything
                number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
                around = match.raw_string.startswith("(") and ")" not in match.raw_string
                yield Place("telephone", match.start + around, match.end, number)


def _texts(thread: Thread) -> Iterator[tuple[str, str]]:
    yield "queries", thread.query or ""
    yield "posts", thread.post or ""
    for name in thread.submission_entities:
        yield "entities", name
    for comment in thread.comments:
        for name in _names(comment.entities):
            yield "entities", name


def _names(entities: Entities) -> Sequence[str]:
    return (*entities.songs, *entities.artists, *entities.albums)


def _redacted_entities(entities: Entities) -> Entities:
    return Entities(*(tuple(map(redact, names)) for names in (entities.songs, entities.artists, entities.albums)))


def _plain(written: str) -> str:
    return written.replace("\\", "").lower()
