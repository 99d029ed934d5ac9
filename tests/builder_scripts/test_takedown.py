"""What is to be removed goes with all that hangs on it, and nothing else goes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builder_scripts.mine.authors import Pseudonyms
from builder_scripts.refine.schema import Answer
from builder_scripts.release.takedown import Takedown, entry_of, read_takedown, take_down
from musicrs_metric.errors import UserError

from .silver import post, reply, write_silver
from .test_pools_stage import LINK, thread


def test_a_thread() -> None:
    """Its replies and links go with it."""
    left = take_down([thread()], Takedown(("t3_x",)))
    assert left.threads == []
    assert left.counts["threads"].dropped == {"taken down": 1}
    assert [left.counts[kind].kept for kind in ("replies", "links")] == [0, 0]
    assert all(counts.add_up() for counts in left.counts.values())


def test_a_reply() -> None:
    """What it alone names is no answer any more; what another reply names counts as that reply's."""
    (found,) = take_down([thread()], Takedown(("t1_b",))).threads
    assert [comment.id for comment in found.comments] == ["t1_a", "t1_c"]
    assert [answer.name for answer in found.answers] == ["One", "Two", "Five"]
    assert found.all_entities == ("One", "Two", "Five")

    first, second, third = thread().comments
    shared = replace(thread(), comments=(first, second, replace(third, score=2.0, entities=first.entities)))
    (found,) = take_down([shared], Takedown(("t1_a",))).threads
    assert [answer.name for answer in found.answers] == ["Three", "Four", "One", "Two", "Five"]
    assert found.answers[2] == Answer("song", "One", 2.0, "t1_c")


def test_a_video() -> None:
    """The thread stays, without that link."""
    left = take_down([thread()], Takedown((LINK.video_id,)))
    assert left.threads[0].links == ()
    assert left.counts["links"].dropped == {"taken down, or of such a thread": 1}


def test_no_answer_left() -> None:
    """A thread whose answers all went goes too."""
    left = take_down([thread()], Takedown(("t1_a", "t1_b", "t1_c")))
    assert (left.threads, left.counts["threads"].dropped) == ([], {"no answer left": 1})


def test_lists(tmp_path: Path) -> None:
    """Remarks and blank lines are passed over, several lists are joined, and what is no id is told with its line."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("# all\nt3_abc\n\nt1_def # why\n")
    other.write_text("t3_abc\njNQXAC9IVRw\n")
    assert read_takedown(one, other, tmp_path / "none").ids == ("t3_abc", "t1_def", "jNQXAC9IVRw")
    one.write_text("t3_abc\nsomebody\n")
    with pytest.raises(UserError, match="one, line 2: found 'somebody', expected a thread t3_"):
        read_takedown(one)


LISTED = Takedown(("t3_abq123", "t1_k2def01", "jNQXAC9IVRw", "u/harbour_venn", "t3_metal", "u/jazz"))


@pytest.mark.parametrize(
    "trace",
    [
        "https://www.reddit.com/r/jazz/comments/abq123/a_song_like_this/", "HTTPS://OLD.REDDIT.COM/R/x/comments/ABQ123",
        "np.reddit.com/comments/abq123?x=1", "/r/jazz/comments/abq123/", "redd.it/abq123", "https://reddit.com/abq123",
        "https:\\/\\/www.reddit.com\\/r\\/jazz\\/comments\\/abq123\\/x", "https%3A%2F%2Fredd.it%2Fabq123",
        "https%253A%252F%252Fredd.it%252Fabq123", "https://a.example/url?q=https%3A%2F%2Fredd.it%2Fabq123&sa=D",
        "T3_ABQ123", "t3\\_abq123", "(t3_abq123)", "abq123", "https://api.example/x?ids=abq123,zzz999",
        "/comments/zzz999/other/k2def01/", "https://www.reddit.com/r/x/comments/zzz999/comment/k2def01/?context=3",
        "t1_k2def01", "https://youtu.be/jNQXAC9IVRw?t=3", "v%3DjNQXAC9IVRw", "https://i.ytimg.com/vi/jNQXAC9IVRw/0.jpg",
        "u/Harbour_Venn", "/u/harbour\\_venn", "https://old.reddit.com/user/Harbour_Venn/comments/", "u\\/harbour_venn",
        "@Harbour_Venn", "thanks, Harbour_Venn!", "https://www.reddit.com/r/x/comments/metal/t", "t3_metal", "u/Jazz",
        "a line\\nabq123\\n\\nu/harbour_venn", "r/u_Harbour_Venn", "https://www.reddit.com/r/u_harbour_venn/comments/zz9/t/",
        "u/harbour%5Fvenn", "u_harbour_venn",
    ],
)  # fmt: skip
def test_no_trace(trace: str) -> None:
    """Whatever form a text has it in, nothing that names what was taken down is left, and what surrounds it is."""
    left = LISTED.redact(f"so {trace} there").lower()
    assert not [
        name for name in ("abq123", "k2def01", "jnqxac9ivrw", "harbour", "_metal", "s/metal", "u/") if name in left
    ]
    assert left.startswith("so ")
    assert left.endswith(" there")


@pytest.mark.parametrize(
    "other",
    [
        "t3_abq123x", "redd.it/abq1234", "https://www.reddit.com/r/jazz/comments/abq123x/t/", "t1_abq123", "t3_k2def01",
        "https://www.reddit.com/r/metal/comments/zzz999/metal_songs/", "metal from r/metal and r/jazz", "jazz is good",
        "jNQXAC9IVRwx2", "https://youtu.be/ab-abq123_A", "u/harbour_venn2", "https://example.org/metal/", "xt3_abq123",
    ],
)  # fmt: skip
def test_no_more_than_that(other: str) -> None:
    """Longer ids and names, ids of another kind, and words that are also ids stay."""
    assert LISTED.redact(f"so {other} there") == f"so {other} there"


def test_the_words_of_a_link() -> None:
    """They go where they are the title of the thread, and stay where they are not."""
    link = "https://www.reddit.com/r/jazz/comments/abq123/a_song_like_this/"
    assert LISTED.redact(f"[A song like this?]({link}), [here]({link})") == "[removed], [here]([removed])"


def test_cases(cases: Path) -> None:
    """Case P03."""
    for line in (cases / "p03_ids_in_links.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        left = Takedown(tuple(case["taken_down"])).redact(case["text"])
        assert [part for part in case["gone"] if part in left] == []
        assert [part for part in case["kept"] if part not in left] == []


def test_links_as_entries() -> None:
    """People send links; each is read as the id that it leads to."""
    start = "https://www.reddit.com/r/jazz/comments/1abcde"
    entries = {
        "T3_1ABCDE": "t3_1abcde", start: "t3_1abcde", f"{start}/a_title/": "t3_1abcde", "redd.it/1abcde": "t3_1abcde",
        f"{start}/a_title/k2def01/?context=3": "t1_k2def01", f"{start}/comment/k2def01/": "t1_k2def01",
        f"{start}/a_title/#top": "t3_1abcde", f"{start}.json": "t3_1abcde", "reddit.com/gallery/1abcde": "t3_1abcde",
        "https://www.reddit.com/user/Ann_B/comments/?sort=new": "u/ann_b", "reddit.com/r/u_Ann_B/": "u/ann_b",
        "https://www.reddit.com/user/Ann_B/comments/1abcde/a_title/": "t3_1abcde",
        "/u/Ann_B": "u/ann_b", "https://old.reddit.com/user/Ann_B/": "u/ann_b",
        "https://youtu.be/jNQXAC9IVRw?t=1": "jNQXAC9IVRw", "https://example.org/": None,
    }  # fmt: skip
    assert {entry: entry_of(entry) for entry in entries} == entries


def test_an_author(tmp_path: Path) -> None:
    """All posts and replies of an account are listed, in any case of its name; what is published has no name."""
    names = Pseudonyms(bytes(32))
    posts = [post("p1", "one", "") | {"author": names.of("Ann_B")}, post("p2", "two", "") | {"author": names.of("bob")}]
    replies = [
        reply("c1", "p1", "hm") | {"author": names.of("bob")},
        reply("c2", "p2", "hm") | {"author": names.of("ann_b")},
    ]
    work = write_silver(tmp_path, posts, replies)
    listed = Takedown(("u/ann_b",)).with_authored(work, names)
    assert listed.ids == ("u/ann_b", "t3_p1", "t1_c2", f"u/{names.of('ann_b')}")
    shown = listed.published(names)
    assert shown.ids == ("t3_p1", "t1_c2", f"u/{names.of('ann_b')}")
    assert shown.with_authored(work, names).ids[:3] == shown.ids  # a published list can be used again
    assert listed.redact(f"u/{names.of('ann_b')} and u/Ann_B") == "[removed] and [removed]"
