"""Limits and settings: who is counted, when the next try is worth it, and what the environment may say."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from musicrs_metric.errors import UserError
from space.board.board import Board
from space.intake import IntakeError
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits, from_environment
from space.web.rate_limits import RateLimit, TryLaterError, Turns, caller_of

from .toy import FORM, jsonl, lines, ranked


class Clock:
    """A clock that stands until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_share_within_a_window() -> None:
    """Three in a minute; the refusal says when the oldest of them is out of the window."""
    clock = Clock()
    limit = RateLimit(3, 60, "submission", clock)
    for clock.now in (0.0, 10.0, 20.0):
        limit.count("a")
    clock.now = 30.5
    with pytest.raises(TryLaterError, match="3 submissions within 1 minute is the limit; try again in 30 s") as error:
        limit.count("a")
    assert error.value.wait_s == 30
    limit.count("b")
    clock.now = 60.0
    limit.count("a")
    with pytest.raises(TryLaterError):
        limit.count("a")


def test_no_limit() -> None:
    """0 turns it off."""
    limit, other = RateLimit(0, 60, "call"), RateLimit(999, 60, "call")
    for _ in range(999):
        limit.count("a")
        other.count("a")
    limit.count("a")
    with pytest.raises(TryLaterError):
        other.count("a")


def test_callers_do_not_fill_the_memory() -> None:
    """Those who have not called for the longest time are forgotten."""
    limit = RateLimit(1, 60, "call")
    for i in range(10_001):
        limit.count(str(i))
    limit.count("0")
    with pytest.raises(TryLaterError):
        limit.count("10000")


def test_turns_wait_and_the_queue_ends() -> None:
    """One works, one waits, the third is sent away and tries again when both are done."""
    turns = Turns(at_once=1, queue=1, takes_s=3)
    inside, go = threading.Event(), threading.Event()
    order: list[str] = []

    def work(name: str) -> None:
        with turns.turn():
            order.append(name)
            inside.set()
            go.wait(10)

    first = threading.Thread(target=work, args=("first",))
    first.start()
    inside.wait(10)
    second = threading.Thread(target=work, args=("second",))
    second.start()
    while turns._inside < 2:
        time.sleep(0.001)
    with pytest.raises(TryLaterError, match="the queue is full with 1 call; try again in 3 s"), turns.turn():
        pass
    go.set()
    first.join()
    second.join()
    with turns.turn():
        assert order == ["first", "second"]


def test_a_turn_is_given_back_after_an_error() -> None:
    """Whatever happens within it."""
    turns = Turns(at_once=1, queue=0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), turns.turn():
            raise ZeroDivisionError


@pytest.mark.parametrize(
    ("name", "headers", "host", "proxy", "who"),
    [
        ("ada", {"x-forwarded-for": "1.2.3.4"}, "10.0.0.1", True, "user ada"),
        (None, {"x-forwarded-for": "6.6.6.6, 1.2.3.4"}, "10.0.0.1", True, "address 1.2.3.4"),
        (None, {"x-forwarded-for": "6.6.6.6"}, "10.0.0.1", False, "address 10.0.0.1"),
        (None, {}, "10.0.0.1", True, "address 10.0.0.1"),
        (None, {}, None, False, "address unknown"),
        (None, {}, "2001:db8:1:2:3:4:5:6", False, "address 2001:db8:1:2::/64"),
        (None, {}, "::ffff:1.2.3.4", False, "address 1.2.3.4"),
        (None, {"x-forwarded-for": "x" * 900}, "10.0.0.1", True, f"address {'x' * 64}"),
    ],
)
def test_who_is_counted(name: str | None, headers: dict[str, str], host: str | None, proxy: bool, who: str) -> None:
    """The signed-in name, else the address that cannot be made up."""
    assert caller_of(name, headers, host, behind_proxy=proxy) == who


def test_settings_of_an_empty_environment() -> None:
    """A folder, the installed dataset, no secret."""
    assert from_environment({"HF_TOKEN": " "}) == LeaderboardSettings()


def test_settings_of_a_space() -> None:
    """Every variable has its place, and the token is not shown."""
    made = from_environment(
        {
            "MUSICRS_DATASET": "org/musicrs", "RESULTS_DIR": "/data", "RESULTS_REPO": "org/results",
            "HF_TOKEN": "hf_secret", "BOARD_OWNERS": "ada, grace,", "OAUTH_CLIENT_ID": "x", "SPACE_ID": "org/space",
            "SUBMISSIONS_PER_HOUR": "0", "MAX_UPLOAD_MB": "3", "MAX_QUEUE": "7",
        }
    )  # fmt: skip
    assert (made.dataset, made.results, made.results_repo) == ("org/musicrs", Path("/data"), "org/results")
    assert (made.token, made.owners, made.sign_in, made.behind_proxy) == ("hf_secret", ("ada", "grace"), True, True)
    assert made.limits == Limits(submissions=0, upload_bytes=3_000_000, queue=7)
    assert "hf_secret" not in repr(made)


@pytest.mark.parametrize("value", ["many", "-1", "1.5", "1" * 20, "\u0663"])
def test_settings_that_are_no_number(value: str) -> None:
    """The variable is named."""
    with pytest.raises(UserError, match="CALLS_PER_HOUR is"):
        from_environment({"CALLS_PER_HOUR": value})


def test_refused_submissions_have_a_limit_of_their_own(board: Board) -> None:
    """Five refusals per allowed submission; until then a corrected file is accepted."""
    service = LeaderboardService(LeaderboardSettings(limits=Limits(submissions=2)), board)
    for _ in range(9):
        with pytest.raises(IntakeError):
            service.submit(b"thread_id,rank,item", FORM, caller="a")
    assert service.submit(jsonl(lines(ranked(0))), FORM, caller="a").receipt.state == "stored"
    with pytest.raises(IntakeError):
        service.submit(b"thread_id,rank,item", FORM, caller="a")
    with pytest.raises(TryLaterError, match="10 refused submissions within 60 minutes"):
        service.submit(jsonl(lines(ranked(1))), FORM, caller="a")
    for seed in (1, 2):
        service.submit(jsonl(lines(ranked(seed))), FORM, caller="b")
    with pytest.raises(TryLaterError, match="2 submissions"):
        service.submit(jsonl(lines(ranked(3))), FORM, caller="b")
