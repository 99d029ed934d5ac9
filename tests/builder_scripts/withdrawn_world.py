"""Dumps in which people, moderators and Reddit take texts back in every way that a dump can show.

Each text that is taken back holds a word of its own, so that it can be searched for. `expected` counts what is to be
left, in plain Python from the lines as they are written, without any code of the product.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import zstandard

Line = dict[str, Any]

FIRST = 1_735_689_600  # 1 January 2025
LINK = "https://www.youtube.com/watch?v=jNQXAC9IVRw"
IN_PLACE = (
    "[deleted]",
    "[removed]",
    "[ Removed by Reddit ]",
    "[removed by moderator]",
    "[ Removed by reddit in response to a copyright notice. ]",
    "[ Removed by reddit on account of violating the content policy ]",
    r"\[ Removed by Reddit on account of violating the [content policy](/help/contentpolicy). \]",
    "[deleted] [removed]",
    "Sorry, this post was deleted by the person who originally posted it.",
    "This comment has been overwritten by an open source script to protect this user's privacy. It helps: do the same.",
)
MARKS: tuple[Line, ...] = (
    {"_meta": {"was_deleted_later": True, "removal_type": "deleted"}},
    {"_meta": {"was_deleted_later": True, "removal_type": "removed by reddit"}},
    {"_meta": '{"was_deleted_later": true, "removal_type": "removed"}'},
    {"_meta": {"removal_type": "deleted"}},
    {"removed_by_category": "moderator"},
    {"removed_by_category": "copyright_takedown"},
    {"removed_by": "a_moderator"},
    {"banned_by": True},
    {"removed": True},
    {"spam": "True"},
    {"_meta.was_deleted_later": True, "_meta.removal_type": "deleted"},
    {"was_deleted_later": "true", "_meta": None},
)
NO_MARKS: tuple[Line, ...] = (
    {},
    {"_meta": None},
    {"_meta": {"retrieved_2nd_on": FIRST + 200_000}},
    {"_meta": {"was_initially_deleted": True, "removal_type": "removed"}},
    {"_meta": "not an object"},
    {"removed_by_category": None, "banned_by": None, "removed_by": None},
    {"author": "[deleted]"},
    {"removed": False, "spam": "false", "_meta.was_deleted_later": False, "_meta.removal_type": ""},
    {"stickied": "false"},
)


class World:
    """Dumps of one subreddit.

    Args:
        seed: The same seed makes the same lines.

    Attributes:
        posts: Lines of submissions.
        replies: Lines of comments.
        secrets: Words of texts that were taken back.
    """

    def __init__(self, seed: int, threads: int = 40) -> None:
        self._rng = random.Random(seed)
        self.posts: list[Line] = []
        self.replies: list[Line] = []
        self.secrets: list[str] = []
        for number in range(threads):
            self._thread(f"p{seed}x{number}", number)
        self._rng.shuffle(self.posts)
        self._rng.shuffle(self.replies)

    def write(self, folder: Path) -> None:
        """Write one compressed and one plain dump."""
        folder.mkdir(parents=True)
        lines = {kind: "".join(json.dumps(line) + "\n" for line in made) for kind, made in self._files().items()}
        (folder / "RS_2025-01.zst").write_bytes(zstandard.ZstdCompressor().compress(lines["posts"].encode()))
        (folder / "r_Jazz_comments.jsonl").write_text(lines["replies"], encoding="utf-8")

    def _files(self) -> Mapping[str, Iterable[Line]]:
        return {"posts": self.posts, "replies": self.replies}

    def _thread(self, name: str, number: int) -> None:
        post = {"id": name, "title": f"Slow songs, number {number}?", "selftext": f"Such as {LINK}", "url": ""}
        self._copies(self.posts, post, "selftext", share=0.25)
        for place in range(self._rng.randint(2, 7)):
            nested = self._rng.random() < 0.15
            parent: object = self._rng.choice((f"t3_{name}", None))
            if nested:
                parent = self._rng.choice((f"t1_{name}r0", 37_628_437_248 + number))
            words = f'Try "{_title(7 * number + place)}", it never hurries'
            reply = {"id": f"{name}r{place}", "link_id": f"t3_{name}", "parent_id": parent, "body": words}
            self._copies(self.replies, reply, "body", share=0.3)

    def _copies(self, lines: list[Line], fields: Line, text: str, share: float) -> None:
        """Write what the dump has of a post or reply: one capture, or two in which its state differs."""
        rng = self._rng
        when = FIRST + rng.randint(0, 9_999)
        line = {
            "subreddit": "Jazz", "author": f"listener{rng.randrange(10**6)}", "score": rng.randint(-3, 90),
            "created_utc": when, "retrieved_on": when + 100, **fields,
        }  # fmt: skip
        if rng.random() >= share:
            lines.append(line | rng.choice(NO_MARKS))
            if rng.random() < 0.15:  # an earlier capture, when it was gone
                lines.append(line | {"retrieved_on": when + 1, text: rng.choice(IN_PLACE)})
            return
        secret = f"zq{len(self.secrets)}qz"
        self.secrets.append(secret)
        told = line | {text: f'{line[text]} "Secret {secret}" {LINK}'}
        if rng.random() < 0.5:
            lines.append(told | rng.choice(MARKS))
        else:
            lines.append(line | {text: rng.choice(IN_PLACE)})
            if rng.random() < 0.7:  # an earlier capture, when it was there
                lines.append(told | {"retrieved_on": when + 1})


def expected(posts: Iterable[Line], replies: Iterable[Line], asker_counts: bool = True) -> tuple[set[str], set[str]]:
    """Count by the rules as README and paper state them: ids of the threads and of the replies that are left."""
    kept_posts = {name: line for name, line in _last(posts).items() if not _gone(line, "selftext")}
    by_thread: dict[str, list[str]] = {}
    counting: dict[str, int] = {}
    for name, line in _last(replies).items():
        thread = line["link_id"][3:]
        first_level = line["parent_id"] is None or line["parent_id"] == line["link_id"]
        if thread in kept_posts and first_level and not _gone(line, "body"):
            by_thread.setdefault(thread, []).append(name)
            own = line["author"] == kept_posts[thread]["author"] != "[deleted]"
            counting[thread] = counting.get(thread, 0) + (asker_counts or not own)
    threads = {thread for thread, n in counting.items() if n >= 3}
    return {f"t3_{name}" for name in threads}, {f"t1_{name}" for thread in threads for name in by_thread[thread]}


def _last(lines: Iterable[Line]) -> dict[str, Line]:
    last: dict[str, Line] = {}
    for line in lines:
        if line["id"] not in last or _captured(line) > _captured(last[line["id"]]):
            last[line["id"]] = line
    return last


def _captured(line: Line) -> int:
    meta = line.get("_meta")
    second = meta.get("retrieved_2nd_on", 0) if isinstance(meta, dict) else 0
    return max(int(line["retrieved_on"]), second)


def _gone(line: Line, text: str) -> bool:
    if line[text] in IN_PLACE or line.get("removed_by_category") or line.get("removed_by") or line.get("banned_by"):
        return True
    columns = ("removed", "spam", "was_deleted_later", "_meta.was_deleted_later", "_meta.removal_type")
    if any(line.get(column) not in (None, False, "", "false") for column in columns):
        return True
    meta = line.get("_meta")
    if isinstance(meta, str):
        meta = json.loads(meta) if meta.startswith("{") else None
    if not meta:
        return False
    return bool(meta.get("was_deleted_later")) or bool(
        meta.get("removal_type") and not meta.get("was_initially_deleted")
    )


def _title(number: int) -> str:
    first = ("Amber", "Broken", "Copper", "Distant", "Eastern", "Fading", "Golden", "Hollow", "Iron", "Jagged", "Kind")
    second = ("Lantern", "Meadow", "North", "Orchard", "Parade", "Quarry", "River", "Stairs", "Tunnel", "Umbrella")
    return f"{first[number % 11]} {second[number // 11 % 10]} {number}"
