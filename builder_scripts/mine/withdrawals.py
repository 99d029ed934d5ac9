"""Signs in a dump that a text was withdrawn: by its author, a moderator, Reddit, or on a legal request.

A dump has such signs in three forms. Old captures have a marker in place of the text (`[deleted]`). Reddit puts a
notice in place of a text that it removed. Metadata have a sign next to the text: the fields of moderators, and the
marks of Arctic Shift, which captures everything twice, 36 hours apart, since November 2023. A deleted account (`author`
is `[deleted]`) is no such sign: Reddit still shows its texts.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import orjson

from .parsing import is_missing

MARKER, NOTICE, DELETED_LATER, REMOVAL_TYPE = "marker", "notice", "was_deleted_later", "removal_type"
_MARKS = (DELETED_LATER, REMOVAL_TYPE, "was_initially_deleted")
_MARK_COLUMNS = frozenset(prefix + mark for prefix in ("", "_meta.") for mark in _MARKS)

# Fields that are null, false or empty unless a text was withdrawn.
_FIELDS = ("removed_by_category", "removed_by", "banned_by", "banned_at_utc", "removal_reason", "removed", "spam")

_LONGEST = 800  # characters of a notice
_MARKERS = frozenset({"[deleted]", "[removed]"})
_OPENING, _CLOSING = "[(<{【〔〖「『«", "])>}】〕〗」』»"
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS = " \t\r\n*~`\"'#^.!"
# Nearly all texts skip the search by these tests: the beginning of a notice, and the signs before a bracket.
_BEGINNINGS = frozenset(
    ("this", "your", "the ", "user", "post", "comm", "cont", "subm", "thre", "text", "repl", "mess", "body", "titl",
     "acco", "dele", "remo", "reda", "over", "take", "sorr", "in r", "due ", "purs", "redd", "mode", "admi")
)  # fmt: skip
_BEFORE = frozenset("[(<{【〔〖「『«［（｛〈《&\\*_~`\"'>#^.! \u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_IGNORED = re.compile("[\\\\\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_WORD = (
    "deleted|removed|redacted|erased|withdrawn|withheld|taken down|unavailable|overwritten|scrubbed|purged|wiped|"
    "gelöscht|entfernt|supprimée?|eliminad[oa]|borrad[oa]|removid[oa]|apagad[oa]|excluíd[oa]|rimoss[oa]|eliminat[oa]|"
    "cancellat[oa]|verwijderd|usunięt[eyoa]|удалено|удал[её]н|видалено|silindi|kaldırıldı|borttagen|slettet|poistettu|"
    "削除済み|(?:.{0,8}は)?削除されました|已删除|已刪除|삭제됨|삭제된 댓글"
)
_THING = "post|comment|content|submission|thread|text|reply|message"
_SUBJECT = (
    rf"(?:(?:this|your|the|user) )?(?:{_THING}|body|title|account|data)?"
    r" ?(?:(?:has|have|been|was|were|is|automatically|permanently|temporarily) )*"
)
_ENCLOSED = re.compile(
    rf"{_SUBJECT}(?:{_WORD})(?: (?:user|account)| ?[:–—-].*|\] ?\[(?:deleted|removed)"
    r"|, (?:along|and|as|because|due|for)\b.*"
    r"| (?:by|in|on|for|due|because|at|under|per|as|after|pursuant|following|too|along)\b.*"
    r"| (?:par|von|vom|durch|por|pelo|pela|dal?|dall'\w+|door|av|af|przez|модератор\w*|автор\w*|пользовател\w*)\b.*)?"
    rf"|(?:user|author|moderators?|admins?|reddit) (?:deleted|removed) (?:this|the|their) (?:{_THING}).*"
    r"|(?:dmca|copyright|legal|gdpr) (?:takedown|removal|request|notice)|(?:user|account) suspended"
)
# Sentences without a bracket name who removed what. People also write about removed songs.
_BY = (
    r"by (?:the )?(?:reddit|mods?|moderators?|moderation|auto-?mod\w*|admins?|user|author|poster|op|anti-evil|legal|"
    r"person who|(?:an? )?(?:open[- ]source )?script)\b"
)
_PLAIN = re.compile(
    rf"{_SUBJECT}(?:deleted|removed|redacted|overwritten|taken down)(?: (?:{_BY}"
    r"|in (?:response|protest|accordance)|on account|due to|for (?:violat|breaking)|under |pursuant|at the request"
    r")[^:\n\"\d]{0,120})?"
    rf"|(?:sorry,? |(?:in response to|due to|pursuant to) [^:\n\"\d]{{3,80}}[, ])this (?:{_THING}) (?:was|is|has been) "
    rf"(?:deleted|removed|taken down)(?: {_BY}[^:\n\"\d]{{0,60}})?"
    rf"|(?:(?:the )?(?:moderators?|mods|admins)|reddit) (?:has |have )?(?:deleted|removed) this (?:{_THING})"
    r"|(?:this )?(?:comment|post)(?: has been| was)? overwritten by "
    r"(?:an open[- ]source script to protect|power delete).*",
    re.DOTALL,
)


def withdrawal(line: Mapping[str, Any], *texts: str) -> str | None:
    """Find the sign that a submission or a comment was withdrawn.

    Args:
        line: The parsed line of the dump.
        texts: Title, text or body, without blanks around them.

    Returns:
        The first sign in this order: `marker` (`[deleted]`, `[removed]`), `notice` (a sentence in place of the text),
        the name of a set field, `was_deleted_later`, `removal_type`. None without a sign, and if a second capture
        found the text restored (`was_initially_deleted`).
    """
    for text in texts:
        sign = text_sign(text)
        if sign is not None:
            return sign
    get = line.get
    # In nearly all lines none is set, so they are asked for at once.
    if (
        get("removed_by_category")
        or get("removed_by")
        or get("banned_by")
        or get("banned_at_utc")
        or get("removal_reason")
        or get("removed")
        or get("spam")
    ):
        for field in _FIELDS:
            value = get(field)
            if value and _says(value):
                return field
    if get("collapsed_reason_code") == "DELETED":
        return "collapsed_reason_code"
    meta = get("_meta")
    if meta:
        return _sign_of_meta(meta)
    # Tables have a column per mark, perhaps with the name of the object before it.
    if line.keys().isdisjoint(_MARK_COLUMNS):
        return None
    return _sign_of_meta({name.rpartition(".")[2]: line[name] for name in _MARK_COLUMNS & line.keys()})


def text_sign(text: str) -> str | None:
    """Return the sign of a text that is only a marker or a notice of its withdrawal. None for other texts.

    Args:
        text: Text of the dump, without blanks around it. Reddit's escapes may be undone.

    Examples:
        >>> [text_sign(text) for text in ("[deleted]", "[ Removed by Reddit ]", "[Deleted Scenes]", "So What")]
        ['marker', 'notice', None, None]
    """
    if not text or len(text) > _LONGEST:
        return None
    if text[0] not in _BEFORE and text[:4].lower() not in _BEGINNINGS:
        return None
    if text in _MARKERS:
        return MARKER
    inner, enclosed = _bare(text)
    if _PLAIN.fullmatch(inner) is None and not (enclosed and _ENCLOSED.fullmatch(inner)):
        return None
    return MARKER if enclosed and inner in ("deleted", "removed") else NOTICE


def _bare(text: str) -> tuple[str, bool]:
    """Return the text without links, escapes, emphasis and brackets, in lower case, and True if it had a bracket."""
    text = unicodedata.normalize("NFKC", html.unescape(html.unescape(text)))
    text = _IGNORED.sub("", text)
    text = _LINK.sub(r"\1", text).lower().replace("_", " ").lstrip("> ").strip(_EMPHASIS)
    enclosed = False
    while len(text) > 1 and text[0] in _OPENING and text[-1] == _CLOSING[_OPENING.index(text[0])]:
        text, enclosed = text[1:-1].strip(_EMPHASIS), True
    return " ".join(text.split()), enclosed


def _says(value: object) -> bool:
    """Return True for a field that is set. Exports of dumps write null, false and 0 as text, too."""
    return not is_missing(value) and str(value).strip().lower() not in ("0", "0.0", "false")


def _sign_of_meta(meta: object) -> str | None:
    if isinstance(meta, str):
        meta = _meta_of_text(meta)
    if isinstance(meta, list) and meta:
        meta = meta[-1]
    if not isinstance(meta, Mapping):
        return None
    if _says(meta.get("was_deleted_later")):
        return DELETED_LATER
    restored = _says(meta.get("was_initially_deleted"))
    return REMOVAL_TYPE if _says(meta.get("removal_type")) and not restored else None


def _meta_of_text(text: str) -> object:
    """Read `_meta` in the form of a text: JSON, or the notation of another language."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pairs = re.findall(rf"({'|'.join(_MARKS)})\W{{1,6}}([\w ]+)", text)
        return {name: value.strip() for name, value in pairs}
