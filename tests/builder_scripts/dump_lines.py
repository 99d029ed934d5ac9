"""Lines as Reddit dumps of three times have them: fields that come and go, numbers that turn into text, long tails of
metadata that nobody reads."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

MONTHS = {"2012-03": 1_330_560_000, "2019-06": 1_559_347_200, "2023-02": 1_675_209_600}
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "ou", "ie")]
_METADATA: dict[str, dict[str, Any]] = {
    "2012-03": {"author_flair_text": None, "gilded": 0, "downs": 0},
    "2019-06": {
        "all_awardings": [], "author_flair_richtext": [], "author_patreon_flair": False, "can_gild": True,
        "distinguished": None, "gildings": {}, "locked": False, "no_follow": True, "quarantined": False,
        "send_replies": True, "subreddit_type": "public", "total_awards_received": 0, "author_flair_type": "text",
    },
}  # fmt: skip
_METADATA["2023-02"] = _METADATA["2019-06"] | {
    "approved_by": None, "awarders": [], "collapsed_reason_code": None, "comment_type": None, "mod_reports": [],
    "author_is_blocked": False, "treatment_tags": [], "unrepliable_reason": None, "user_reports": [], "likes": None,
    "top_awarded_type": None, "associated_award": None, "banned_at_utc": None, "num_reports": None, "saved": False,
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
    line: dict[str, Any] = {
        "author": f"user{rng.getrandbits(40):x}", "edited": rng.choice([False, 1_330_570_000.0]), "is_self": True,
        "num_comments": rng.randint(0, 99), "over_18": False, "selftext": "", "url": "https://www.reddit.com/r/x/",
        "subreddit_id": "t5_2qh0n", "permalink": f"/r/x/{rng.getrandbits(30):x}/", **_METADATA[month],
    }  # fmt: skip
    if month != "2012-03":
        line |= {"media": None, "secure_media": None, "removed_by_category": None, "stickied": False}
    return line | fields | {"created_utc": _number(month, rng, fields["created_utc"])}


def comment(month: str, rng: random.Random, **fields: Any) -> dict[str, Any]:
    """Make a comment as its time has it; what `fields` gives stands for itself."""
    line: dict[str, Any] = {
        "author": f"user{rng.getrandbits(40):x}", "edited": rng.choice([False, True, 1_330_570_000]),
        "controversiality": 0, "subreddit_id": "t5_2qh0n", **_METADATA[month],
    }  # fmt: skip
    if month != "2012-03":
        line |= {"stickied": False, "author_fullname": f"t2_{rng.getrandbits(40):x}"}
    return line | fields | {"created_utc": _number(month, rng, fields["created_utc"])}


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
