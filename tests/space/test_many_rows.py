"""A board of many rows: pages, folded results of the paper, one cache, a start without scores, and two processes."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from space.board.board import Board
from space.board.data import LeaderboardData
from space.board.lru import RecentValues
from space.board.table_rows import RowQuery, TableRow, fold_reported, table_rows
from space.settings import LeaderboardSettings
from space.store.local import LocalStore
from space.submission import Submission
from space.views.address import Address
from space.views.table import ROWS_PER_PAGE, table

from .toy import ranked, submission


def many(n: int) -> list[TableRow]:
    """Chance and n rows of decreasing score; every third reads labels."""
    rows = [
        TableRow(
            kind="reported",
            label=f"S{i}",
            reads="labels" if i % 3 == 2 else "thread",
            values={"recall@20": 1 - i / n, "ndcg@20": 0.1, "mrr": 0.1},
        )
        for i in range(n)
    ]
    return [TableRow(kind="chance", label="chance", values={"recall@20": 0.1}, n=6), *rows]


@pytest.mark.parametrize(("n", "page", "first", "shown"), [
    (100, "", 1, 100), (101, "", 1, 100), (101, "2", 101, 1), (250, "9", 201, 50), (250, "x", 1, 100), (0, "2", 1, 0),
    (250, "٢", 1, 100), (250, "9" * 900, 201, 50), (250, "0", 1, 100), (250, "-1", 1, 100),
])  # fmt: skip
def test_a_page_has_at_most_100_rows(n: int, page: str, first: int, shown: int) -> None:
    """Each row is on one page, section after section; a page beyond the last means the last."""
    html = str(table(many(max(n, 1))[: n + 1], Address(page=page)))
    assert html.count('<tr class="reported') == shown <= ROWS_PER_PAGE
    assert (f"Rows {first} to {first + shown - 1} of {n}." in html) is (n > 100)


def test_all_pages_together_have_each_row_once() -> None:
    """In the order of the whole table."""
    whole = many(250)
    pages = [str(table(whole, Address(page=str(number)))) for number in (1, 2, 3)]
    labels = [part.partition("<")[0] for html in pages for part in html.split('class="name">')[1:]]
    shown = [label for label in labels if label != "Chance"]
    expected = [row.label for reads in ("thread", "labels") for row in whole[1:] if row.reads == reads]
    assert shown == expected


def test_another_selection_starts_at_its_first_page() -> None:
    """An open row and another page keep the page."""
    address = Address(page="3", genre="Jazz")
    assert "page=3" in address.to(row="a" * 64)
    assert "page=2" in address.to(page="2")
    assert "page" not in address.to(sort="mrr") + address.to(genre="")


def test_results_of_the_paper_are_one_row_per_system() -> None:
    """The best input by the measure that is shown, at its place; other rows stay."""
    values = {"A": (0.1, 0.3), "B": (0.2,), "C": (0.4, 0.0, 0.4)}
    rows = [
        TableRow(kind="reported", label=name, values={"recall@20": value, "mrr": 1 - value})
        for name, results in values.items()
        for value in results
    ]
    rows.insert(2, TableRow(kind="submitted", label="A", values={"recall@20": 0.0}))
    folded = fold_reported(rows, "recall@20")
    assert [(row.label, row.values["recall@20"], row.folded) for row in folded] == [
        ("A", 0.3, 1), ("A", 0.0, 0), ("B", 0.2, 0), ("C", 0.4, 2),
    ]  # fmt: skip
    assert [row.values["mrr"] for row in fold_reported(rows, "mrr") if row.kind == "reported"] == [0.9, 0.8, 1.0]
    link = "best of 3 inputs</a>"
    assert link in table([many(1)[0], *(replace(row, reads="thread") for row in folded)], Address())


def test_simultaneous_readers_wait_for_one_computation() -> None:
    """A value is computed once, an error is not kept, and the oldest values leave."""
    cache, calls, go = RecentValues(size=2, most_bytes=100), [], threading.Event()

    def compute() -> str:
        calls.append(1)
        go.wait(10)
        return "x" * 40

    values: list[Any] = []
    readers = [threading.Thread(target=lambda: values.append(cache.get("a", compute))) for _ in range(8)]
    for reader in readers:
        reader.start()
    time.sleep(0.05)
    go.set()
    for reader in readers:
        reader.join()
    assert (len(calls), values) == (1, ["x" * 40] * 8)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            cache.get("error", lambda: 1 / 0)
    assert cache.get("error", lambda: "fine") == "fine"
    cache.get("b", lambda: "y" * 70)
    assert cache._bytes == {"error": 4, "b": 70}
    assert cache.get("huge", lambda: "z" * 1_000) == "z" * 1_000
    assert not cache._bytes


def test_a_start_without_scores(data: LeaderboardData, settings: LeaderboardSettings) -> None:
    """The table is there at once, states what is pending, and ends as if all had been scored first."""
    store = LocalStore(settings.results / "submissions")
    for i in range(6):
        store.put(submission(ranked(i, skill=i / 6), at=i, name=f"System {i}"))
    board = Board(data, store, None)
    assert (board.refresh(within_s=0).pending, len(board.snapshot().rows)) == (6, 0)
    new = submission(ranked(9), at=9, name="New")
    board.prepare(new)
    store.put(new)
    assert [row.label for row in board.refresh(within_s=0).rows] == ["New"]
    assert len(table_rows(board, RowQuery())) == 2
    board.open(within_s=0)
    for _ in range(400):
        if not board.snapshot().pending:
            break
        time.sleep(0.02)
    whole = Board(data, store, None).snapshot()
    assert [(row.label, row.standings) for row in board.snapshot().rows] == [
        (row.label, row.standings) for row in whole.rows
    ]


def test_a_submission_that_cannot_be_scored_is_set_aside_once(
    data: LeaderboardData, settings: LeaderboardSettings
) -> None:
    """It is not pending for ever, and not read again before its file changes."""
    reads: list[str] = []

    class Unreadable(LocalStore):
        def get(self, key: str) -> Submission | None:
            reads.append(key)
            return None

    store = Unreadable(settings.results / "submissions")
    store.put(submission(ranked(0)))
    board = Board(data, store, None)
    for i in range(3):
        snapshot = board.refresh(within_s=0 if i else 60)
        assert (snapshot.pending, len(snapshot.set_aside), len(reads)) == (0, 1, 1)


def test_two_boards_share_store_and_cache(data: LeaderboardData, settings: LeaderboardSettings) -> None:
    """The second board reads scores of the first from the cache. Both show the same rows with the same ranks."""
    folder = settings.results
    first, second = (Board(data, LocalStore(folder / "submissions"), folder / "cache") for _ in range(2))
    for i in range(6):
        board = (first, second)[i % 2]
        new = submission(ranked(i, skill=i / 6), at=i, name=f"System {i}")
        board.prepare(new)
        board.store.put(new)
        board.refresh(within_s=0)

    class Sealed(LocalStore):
        def get(self, key: str) -> None:
            raise AssertionError(f"{key} was scored twice")

    first.store, second.store = (Sealed(folder / "submissions") for _ in range(2))
    shown = [[(row.label, row.scores, row.standings) for row in board.refresh().rows] for board in (first, second)]
    assert len(shown[0]) == 6
    assert shown[0] == shown[1]
