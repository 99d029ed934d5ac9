"""Cases of senders who err or deceive: the answer itself states what the leaderboard has noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from space.board.board import Board
from space.intake import IntakeError
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits

from .toy import FORM, POOLS, jsonl, lines, ranked


@pytest.fixture
def service(board: Board, settings: LeaderboardSettings) -> LeaderboardService:
    return LeaderboardService(settings, board)


def warnings(service: LeaderboardService, rows: list[dict[str, Any]], **form: Any) -> list[str]:
    sent = service.submit(jsonl(rows), replace(FORM, **form), caller="a")
    found: list[str] = sent.to_dict()["warnings"]
    return found


def labels_first(n_others: int = 0) -> list[dict[str, Any]]:
    """Rankings made from the labels, with some threads in another order."""
    rows = []
    for number, (thread, (_, pool, right)) in enumerate(POOLS.items()):
        ranking = sorted(pool.split(), key=lambda title: title not in right.split())
        rows.append({"thread_id": thread, "ranking": ranking[::-1] if number < n_others else ranking})
    return rows


def test_one_file_under_two_names(service: LeaderboardService) -> None:
    """S21: the second answer names the first row, under another name, modality, order of lines or pool design."""
    assert warnings(service, lines()) == []
    copy = warnings(service, lines()[::-1], name="Other", paradigm="generative")
    assert copy == ["identical to Toy system: same ranks of relevant titles"]
    tail = [line | {"ranking": [*line["ranking"], "Nothing"]} for line in lines()]
    assert [words.split(":")[0] for words in warnings(service, tail, name="Third")] == [
        "6 titles of the rankings are in no pool and count as misses", "identical to Toy system", "identical to Other",
    ]  # fmt: skip


def test_a_file_made_from_the_labels(service: LeaderboardService) -> None:
    """S21: the sender and the readers see the mark."""
    assert warnings(service, labels_first()) == ["the row is marked: at the ceiling"]
    assert warnings(service, labels_first(4), name="Far from it") == []


def test_invented_titles(service: LeaderboardService) -> None:
    """S23: all invented is refused; one known title makes it a row, and the answer counts the others."""
    invented = [line | {"ranking": [f"Invented {i}" for i in range(3)]} for line in lines()]
    with pytest.raises(IntakeError, match="18 titles"):
        warnings(service, invented)
    invented[0]["ranking"] = [*invented[0]["ranking"], "Elm"]
    assert "18 titles of the rankings are in no pool and count as misses" in warnings(service, invented)


def test_refused_files_have_a_limit_of_their_own(board: Board, settings: LeaderboardSettings) -> None:
    """S25: wrong files leave the submissions free, and the number that is left is known."""
    service = LeaderboardService(replace(settings, limits=Limits(submissions=2)), board)
    assert service.refusals_left("a") == 10
    for number in range(9):
        with pytest.raises(IntakeError):
            service.submit(b"thread_id,rank,item", replace(FORM, name=""), caller="a")
        assert service.refusals_left("a") == 9 - number
    assert service.submit(jsonl(lines(ranked(2))), FORM, caller="a").receipt.state == "stored"
    assert service.refusals_left("b") == 10
    assert LeaderboardService(replace(settings, limits=Limits(submissions=0)), board).refusals_left("a") is None
