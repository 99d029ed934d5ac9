"""Every sign of a withdrawal that a dump carries is read, and nothing that people wrote is taken for one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder_scripts.mine.withdrawals import text_sign, withdrawal

from .test_mine_rows import row

NOTICES = (
    "[ Removed by Reddit ]",
    "[ Removed by reddit in response to a copyright notice. ]",
    "[ Removed by reddit on account of violating the content policy ]",
    "[ Removed by Reddit on account of violating the [content policy](/help/contentpolicy). ]",
    "[ Removed by Reddit in response to a legal request. ]",
    "[removed by moderator]",
    "[deleted by user]",
    "[removed too many times]",
    "[Content removed under GDPR]",
    "[comment deleted]",
    "[unavailable]",
    "[redacted]",
    "[gelöscht]",
    "[удалено]",
    "[削除済み]",
    "[This comment has been deleted in protest of Reddit's API changes]",
    "Removed by Reddit in response to a copyright notice.",
    "Comment removed by moderator",
    "[removed] [deleted]",
    "[user deleted this comment]",
    "[This comment has been deleted, along with its account, due to Reddit's API pricing policy.]",
    "[account suspended]",
    "[DMCA takedown]",
    "[supprimé par l'auteur]",
    "[entfernt von Moderator]",
    "[удалено модератором]",
    "[投稿は削除されました]",
    "Sorry, this post was deleted by the person who originally posted it.",
    "Sorry, this post has been removed by the moderators of r/jazz.",
    "This post was removed by Reddit's spam filters",
    "Due to a copyright notice, this post has been removed by Reddit.",
    "In response to a legal request, this content has been removed",
    "The moderators have removed this post",
    "This comment has been overwritten by an open source script to protect this user's privacy. The purpose of this "
    "script is to help protect users from doxing. If you would like to do the same, add the browser extension: hit the "
    "new OVERWRITE button at the top.",
)
WRITTEN = (
    "",
    "So What",
    "[Deleted Scenes]",
    "Deleted Scenes by The Dismemberment Plan",
    "[Removed](https://youtu.be/x) by them is great",
    "[deleted] but it was So What",
    "Removed by the mods, so once more: Miles Davis – So What",
    "The song was removed from every shop, sadly",
    "[Removed from the Wall]",
    "[Erased Tapes]",
    "(Take Five)",
    "Unavailable",
    "removed my doubts: So What",
    "[Erased, Over, Out]",
    "Deleted by Modeselektor",
    "Removed by Moderat",
    "Reddit removed my favourite song",
    "Due to a copyright claim the song was removed",
    "Overwritten by Tool is not a song",
    "[Suspended]",
    "[Deleted] (by Miles Davis)",
    "Sorry, this song was deleted from every shop",
    "The mods removed this record from the list",
)


@pytest.mark.parametrize("text", ["[deleted]", "[removed]", "[Deleted]", "[ removed ]", r"\[removed\]", "deleted"])
def test_markers(text: str) -> None:
    """What stands in the place of a text since the beginnings of Reddit."""
    assert text_sign(text) is not None


@pytest.mark.parametrize("text", NOTICES)
def test_notices(text: str) -> None:
    """Sentences in the place of a text, however they are escaped, emphasised, quoted or bracketed."""
    assert text_sign(text) == "notice"
    for form in (
        text.upper(), text.lower(), f"**{text}**", f"_{text}_", f"> {text}", f"`{text}`", f"\u200b{text}\u200b",
        text.replace("[", r"\[").replace("]", r"\]"), text.replace("[", "&#91;").replace("]", "&#93;"), f"[{text}]",
    ):  # fmt: skip
        assert text_sign(form) == "notice", form


@pytest.mark.parametrize("text", WRITTEN)
def test_what_people_wrote(text: str) -> None:
    """Titles, and sentences about removed things, are texts."""
    assert text_sign(text) is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=5, max_size=60))
def test_what_follows_a_marker_counts(text: str) -> None:
    """A text in which somebody says something beside the marker is none."""
    assert text_sign(f"[deleted] x{text}") is None


@pytest.mark.parametrize(
    ("fields", "sign"),
    [
        ({"removed_by_category": "moderator"}, "removed_by_category"), ({"removed_by": "a_mod"}, "removed_by"),
        ({"banned_by": True}, "banned_by"), ({"banned_by": "a_mod"}, "banned_by"),
        ({"banned_at_utc": 5}, "banned_at_utc"), ({"removal_reason": "legal"}, "removal_reason"),
        ({"collapsed_reason_code": "DELETED"}, "collapsed_reason_code"),
        ({"_meta": {"was_deleted_later": True}}, "was_deleted_later"),
        ({"_meta": {"was_deleted_later": True, "removal_type": "removed by reddit"}}, "was_deleted_later"),
        ({"_meta": {"was_deleted_later": "true"}}, "was_deleted_later"),
        ({"_meta": {"was_deleted_later": 1}}, "was_deleted_later"),
        ({"_meta": '{"was_deleted_later": true}'}, "was_deleted_later"),
        ({"_meta": "{'was_deleted_later': True, 'removal_type': 'deleted'}"}, "was_deleted_later"),
        ({"_meta": {"removal_type": "deleted"}}, "removal_type"),
        ({"_meta": {"was_initially_deleted": True, "removal_type": "deleted"}}, None),
        ({"_meta": {"was_initially_deleted": True}}, None), ({"_meta": {"was_deleted_later": False}}, None),
        ({"_meta": "{'was_deleted_later': False, 'removal_type': None}"}, None), ({"_meta": None}, None),
        ({"_meta": "null"}, None), ({"_meta": []}, None), ({"_meta": "{broken"}, None), ({"_meta": 5}, None),
        (dict.fromkeys(("removed_by_category", "removed_by", "banned_by", "removal_reason")), None),
        ({"removed_by_category": "", "banned_by": False, "banned_at_utc": 0, "removed_by": "null"}, None),
        ({"banned_by": float("nan")}, None), ({"collapsed_reason_code": "LOW_SCORE"}, None),
        ({"author": "[deleted]"}, None), ({"removed": True}, "removed"), ({"spam": True}, "spam"),
        ({"removed": False, "spam": "false"}, None), ({"_meta": [{"was_deleted_later": True}]}, "was_deleted_later"),
        ({"_meta.was_deleted_later": True}, "was_deleted_later"), ({"was_deleted_later": "True"}, "was_deleted_later"),
        ({"removal_type": "deleted"}, "removal_type"), ({"_meta.was_deleted_later": False}, None),
        ({"_meta.removal_type": "nan", "_meta.was_deleted_later": "0.0"}, None),
        ({"_meta.removal_type": "deleted", "_meta.was_initially_deleted": True}, None),
    ],
)  # fmt: skip
def test_metadata(fields: dict[str, Any], sign: str | None) -> None:
    """Fields and marks say it where the text is still there; what was restored, and a gone account, are none."""
    assert withdrawal(fields, "still there") == sign
    for kind, text in (("submissions", "selftext"), ("comments", "body")):
        made = row(kind, **fields, **{text: "still there"})  # type: ignore[arg-type]
        assert made is not None
        assert made["withdrawn"] == sign


@pytest.mark.parametrize("fields", [{"_meta": {"was_deleted_later": True}}, {"title": "[ Removed by moderator ]"}])
def test_what_was_withdrawn_is_not_stored(fields: dict[str, Any]) -> None:
    """The row has neither texts nor links."""
    link = "https://youtu.be/VCLxJd1d84s"
    post = row("submissions", **({"title": "a secret"} | fields), selftext=f"a secret {link}", url=link)
    assert post is not None
    assert (post["title"], post["text"], post["links"]) == ("", "", [])
    if "_meta" in fields:
        reply = row("comments", **fields, body="a secret")
        assert reply is not None
        assert (reply["body"], reply["chars"]) == ("", 0)
