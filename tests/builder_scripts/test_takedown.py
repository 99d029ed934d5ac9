"""What is to be removed goes with all that hangs on it, and nothing else goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from builder_scripts.refine.schema import Answer
from builder_scripts.release.takedown import Takedown, read_takedown, take_down
from musicrs_metric.errors import UserError

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
    one.write_text("t3_abc\nu/somebody\n")
    with pytest.raises(UserError, match="one, line 2: found 'u/somebody', expected a thread t3_"):
        read_takedown(one)
