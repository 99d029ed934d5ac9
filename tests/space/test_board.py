"""The board: scores and ranks as the metric's own commands give them, filters, orders, exports, and damage survived."""

from __future__ import annotations

import csv
import io
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

from musicrs_metric.compare import HEADLINE, System, compare
from musicrs_metric.compare.results import Standing
from musicrs_metric.compare.standings import measure_alone, standings
from musicrs_metric.errors import UserError
from musicrs_metric.paper.tables import OVERALL, published_chance, table1
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import score_predictions
from space.board.board import Board
from space.board.data import LeaderboardData, PoolDesign, load_data
from space.board.export import ExportFormat, export
from space.board.labels import labels
from space.board.pairing import Pairing, modality_gains
from space.board.plain_rows import plain_row
from space.board.ranking import Member, StandingsCache
from space.board.rows import SubmissionRow
from space.board.table_rows import SORTS, RowQuery, TableRow, table_rows
from space.board.threads import place, rankings_of, relevant_places
from space.service import LeaderboardService
from space.settings import LeaderboardSettings
from space.store import SubmissionStore
from space.store.local import LocalStore
from space.views.address import Address
from space.views.table import table
from tests.metric.support import columns_of, references_of, write_repo

from .toy import FORM, POOLS, jsonl, ranked, references, submission
from .toy import lines as toy_lines


def fill(store: SubmissionStore, n: int = 6) -> None:
    """Submissions of rising skill, each in its own second."""
    for i in range(n):
        store.put(submission(ranked(i, skill=i / n), at=i, name=f"System {i}"))


def row_of(board: Board, name: str) -> SubmissionRow:
    return next(row for row in board.refresh().rows if row.label == name)


def split(standing: Standing) -> tuple[list[float], list[Any]]:
    """The numbers of a standing, and all that is none."""
    values = asdict(standing)
    flat = [*values.values(), *values.pop("chance").values()]
    flat = [part for value in flat for part in (value if isinstance(value, tuple) else (value,))]
    return [x for x in flat if isinstance(x, float)], [x for x in flat if not isinstance(x, float | dict)]


def without_family(standing: Standing) -> Standing:
    """A standing without what a family of tests decides: a comparison tests all pairs, a leaderboard the best."""
    assert standing.chance is not None
    return replace(standing, group=0, chance=replace(standing.chance, p_holm=0.0))


def names(found: list[TableRow]) -> list[str]:
    return [row.label for row in found]


def test_scores_are_those_of_the_command_line(board: Board, store: LocalStore) -> None:
    """Every number of a row is what `musicrs-metric score` gives for the same predictions."""
    rows = [
        replace(ranked()[0], outcome="no_audio", n_answered=1),
        replace(ranked()[1], ranking=("Fir", "Nothing", "Fir"), outcome="ok", n_answered=3),
        *ranked()[2:5],
    ]
    store.put(submission(rows))
    (row,) = board.snapshot().rows
    expected = score_predictions(rows, references(), by=["genre"])
    assert row.scores == expected.scores
    assert all(np.array_equal(row.table.values[name], expected.table.values[name]) for name in row.table.values)
    assert (row.scores.n_missing, row.scores.n_unknown, row.scores.n_duplicate) == (1, 1, 1)
    assert row.judged.outcomes == {"no_audio": 1, "ok": 1, None: 3}
    assert row.judged.answered == pytest.approx((1 / 4 + 3 / 3) / 2)
    assert row.judged.no_audio.tolist() == [True, False, False, False, False, False]


def test_what_was_computed_comes_back_from_disk(board: Board, store: LocalStore, data: LeaderboardData) -> None:
    """To the last digit, in a new process, without a look at the predictions."""
    fill(store)
    first = board.snapshot()

    class Sealed(LocalStore):
        def get(self, key: str) -> None:
            raise AssertionError(f"{key} was read")

    again = Board(data, Sealed(store.folder), board._cache.folder).snapshot()
    assert [asdict(row.scores) for row in again.rows] == [asdict(row.scores) for row in first.rows]
    assert [row.standings for row in again.rows] == [row.standings for row in first.rows]
    for old, new in zip(first.rows, again.rows, strict=True):
        assert all(np.array_equal(old.table.values[name], new.table.values[name]) for name in old.table.values)
        assert np.array_equal(old.judged.no_audio, new.judged.no_audio)


@pytest.mark.parametrize("rot", [b"", b"PK\x03\x04", b"{}", b"\0" * 500])
def test_a_spoilt_cache_is_made_anew(rot: bytes, board: Board, store: LocalStore, data: LeaderboardData) -> None:
    """Derived files may be damaged or deleted at any time."""
    fill(store, 3)
    first = board.snapshot()
    folder = board._cache.folder
    assert folder is not None
    files = list(folder.iterdir())
    assert len(files) == 3
    for file in files:
        file.write_bytes(rot)
    again = Board(data, store, folder).snapshot()
    assert [(row.scores, row.standings) for row in again.rows] == [(row.scores, row.standings) for row in first.rows]


def constant_system(name: str, design: PoolDesign) -> System:
    """One that finds a right title first in every thread, or in none."""
    pools = zip(design.references.thread_ids, design.references.candidates, strict=True)
    rows = [Prediction(thread, tuple(pool[:1] if name == "perfect" else pool[1:2])) for thread, pool in pools]
    return System(name, score_predictions(rows, design.references).table, "thread")


def test_standings_are_those_of_compare() -> None:
    """Ranks, intervals and verdicts equal `musicrs_metric.compare` over the same systems.

    Among them are twins, whose difference is 0 on every thread, and two whose difference is 1 on every thread.
    """
    rng = np.random.default_rng(3)
    pools = {
        f"t3_{i}": (("Jazz", "Metal")[i % 2], " ".join(f"T{i}x{j}" for j in range(12)), f"T{i}x0 T{i}x5")
        for i in range(40)
    }
    design = PoolDesign("published", references(pools), ("query_only",))
    systems = []
    for i in range(9):
        rows = ranked(i // 2, design, skill=float(rng.uniform(-0.4, 0.9)) if i % 2 == 0 else i / 10)
        rows = rows[: 40 - i] if i > 5 else rows
        table = score_predictions(rows, design.references, confidence=None).table
        silent = np.array([i == 4 and place < 3 for place in range(40)])
        systems.append(System(f"s{i}", table, "thread", silent))
    systems.append(replace(systems[2], name="twin"))
    systems += [constant_system(name, design) for name in ("perfect", "hopeless")]
    expected = compare(systems, HEADLINE, resamples=1_000)
    found = standings(systems, HEADLINE, alone=[measure_alone(one, HEADLINE, resamples=1_000) for one in systems])
    for i in range(len(systems)):
        for metric in HEADLINE:
            numbers, others = split(without_family(found[i][metric]))
            right_numbers, right_others = split(without_family(expected.metrics[metric].standings[i]))
            assert others == right_others
            assert numbers == pytest.approx(right_numbers, rel=1e-9)


def test_standings_of_a_genre() -> None:
    """They are those of a comparison on the threads of the genre alone."""
    systems = [System(f"s{i}", score_predictions(ranked(i), references()).table, "pools") for i in range(4)]
    chosen = np.array([genre == "Metal" for genre in references().groups["genre"]])
    found = standings(systems, ["mrr"], chosen=chosen)
    means = [float(system.table.values["mrr"][3:].mean()) for system in systems]
    assert [one["mrr"].mean for one in found] == pytest.approx(means)
    assert [one["mrr"].rank for one in found] == [1 + sum(other > mean for other in means) for mean in means]


@pytest.mark.parametrize(("age", "known"), [(60.0, {"0"}), (0.0, {"0", "1"})])
def test_ranks_within_a_genre_are_made_anew_beside_the_readers(
    age: float, known: set[str], data: LeaderboardData
) -> None:
    """Whoever asks gets those made last; once they are old they are renewed. Ranks on all threads are never old."""
    table = score_predictions(ranked(), references()).table
    systems = [System(f"s{i}", table, "thread") for i in range(2)]
    members = [Member(str(i), one, measure_alone(one, HEADLINE)) for i, one in enumerate(systems)]
    rank = StandingsCache(genre_age_s=age)
    assert rank(members[:1], data.design(), "Jazz").keys() == {"0"}
    assert rank(members, data.design(), "Jazz").keys() == {"0"}
    rank.renew(members, data.design())
    assert rank(members, data.design(), "Jazz").keys() == known
    assert rank(members, data.design()).keys() == {"0", "1"}


def test_only_those_that_read_the_same_are_ranked_together(board: Board, store: LocalStore) -> None:
    """A lone reader of labels has no rank anywhere, whatever the others score and whatever a filter leaves of them."""
    fill(store, 3)
    store.put(submission(ranked(9), at=9, name="Labels", reads="labels"))
    assert [row_of(board, name).is_ranked for name in ("Labels", "System 0")] == [False, True]
    assert row_of(board, "System 0").peers == 3
    (_, alone), (_, one) = (table_rows(board, RowQuery(text=name)) for name in ("Labels", "System 0"))
    for row, told in ((alone, False), (one, True)):
        plain = plain_row(row)
        table = [row]
        assert {place for of in plain["standings"].values() for place in (of["rank"], of["group"])} == {None} or told
        assert plain["n_peers"] == (3 if told else 1)
        (cells,) = csv.DictReader(io.StringIO(export(table, "csv")))
        assert (cells["mrr rank"] != "", cells["mrr to chance"] != "") == (told, True)
        assert ("**" in export(table, "markdown").replace("**MusiCRS", "")) <= told
    ranks = sorted(row_of(board, f"System {i}").standings["mrr"].rank for i in range(3))
    assert ranks[0] == 1
    assert ranks[-1] <= 3


def test_designs_have_boards_of_their_own(board: Board, store: LocalStore, data: LeaderboardData) -> None:
    """A run is judged on the data whose fingerprint it bears, and on nothing else."""
    wider = data.design("wider")
    store.put(submission(at=1))
    store.put(submission(ranked(0, wider), at=2, fingerprint=wider.fingerprint))
    store.put(submission([Prediction("t3_z", ("Ash",))], at=3, name="Foreign", fingerprint="f" * 64))
    snapshot = board.snapshot()
    assert [len(snapshot.of(name)) for name in ("published", "wider")] == [1, 1]
    assert "0 of 1 threads" in snapshot.set_aside[0].reason


def test_predictions_for_threads_that_are_gone(board: Board, store: LocalStore) -> None:
    """A stored file that cannot be scored is set aside and the board stays up."""
    store.put(submission(at=1))
    store.put(submission([*ranked(), Prediction("t3_z", ("Ash",))], at=2, name="Odd"))
    snapshot = board.snapshot()
    assert [row.label for row in snapshot.rows] == ["Toy system"]
    assert "t3_z" in snapshot.set_aside[0].reason


def test_labels_are_all_different(store: LocalStore) -> None:
    """Names alone where they differ; then the modality; then a number. Earlier rows keep theirs."""
    sent = [
        submission(ranked(0), at=0, name="A"),
        submission(ranked(1), at=1, name="B"),
        submission(ranked(2), at=2, name="B", modality="audio_only"),
        submission(ranked(3), at=3, name="B"),
    ]
    assert labels(sent) == ["A", "B, query", "B, audio", "B, query (2)"]


def test_labels_look_different() -> None:
    """A joiner that nobody sees does not make another name, and no submission passes for chance."""
    names = ("Base", "Ba\u200dse", "Base\ufe0f", "chance", "Chance")
    sent = [submission(ranked(at), at=at, name=name) for at, name in enumerate(names)]
    assert labels(sent) == [
        "Base, query", "Ba\u200dse, query (2)", "Base\ufe0f, query (3)", "chance, query", "Chance, query (2)",
    ]  # fmt: skip


def test_order_and_filters(board: Board, store: LocalStore) -> None:
    """Chance stands first; what has no value comes last, whichever way the rest is sorted."""
    store.put(submission(ranked(1), at=1, name="b", audio_coverage={"threads": 0.5}, modality="audio_only"))
    store.put(submission(ranked(2), at=2, name="A", audio_coverage={"threads": 0.9}, modality="audio_query"))
    store.put(submission(ranked(3), at=3, name="c", open_weights=True, paradigm="generative"))
    store.put(submission(ranked(4), at=4, name="d", open_weights=False, reads="pools"))

    def shown(**query: Any) -> list[str]:
        found = names(table_rows(board, RowQuery(**query)))
        assert found[0] == "chance"
        return found[1:]

    assert shown(sort="coverage") == ["A", "b", "c", "d"]
    assert shown(sort="coverage", ascending=True) == ["b", "A", "c", "d"]
    assert shown(sort="name", ascending=True) == ["A", "b", "c", "d"]
    assert shown(sort="received") == ["d", "c", "A", "b"]
    assert shown(modality=("audio_only", "audio_query"), sort="name") == ["b", "A"]
    assert shown(paradigm=("generative",)) == ["c"]
    assert shown(reads=("pools",)) == ["d"]
    assert shown(open_weights=True) == ["c"]
    assert shown(open_weights=False) == ["d"]
    assert shown(text=" B ") == ["b"]
    values = [row.values["recall@20"] or 0.0 for row in table_rows(board)[1:]]
    assert values == sorted(values, reverse=True)
    for sort in SORTS:
        assert sorted(shown(sort=sort)) == ["A", "b", "c", "d"]


def test_chance_is_exact(board: Board) -> None:
    """On the toy pools: recall@1 is the mean of 1 / pool size, by hand."""
    (chance,) = table_rows(board)
    assert chance.values["recall@1"] == pytest.approx((1 / 4 + 1 / 4 + 0 + 1 / 5 + 1 / 4 + 1 / 5) / 6)
    (jazz,) = table_rows(board, RowQuery(genre="Jazz"))
    assert jazz.values["recall@1"] == pytest.approx((1 / 4 + 1 / 4) / 3)
    assert jazz.n == 3


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"design": "deep"}, "expected published or wider"),
        ({"genre": "Polka"}, "expected one of Jazz, Metal"),
        ({"modality": ("smell",)}, "audio_query"),
        ({"sort": "beauty"}, "recall@20"),
    ],
)
def test_queries_that_make_no_sense(query: dict[str, Any], words: str, board: Board, store: LocalStore) -> None:
    """They are told what there is, also on an empty board."""
    for _ in range(2):
        with pytest.raises(UserError, match=words):
            table_rows(board, RowQuery(**query))
        fill(store, 1)
        board.refresh()


def test_the_paper_stands_beside(upstream_rows: list[dict[str, Any]], store: LocalStore) -> None:
    """On the published data its 29 rows are shown, with the chance level of the same pools."""
    data = LeaderboardData("published", (PoolDesign("published", references_of(upstream_rows), ("query_only",)),))
    board = Board(data, store, None)
    for genre in (None, "Jazz"):
        chance, *reported = table_rows(board, RowQuery(genre=genre))
        assert chance.values["recall@20"] == pytest.approx(published_chance()[genre or OVERALL]["recall@20"], abs=5e-5)
        assert {row.kind for row in reported} == {"reported"}
        expected = [result for result in table1() if result.genre == (genre or OVERALL)]
        assert {(row.label, row.modality, row.values["ndcg@20"]) for row in reported} == {
            (result.system, result.modality, result.values["ndcg@20"]) for result in expected
        }
    assert len(table_rows(board, RowQuery(reported=False))) == 1


def test_on_other_data_the_paper_says_nothing(board: Board) -> None:
    """Its figures speak of the published pools alone."""
    assert names(table_rows(board)) == ["chance"]


def test_several_designs_of_one_dataset(tmp_path: Path) -> None:
    """Configurations with the same pools are one design; the published one comes first."""
    wider = {thread: (genre, f"{pool} Yew", right) for thread, (genre, pool, right) in POOLS.items()}
    folder = write_repo(tmp_path, columns_of(references()))
    for config, labels_of in (("audio_query", references()), ("query_only_wider", references(wider))):
        shard = folder / "musicrs" / config / "test-00000-of-00001.parquet"
        shard.parent.mkdir()
        parquet.write_table(pyarrow.table(dict(columns_of(labels_of))), shard)
    data = load_data(str(folder))
    # Answers to submitters hold the name of the dataset, and no path of the server.
    assert {design.references.name for design in data.designs} == {"musicrs"}
    assert [(design.name, design.configs) for design in data.designs] == [
        ("published", ("audio_query", "query_only")),
        ("wider", ("query_only_wider",)),
    ]
    assert data.design("wider").references.candidates[0][-1] == "Yew"


def test_turns_of_dialogues(store: LocalStore) -> None:
    """Six turns of two dialogues: the table counts dialogues, and states the rule of the verdicts for them."""
    published = references()
    dialogues = published.groups["genre"]
    labels_of = replace(published, groups={**published.groups, "dialogue": dialogues})
    data = LeaderboardData("toy", (PoolDesign("published", labels_of, ("query_only",)),))
    store.put(submission(ranked(1), fingerprint=labels_of.fingerprint))
    chance, row = table_rows(Board(data, store, None))
    assert {each.unit for each in (chance, row)} == {"dialogue"}
    assert "one per dialogue" in plain_row(row)["verdict_rule"]
    html = table([chance, row], Address())
    assert "over 2 dialogues" in html
    assert "one per dialogue" in html


def test_a_dialogue_of_several_genres(tmp_path: Path) -> None:
    """It has no genre to be ranked in, so the server does not start on it."""
    folder = write_repo(tmp_path, columns_of(references()) | {"dialogue": ["d"] * len(POOLS)})
    with pytest.raises(UserError, match="expected one label per dialogue"):
        load_data(str(folder))


def test_readers_do_not_wait_for_what_is_new(
    data: LeaderboardData, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a submission of another process is judged, the board shows its last state; a little later the new one."""
    monkeypatch.setattr("space.board.board._LOOK_EVERY_S", 0.0)
    board = Board(data, store, None)
    fill(store, 1)
    assert len(board.snapshot().rows) == 1
    LocalStore(store.folder).put(submission(ranked(7), at=30, name="From elsewhere"))
    begun, released = threading.Event(), threading.Event()
    judge = board._judge

    def slow(*given: Any) -> Any:
        begun.set()
        released.wait(10)
        return judge(*given)

    monkeypatch.setattr(board, "_judge", slow)
    assert len(board.snapshot().rows) == 1
    assert begun.wait(10)
    assert len(board.snapshot().rows) == 1
    released.set()
    deadline = time.monotonic() + 10
    while len(board.snapshot().rows) == 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [row.label for row in board.snapshot().rows] == ["System 0", "From elsewhere"]


def test_a_store_that_fails_does_not_take_the_page_down(
    data: LeaderboardData, store: LocalStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Readers see the last state and the log says why; a sender hears that the submission is safe."""
    monkeypatch.setattr("space.board.board._LOOK_EVERY_S", 0.0)
    board = Board(data, store, None)
    fill(store, 1)
    board.snapshot()
    monkeypatch.setattr(store, "entries", lambda: 1 / 0)
    assert len(board.snapshot().rows) == 1
    deadline = time.monotonic() + 10
    while "last state" not in caplog.text and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "last state" in caplog.text
    service = LeaderboardService(LeaderboardSettings(), board)
    made = service.submit(jsonl(toy_lines(ranked(8))), FORM, caller="a")
    assert (made.receipt.state, made.row) == ("stored", None)
    assert store.get(made.receipt.key) is not None


def test_identical_predictions_are_named(board: Board, settings: LeaderboardSettings) -> None:
    """In the warnings of the second submission, and on both rows."""
    service, upload = LeaderboardService(settings, board), jsonl(toy_lines(ranked(8)))
    assert service.submit(upload, replace(FORM, name="Ferry"), caller="a").warnings == ()
    other = replace(FORM, name="New", modality="audio_only")
    assert service.submit(upload, other, caller="a").warnings == (
        "identical to Ferry: same ranks of relevant titles",
        "the row is marked: audio modality without audio coverage",
    )
    service.submit(jsonl(toy_lines(ranked(9))), replace(FORM, name="Third"), caller="a")
    copies = {row.label: row.identical_to for row in board.snapshot().rows}
    assert copies == {"Ferry": ("New",), "New": ("Ferry",), "Third": ()}
    assert "identical to Ferry" in table(table_rows(board), Address())


def test_a_withdrawn_submission_leaves(board: Board, store: LocalStore) -> None:
    """The owner may delete a file at any time."""
    fill(store, 2)
    (first, second) = board.snapshot().rows
    (store.folder / f"{first.key}.jsonl").unlink()
    assert [row.key for row in board.refresh().rows] == [second.key]
    assert board.row(first.key) is None
    assert board.submission(first.key) is None


def test_two_rows_compared(board: Board, store: LocalStore) -> None:
    """The same figures as `musicrs-metric compare` on the two runs, with the effect by genre."""
    fill(store)
    a, b = row_of(board, "System 5"), row_of(board, "System 0")
    found = Pairing(board)(a.key, b.key)
    tables = [score_predictions(ranked(i, skill=i / 6), references()).table for i in (5, 0)]
    expected = compare(
        [System(f"System {i}", table, "thread") for i, table in zip((5, 0), tables, strict=True)],
        groups={"genre": references().groups["genre"]},
    )
    assert found.metrics["mrr"].pairs == expected.metrics["mrr"].pairs
    assert set(found.metrics["mrr"].pairs[0].by["genre"]) == {"Jazz", "Metal"}


def test_pairs_that_cannot_be_compared(board: Board, store: LocalStore, data: LeaderboardData) -> None:
    """The same row twice, one that is gone, and rows on different pools."""
    wider = data.design("wider")
    store.put(submission(at=1))
    store.put(submission(ranked(0, wider), at=2, fingerprint=wider.fingerprint))
    a, b = (row.key for row in board.snapshot().rows)
    pairing = Pairing(board)
    for first, second, words in ((a, a, "twice"), (a, "0" * 64, "no row"), (a, b, "same pools")):
        with pytest.raises(UserError, match=words):
            pairing(first, second)


def test_gain_of_a_second_modality(board: Board, store: LocalStore) -> None:
    """Systems with both modalities and one of them; the last of several runs stands for its modality."""
    for at, (name, modality) in enumerate(
        [("A", "query_only"), ("A", "audio_query"), ("A", "audio_query"), ("A", "audio_only"), ("B", "query_only")]
    ):
        store.put(submission(ranked(at), at=at, name=name, modality=modality))
    found = modality_gains(board.snapshot().rows)
    assert [(gain.name, gain.both.label, gain.single.label) for gain in found] == [
        ("A", "A, audio + query (2)", "A, query"),
        ("A", "A, audio + query (2)", "A, audio"),
    ]


def test_one_thread_as_all_ranked_it(board: Board, store: LocalStore, data: LeaderboardData) -> None:
    """In the order asked for; a row that is gone is left out, a missing prediction is shown as such."""
    store.put(submission(ranked(0), at=0, name="A"))
    store.put(submission(ranked(1)[1:], at=1, name="B"))
    a, b = (row.key for row in board.snapshot().rows)
    found = rankings_of(board, "t3_a", keys=(b, "0" * 64, a, b))
    assert [(one.row.label, one.prediction) for one in found] == [("B", None), ("A", ranked(0)[0])]
    assert [one.row.label for one in rankings_of(board, "t3_a")] == ["A", "B"]
    design = data.design()
    assert (place(design, "t3_b"), relevant_places(design, "t3_a")) == (1, {1, 3})
    with pytest.raises(UserError, match="t3_z"):
        rankings_of(board, "t3_z")


NAMES = [
    "=1+1",
    " +x",
    "@SUM(A1)",
    "-2",
    "| a | b |",
    "\uff1dx",
    "a; =1",
    '"quoted", comma',
    "100 % _under_ & #1 ~^\\ {x} $y$",
]


@pytest.mark.parametrize("form", get_args(ExportFormat))
def test_exports_are_safe_whatever_a_name_holds(form: ExportFormat, board: Board, store: LocalStore) -> None:
    """No formula, no further column, no markup."""
    for at, name in enumerate(NAMES):
        store.put(submission(ranked(at), at=at, name=name, open_weights=True))
    found = table_rows(board)
    text = export(found, form)
    if form == "csv":
        head, *rows = csv.reader(io.StringIO(text))
        assert {len(row) for row in rows} == {len(head)}
        column = {row[head.index("name")] for row in rows}
        assert {f"'{name}" for name in NAMES[:6]} | {"a;' =1", *NAMES[7:], "chance"} == column
        best = rows[1]
        assert float(best[head.index("recall@20")]) == found[1].values["recall@20"]
        assert (best[head.index("mrr rank")], best[head.index("open_weights")]) != ("", "")
    elif form == "markdown":
        table = [row for row in text.splitlines() if row.startswith("|")]
        assert len(table) == 2 + len(found)
        assert {row.replace("\\|", "").count("|") for row in table} == {table[0].count("|")}
    else:
        assert r"100 \% \_under\_ \& \#1 \textasciitilde{}\textasciicircum{}\textbackslash{} \{x\} \$y\$" in text
        assert r"\textbf{" in text
        assert text.count(r"\\") == 1 + len(found)
