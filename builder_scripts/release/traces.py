"""Traces of threads, replies, videos and accounts in texts: in links of all forms, plain and encoded.

A link to a removed entry is replaced as a whole, because the rest of it may spell the title. Longer ids with the same
beginning stay. A share link (`/r/jazz/s/...`) has its own id, which only Reddit can resolve: put the link itself on the
list.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from urllib.parse import unquote

from musicrs_dataset.personal import ACCOUNT, account_name, profile_span
from musicrs_dataset.youtube import video_id

REMOVED = "[removed]"

_BETWEEN = re.compile(r"(\\[nrt]|[\s\"'<>()\[\]{}|,;`*~]+)")  # tokens, also where JSON writes line feeds
_ANCHORED = re.compile(r"\[([^\[\]]{1,300})\]\(([^()\s]{1,2000})\)")
_WORD = re.compile(r"[a-z0-9]+")
_ADDRESS = re.compile(r"://|^/|^(?:r|u|user|comments)/|^[\w-]+(?:\.[\w-]+)+(?:[/:?#]|$)", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|[^a-z0-9])t([13])_$")
_THREAD_BEFORE = re.compile(
    r"(?:(?:^|/)(?:comments|duplicates|gallery|poll|tb|crosspost|predictions)/|(?:redd\.it|reddit\.com)/"
    r"|[?&#/](?:link_id|link|thread_id|thread|post_id|post|submission|article|ids?|url)=)$"
)
_REPLY_BEFORE = re.compile(r"(?:comments/[a-z0-9]+/[^/?#]*/|/comment/|[?&#/](?:comment|comment_id|focus|ids?)=)$")
_CONTEXT = 400  # characters before an id that say what it is
_SHORTEST_PLAIN = 6  # shorter ids, and those without digits or letters, are words and numbers of any text
_SLUG = re.compile(r"[\W_]+")


class Traces:
    """Search for the traces of a takedown list.

    Args:
        names: Threads (`t3_...`), replies (`t1_...`), accounts (`u/...`), and videos; see `takedown.entry_of`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        known = tuple(names)
        self._threads = frozenset(name[3:] for name in known if name.startswith("t3_"))
        self._replies = frozenset(name[3:] for name in known if name.startswith("t1_"))
        self._ids = self._threads | self._replies
        self._accounts = frozenset(name[2:].lower() for name in known if name.startswith("u/"))
        self._others = frozenset(name for name in known if not name.startswith(("t3_", "t1_", "u/")))
        self._plain_names = _any_of(name for name in self._accounts if not name.isalpha())
        self._handles = _any_of(self._accounts, before="@")

    def redact(self, text: str) -> str:
        """Replace the traces in a text by `[removed]`."""
        if self._ids or self._others:
            text = _ANCHORED.sub(self._redact_anchored, text)
            text = "".join(map(self._redact_token, _BETWEEN.split(text)))
        return self._redact_accounts(text) if self._accounts else text

    def _redact_anchored(self, link: re.Match[str]) -> str:
        """Remove the words of a link as well, if they are the title that its URL spells."""
        anchor, address = (_SLUG.sub("_", _plain(part).lower()).strip("_") for part in link.groups())
        spelt = len(anchor) > 3 and anchor[:40] in address
        return REMOVED if spelt and self._redact_token(link[2]) != link[2] else link[0]

    def _redact_token(self, token: str) -> str:
        plain = _plain(token)
        if self._names_other(plain):
            return _in_place_of(token) if _ADDRESS.search(plain) else self._without_others(plain)
        lowered = plain.lower()
        spans = [
            word.span() for word in _WORD.finditer(lowered) if word[0] in self._ids and self._is_meant(lowered, word)
        ]
        if not spans:
            return token
        if _ADDRESS.search(plain):
            return _in_place_of(token)
        for start, end in reversed(spans):
            start = start - 3 if _NAMED.search(lowered[:start]) else start
            plain = plain[:start] + REMOVED + plain[end:]
        return plain

    def _is_meant(self, text: str, word: re.Match[str]) -> bool:
        before, after = text[max(0, word.start() - _CONTEXT) : word.start()], text[word.end() : word.end() + 1]
        kind = _NAMED.search(before)
        if kind:
            return word[0] in (self._threads if kind[1] == "3" else self._replies)
        is_thread, is_reply = bool(_THREAD_BEFORE.search(before)), bool(_REPLY_BEFORE.search(before))
        if is_thread or is_reply:
            return (is_thread and word[0] in self._threads) or (is_reply and word[0] in self._replies)
        is_id = len(word[0]) >= _SHORTEST_PLAIN and not word[0].isalpha() and not word[0].isdecimal()
        return is_id and before[-1:] not in ("_", "-") and after not in ("_", "-")

    def _names_other(self, plain: str) -> bool:
        """Return True if a text names a listed video, or is a listed share link."""
        if not self._others:
            return False
        return video_id(plain) in self._others or any(name in self._others for name in re.split(r"[^\w-]+", plain))

    def _without_others(self, plain: str) -> str:
        parts = re.split(r"([^\w-]+)", plain)
        return "".join(REMOVED if part in self._others else part for part in parts)

    def _redact_accounts(self, text: str) -> str:
        parts, end = [], 0
        for match in ACCOUNT.finditer(text):
            if match.start() >= end and account_name(match) in self._accounts:
                start, stop = profile_span(text, match)
                parts += [text[end : max(start, end)], REMOVED]
                end = stop
        text = "".join((*parts, text[end:]))
        for pattern in (self._handles, self._plain_names):
            text = pattern.sub(REMOVED, text) if pattern else text
        return text


def _any_of(names: Iterable[str], before: str = "") -> re.Pattern[str] | None:
    """Return a pattern of whole names in any case, also with the backslash of Reddit's editor before `_`."""
    forms = "|".join(re.escape(name).replace("_", r"\\*_") for name in sorted(names))
    return re.compile(rf"(?i)(?<![\w-])(?:u_)?{before}(?:{forms})(?![\w-])") if forms else None


def _plain(token: str) -> str:
    """Undo escapes of HTML, Markdown and JSON, and percent encoding up to three times."""
    text = html.unescape(token) if "&" in token else token
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text).replace("\\", "")
    for _ in range(3):
        if "%" not in text:
            break
        text = unquote(text)
    return text


def _in_place_of(token: str) -> str:
    """Return the mark, with the punctuation after the token."""
    return REMOVED + token[len(token.rstrip(".:!?_\\")) :]
