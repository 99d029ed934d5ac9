"""The answer parser on the shapes that answers take; each expectation was written down by hand."""

from __future__ import annotations

import pytest

from musicrs_metric.answers import Reading, complete_ranking, read_answer
from musicrs_metric.matching import Pool

MARKERS = (
    "30. THOUSAND",
    "100. MILLION",
    "5:11",
    "6-voice Ricercar",
    "*thank u",
    "-Old Fires",
    "7/11",
    "1916",
    "Hello",
)
SONGS = ("Iris", "Style", "Team", "Heavy", "Canon [in D]")
WORKS = ("Symphony No. 5", "Symphony No. 7", "Clair de Lune", "Canon", "Bolero", "Aria")
NUMBERED = tuple(f"song {number}" for number in range(1, 13))


def read(text: str, titles: tuple[str, ...], *, numbered: bool = False, cut: bool = False) -> Reading:
    return read_answer(text, Pool(titles), numbered=numbered, cut=cut)


def named(reading: Reading, titles: tuple[str, ...]) -> list[str]:
    return [titles[place] for place in reading.places]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (
            "1. 100. MILLION\n2. 30. THOUSAND\n3. 1916\n4. 6-voice Ricercar\n5. 5:11\n6. 7/11\n7. Hello\n8. *thank u\n"
            "9. -Old Fires",
            (1, 0, 7, 3, 2, 6, 8, 4, 5),
        ),
        (
            "- **Hello**\n* 1916\n+ 5:11\n• 7/11\n1) 30. THOUSAND\n(2) 100. MILLION\n3 - 6-voice Ricercar\n"
            "**4.** -Old Fires\n- *thank u",
            (8, 7, 2, 6, 0, 1, 3, 5, 4),
        ),
        ("30. THOUSAND\n100. MILLION\n*thank u\n-Old Fires\n1916", (0, 1, 4, 5, 7)),
        ("Sure! Here is the ranking:\r\n\r\n1.  Hello\r\n2.\t1916\r\n\r\nLet me know if you want more.", (8, 7)),
    ],
)
def test_titles_that_look_like_list_markers(text: str, parsed: tuple[int, ...]) -> None:
    """Markers of every kind are taken off, those that belong to a title are not, and talk is no item."""
    reading = read(text, MARKERS)
    assert reading.places == parsed
    assert reading.ledger.unknown == reading.ledger.repeated == 0
    assert reading.outcome == ("ok" if len(parsed) == len(MARKERS) else "repaired")


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (
            '<think>Maybe [Style] then {Team}. Draft: Heavy, Iris.</think>\n```json\n["Iris", "Style", "Team"]\n```\n'
            "See [1] for details; I left out Heavy.",
            ["Iris", "Style", "Team"],
        ),
        (
            'Here is `the` ranking: {"ranking": [{"rank": 1, "title": "Iris"}, {"rank": 2, "title": "Style"}]} Hope it '
            "helps [x].",
            ["Iris", "Style"],
        ),
        ('["Canon [in D]", "Iris"]\n\nNote [2]', ["Canon [in D]", "Iris"]),
        ("I think Heavy comes first.</think>Team, Iris", ["Team", "Iris"]),
        ("```\nTeam\nIris\n```", ["Team", "Iris"]),
    ],
)
def test_fences_prose_and_thinking(text: str, parsed: list[str]) -> None:
    """Thinking, and text next to the list or in brackets elsewhere, is not an answer."""
    reading = read(text, SONGS)
    assert named(reading, SONGS) == parsed
    assert (reading.ledger.unknown, reading.outcome) == (0, "repaired")


def test_a_cut_list_yields_its_complete_items() -> None:
    """The half title at the end is not guessed, and the answer counts as truncated even without a report of it."""
    reading = read('```json\n["Team", "Heavy", "Sty', SONGS)
    assert named(reading, SONGS) == ["Team", "Heavy"]
    assert (reading.outcome, reading.ledger.truncated) == ("truncated", True)


def test_a_list_that_is_not_closed_was_cut() -> None:
    """Also where it stops between two items."""
    for text in ('["Team", "Heavy"', '["Team", "Heavy",', '{"ranking": ["Team", "Heavy", '):
        assert read(text, SONGS).ledger.truncated
    assert not read('["Team", "Heavy"]', SONGS).ledger.truncated


def test_an_answer_with_more_than_the_pool_in_it_is_no_perfect_one() -> None:
    """A repeat or an unknown title next to every candidate is repaired."""
    whole = ", ".join(SONGS)
    assert read(whole, SONGS).outcome == "ok"
    assert {read(f"{whole}, {more}", SONGS).outcome for more in (SONGS[0], "Wonderwall")} == {"repaired"}


def test_the_kind_of_list_is_the_one_that_names_most() -> None:
    """Its invented titles are counted, those of other lines are not."""
    reading = read("1. Team\n2. Iris\n3. Wonderwall\n4. Yesterday\n- Heavy\n- Imagine", SONGS)
    assert named(reading, SONGS) == ["Team", "Iris", "Heavy"]
    assert [item.text for item in reading.items if item.place is None] == ["Wonderwall", "Yesterday"]


def test_thinking_that_never_ends_is_no_answer() -> None:
    """Nothing is taken from it, and the row is failed."""
    reading = read("<think>Heavy, Team, Iris are all", SONGS)
    assert (reading.places, reading.outcome, reading.ledger.truncated) == ((), "failed", True)
    assert reading.ledger.filled == len(SONGS)


def test_repeats_and_half_titles() -> None:
    """A title that fits two candidates becomes neither."""
    text = "Canon, Canon, Bolero, Canon, Bolero, Canon, Bolero, Symphony No"
    reading = read(text, WORKS, cut=True)
    assert named(reading, WORKS) == ["Canon", "Bolero"]
    assert reading.ledger == (2, 5, 1, 4, True, False)
    assert reading.outcome == "truncated"
    half = read("Canon, Bolero, Clair de Lu", WORKS, cut=True)
    assert named(half, WORKS) == ["Canon", "Bolero"]
    assert half.ledger.filled == 4


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "empty"),
        (" \r\n\t", "empty"),
        ("<think>Iris</think>\n", "empty"),
        ("[]", "empty"),
        ("I'm sorry, but I cannot listen to audio files.", "refusal"),
        ("I can’t rank these, as I do not hear anything.", "refusal"),
        ("Music is a matter of taste.", "failed"),
    ],
)
def test_answers_with_nothing_in_them(text: str, outcome: str) -> None:
    """Talk is not taken for titles: no item, all filled."""
    reading = read(text, WORKS)
    assert (reading.places, reading.items, reading.outcome) == ((), (), outcome)
    assert reading.ledger.filled == len(WORKS)
    assert reading.ledger.refusal == (outcome == "refusal")


@pytest.mark.parametrize(
    ("text", "numbers", "repeated", "unknown"),
    [
        ("[11] > [3] > [2] > [1]", [11, 3, 2, 1], 0, 0),
        ("[0] > [13] > [-1] > [5] > [5]", [5], 1, 3),
        ("11, 3, 2", [11, 3, 2], 0, 0),
        ("The most relevant is [7], as 3 people mention it.\n[7] > [12]", [7, 12], 0, 0),
        ("None of the songs is relevant.", [], 0, 0),
        ("[11]\n[3]\n[2]", [11, 3, 2], 0, 0),
        ("1. [11]\n2. [3]", [11, 3], 0, 0),
        ("1. 11\n2. 3", [11, 3], 0, 0),
        ("Ranking: **[11] > [3]**", [11, 3], 0, 0),
        ("[11] a fine one > [3] another", [11, 3], 0, 0),
        ("[11, 3, 2]", [11, 3, 2], 0, 0),
        ('{"ranking": ["[11]", "3", 2, 13]}', [11, 3, 2], 0, 1),
        ('[{"id": 11, "why": "fast"}, {"id": 3, "why": "loud"}]', [11, 3], 0, 0),
        ("song 11 > song 3", [11, 3], 0, 0),
        ("[3] is calm.\n[11] is loud.\n\nRanking: [11] > [3]", [11, 3], 0, 0),
        ("Best: [3] > [11]\nThen: [2] > [1]", [3, 11, 2, 1], 0, 0),
        ("<answer>[11] > [3]</answer>", [11, 3], 0, 0),
        ("[1] song 11\n[2] song 3", [11, 3], 0, 0),
        ("[11] beats [3] by far", [11], 0, 0),
        ('{"ranking": ["[11] \\n", "3.\\t", "\\n2"]}', [11, 3, 2], 0, 0),
        ("我的排序：11、3，2", [11, 3, 2], 0, 0),
        ("【11】＞【3】", [11, 3], 0, 0),
    ],
)
def test_numbers(text: str, numbers: list[int], repeated: int, unknown: int) -> None:
    """Numbers out of range are counted, numbers in a sentence are ignored, and a title decides over a number."""
    reading = read(text, NUMBERED, numbered=True)
    assert [place + 1 for place in reading.places] == numbers
    assert (reading.ledger.repeated, reading.ledger.unknown) == (repeated, unknown)
    assert (reading.outcome == "failed") == (not numbers)


def test_a_number_that_was_cut_is_not_taken_for_a_shorter_one() -> None:
    """A 1 at the end of a cut answer may have become 10, 11 or 12; a bracket closes it."""
    assert read("11, 3, 1", NUMBERED, numbered=True, cut=True).places == (10, 2)
    assert read("[11] > [3] > [1]", NUMBERED, numbered=True, cut=True).places == (10, 2, 0)
    assert read("11, 3, 2", NUMBERED, numbered=True, cut=True).places == (10, 2, 1)


def test_a_title_that_was_cut_is_not_taken_for_a_shorter_one() -> None:
    """ "Slowdive" may have become "Slowdive - Alison", unless that was named before."""
    titles = ("Slowdive", "Slowdive - Alison", "Iris")
    assert read("Iris, Slowdive", titles, cut=True).places == (2,)
    assert read("Slowdive - Alison, Slowdive", titles, cut=True).places == (1, 0)
    assert read("Iris, Slowdive", titles).places == (2, 0)


def test_a_cut_answer_may_end_in_a_title_of_punctuation() -> None:
    """It is that title, and leaves no empty string in a ranking that keeps invented titles."""
    titles = ("Iris", "!!!", "Team")
    reading = read("Iris, !!!", titles, cut=True)
    assert reading.places == (0, 1)
    assert complete_ranking(reading, Pool(titles), 0, "t3_a", keep_unknown=True).ranking == ("Iris", "!!!", "Team")


def test_numbers_are_titles_where_nobody_asked_for_numbers() -> None:
    """Pools with titles such as "3" and "30" are never read by number then."""
    titles = ("30", "Hello", "3", "1999")
    assert named(read("1999, 30, 3", titles), titles) == ["1999", "30", "3"]
    assert read("1, 2, 4", titles).places == ()
    assert named(read("3, 1", titles, numbered=True), titles) == ["3", "30"]


@pytest.mark.parametrize("marker", ["{}. ", "{}) ", "{}: ", "**{}.** "])
def test_the_number_of_an_item_is_no_title(marker: str) -> None:
    """An invented title as the 22nd item of a list is not the song `22`, which is found where it is the item."""
    titles = ("Iris", "22", "7", "Team")
    items = ((3, "Iris"), (7, "Wonderwall"), (22, "Yesterday"))
    reading = read("\n".join(marker.format(number) + title for number, title in items), titles)
    assert (named(reading, titles), reading.ledger.unknown) == (["Iris"], 2)
    items = ((1, "22 (Taylor's Version)"), (2, "7"), (3, "Iris. A classic."))
    reading = read("\n".join(marker.format(number) + title for number, title in items), titles)
    assert (named(reading, titles), reading.ledger.unknown) == (["22", "7", "Iris"], 0)
    assert named(read("22 - Taylor Swift\n7 - Prince", titles), titles) == ["22", "7"]


@pytest.mark.parametrize(
    "text",
    [
        "1. Team - Lorde\n2. Iris – Goo Goo Dolls",
        '1. "Team" by Lorde\n2. “Iris” by the Goo Goo Dolls (1998)',
        "Team by Lorde, Iris by Goo Goo Dolls",
        "**Team** — slow and warm, as asked.\n**Iris** — the same, but louder.",
        "1. Team: a slow one\n   - calm, warm\n2. Iris: a fast one\n   - loud, bright",
        "| # | Title | Artist |\n|---|:---:|---|\n| 1 | Team | Lorde |\n| 2 | Iris | Goo Goo Dolls |",
        "Here is my ranking: Team, and Iris.",
        "1. Team 2. Iris",
        "Team; Iris",
        "Team > Iris",
        "['Team', 'Iris']",
        '{"1": "Team", "2": "Iris"}',
        '{"Team": 0.9, "Iris": 0.4}',
        '{"rank": 2, "title": "Iris"}\n{"rank": 1, "title": "Team"}',
        '{"ranking": [{"title": "Team", "artist": "Lorde"}, {"title": "Iris"}], "note": "Heavy is too loud"}',
        "Team\n\nIris\n\nI hope this helps!",
        "TEAM\niris",
        "- Team\u200b\n- Iris",
        "<answer>Team, Iris</answer>",
        "**Final answer:** Team, Iris",
        "1、Team\n2、Iris",
        "1st: Team\n2nd: Iris",
        "Iris, Team and the like come to mind first.\n\nSo my order is:\nTeam, Iris",
        "Draft:\n1. Iris\n2. Team\n\nOn second thought:\n1. Team\n2. Iris",
        'Draft: ["Iris"]\nFinal: ["Team", "Iris"]',
        '```json\n["Iris", "Team"]\n```\nOn second thought:\n```json\n["Team", "Iris"]\n```',
        "- Team\n- Iris\n- And these I left out:",
    ],
)
def test_two_songs_in_every_dress(text: str) -> None:
    """The same two titles, whatever is around them, and nothing else."""
    reading = read(text, SONGS)
    assert named(reading, SONGS) == ["Team", "Iris"]
    assert (reading.ledger.unknown, reading.ledger.repeated) == (0, 0)


def test_invented_titles_are_counted_and_can_keep_their_places() -> None:
    """They are left out of a ranking, or kept as misses where a protocol wants it; repeats close up either way."""
    pool = Pool(SONGS)
    reading = read("Team, Wonderwall, Iris, Team", SONGS)
    assert reading.ledger == (2, 1, 1, 3, False, False)
    assert complete_ranking(reading, pool, 0, "t3_a").ranking[:2] == ("Team", "Iris")
    kept = complete_ranking(reading, pool, 0, "t3_a", keep_unknown=True)
    assert (kept.ranking[:3], kept.n_answered) == (("Team", "Wonderwall", "Iris"), 3)
    assert sorted(kept.ranking) == sorted([*SONGS, "Wonderwall"])


def test_half_a_character_does_not_reach_the_file() -> None:
    """A server may send one; a ranking that holds an invented title with it can be written all the same."""
    reading = read("Team, Wonder\ud800wall, Iris", SONGS)
    ranking = complete_ranking(reading, Pool(SONGS), 0, "t3_a", keep_unknown=True).ranking
    assert [title.encode() for title in ranking[:3]] == [b"Team", b"Wonder?wall", b"Iris"]


def test_an_answer_of_invented_titles_alone() -> None:
    """It is failed, and its titles are counted."""
    for text in (
        "Wonderwall, Yesterday, Imagine",
        "1. Wonderwall\n2. Yesterday\n3. Imagine",
        '["Wonderwall", "Yesterday"]',
    ):
        reading = read(text, SONGS)
        assert (reading.places, reading.outcome) == ((), "failed")
        assert [item.text for item in reading.items] in (
            ["Wonderwall", "Yesterday", "Imagine"],
            ["Wonderwall", "Yesterday"],
        )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Cemetary Gates", "Cemetery Gates"),
        ("My Favorite Things", "My Favourite Things"),
        ("TROY", "T.R.O.Y."),
        ("Ａｉｎ’ｔ", "Ain't"),
        ("S&M", "S&amp;M"),
        ("do you...", "do you…"),
        ("Strasse", "Straße"),
        ("Say My\u00a0Name", "Say My Name"),
        ("\u200bHello", "Hello"),
    ],
)
def test_one_misspelt_word_or_another_spelling_passes(text: str, title: str) -> None:
    """Compatibility forms, entities, punctuation, white space, and a letter or two of a long word."""
    assert read(f"1. {text}\n2. Iris", ("Iris", title)).places == (1, 0)


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Symphony No. 6", ("Symphony No. 5",)),
        ("Symphony No. 6 Fourth Movement", ("Symphony No. 6 First Movement",)),
        ("Ballade in G Minor", ("Ballade in F Minor",)),
        ("Part III", ("Part II",)),
        ("I Just Called to Say I Hate You", ("I Just Called to Say I Love You",)),
        ("Resume", ("Résumé",)),
        ("511", ("5:11",)),
        ("Violn Concerto", ("Violin Concerto", "Viola Concerto")),
        ("VIOLIN CONCERTO", ("Violin Concerto", "violin concerto")),
    ],
)
def test_what_could_be_another_work_is_left_unknown(text: str, titles: tuple[str, ...]) -> None:
    """Another number, key, part, short word or accent; and what fits two candidates."""
    reading = read(f"1. Iris\n2. {text}", ("Iris", *titles))
    assert reading.places == (0,)


def test_a_title_with_the_separator_in_it() -> None:
    """Pools of one's own may hold commas; pieces are joined where together they are a candidate."""
    titles = ("Me, Myself and I", "Iris", "Good Night, Sleep Tight, Young Lovers")
    reading = read("Iris, Good Night, Sleep Tight, Young Lovers, Me, Myself and I", titles)
    assert (reading.places, reading.outcome) == ((1, 2, 0), "ok")
