"""The page without a browser: what an address shows, what every tab says, and that text from outside stays text."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest

from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.base.numbers import percent
from musicrs_metric.runs.predictions import Fault, PredictionError
from space.board.board import Board
from space.board.data import load_data
from space.board.table_rows import RowQuery, TableRow, table_rows
from space.intake import SubmissionForm
from space.service import LeaderboardService
from space.settings import LeaderboardSettings
from space.store.local import LocalStore
from space.views import submit
from space.views.address import Address
from space.views.compare import best_pair
from space.views.dataset_threads import DatasetThreads
from space.views.display_names import NOTHING
from space.views.genres import heat_map
from space.views.html import Html, join, outside_link, tag
from space.views.interval_plot import Scale
from space.views.leaderboard import download
from space.views.page import Page
from space.views.plots import by_genre
from space.views.table import answer_shares, table
from space.views.threads import chooser, search_threads

from . import toy
from .views_toy import mini_dataset, submission, submissions

ATTACK = '"><img src=x onerror=alert(1)><script>alert(1)</script>'


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> LeaderboardService:
    """A board on the mini dataset with eighteen systems, the last of which has a name that means harm."""
    folder = tmp_path_factory.mktemp("board")
    data = load_data(str(mini_dataset(folder / "data")))
    store = LocalStore(folder / "submissions")
    references = data.designs[0].references
    for made in submissions(references, 17):
        store.put(made)
    store.put(submission(references, 17, name=ATTACK, strength=3))
    return LeaderboardService(
        LeaderboardSettings(dataset=str(folder / "data"), results=folder), Board(data, store, None)
    )


@pytest.fixture(scope="module")
def page(service: LeaderboardService) -> Page:
    """The page on that board."""
    return Page(service.board, DatasetThreads(service.settings.dataset))


class Tags(HTMLParser):
    """Collects elements with their attributes, the text between them, and what elements of a class begin with."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.of_class: dict[str, list[str]] = defaultdict(list)
        self.feed(html)
        self.close()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((name, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data
        self.of_class[self.tags[-1][1].get("class") or ""].append(data)

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.tags if found == name]


def column(html: str) -> list[str]:
    """Names of the systems of a table, in their order."""
    return [name for name in Tags(html).of_class["name"] if name.strip()]


def test_text_cannot_leave_its_element() -> None:
    """Children and attributes are escaped, made HTML is not, and nothing is escaped twice."""
    made = tag("p", ATTACK, tag("b", "a & b"), title=ATTACK, data_key=1, hidden=True, id=None)
    parsed = Tags(made)
    assert [name for name, _ in parsed.tags] == ["p", "b"]
    assert parsed.tags[0][1] == {"title": ATTACK, "data-key": "1", "hidden": None}
    assert parsed.text == f"{ATTACK}a & b"
    assert isinstance(join("<", [Html("<br>"), None, 3]), Html)
    assert join("<", [Html("<br>"), None, 3]) == "&lt;<br>3"


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "http://example.org", "//example.org", "https://", "https://[half", "", None, "data:,x"],
)
def test_only_https_is_linked(address: str | None) -> None:
    """Whatever else somebody gives as a link makes none."""
    assert outside_link(address) is None


def test_a_link_shows_its_host_and_hands_on_nothing() -> None:
    """The text is the host, not what somebody wrote; search engines and the opened page learn nothing."""
    made = Tags(outside_link('https://good.example@evil.example/"onclick=x?q=<b>') or "")
    assert made.text == "evil.example"
    (link,) = made.named("a")
    assert set((link["rel"] or "").split()) >= {"noopener", "noreferrer", "nofollow"}
    assert set(link) == {"href", "target", "rel", "class"}


def test_an_address_survives_the_way_through_a_query_string() -> None:
    """An address is read back from its query string. Invalid choices and values that are no text are ignored."""
    address = Address(tab="genres", genre="Jazz", metric="mrr", find="a&b=c", compare="k1,k2")
    assert Address.read(dict(parse_qsl(address.to()[1:]))) == address
    assert Address.read({"tab": "admin", "sort": "<b>", "genre": 3, "order": None, "unknown": "x"}) == Address()
    assert Address().to() == "?tab=leaderboard"
    assert Address.read({"compare": "a,b"}).tab == "compare"
    assert Address.read({"thread": "t3_x"}).tab == "threads"
    assert Address.read({"tab": "genres", "thread": "t3_x"}).tab == "genres"


def test_names_are_sorted_upwards_and_scores_downwards() -> None:
    """ "reversed" turns either around."""
    assert [Address(sort=sort, order=order).ascending for sort in ("name", "mrr") for order in ("", "reversed")] == [
        True, False, False, True,
    ]  # fmt: skip


def test_what_the_board_no_longer_has_is_taken_out_of_an_address(page: Page) -> None:
    """An old link opens the board."""
    address = page.normalise_address(Address(row="gone", pools="gone", genre="Metal", thread="t3_gone", compare="a,b"))
    assert (address.row, address.pools, address.genre, address.thread, address.compare) == ("", "", "Metal", "", "")


def test_what_was_left_out_of_an_address_is_told_once(page: Page, service: LeaderboardService) -> None:
    """Each part in one line, as text; the page names its own address where that is another one."""
    key = service.board.snapshot().rows[0].key
    given = {"compare": f"a,{key}", "genre": "<b>", "row": "gone", "systems": f"gone,{key}", "thread": "t3_gone"}
    asked = Address.read(given)
    address = page.normalise_address(asked)
    assert (address.pair, address.systems) == (("", key), key)
    parsed = Tags(page.header(address, asked, Address.unknown(given)))
    (said,) = parsed.of_class["warn"]
    assert said == "no genre '<b>', no thread 't3_gone', no row 'gone', no row 'a'; shown without them"
    assert parsed.named("header")[0]["data-address"] == f"?tab=compare&compare=,{key}&systems={key}"

    again = page.normalise_address(Address.read({"compare": address.compare, "genre": "Jazz"}))
    parsed = Tags(page.header(again, again, Address.unknown({"genre": "Jazz"})))
    assert "warn" not in parsed.of_class
    assert "data-address" not in parsed.named("header")[0]


def test_a_comparison_without_a_choice_starts_with_the_best_two(page: Page, service: LeaderboardService) -> None:
    """They are of one modality; who takes the choice away is not given another."""
    address = page.normalise_address(Address(tab="compare"))
    a, b = (service.board.snapshot().by_key[key] for key in address.pair)
    assert a.entry.card.modality == b.entry.card.modality
    assert a.standings["recall@20"].mean >= b.standings["recall@20"].mean
    shown = page.compare(address)
    assert shown.figure is not None
    assert "verdict-line" in shown.above
    assert page.normalise_address(Address(tab="compare", compare=",")).compare == ","


def test_a_comparison_without_a_choice_prefers_the_same_reads() -> None:
    """First the same modality and reads, then the same reads, then the two best."""

    def row(key: str, modality: str, reads: str) -> SimpleNamespace:
        return SimpleNamespace(key=key, entry=SimpleNamespace(card=SimpleNamespace(modality=modality, reads=reads)))

    a, b = row("a", "query_only", "labels"), row("b", "query_only", "thread")
    c, d = row("c", "audio_only", "thread"), row("d", "query_only", "thread")
    found = [best_pair(rows) for rows in ([a, b, c, d], [a, b, c], [a, b], [a], [])]  # type: ignore[arg-type]
    assert found == ["b,d", "b,c", "a,b", "", ""]


@pytest.mark.parametrize(
    ("tops", "least", "high"),
    [
        ([0.2, 0.25, 0.3, 1.0], 0.2, 0.3),
        ([0.2, 0.25, 0.3, 0.6], 0.2, 0.6),  # exactly twice as high is no outlier
        ([0.01, 1.0], 0.3, 0.3),
        ([0.1] * 6 + [0.5, 0.9], 0.0, 0.1),
        ([0.1, 0.5, 0.5, 0.5], 0.0, 0.5),  # most rows are high: none of them is an outlier
        ([0.0, 0.0, 0.9], 0.0, 0.9),
        ([1.0], 0.2, 1.0),
        ([], 0.2, 0.2),
    ],
)
def test_an_outlier_does_not_compress_the_other_rows(tops: list[float], least: float, high: float) -> None:
    """By hand: the scale ends below the rows that are more than twice as high as all others."""
    scale = Scale.without_outliers(tops, least=least)
    assert (scale.low, scale.high) == pytest.approx((0.0, high))


def test_chance_stands_on_top_and_every_system_once(page: Page, service: LeaderboardService) -> None:
    """The table holds chance and all rows, those that read the same together, each with its own link."""
    html = page.leaderboard(Address())
    names = column(html)
    assert names[0] == "Chance"
    labels = [row.label for row in table_rows(service.board)[1:]]
    assert sorted(names[1:]) == sorted(labels)
    parsed = Tags(html)
    assert [body.get("data-reads") for body in parsed.named("tbody")][1:] == ["thread", "pools", "labels"]
    assert len({link["data-row"] for link in parsed.named("a") if "data-row" in link}) == 18
    assert [head.get("aria-sort") for head in parsed.named("th") if "aria-sort" in head] == ["descending"]


def test_a_table_of_the_paper_has_its_rows_marked(page: Page) -> None:
    """On other data than the paper's nothing is called reported."""
    assert "reported" not in page.leaderboard(Address()).replace('name="reported"', "")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"modality": "audio_only"}, lambda row: row.entry.card.modality == "audio_only"),
        ({"paradigm": "generative"}, lambda row: row.entry.card.paradigm == "generative"),
        ({"reads": "labels"}, lambda row: row.entry.card.reads == "labels"),
        ({"weights": "open"}, lambda row: row.entry.card.open_weights is True),
        ({"weights": "closed"}, lambda row: row.entry.card.open_weights is False),
        ({"find": "BRASS"}, lambda row: "Brass" in row.label),
    ],
)
def test_filters(page: Page, changes: dict[str, str], expected: object) -> None:
    """Each filter leaves what fits it, and something fits."""
    assert callable(expected)
    left = {row.label for row in page.board.snapshot().rows if expected(row)}
    assert left
    assert set(column(page.leaderboard(Address(**changes)))) == {"Chance", *left}


def test_a_new_row_is_on_the_table_at_once(tmp_path: Path, page: Page) -> None:
    """A table rendered before a submission is not shown after it."""
    data = page.board.data
    store = LocalStore(tmp_path)
    store.put(submission(data.designs[0].references, 1))
    fresh = Page(Board(data, store, None), page.dataset)
    first = fresh.leaderboard(Address())
    assert fresh.leaderboard(Address()) is first
    store.put(submission(data.designs[0].references, 2))
    fresh.board.refresh()
    assert len(column(fresh.leaderboard(Address()))) == 3


def test_nothing_that_fits_is_said(page: Page) -> None:
    """An empty table says what to do."""
    assert "Remove a filter" in page.leaderboard(Address(find="no such system"))


def test_a_genre_has_scores_and_chance_of_its_own(page: Page, service: LeaderboardService) -> None:
    """Chosen by genre, the table shows the scores on that genre's threads."""
    html = page.leaderboard(Address(genre="Jazz"))
    row = service.board.snapshot().rows[0]
    assert percent(row.scores.by["genre"]["Jazz"].values["recall@20"]) in html
    assert "4 threads of Jazz" in html


def test_a_new_genre_has_its_place(page: Page) -> None:
    """A corpus of other communities: its genres come after the paper's, in tables, plots and choices."""
    levels = {"Overall": 0.1, "Country": 0.2, "Jazz": 0.3, "<b>": 0.4}
    figure = by_genre([], levels, "mrr").to_plotly_json()
    assert figure["layout"]["xaxis"]["ticktext"] == ["Overall", "Jazz", "&lt;b&gt;", "Country"]
    html = heat_map([], [], levels, "rule", Address())
    assert html.index(">Jazz<") < html.index("&lt;b&gt;") < html.index(">Country<")
    assert "Country" in chooser(["Jazz", "Country"], Address())
    kept = Address.read({"tab": "threads", "genre": "Country"})
    assert (kept.genre, page.normalise_address(kept).genre, page.gone(kept)) == ("Country", "", ["genre 'Country'"])


def test_a_hostile_name_is_text_on_every_tab(page: Page, service: LeaderboardService) -> None:
    """No element comes of it; the name can be read, also where it labels a choice, a heading or a plot."""
    key = next(row.key for row in service.board.snapshot().rows if row.entry.card.name == ATTACK)
    other = next(row.key for row in service.board.snapshot().rows if row.key != key)
    thread = page.dataset.threads[0].thread_id
    compared, by_genre = page.compare(Address(compare=f"{key},{other}")), page.genres(Address())
    sheets = [
        page.leaderboard(Address()), page.details(Address(row=key)), page.threads(Address(thread=thread, systems=key)),
        compared.above, compared.below, by_genre.below,
    ]  # fmt: skip
    for html in sheets:
        parsed = Tags(html)
        assert not {"img", "script", "iframe", "svg", "style", "object"} & {name for name, _ in parsed.tags}
        assert not [one for _, one in parsed.tags if any(name.startswith("on") for name in one)]
        assert ATTACK in parsed.text or html is compared.below
    for figure in (compared.figure, by_genre.figure):
        assert figure is not None
        drawn = json.dumps(figure.to_plotly_json(), default=str)
        assert "<img" not in drawn
        assert "&lt;img" in drawn


def test_details_say_what_is_known(page: Page, service: LeaderboardService) -> None:
    """Scores with chance, the standing, how answers came about, and the card."""
    row = next(row for row in service.board.snapshot().rows if row.entry.description and row.entry.link)
    text = Tags(page.details(Address(row=row.key))).text
    for said in (row.label, "Made for tests.", "example.org", row.key, row.entry.card.fingerprint, "Best possible"):
        assert said in text
    assert f"rank {row.standings['mrr'].rank}" in text
    assert page.details(Address()) == ""


def test_answers_are_summed_up() -> None:
    """As asked or repaired is answered, each failure keeps its name; where nothing is told, nothing is said."""
    assert answer_shares({"ok": 5, "repaired": 3, "failed": 1, None: 1}) == {
        "answered": 0.8, "failed": 0.1, "not stated": 0.1,
    }  # fmt: skip
    assert answer_shares({None: 7}) == {}


def test_a_comparison_is_that_of_the_command(page: Page, service: LeaderboardService) -> None:
    """The difference, its interval and the threads won are those of `musicrs_metric.compare`."""
    from musicrs_metric.compare import System, compare

    a, b = service.board.snapshot().rows[:2]
    pair = compare([System(row.label, row.table) for row in (a, b)]).metrics["mrr"].pairs[0]
    text = Tags(page.compare(Address(compare=f"{a.key},{b.key}", metric="mrr")).above).text
    assert f"{pair.difference * 100:+.2f}".replace("-", "−") in text
    assert f"{pair.wins} / {pair.ties} / {pair.losses}" in text
    assert ("is better than" in text) == pair.significant


def test_a_comparison_that_cannot_be_made_says_why(page: Page, service: LeaderboardService) -> None:
    """The same row twice, or one that is gone, is told in one sentence."""
    key = service.board.snapshot().rows[0].key
    assert "was chosen twice" in page.compare(Address(compare=f"{key},{key}")).above
    assert page.compare(Address(compare=f"{key},")).figure is None


def test_a_point_carries_its_thread(page: Page, service: LeaderboardService) -> None:
    """Every thread is one point, and knows which it is."""
    a, b = service.board.snapshot().rows[:2]
    figure = page.compare(Address(compare=f"{a.key},{b.key}")).figure
    assert figure is not None
    points = [point[0] for trace in figure.data for point in trace.customdata]
    assert sorted(points) == sorted(thread.thread_id for thread in page.dataset.threads)


def test_threads_are_found_by_words_and_genre(page: Page) -> None:
    """All words must stand in request, post, titles or id; upper and lower case are alike."""
    threads = page.dataset.threads
    one = threads[3]
    title = one.ground_truth[0]
    assert one in search_threads(threads, Address(find=title.upper()))
    assert search_threads(threads, Address(find=f"{title} nowherefound")) == []
    assert {thread.genre for thread in search_threads(threads, Address(genre="Metal"))} == {"Metal"}
    assert search_threads(threads, Address(find=one.thread_id)) == [one]


def test_a_thread_shows_rankings_by_the_rule_of_the_scores(page: Page, service: LeaderboardService) -> None:
    """As many relevant candidates are marked among the first twenty as recall counts."""
    row, thread = service.board.snapshot().rows[0], page.dataset.threads[2]
    place = page.dataset.place[thread.thread_id]
    recall = row.table.values["recall@20"][place]
    right = round(float(recall) * len(thread.ground_truth))
    text = Tags(page.threads(Address(thread=thread.thread_id, systems=row.key))).text
    assert f"{right} of {len(thread.ground_truth)} relevant candidate" in text


def test_clips_are_files_named_by_their_content(page: Page) -> None:
    """Clips are in a folder of their own, and a second request writes no new file."""
    thread = page.dataset.threads[0].thread_id
    clips = page.dataset.clips(thread)
    assert len(clips) == 2
    for clip in clips:
        assert clip.file.parent == page.dataset.folder
        assert clip.file.read_bytes()[:4] == b"fLaC"
    assert page.dataset.clips(thread) == clips
    assert page.dataset.clips("../../etc/passwd") == []


def test_files_to_take_home(page: Page, service: LeaderboardService) -> None:
    """The table as it is shown, the predictions of a row, and one sentence for anything else."""
    row = service.board.snapshot().rows[0]
    table = download(service, Address(modality="audio_only"), "table csv")
    n = sum(row.entry.card.modality == "audio_only" for row in service.board.snapshot().rows)
    assert len(table["text"].splitlines()) == 2 + n
    assert len(download(service, Address(), f"predictions {row.key}")["text"].splitlines()) == 28
    for what in ("predictions ../../x", "table exe", "", 3):
        assert set(download(service, Address(), what)) == {"error"}


def test_faults_are_listed_one_a_line() -> None:
    """Line, thread, field and message of each stand in cells of their own, as text."""
    faults = [
        Fault("predictions.jsonl", 2, "ranking", ATTACK, "found 3"),
        Fault("form", None, "name", None, "found <b>"),
    ]
    parsed = Tags(submit.refused(PredictionError(faults, 7)))
    assert "7 faults" in parsed.text
    assert "5 more faults" in parsed.text
    assert f"predictions.jsonl, line 2{ATTACK}rankingfound 3" in parsed.text
    assert not parsed.named("img")
    assert len(parsed.named("tr")) == 3


def test_what_was_submitted_is_told_with_its_place(service: LeaderboardService, page: Page) -> None:
    """A receipt says state, score and rank, and links to the row; the same file again is already there."""
    references = service.board.data.designs[0].references
    made = submission(references, 40, strength=1)
    upload = file_like(made.predictions)
    form = SubmissionForm(name="Fresh", modality="query_only", paradigm="retrieval", reads="thread")
    first, second = (submit.taken(service.submit(upload, form, caller="x"), Address(tab="submit")) for _ in range(2))
    assert "Stored" in first
    assert "rank" in first
    assert "already stored" in second
    (link,) = [one for one in Tags(first).named("a") if "data-go" in one]
    key = (link["href"] or "").partition("row=")[2]
    assert service.board.row(key) is not None
    assert "Fresh" in column(page.leaderboard(Address()))
    scored = Tags(submit.scored(service.score(upload, caller="x"))).text
    assert "was not stored" in scored


def file_like(predictions: object) -> bytes:
    """Predictions as the bytes of a file."""
    from musicrs_metric.runs.predictions import format_line

    assert isinstance(predictions, tuple)
    return "".join(map(format_line, predictions)).encode()


def test_the_owner_reads_what_was_set_aside(service: LeaderboardService, page: Page) -> None:
    """Files that are no submissions are named with their reason, as text; the board goes on without them."""
    assert page.for_owners() == ""
    bad = service.settings.results / "submissions" / "<b>.jsonl"
    bad.write_text("{", encoding="utf-8")
    try:
        service.board.refresh()
        text = Tags(page.for_owners()).text
        assert "1 stored file set aside" in text
        assert "<b>.jsonl: " in text
        assert "Chance" in page.leaderboard(Address())
    finally:
        bad.unlink()
        service.board.refresh()


def test_the_owner_reads_why_nothing_is_committed(
    page: Page, service: LeaderboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store's own line stands in the notice, also where no file was set aside."""
    monkeypatch.setattr(service.board.store, "problem", lambda: "o/r: the token has no right to write <there>")
    assert Tags(page.for_owners(page.board.store.problem())).text == (
        "Only you see this: submissions are not stored or not committed. o/r: the token has no right to write <there>"
    )


def test_about_states_this_board_s_chance(page: Page, service: LeaderboardService) -> None:
    """The level is that of the data that is shown."""
    chance = table_rows(service.board)[0].values["recall@20"]
    assert chance is not None
    assert f"Chance is {chance * 100:.2f}, not 0" in Tags(page.about(Address(tab="about"))).text


def test_names_that_attacked_boards_are_text(cases: Path) -> None:
    """Each stands in a cell and an attribute as it is."""
    for name in json.loads((cases / "s04_names.json").read_text(encoding="utf-8")):
        parsed = Tags(tag("td", tag("a", name, title=name)))
        assert [found for found, _ in parsed.tags] == ["td", "a"]
        assert parsed.tags[1][1]["title"] == name
        assert parsed.text == name


def test_a_line_stands_where_all_groups_so_far_end(page: Page) -> None:
    """Sorted by a measure, the last row before a later group is marked, and no other; sorted otherwise, none is."""
    parsed = Tags(page.leaderboard(Address(reads="thread")))
    groups = [int(text.removeprefix("group ")) for text in parsed.of_class[""] if text.startswith("group ")]
    rows = [row["class"] or "" for row in parsed.named("tr") if (row.get("class") or "").startswith("submitted")]
    expected = [groups[i + 1 : i + 2] > [max(groups[: i + 1])] for i in range(len(groups))]
    assert True in expected
    assert [row.endswith(" last") for row in rows] == expected
    assert ' last"' not in page.leaderboard(Address(reads="thread", sort="name"))


def test_what_the_paper_reports_stands_outside_of_groups(service: LeaderboardService) -> None:
    """A line ends the last group above it; a system that is alone with it has neither rank nor line."""
    chance, *others = table_rows(service.board, RowQuery(reads=("thread",)))
    told = TableRow(kind="reported", label="CLAP", reads="thread", values={"recall@20": 0.0})

    def kinds(parsed: Tags) -> list[str | None]:
        return [row["class"] for row in parsed.named("tr") if "class" in row]

    assert kinds(Tags(table([chance, *others, told], Address())))[-2:] == ["submitted last", "reported"]
    assert others[0].submission is not None
    alone = replace(others[0], submission=replace(others[0].submission, peers=1))
    parsed = Tags(table([chance, alone, told], Address()))
    assert kinds(parsed)[-2:] == ["submitted", "reported"]
    assert "group" not in parsed.text


def test_the_furthest_threads_of_a_comparison_lead_to_both_rankings(page: Page, service: LeaderboardService) -> None:
    """The first link is the thread with the largest difference, and opens it with both systems."""
    a, b = service.board.snapshot().rows[:2]
    apart = a.table.values["ndcg@20"] - b.table.values["ndcg@20"]
    html = page.compare(Address(compare=f"{a.key},{b.key}", metric="ndcg@20")).above
    to_threads = [Address.read(dict(parse_qsl(one["href"][1:]))) for one in Tags(html).named("a") if one["href"]]
    first = next(address for address in to_threads if address.tab == "threads")
    assert first.thread == page.dataset.threads[int(apart.argmax())].thread_id
    assert first.chosen_systems == [a.key, b.key]


def test_what_the_paper_reports_has_neither_rank_nor_interval() -> None:
    """It is marked, stands with what reads the same, and its missing measure is a dash."""
    chance = TableRow(kind="chance", label="chance", values={"recall@20": 0.2, "ndcg@20": 0.1, "mrr": 0.2}, n=3)
    told = TableRow(
        kind="reported", label="CLAP", modality="audio_only", paradigm="retrieval", reads="thread",
        values={"recall@20": 0.19, "ndcg@20": 0.09},
    )  # fmt: skip
    html = table([chance, told], Address())
    parsed = Tags(html)
    assert parsed.of_class["badge"] == ["reported"]
    assert parsed.of_class["rank"][-1] == NOTHING
    assert not [one for one in parsed.named("i") if one["class"] == "line"]
    assert not [one for one in parsed.named("a") if "data-row" in one]
    assert "MRR" in parsed.text


def test_words_are_read_where_no_sound_comes_with_them(tmp_path: Path) -> None:
    """With all configurations built, texts come from the light one and clips, when asked for, from the other."""
    threads, about = resolve_source("mini")
    build(threads[:3], tmp_path, about=about, configs=("query_only", "audio_query"))
    made = DatasetThreads(str(tmp_path))
    assert [thread.clips for thread in made.threads] == [None] * 3
    assert made.threads[0].query == threads[0].query
    assert [clip.file.read_bytes() for clip in made.clips(threads[1].thread_id)] == [
        clip.audio for clip in threads[1].clips or ()
    ]
    build(threads[:3], tmp_path / "silent", about=about, configs=("query_only",))
    assert DatasetThreads(str(tmp_path / "silent")).clips(threads[1].thread_id) == []


def test_pools_of_another_design_have_a_table_of_their_own(board: Board, page: Page) -> None:
    """With several pool designs one can be chosen. Rows and chance are those of the chosen one."""
    wider = board.data.design("wider")
    for made in (
        toy.submission(),
        toy.submission(toy.ranked(1, wider), fingerprint=wider.fingerprint, name="On wider"),
    ):
        board.store.put(made)
    board.refresh()
    other = Page(board, page.dataset)
    first, second = (
        other.leaderboard(other.normalise_address(Address(pools=pools))) for pools in ("published", "wider")
    )
    assert 'name="pools"' in first
    assert (column(first), column(second)) == (["Chance", "Toy system"], ["Chance", "On wider"])
    assert other.normalise_address(Address(pools="published")) == Address()
    assert percent(table_rows(board, Address(pools="wider").query)[0].values["recall@20"]) in second
