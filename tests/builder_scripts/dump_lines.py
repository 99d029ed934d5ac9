"""Lines as Reddit dumps of three times have them: fields that come and go, numbers that turn into text, long tails of
metadata that nobody reads."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

MONTHS = {"2012-03": 1_330_560_000, "2019-06": 1_559_347_200, "2023-02": 1_675_209_600}
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "ou", "ie")]
# What most of a line consists of, and no reader of this project looks at.
_EMPTY = (
    "approved_at_utc author_flair_background_color author_flair_css_class author_flair_template_id author_flair_text "
    "banned_at_utc banned_by distinguished likes mod_note mod_reason_by mod_reason_title num_reports removal_reason "
    "report_reasons associated_award collapsed_because_crowd_control collapsed_reason"
)
_NEWEST = (
    "approved_by author_cakeday collapsed_reason_code comment_type top_awarded_type unrepliable_reason view_count "
    "rte_mode content_categories suggested_sort discussion_type"
)
_METADATA: dict[str, dict[str, Any]] = {
    "2012-03": {"author_flair_text": None, "author_flair_css_class": None, "gilded": 0, "downs": 0, "archived": True},
    "2019-06": {
        **dict.fromkeys(_EMPTY.split()),
        **dict.fromkeys(("all_awardings", "author_flair_richtext", "awarders", "mod_reports", "user_reports"), ()),
        **dict.fromkeys(("archived", "author_patreon_flair", "can_mod_post", "collapsed", "locked"), False),
        **dict.fromkeys(("can_gild", "no_follow", "send_replies"), True),
        "gilded": 0, "gildings": {}, "total_awards_received": 0, "subreddit_type": "public",
        "author_flair_type": "text", "author_flair_text_color": "dark",
    },
}  # fmt: skip
_METADATA["2023-02"] = {
    **_METADATA["2019-06"], **dict.fromkeys(_NEWEST.split()), "treatment_tags": (), "author_is_blocked": False,
    "author_premium": False,
}  # fmt: skip


class Prose:
    """Words that follow Zipf's law, so that they compress as language does."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        words = {"".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(20_000)}
        self._words = sorted(words)
        rng.shuffle(self._words)
        total = 0.0
        self._weights = [total := total + 1 / rank for rank in range(3, len(self._words) + 3)]
        self._drawn: list[str] = []

    def words(self, n: int) -> str:
        """Return `n` words."""
        if len(self._drawn) < n:
            self._drawn = self._rng.choices(self._words, cum_weights=self._weights, k=200_000 + n)
        return " ".join(self._drawn.pop() for _ in range(n))


def submission(month: str, rng: random.Random, **fields: Any) -> dict[str, Any]:
    """Make a submission as its time has it; what `fields` gives stands for itself."""
    line = _common(month, rng, fields) | {
        "is_self": True, "num_comments": rng.randint(0, 99), "over_18": False, "selftext": "",
        "url": "https://www.reddit.com/r/x/", "upvote_ratio": rng.randint(30, 100) / 100,
    }  # fmt: skip
    if month != "2012-03":
        line |= {"media": None, "secure_media": None, "removed_by_category": None}
    return line | fields | {"created_utc": _number(month, rng, fields["created_utc"])}


def comment(month: str, rng: random.Random, **fields: Any) -> dict[str, Any]:
    """Make a comment as its time has it; what `fields` gives stands for itself."""
    line = _common(month, rng, fields) | {"controversiality": 0}
    if month == "2023-02":
        line["body_sha1"] = f"{rng.getrandbits(160):040x}"
    return line | fields | {"created_utc": _number(month, rng, fields["created_utc"])}


def _common(month: str, rng: random.Random, fields: dict[str, Any]) -> dict[str, Any]:
    where = fields.get("subreddit")
    line = {
        "author": f"user{rng.getrandbits(40):x}", "edited": rng.choice([False, False, 1_330_570_000.0]),
        "subreddit_id": f"t5_2q{len(str(where)):x}", "score": rng.randint(-5, 99),
        "permalink": f"/r/{where}/comments/{rng.getrandbits(30):x}/x/{fields.get('id')}/", **_METADATA[month],
    }  # fmt: skip
    if month != "2012-03":
        line |= {
            "stickied": False, "author_fullname": f"t2_{rng.getrandbits(40):x}",
            "author_created_utc": rng.randrange(1_200_000_000, 1_500_000_000), "subreddit_name_prefixed": f"r/{where}",
        }  # fmt: skip
    return line


def encode(line: dict[str, Any], month: str) -> bytes:
    """Write a line: escaped in older dumps, UTF-8 in newer ones, except for what UTF-8 cannot hold."""
    if month == "2023-02":
        try:
            return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            pass
    return json.dumps(line, separators=(",", ":")).encode()


def broken_lines(subreddit: str) -> Sequence[bytes]:
    """Lines that name a subreddit and hold no object."""
    name = subreddit.encode()
    return [
        b'{"id":"half","subreddit":"%b","title":"so' % name,
        b'{"id":"twice","subreddit":"%b"}{"id":"twice"}' % name,
        b'[{"subreddit":"%b"}]' % name,
        b'\x00\x00{"subreddit":"%b"}\x00' % name,
    ]


def _number(month: str, rng: random.Random, value: int) -> int | float | str:
    if rng.random() < 0.5:
        return value
    return str(value) if month == "2012-03" else float(value)
