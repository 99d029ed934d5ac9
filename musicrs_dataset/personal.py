"""Find and replace personal data in texts: e-mail addresses, telephone numbers, account names and handles.

`phonenumbers`, the port of Android's library, finds telephone numbers. The others have fixed forms, and the patterns
below cover them in every notation of Reddit, its editor and JSON. `presidio` would add the recognition of personal
names, but in texts about music most such names are artists.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .checks import Finding
from .records import Comment, Thread

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
_LETTER = r"(?:[A-Za-z0-9-]|\\*_|%5F)"
# `u/name`, `/u/name`, the URL of a profile, and the community `r/u_name` of an account. JSON may put a backslash before
# a slash, Reddit's editor before `_`. In JSON a line feed ends with a letter. YouTube channels have the same form and
# are no Reddit accounts.
ACCOUNT = re.compile(
    rf"(?i)((?:(?<![A-Za-z0-9_])|(?<=%2F)|(?<=\\[nrt]))(?<!youtube\.com/)(?:(?:u|(?:(?<=[/\\])|(?<=%2F))user){_SLASH}|r{_SLASH}u(?:\\*_|%5F)))"
    rf"({_LETTER}{{3,60}})"
)
HANDLE = re.compile(
    r"(?<![A-Za-z0-9_.@+-])[@\uff20]((?=[\w.\\-]*[^\W\d_])(?:[A-Za-z0-9]|\\*_)(?:[A-Za-z0-9.-]|\\*_){1,40})(?!@?\w)"
)
_EMAIL = re.compile(
    r"(?<![\w.%+-])[\w.%+'\\-]{1,64}[@\uff20](?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])"
    r"|(?i:(?<![\w.%+-])[\w.%+-]{1,64}\s{0,2}[\[({]\s?at\s?[\])}]\s{0,2}[\w-]{1,63}"
    r"(?:\s{0,2}(?:\.|[\[({]\s?dot\s?[\])}])\s{0,2}[\w-]{1,24}){1,3}"
    r"|(?<![\w.%+-])[\w.%+-]{1,64} at (?!the\b)[\w-]{1,63} dot (?:com|net|org|edu|de|uk|fr|io|me)\b)"
)
_PSEUDONYM = re.compile(r"[0-9a-f]{20}")  # the builder's releases have it instead of a name
_DIGITS = re.compile(r"\d(?:[\s().+/\u2010-\u2015-]{0,3}\d){6}")
_LINK = re.compile(r"(?i)(?:https?://|www\.)[^\s\"'<>()\[\]]+")
_AFTER = re.compile(r"[^\s\"'<>()\[\]{}|,*~`]*")
_ENDS = frozenset(" \t\r\n\"'<>()[]{}|,*~`")  # characters that end a URL
_LONGEST_LEAD = 300  # characters of a URL before the name
_REGIONS = ("US", "GB")  # of national numbers; numbers with + are found for every country


class Match(NamedTuple):
    """Personal data in a text.

    Attributes:
        kind: Kind of the data.
        start: Position of its first character.
        end: Position after its last character.
        value: The address, number or name, in one form for all notations.
    """

    kind: PersonalKind
    start: int
    end: int
    value: str


@dataclass(frozen=True)
class PersonalData:
    """Counts of the personal data in a dataset.

    Attributes:
        places: Kind to field of the thread to number of occurrences.
        distinct: Kind to number of distinct addresses, numbers or names.
        threads: Kind to ids of the threads with such data, in dataset order.
    """

    places: dict[PersonalKind, Counter[str]]
    distinct: dict[PersonalKind, int]
    threads: dict[PersonalKind, tuple[str, ...]]

    def in_words(self) -> str:
        """Return the counts in one line; "" without personal data."""
        kinds = [kind for kind in WORDS if kind in self.places]
        parts = []
        for kind in kinds:
            n, fields = self.distinct[kind], self.places[kind]
            where = ", ".join(f"{times:,} in {field}" for field, times in sorted(fields.items()))
            parts.append(f"{n:,} {WORDS[kind][n != 1]}, {where}")
        return "; ".join(parts)

    def findings(self) -> list[Finding]:
        """Return the counts as findings of `validate`."""
        return [
            Finding(
                f"personal_{kind}",
                f"{WORDS[kind][1]} in texts, {self.distinct[kind]:,} distinct; `build --redact` replaces them",
                self.places[kind].total(),
                self.threads[kind],
            )
            for kind in WORDS
            if kind in self.places
        ]


def personal_data(threads: Iterable[Thread]) -> PersonalData:
    """Count the personal data in a dataset: in queries, posts and the entities of posts and replies.

    Pools and ground truth consist of the same entities and are not counted again.

    Args:
        threads: Threads of the dataset.

    Returns:
        The counts.
    """
    places: dict[PersonalKind, Counter[str]] = defaultdict(Counter)
    values: dict[PersonalKind, set[str]] = defaultdict(set)
    ids: dict[PersonalKind, dict[str, None]] = defaultdict(dict)
    for thread in threads:
        for field, text in _texts(thread):
            for match in find_personal(text):
                places[match.kind][field] += 1
                values[match.kind].add(match.value)
                ids[match.kind][thread.thread_id] = None
    return PersonalData(
        dict(places),
        {kind: len(names) for kind, names in values.items()},
        {kind: tuple(names) for kind, names in ids.items()},
    )


def redacted(thread: Thread) -> Thread:
    """Replace the personal data in the texts of a thread by placeholders.

    Pools, ground truth and `all_entities` stay unchanged, and so do the fingerprint and the scores of systems that read
    no text. Scores of systems that read texts may change.

    Args:
        thread: The thread.

    Returns:
        A copy of the thread with placeholders.
    """
    comments = tuple(Comment(comment.id, comment.score, comment.entities.map(redact)) for comment in thread.comments)
    return replace(
        thread,
        query=None if thread.query is None else redact(thread.query),
        post=None if thread.post is None else redact(thread.post),
        submission_entities=tuple(map(redact, thread.submission_entities)),
        comments=comments,
    )


def redact(text: str) -> str:
    """Replace personal data in a text by placeholders such as `[e-mail]`.

    Examples:
        >>> redact("write to ann@example.org, or ask /u/ann_b")
        'write to [e-mail], or ask [account]'
    """
    parts, end = [], 0
    for match in find_personal(text):
        parts += [text[end : match.start], _PLACEHOLDER[match.kind]]
        end = match.end
    return "".join((*parts, text[end:]))


def find_personal(text: str) -> list[Match]:
    """Find personal data in a text.

    Args:
        text: Any text, or JSON. The time is linear in its length.

    Returns:
        Matches in order, without overlaps.
    """
    matches: list[Match] = []
    end = 0
    found = (*_emails(text), *_accounts(text), *_handles(text), *_telephones(text))
    for match in sorted(found, key=lambda match: (match.start, -match.end)):
        if match.start >= end:
            matches.append(match)
            end = match.end
    return matches


def _emails(text: str) -> Iterator[Match]:
    if "@" in text or "\uff20" in text or " dot " in text.lower() or "at" in text.lower():
        for match in _EMAIL.finditer(text):
            yield Match("email", match.start(), match.end(), _plain(match[0]))


def _accounts(text: str) -> Iterator[Match]:
    end = 0
    for match in ACCOUNT.finditer(text):
        if match.start() >= end and not _PSEUDONYM.fullmatch(match[2]):
            start, end = profile_span(text, match)
            yield Match("account", start, end, account_name(match))


def account_name(match: re.Match[str]) -> str:
    """Return the name in a match of `ACCOUNT`, in lower case and without escapes."""
    return re.sub("(?i)%5f", "_", _plain(match[2]))


def profile_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Find the start and end of the mention of an account; of the whole URL if it is a URL."""
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


def _handles(text: str) -> Iterator[Match]:
    if "@" in text or "\uff20" in text:
        for match in HANDLE.finditer(text):
            name = match[1].rstrip(".-")
            yield Match("handle", match.start(), match.start() + 1 + len(name), _plain(name))


def _telephones(text: str) -> Iterator[Match]:
    if not _DIGITS.search(text):
        return
    import phonenumbers

    # Numbers in URLs are ids.
    text = _LINK.sub(lambda link: " " * len(link[0]), text)
    strict = phonenumbers.Leniency.EXACT_GROUPING
    searches = [(None, phonenumbers.Leniency.VALID), *((region, strict) for region in _REGIONS)]
    for region, leniency in searches:
        for match in phonenumbers.PhoneNumberMatcher(text, region, leniency=leniency):
            if region is None or not match.raw_string.isdigit():  # plain digits may be anything
                number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
                opens = match.raw_string.startswith("(") and ")" not in match.raw_string
                yield Match("telephone", match.start + opens, match.end, number)


def _texts(thread: Thread) -> Iterator[tuple[str, str]]:
    yield "queries", thread.query or ""
    yield "posts", thread.post or ""
    for name in thread.submission_entities:
        yield "entities", name
    for comment in thread.comments:
        named = comment.entities
        for name in (*named.songs, *named.artists, *named.albums):
            yield "entities", name


def _plain(written: str) -> str:
    return written.replace("\\", "").replace("\uff20", "@").lower()
