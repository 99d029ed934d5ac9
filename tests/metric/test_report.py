"""What a report says: its tables against hand calculation, its sentences, and the cases it shows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musicrs_metric.base.tables import Cell, Row, Table
from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.errors import UserError
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.report.build import Report, build_report
from musicrs_metric.report.by_genre import ticks
from musicrs_metric.report.cases import judge
from musicrs_metric.report.coverage import bins
from musicrs_metric.report.document import Block, Case, Figure, Text
from musicrs_metric.runs.references import load_references

from .report_toy import BOTH_RANKS, COUNT_RANKS, NAME, Toy, toy_rows, write_run, write_toy
from .support import columns_of, popularity, references_of, write_repo

RESAMPLES = 200


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return write_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def report(toy: Toy) -> Report:
    return build_report(toy.runs, toy.dataset, resamples=RESAMPLES)


def blocks(report: Report, key: str) -> tuple[Block, ...]:
    return next(section.blocks for section in report.document.sections if section.key == key)


def table(report: Report, key: str, index: int = 0) -> Table:
    return [block for block in blocks(report, key) if isinstance(block, Table)][index]


def text(report: Report, key: str) -> str:
    return "\n".join(block.text for block in blocks(report, key) if isinstance(block, Text))


def shown(cell: Cell) -> str:
    return " / ".join(part.text for part in cell.parts)


def row_of(table: Table, first: str, **columns: str) -> dict[str, Cell]:
    """The row that begins with `first` (and has these texts in these columns), by the heads of the columns."""
    heads = [column.text for column in table.columns]
    for row in table.rows:
        cells = dict(zip(heads, row.cells, strict=False))
        if shown(row.cells[0]) == first and all(shown(cells[head]) == found for head, found in columns.items()):
            return cells
    raise AssertionError(f"no row {first!r} {columns}")


def test_table_1_begins_with_chance(report: Report) -> None:
    # Two right answers in pools of 40: 20 / 40.
    first = table(report, "table-1").rows[0]
    assert first.role == "chance"
    assert shown(first.cells[3]).startswith("50.00 / ")


def test_table_1_holds_the_scores_of_each_genre(report: Report) -> None:
    cells = row_of(table(report, "table-1"), NAME, Modality="query")
    assert [shown(cells[genre]).split(" / ")[0] for genre in ("Overall", "Jazz", "Metal", "Pop")] == [
        "58.33",  # (1 + .5 + 0 + 1 + 1 + 0) / 6
        "75.00",
        "50.00",
        "50.00",
    ]
    assert cells["Overall"].detail.count("[") == 2  # one interval for each measure


def test_columns_of_table_1_are_the_genres_of_the_dataset_in_the_order_of_the_paper(report: Report) -> None:
    heads = [column.text for column in table(report, "table-1").columns]
    assert heads == ["System", "Modality", "Group", "Overall", "Pop", "Metal", "Jazz"]


def test_two_misses_are_not_below_chance_and_a_system_alone_in_what_it_reads_has_no_group(report: Report) -> None:
    cells = row_of(table(report, "table-1"), "Counts")
    assert [(part.text, part.sign) for part in cells["Jazz"].parts] == [("0.00", ""), ("0.00", "")]
    assert VERDICT_RULE in " ".join(table(report, "table-1").notes)
    assert shown(cells["Group"]) == "–"


def test_best_is_marked_among_systems_that_read_the_same(report: Report) -> None:
    best = row_of(table(report, "table-1"), NAME, Modality="audio + query")
    tied = row_of(table(report, "table-1"), NAME, Modality="query")
    assert best["Overall"].parts[0].emphasis == "best"
    assert tied["Overall"].parts[0].emphasis == "tied"  # six threads tell nothing apart
    assert row_of(table(report, "table-1"), "Counts")["Overall"].parts[0].emphasis == ""


def test_paper_is_left_out_on_other_data_unless_asked_for(report: Report, toy: Toy) -> None:
    assert not any(row.role == "reported" for row in table(report, "table-1").rows)
    asked = build_report(toy.runs, toy.dataset, reported=True, resamples=RESAMPLES)
    rows = [row for row in table(asked, "table-1").rows if row.role == "reported"]
    assert len(rows) == 29
    assert not any(cell.detail for row in rows for cell in row.cells)  # the paper has no intervals
    assert any("on other data" in note for note in table(asked, "table-1").notes)
    clap = row_of(table(asked, "table-1"), "CLAP", Modality="query")
    assert [(part.text, part.sign) for part in clap["Overall"].parts] == [("22.71", "△"), ("15.90", "△")]
    assert "2 of 9 multimodal systems" in text(asked, "rq1")
    assert "generative 18.77 / 13.14 (21 rows); retrieval 21.21 / 14.72 (6 rows)" in text(asked, "rq2")
    assert "23 of its 29 overall rows are below it on recall@20 and 24 on nDCG@20" in text(asked, "rq2")
    assert "23.38 in Pop" in text(asked, "rq3")
    assert len(table(asked, "figures-1-2", 0).rows) == 6


def test_rq1_gain_is_the_paired_difference(report: Report) -> None:
    # (1 + 1 + .5 + 1 + 1 + 0) / 6 = 75.00, less 58.33.
    cells = row_of(table(report, "rq1"), "recall@20")
    assert (shown(cells["query"]), shown(cells["audio + query"]), shown(cells["audio"])) == ("58.33", "75.00", "–")
    assert shown(cells["gain of both over query"]) == "+16.67"
    assert shown(cells["Best in"]) == "audio + query"
    assert text(report, "rq1").startswith("1 of 1 multimodal system has its highest overall recall@20")


def test_rq1_repeats_the_gain_on_the_threads_with_audio(report: Report) -> None:
    rows = [row for row in table(report, "rq1").rows if "5 threads" in row.cells[0].detail]
    # Without the sixth thread, where both score 0: 3.5 / 5 and 4.5 / 5.
    assert [shown(cell) for cell in rows[0].cells[2:5]] == ["70.00", "90.00", "+20.00"]


def test_rq1_shows_what_audio_adds_to_the_text_system_of_a_fusion(toy: Toy, tmp_path: Path) -> None:
    """58.33 with text and 75.00 with audio beside it. A control run with as much is no gain by audio."""
    rows = toy_rows()
    better = write_run(tmp_path / "better", rows, [(1, 2)] * 6, name="Better text")  # in no fusion
    digest = hashlib.sha256((toy.query / "predictions.jsonl").read_bytes()).hexdigest()
    folders = []
    for name, extra in (("fused", {}), ("control", {"control": "shuffled-audio"})):
        folder = write_run(tmp_path / name, rows, BOTH_RANKS, name=name, modality="audio_query")
        card = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps({**card, **extra, "fused": [{"sha256": digest}, {}]}))
        folders.append(folder)
    audio = write_run(tmp_path / "audio", rows, COUNT_RANKS, name="Audio", modality="audio_only")
    report = build_report([toy.query, better, audio, *folders], toy.dataset, resamples=RESAMPLES)
    shown_text = text(report, "rq1")
    assert "The best text system in a fusion of this report by recall@20 is " + NAME in shown_text
    assert "0 of 1 run on audio gain significantly" in shown_text  # six threads tell nothing apart
    gains = [[shown(cell) for cell in row.cells[:3]] for row in table(report, "rq1", 0).rows]
    assert sorted(gains) == [
        ["Audio", "audio", "−58.33"],
        ["control", "fused with the text system", "+16.67"],
        ["fused", "fused with the text system", "+16.67"],
    ]
    assert [row.cells[1].detail for row in table(report, "rq1", 0).rows].count("shuffled-audio") == 1


def test_rq2_averages_the_rows_of_a_paradigm(report: Report) -> None:
    cells = row_of(table(report, "rq2"), "retrieval")
    assert (shown(cells["Rows"]), shown(cells["recall@20"])) == ("2", "66.67")  # (58.33 + 75.00) / 2
    assert shown(row_of(table(report, "rq2"), "retrieval − traditional")["recall@20"]) == "+66.67"


def test_rq3_sets_each_genre_beside_its_own_chance(report: Report) -> None:
    # Pop: (1 + 0 + 1 + 0 + 0 + 0) / 6 over three systems and two threads.
    cells = row_of(table(report, "rq3"), "Pop")
    assert shown(cells["Mean of systems"]).split(" / ")[0] == "33.33"
    assert shown(cells["Above chance"]).split(" / ")[0] == "−16.67"
    assert cells["Threads"].detail == "small"


def test_figure_3_counts_threads_and_entities(report: Report) -> None:
    figure = next(block for block in blocks(report, "figure-3") if isinstance(block, Figure))
    assert row_of(figure.data, "Jazz")["Threads"] == row_of(figure.data, "Pop")["Threads"]
    everything = row_of(figure.data, "all")
    assert (shown(everything["Threads"]), shown(everything["Distinct ground truth"])) == ("6", "12")
    assert shown(everything["comments"]) == "3.5"  # median of 1 to 6
    comments = next(panel for panel in figure.panels if panel.title.startswith("Comments"))
    assert (comments.labels, comments.series[0].texts) == (tuple("123456"), ("1",) * 6)


def test_figure_4_draws_chance_and_intervals(report: Report) -> None:
    figure = next(block for block in blocks(report, "figure-4") if isinstance(block, Figure))
    panel = figure.panels[0]
    assert panel.title == "Overall (n = 6)"
    # First hit of two in a random order of 40: sum over r of (1 / r) * P(first hit at r).
    assert panel.line == pytest.approx(sum((40 - r) / (r * 40 * 39 / 2) for r in range(1, 40)))
    assert panel.series[0].values[-1] == pytest.approx(1 / 30)
    assert all(low is not None for low in panel.series[0].low)


def test_figure_4_of_another_measure(toy: Toy) -> None:
    """By hand: recall@2 of the second run is 1, 1, 0, 1, 1, 0; a random order of 40 reaches 2/40."""
    built = build_report(toy.runs, toy.dataset, metric="recall@2", resamples=RESAMPLES)
    (figure,) = (block for block in blocks(built, "figure-4") if isinstance(block, Figure))
    assert figure.caption.startswith("Recall@2 by genre and system")
    assert figure.panels[0].line == pytest.approx(1 / 20)
    assert figure.panels[0].series[0].values[1] == pytest.approx(4 / 6)
    assert [row.cells[1].parts[0].text for row in figure.data.rows] == ["5.00", "58.33", "66.67", "0.00"]
    with pytest.raises(UserError, match="unknown metric 'recal@20'"):
        build_report(toy.runs, toy.dataset, metric="recal@20", resamples=RESAMPLES)


@pytest.mark.parametrize(
    ("values", "labels", "counts"),
    [
        ([3, 3, 3], ["3"], [3]),
        ([1, 2, 4], ["1", "2", "3", "4"], [1, 1, 0, 1]),
        ([0, 5, 18], ["0–1", "2–3", "4–5", "6–7", "8–9", "10–11", "12–13", "14–15", "16–17", "18"], None),
        ([*range(20)] * 5 + [900], None, None),
    ],
)
def test_bins_hold_every_value_once(values: list[int], labels: list[str] | None, counts: list[int] | None) -> None:
    found_labels, found_counts = bins(values)
    assert sum(found_counts) == len(values)
    assert len(found_labels) <= 12
    assert labels in (None, found_labels)
    assert counts in (None, found_counts)


def test_values_far_out_share_an_open_bin() -> None:
    labels, counts = bins([*range(100), 5_000])
    assert (labels[-1], counts[-1]) == ("90+", 11)


@pytest.mark.parametrize(
    ("top", "expected"),
    [(0.37, (0, 0.1, 0.2, 0.3, 0.4)), (1.0, (0, 0.2, 0.4, 0.6, 0.8, 1.0)), (0.0, (0, 1)), (60.0, (0, 20, 40, 60))],
)
def test_ticks_are_round_and_reach_past_the_largest_value(top: float, expected: tuple[float, ...]) -> None:
    assert ticks([0.0, None, top]) == expected


def test_cases_are_where_the_systems_differ_most_and_least(report: Report) -> None:
    cases = [block for block in blocks(report, "cases") if isinstance(block, Case)]
    # The two runs of "Ears" find everything in t3_0, t3_3 and t3_4, "Counts" nothing anywhere; in t3_5 nobody does.
    assert [(case.title, case.why) for case in cases] == [
        ("Thread t3_0", "the systems differ most in nDCG@20"),
        ("Thread t3_5", "the systems differ least in nDCG@20"),
    ]


def test_case_shows_thread_pool_clips_and_every_top_20(toy: Toy) -> None:
    asked = build_report(toy.runs, toy.dataset, cases=["t3_2"], resamples=RESAMPLES)
    (case,) = [block for block in blocks(asked, "cases") if isinstance(block, Case)]
    assert [item.state for item in case.pool].count("hit") == 2
    assert case.ground_truth == ("metal 4 of | 2", "metal 5 of | 2")
    assert [sound.key for sound in case.sounds] == ["t3_2/1", None]  # two million bytes are too many for a page
    assert case.sounds[1].note == "not embedded, 2 MB"
    assert list(asked.sounds) == ["t3_2/1"]
    assert [link.url for link in case.links] == ["https://youtu.be/dQw4w9WgXcQ?t=43"]  # and no javascript: link
    hits = [[item.rank for item in answer.items if item.state == "hit"] for answer in case.answers]
    assert hits == [[], ["3"], []]
    assert [len(answer.items) for answer in case.answers] == [20, 20, 20]
    assert "recall@20 50.00" in case.answers[1].summary


def test_case_marks_what_the_scores_count() -> None:
    candidates, truth = ["Ade", "Bop", "Cool", "Dig"], ["Bop", "Dig"]
    ranking = ["“bop” ", "Nonsense", "BOP", "Cool", "dig"]
    judged = judge(ranking, candidates, truth)
    assert [(item.rank, item.state) for item in judged] == [
        ("1", "hit"),
        ("2", "unknown"),
        ("3", "miss"),  # Cool closes up: BOP was there already
        ("4", "hit"),
    ]


@given(st.lists(st.sampled_from(["Ade", "ade", "Bop", '"Bop"', "Cool", "Dig", "dig ", "Elm", "no such title"])))
def test_hits_of_a_case_are_those_of_the_scores(ranking: list[str]) -> None:
    candidates, truth = ["Ade", "ade", "Bop", "Cool", "Dig"], ["Bop", "ade", "Dig"]
    judged = judge(ranking, candidates, truth)
    scored = hits_from_strings([ranking], [truth], [candidates])
    assert [int(item.rank) for item in judged if item.state == "hit"] == scored.rank.tolist()
    assert sum(item.state == "unknown" for item in judged) == scored.n_unknown[0]


def test_runs_that_share_a_name_are_told_apart(toy: Toy, tmp_path: Path) -> None:
    rows = [
        {"thread_id": thread, "candidates": pool, "ground_truth": truth}
        for thread, pool, truth in zip(
            *[getattr(load_references(toy.dataset), name) for name in ("thread_ids", "candidates", "ground_truth")],
            strict=True,
        )
    ]
    again = write_run(tmp_path / "seed 2", rows, COUNT_RANKS, name="Counts", paradigm="traditional")
    labels = [run["label"] for run in build_report([toy.counts, again], toy.dataset, resamples=RESAMPLES).data["runs"]]
    assert labels == ["Counts, query, counts", "Counts, query, seed 2"]


def test_a_run_given_twice_is_numbered(toy: Toy) -> None:
    """The same folder twice, as `compare` takes it: two names, one value."""
    runs = build_report([toy.counts, toy.query, toy.counts], toy.dataset, resamples=RESAMPLES).data["runs"]
    values = {run["label"]: run["scores"]["recall@20"] for run in runs}
    first, second = (label for label in values if label.startswith("Counts"))
    assert second == f"{first} (2)"
    assert values[first] == values[second]


def test_one_run_alone_makes_a_report(toy: Toy) -> None:
    alone = build_report([toy.query], toy.dataset, resamples=RESAMPLES)
    assert "No system of this report was run in more than one modality" in text(alone, "rq1")
    assert [block.why for block in blocks(alone, "cases") if isinstance(block, Case)] == [
        "its highest nDCG@20",
        "its lowest nDCG@20",
    ]


def test_same_runs_give_the_same_report(report: Report, toy: Toy) -> None:
    again = build_report(toy.runs, toy.dataset, resamples=RESAMPLES)
    assert json.dumps(again.data) == json.dumps(report.data)


def test_run_on_other_data_is_refused(toy: Toy, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"thread_id": "t3_0", "candidates": ["a", "b"], "ground_truth": ["a", "b"]}]
    other = write_run(tmp_path / "other", rows, [(1, 2)], name="Other")
    with pytest.raises(UserError, match=r"other: was made on other pools or labels .* than .*query"):
        build_report([toy.query, other], toy.dataset, resamples=RESAMPLES)
    with pytest.raises(UserError, match="fingerprint"):
        build_report([other], toy.dataset, resamples=RESAMPLES)


def test_published_file_gives_the_rows_of_the_paper(upstream_rows: list[dict[str, Any]], tmp_path: Path) -> None:
    references = references_of(upstream_rows)
    dataset = write_repo(tmp_path / "D", columns_of(references))
    rows = [
        {"thread_id": thread, "candidates": pool, "ground_truth": truth}
        for thread, pool, truth in zip(
            references.thread_ids, references.candidates, references.ground_truth, strict=True
        )
    ]
    run = write_run(tmp_path / "popularity", rows[:0], [], name="popularity", paradigm="traditional", reads="pools")
    card = json.loads((run / "run.json").read_text()) | {"fingerprint": references.fingerprint}
    (run / "run.json").write_text(json.dumps(card))
    ranked = zip(references.thread_ids, popularity(upstream_rows), strict=True)
    (run / "predictions.jsonl").write_text(
        "".join(json.dumps({"thread_id": thread, "ranking": ranking}) + "\n" for thread, ranking in ranked)
    )
    made = build_report([run], dataset, resamples=RESAMPLES)
    ours = row_of(table(made, "table-1"), "popularity")
    published = row_of(table(made, "table-1"), "Popularity")  # set beside without asking: these are its data
    for head in [column.text for column in table(made, "table-1").columns][3:]:
        assert shown(ours[head]) == shown(published[head])
    chance = Row(table(made, "table-1").rows[0].cells)
    assert shown(chance.cells[3]) == "20.42 / 14.21"
