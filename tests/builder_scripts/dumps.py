"""Makes Reddit dumps with every quirk that is known of real ones, together with what must come out of them.

The truth is noted while a line is written, from what it was made to be; nothing is read back to find it.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT

from .dump_lines import MONTHS, Prose, broken_lines, comment, encode, submission

WANTED = tuple(GENRE_OF_SUBREDDIT)
_OTHERS = ("AskReddit", "pics", "jazzguitar", "metalworking", "Music", "soccer", "politics")
_ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# How people write a link to video ID, and where it starts.
_FORMS = {
    "https://www.youtube.com/watch?v=ID": 0,
    "https://www.youtube.com/watch?v=ID&amp;t=90s": 90,
    "http://www.youtube.com/watch?feature=player_embedded&amp;v=ID": 0,
    "https://youtu.be/ID?t=1m30s": 90,
    "https://youtu.be/ID?si=AbCdEfGh": 0,
    "https://music.youtube.com/watch?v=ID": 0,
    "http://m.youtube.com/watch?gl=US&amp;hl=en#/watch?v=ID": 0,
    "https://www.youtube.com/shorts/ID": 0,
    "https://www.youtube.com/embed/ID?start=95": 95,
    "http://www.youtube.com/v/ID&amp;hl=en_US": 0,
    "http://www.youtube.com/attribution_link?a=x&amp;u=%2Fwatch%3Fv%3DID%26feature%3Dshare": 0,
    "HTTPS://WWW.YouTube.com/watch?v=ID": 0,
    "youtube.com/watch?v=ID": 0,
}
_AROUND = ("{}", "[listen]({})", "**{}**", "so good {}.", "&lt;{}&gt;", "\n\n{}\n\n", "この曲 {}", '"{}",')
_NO_VIDEO = (
    "https://www.youtube.com/playlist?list=PLabcdefghijklmnop",
    "https://www.youtube.com/@somebandnames",
    "https://www.youtube.com/embed/videoseries?list=PLabc",
    "https://notyoutube.com/watch?v=jNQXAC9IVRw",
    "https://soundcloud.com/a/b",
)
# What dumps do to texts, and what is left of it.
_MARKS = {
    "": "",
    "a": "a",
    "Simon &amp; Garfunkel": "Simon & Garfunkel",
    "&gt; quoted": "> quoted",
    "half a pair \ud83d here": "half a pair \ufffd here",
    "nul\0": "nul",
    "@CONTROL@": "\x01",
    "@BYTE@": "\ufffd",
    "😀": "😀",
    "line\u2028separator": "line\u2028separator",
}
_DAMAGE = {b"@CONTROL@": b"\x01", b"@BYTE@": b"\xff"}  # what JSON cannot write
_SHORT = ("", "lol", " ok \n", "😀😀😀😀", "\u3000yes\u3000")
_JUST_ENOUGH = ("12345", "😀😀😀😀😀", "  short  ")
_DELETED = ("[deleted]", "[removed]")


@dataclass
class Truth:
    """What must come out of the dumps.

    Attributes:
        threads: The threads that are kept, by id; links as (video id, start).
        replies: The replies that are kept, by id.
        lines: What becomes of lines when they are mined, by kind: `kept` or the reason.
        rows: What becomes of mined rows, by kind: `kept` or the reason.
        names: Every author that is named.
    """

    threads: dict[str, dict[str, Any]] = field(default_factory=dict)
    replies: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    rows: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    names: set[str] = field(default_factory=set)


class Corpus:
    """Dumps in the making.

    Args:
        seed: The same seed makes the same lines.
        window_log: Binary logarithm of the window that readers need.
    """

    def __init__(self, seed: int = 0, window_log: int = 27) -> None:
        self.truth = Truth()
        self._window_log = window_log
        self._rng = random.Random(seed)
        self._prose = Prose(self._rng)
        self._number = 36**5

    def monthly(self, folder: Path, threads: int, fillers: int, long_line: int = 1 << 20) -> list[Path]:
        """Write dumps of all of Reddit: three months of submissions, and comments of each and of the month after.

        Args:
            folder: Where to.
            threads: How many of the wanted subreddits a month has.
            fillers: How many lines of other subreddits follow each of a wanted one.
            long_line: Length of one very long line per month, in bytes.
        """
        made = []
        for month in MONTHS:
            now: list[bytes] = []
            later: list[bytes] = []
            lines = self._submissions(month, threads, now, later, WANTED)
            lines = self._mixed("submissions", month, lines, fillers, long_line)
            # Two frames: many readers stop after the first.
            made.append(self._dump(folder / f"RS_{month}.zst", lines, frames=2 if month == "2019-06" else 1))
            for name, comments in ((month, now), (f"{month[:-1]}{int(month[-1]) + 1}", later)):
                self._rng.shuffle(comments)
                mixed = self._mixed("comments", month, iter(comments), fillers, long_line)
                made.append(self._dump(folder / f"RC_{name}.zst", mixed))
        return made

    def per_subreddit(self, folder: Path, threads: int, subreddit: str = "jazz") -> list[Path]:
        """Write the two dumps of one subreddit."""
        comments: list[bytes] = []
        lines = self._submissions("2019-06", threads, comments, comments, (subreddit,))
        return [
            self._dump(folder / f"{subreddit}_submissions.zst", lines),
            self._dump(folder / f"{subreddit}_comments.zst", comments),
        ]

    def _dump(self, path: Path, lines: Iterable[bytes], frames: int = 1) -> Path:
        return write_dump(path, lines, window_log=self._window_log, frames=frames)

    # Submissions and their comments

    def _submissions(
        self, month: str, threads: int, now: list[bytes], later: list[bytes], subreddits: Sequence[str]
    ) -> Iterator[bytes]:
        for _ in range(threads):
            fate = self._rng.choices(("kept", "deleted", "bot", "no_link"), (60, 8, 6, 26))[0]
            subreddit = self._rng.choice(subreddits)
            thread, lines = self._submission(month, subreddit, fate)
            yield from lines
            comments = self._comments(month, thread, fate)
            cut = len(comments) * 2 // 3
            now += comments[:cut]
            later += comments[cut:]

    def _submission(self, month: str, subreddit: str, fate: str) -> tuple[dict[str, Any], list[bytes]]:
        rng = self._rng
        name, author = self._id(), self._author()
        title, text = self._text(rng.randint(3, 12)), self._text(rng.randint(0, 60))
        fields: dict[str, Any] = {}
        links: list[tuple[str, float]] = []
        if fate == "no_link":
            fields["url"] = rng.choice(_NO_VIDEO)
            text += f" {rng.choice(_NO_VIDEO)}"
        else:
            where = rng.choice(("text", "text", "url", "title", "player"))
            if where == "text":
                for _ in range(rng.randint(1, 3)):
                    url, link = self._link()
                    text += f" {rng.choice(_AROUND).format(url)} {self._prose.words(3)}"
                    links.append(link)
            elif where == "title":
                url, link = self._link()
                title, links = f"{title} {url}", [link]
            elif where == "url":
                fields["url"], link = self._link()
                links = [link]
            else:
                links = [(self._video(), 0.0)]
                player = f'&lt;iframe src="https://www.youtube.com/embed/{links[0][0]}?feature=oembed&amp;x=1"&gt;'
                fields["media" if month == "2012-03" else "secure_media"] = {"oembed": {"html": player}}
        if fate == "bot":
            author = rng.choice(("AutoModerator", "weekly_bot", "ChartBot"))
        when = MONTHS[month] + rng.randint(0, 2_000_000)
        score = rng.choice((None, 0, 1, 2, 17, 3051))
        fields |= {
            "id": rng.choice((name, f"t3_{name}")), "subreddit": rng.choice((subreddit, subreddit.title())),
            "author": author, "created_utc": when, "retrieved_on": when + 9_000_000, "score": score,
            "title": title, "selftext": text,
        }  # fmt: skip
        lines = []
        if rng.random() < 0.1:  # an earlier capture of the same, before it was taken back
            older = fields | {"retrieved_on": when + 5, "score": 1, "title": f"before {title}"}
            lines.append(self._line("submissions", month, submission(month, rng, **older)))
            self.truth.rows["submissions"]["duplicate"] += 1
        if fate == "deleted":
            how = rng.choice(("selftext", "title", "category") if month != "2012-03" else ("selftext", "title"))
            fields |= {
                "selftext": {"selftext": rng.choice(_DELETED)},
                "title": {"title": "[deleted by user]"},
                "category": {"removed_by_category": "moderator"},
            }[how]
        lines.append(self._line("submissions", month, submission(month, rng, **fields)))
        thread = {
            "thread_id": f"t3_{name}", "subreddit": subreddit, "created_utc": when, "score": score,
            "title": clean(title), "text": clean(text), "links": links, "author": author,
        }  # fmt: skip
        return thread, lines

    def _comments(self, month: str, thread: dict[str, Any], fate: str) -> list[bytes]:
        rng = self._rng
        lines: list[bytes] = []
        good: list[dict[str, Any]] = []
        top = [thread["thread_id"]]
        rows = self.truth.rows["comments"]
        for _ in range(rng.choice((0, 2, 3, 3, 4, 6, 9))):
            reason = rng.choices(
                ("kept", "nested", "deleted", "bot", "stickied", "short"), (62, 14, 8, 4, 4 * (month != "2012-03"), 8)
            )[0]
            name, when = self._id(), thread["created_utc"] + rng.randint(9, 999_999)
            body, score = self._text(rng.randint(2, 50)), rng.choice((None, 1, 2, -4, 55))
            author = rng.choice((self._author(), self._author(), thread["author"]))
            if reason == "short":
                body = rng.choice(_SHORT)
            elif reason == "deleted":
                body = rng.choice(_DELETED)
            elif rng.random() < 0.1:
                body = rng.choice(_JUST_ENOUGH)
            if reason == "bot":
                author = "AutoModerator"
            fields = {
                "id": name, "link_id": thread["thread_id"], "author": author, "body": body, "score": score,
                "parent_id": f"t1_{rng.choice(top)}" if reason == "nested" else thread["thread_id"],
                "created_utc": when, "subreddit": thread["subreddit"],
            }  # fmt: skip
            is_asker = author == thread["author"] and author != "[deleted]"
            if month != "2012-03":
                fields |= {"is_submitter": is_asker, "stickied": reason == "stickied"}
            if rng.random() < 0.1:
                older = fields | {"body": "an older text", "score": 1}
                if rng.random() < 0.5:  # else the copy that says when it was captured counts
                    older["retrieved_on"] = when + 1
                lines.append(self._line("comments", month, comment(month, rng, **older)))
                rows["duplicate"] += 1
            fields["retrieved_on"] = when + 9_000_000
            lines.append(self._line("comments", month, comment(month, rng, **fields)))
            top.append(name)
            if fate != "kept":
                rows["thread_left_out"] += 1
            elif reason != "kept":
                rows[reason] += 1
            else:
                reply = {
                    "comment_id": f"t1_{name}", "thread_id": thread["thread_id"], "body": clean(body), "score": score,
                    "created_utc": when, "is_submitter": is_asker, "author": author,
                }  # fmt: skip
                good.append(reply)
        enough = len(good) >= 3
        rows["kept" if enough else "few_replies"] += len(good)
        self.truth.rows["submissions"][("kept" if enough else "few_replies") if fate == "kept" else fate] += 1
        if fate == "kept" and enough:
            self.truth.threads[thread["thread_id"]] = thread
            self.truth.replies |= {reply["comment_id"]: reply for reply in good}
        return lines

    # What surrounds them in a file

    def _mixed(self, kind: str, month: str, lines: Iterator[bytes], fillers: int, long_line: int) -> Iterator[bytes]:
        counts = self.truth.lines[kind]
        odd = self._odd_lines(kind, month, long_line)
        for line in lines:
            yield line
            for _ in range(fillers):
                counts["other_subreddit"] += 1
                yield self._filler(kind, month)
            if odd and self._rng.random() < 0.2:
                yield odd.pop()
        yield from odd
        counts["broken"] += 1
        yield b'{"id":"end","subreddit":"jazz","title":"the last line brea'

    def _odd_lines(self, kind: str, month: str, long_line: int) -> list[bytes]:
        counts = self.truth.lines[kind]
        make = submission if kind == "submissions" else comment
        when = {"created_utc": MONTHS[month]}
        broken = [line + b"\n" for line in broken_lines("jazz")]
        malformed: list[dict[str, Any]] = [
            {"subreddit": "jazz", **when, "link_id": "t3_x", "parent_id": "t3_x"},
            {"subreddit": "jazz", "id": "no_time", "created_utc": None, "link_id": "t3_x", "parent_id": "t3_x"},
        ]
        elsewhere: list[dict[str, Any]] = [
            {"crosspost_parent_list": [{"subreddit": "jazz", "id": "x"}], "subreddit": "pics", "id": "shared", **when},
            {"subreddit": None, "id": "advert", **when},
            {"id": "nowhere", **when},
            {"subreddit": "pics", "id": "long", "body": "x" * long_line, **when},
        ]
        if kind == "comments":
            malformed.append({"subreddit": "jazz", "id": "c", "link_id": "t3_x", "parent_id": -1, **when})
            orphan = {"id": self._id(), "link_id": "t3_gone", "parent_id": "t3_gone", "body": "orphan", **when}
            self.truth.rows["comments"]["orphan"] += 1
        counts["broken"] += len(broken)
        counts["malformed"] += len(malformed)
        blank = [b"\n", b"   \r\n"]
        counts["other_subreddit"] += len(elsewhere) + len(blank)
        objects = [make(month, self._rng, **fields) for fields in malformed[:1] + elsewhere]
        written = [encode(line, month) + b"\n" for line in objects]
        written += [encode(fields, month) + b"\n" for fields in malformed[1:]]
        if kind == "comments":
            written.append(self._line(kind, month, comment(month, self._rng, subreddit="jazz", **orphan)))
        return [*broken, *blank, *written]

    def _filler(self, kind: str, month: str) -> bytes:
        rng = self._rng
        when = MONTHS[month] + rng.randint(0, 2_000_000)
        fields = {"id": self._id(), "subreddit": rng.choice(_OTHERS), "created_utc": when, "retrieved_on": when + 9}
        if kind == "submissions":
            text = self._prose.words(rng.randint(0, 60))
            return encode(submission(month, rng, title=self._prose.words(8), selftext=text, **fields), month) + b"\n"
        link, body = f"t3_{self._id()}", self._prose.words(rng.randint(1, 60))
        return encode(comment(month, rng, link_id=link, parent_id=link, body=body, **fields), month) + b"\n"

    # Small things

    def _line(self, kind: str, month: str, fields: dict[str, Any]) -> bytes:
        self.truth.lines[kind]["kept"] += 1
        if fields["author"] != "[deleted]":
            self.truth.names.add(fields["author"])
        data = encode(fields, month)
        for mark, damage in _DAMAGE.items():
            data = data.replace(mark, damage)
        return data + (b"\r\n" if self._rng.random() < 0.01 else b"\n")

    def _id(self) -> str:
        self._number += self._rng.randint(1, 9)
        return _base36(self._number)

    def _author(self) -> str:
        if self._rng.random() < 0.1:
            return "[deleted]"
        return f"listener{self._rng.randrange(36**4):x}"

    def _text(self, words: int) -> str:
        mark = self._rng.choice(tuple(_MARKS)) if self._rng.random() < 0.2 else ""
        return f"{self._prose.words(words)} {mark} {self._prose.words(1)}"

    def _video(self) -> str:
        return "".join(self._rng.choices(_ID_CHARACTERS, k=10)) + self._rng.choice("AEIMQUYcgkosw048")

    def _link(self) -> tuple[str, tuple[str, float]]:
        form, start = self._rng.choice(tuple(_FORMS.items()))
        video = self._video()
        # The editor of the site puts a backslash before each underscore.
        shown = video.replace("_", "\\_") if self._rng.random() < 0.1 else video
        return form.replace("ID", shown), (video, float(start))


def clean(text: str) -> str:
    """Say what must be left of a text."""
    for raw, left in _MARKS.items():
        text = text.replace(raw, left) if raw else text
    return text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")


def write_dump(path: Path, lines: Iterable[bytes], *, window_log: int = 27, frames: int = 1) -> Path:
    """Compress lines as dumps are: long-distance matching, a large window, no size in the header.

    Args:
        path: Where to.
        lines: With their line feeds.
        window_log: Binary logarithm of the window.
        frames: In how many frames; the cut falls into the middle of a line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=window_log, enable_ldm=True)
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    with path.open("wb") as file, compressor.stream_writer(file, closefd=False) as stream:
        for line in lines:
            if frames > 1:
                half = len(line) // 2
                stream.write(line[:half])
                stream.flush(zstandard.FLUSH_FRAME)
                frames, line = frames - 1, line[half:]
            stream.write(line)
    return path


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits
