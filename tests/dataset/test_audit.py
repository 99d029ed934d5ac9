"""Adversaries, faults and verdicts on threads small enough to work out by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from musicrs_dataset.audit import ADVERSARIES, Adversary, audit, embedding_adversaries
from musicrs_dataset.audit import leakage_features as features
from musicrs_dataset.audit.adversary import rankings
from musicrs_dataset.audit.faults import collisions, evenness, left_overs, shared_entities
from musicrs_dataset.audit.report import Subject, html, markdown, to_dict, write_report
from musicrs_dataset.audit.resemblance import resemblance_adversaries, spelling_vectors
from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError


def thread(name: str, pool: Sequence[str], right: Sequence[str] = (), **fields: Any) -> Thread:
    plain = Thread(
        thread_id=name, subreddit="jazz", genre="Jazz", query=None, post=None, submission_entities=(), comments=(),
        candidates=tuple(pool), ground_truth=tuple(right), all_entities=tuple(right), links=(),
    )  # fmt: skip
    return replace(plain, **fields)


def ranked(threads: Sequence[Thread], name: str) -> list[list[str]]:
    adversary = next(adversary for adversary in ADVERSARIES if adversary.name == name)
    return rankings(threads, adversary.weigh(threads), 0 if adversary.ties == "shuffled" else None)


def test_ties_keep_the_place_in_the_pool_or_are_shuffled_by_seed() -> None:
    row = thread("t", [*"abcdefghij"])
    weights = [[0.0] * 9 + [1.0]]
    assert rankings([row], weights, None) == [[*"jabcdefghi"]]
    shuffled = rankings([row], weights, 1)
    assert shuffled[0][0] == "j"
    assert sorted(shuffled[0]) == [*"abcdefghij"]
    assert shuffled == rankings([row], weights, 1) != rankings([row], weights, 2)


def test_frequency_counts_in_the_own_subreddit() -> None:
    # B stands in two jazz pools; A in one, and in a metal pool besides; C in one.
    threads = [thread("t1", "ABC"), thread("t2", "B"), thread("m1", "AA", subreddit="metal")]
    assert ranked(threads, "frequent first")[0] == [*"BAC"]
    assert ranked(threads, "rare first")[0] == [*"ACB"]


def test_frequency_everywhere_counts_all_subreddits() -> None:
    threads = [thread("t1", "ABC"), thread("m1", "AB", subreddit="metal"), thread("m2", "A", subreddit="metal")]
    assert ranked(threads, "frequent everywhere first")[0] == [*"ABC"]
    assert ranked(threads, "rare everywhere first")[0] == [*"CBA"]


def test_frequency_of_a_title_adds_its_spellings() -> None:
    threads = [thread("t1", ["Naima", "Blue"]), thread("t2", ["blue"]), thread("t3", ["“Blue”"])]
    assert ranked(threads, "frequent title first")[0] == ["Blue", "Naima"]
    assert ranked(threads, "frequent first")[0] == ["Naima", "Blue"]


def test_other_threads_answers_leave_the_own_thread_out() -> None:
    # A is the answer here alone and stays in front; B is the answer elsewhere, and C here and elsewhere.
    threads = [thread("t1", "ABC", "AC"), thread("t2", "BC", "BC")]
    assert ranked(threads, "others' ground truth last")[0][0] == "A"


def test_titles_named_in_the_subreddit_and_anywhere() -> None:
    threads = [
        thread("t1", "AB", "A"),
        thread("t2", "X", "X", all_entities=("X", "B")),
        thread("m1", "Y", "Y", subreddit="metal", all_entities=("Y", "A")),
    ]
    assert ranked(threads, "named in the subreddit last")[0] == [*"AB"]
    assert features.named_anywhere(threads)[0] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("long first", ['"Giant Steps"', "so what", "Naima"]),
        ("quoted first", ['"Giant Steps"', "so what", "Naima"]),
        ("capitals first", ["Naima", '"Giant Steps"', "so what"]),
        ("lower case first", ["so what", "Naima", '"Giant Steps"']),
        ("stored order", ["so what", "Naima", '"Giant Steps"']),
        ("stored order, last first", ['"Giant Steps"', "Naima", "so what"]),
    ],
)
def test_form_and_place(name: str, expected: list[str]) -> None:
    # Of the two words of "Giant Steps" one starts with a quote and not with a capital.
    assert ranked([thread("t", ["so what", "Naima", '"Giant Steps"'])], name)[0] == expected


def test_named_in_the_query_in_normal_form_but_not_very_short_titles() -> None:
    row = thread("t", ["Blue", "Ruby", "Don’t Stop"], query="Like Blue and DON'T STOP, please")
    assert ranked([row], "named in the query")[0] == ["Don’t Stop", "Blue", "Ruby"]


def test_words_shared_with_the_askers_titles() -> None:
    # {so, what} against {so, what, now}: 2 of 3; {what}: 1 of 3; nothing: 0.
    row = thread("t", ["Naima", "What", "So What"], submission_entities=("so what now",))
    assert ranked([row], "words of the asker's titles")[0] == ["So What", "What", "Naima"]
    assert features.submission_words([row])[0] == pytest.approx([0, 1 / 3, 2 / 3])


def test_an_embedder_may_be_handed_in() -> None:
    # Vectors on a circle: the angle between texts is known. The zero vector is like nothing.
    angle = {"near": 10.0, "far": 80.0, "query": 0.0, "asked": 85.0}

    def embed(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        turned = np.deg2rad([angle.get(text, 0.0) for text in texts])
        length = np.array([[float(text in angle) * 3] for text in texts])
        vectors: npt.NDArray[np.floating] = np.stack([np.cos(turned), np.sin(turned)], axis=1) * length
        return vectors

    row = thread("t", ["none", "far", "near"], query="query", submission_entities=("asked",))
    like_asked, _, _, like_query = embedding_adversaries(embed)
    assert like_query.weigh([row])[0] == pytest.approx([0, np.cos(np.deg2rad(80)), np.cos(np.deg2rad(10))])
    assert rankings([row], like_asked.weigh([row]), None)[0] == ["far", "near", "none"]
    assert like_asked.weigh([replace(row, submission_entities=())])[0] == [0, 0, 0]


def test_candidates_are_compared_with_each_other() -> None:
    # Four directions on a circle. Each row of cosines, best three of the others averaged, is computed by hand.
    angle = {"a": 0.0, "b": 60.0, "c": 90.0, "d": 180.0, "e": 90.0}

    def embed(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        turned = np.deg2rad([angle[text] for text in texts])
        vectors: npt.NDArray[np.floating] = 5 * np.stack([np.cos(turned), np.sin(turned)], axis=1)
        return vectors

    alone, less = resemblance_adversaries(embed, "in meaning")
    row = thread("t", ["a", "b", "c", "d"])
    half, far = np.cos(np.deg2rad(60)), np.cos(np.deg2rad(30))
    nearest = [(half + 0 - 1) / 3, (half + far - half) / 3, (0 + far + 0) / 3, (-1 - half + 0) / 3]
    assert alone.weigh([row])[0] == pytest.approx(nearest)
    assert alone.weigh([thread("t", ["a"])])[0] == [0]
    # Mean of the pool: ((1 + 1/2 - 1) / 4, (sin 60 + 1) / 4). The other pool of the subreddit adds a and e. A
    # title counts once per pool, and e is at 90 degrees: ((1 + 1/2 - 1 + 1) / 6, (sin 60 + 2) / 6).
    x, y = half / 4 - 1.5 / 6, (far + 1) / 4 - (far + 2) / 6
    other = [thread("u", ["a", "e"]), thread("m", ["d"], subreddit="metal")]
    weights = less.weigh([row, *other])
    assert weights[0] == pytest.approx([x, half * x + far * y, y, -x])
    assert weights[2] == pytest.approx([0])  # the only pool of its subreddit
    assert (alone.reads, less.reads) == ("thread", "pools")


def test_spelling_needs_no_model() -> None:
    # Normal forms " so what " and " so who ": trigrams of 9 and 8 characters, 4 shared (" so", "so ", "o w", " wh").
    first, second, same = spelling_vectors(["So What", "so who", "SO WHAT"])
    assert first.tolist() == same.tolist()
    assert (first.sum(), second.sum(), np.minimum(first, second).sum()) == (7, 6, 4)


def test_groups_are_candidates_of_the_same_pools() -> None:
    # a and b are always together, c joins them in one pool, d is alone in another subreddit.
    threads = [thread("t", ["a", "b", "c"]), thread("u", ["a", "b"]), thread("m", ["a", "d"], subreddit="metal")]
    assert features.group_size(threads) == [[2, 2, 1], [2, 2], [2, 2]]


def test_faults_are_named_with_their_thread() -> None:
    threads = [
        thread("t0", ["A", "B"], ["A"]),
        thread("t1", ["A", "“b”", "B", "c"], ["A"], all_entities=("A", "C")),
        thread("m1", ["A"], subreddit="metal"),
    ]
    assert [(fault.row, fault.thread_id, fault.entities) for fault in left_overs(threads)] == [(1, "t1", ("c",))]
    (double,) = collisions(threads)
    assert (double.thread_id, double.spellings, double.in_ground_truth) == ("t1", (("“b”", "B"),), (False,))
    jazz, metal = evenness(threads)
    assert (jazz.count, jazz.size, jazz.even) == ((1, 2), (2, 4), False)
    assert metal.even
    assert shared_entities(threads) == 1


def test_z_is_the_distance_from_chance_in_standard_errors() -> None:
    # Two pools of 40, one right answer each, at the first and at the last place: recall@20 is 1 and 0, chance 1/2.
    pool = [f"c{i}" for i in range(40)]
    threads = [thread("t1", pool, pool[:1]), thread("t2", pool, pool[-1:]), thread("t3", pool, pool[:1])]
    (finding,) = audit(threads, [a for a in ADVERSARIES if a.name == "stored order"]).findings
    effect = finding.effects["recall@20"]
    # Mean 2/3, sample deviation sqrt(1/3), error sqrt(1/3)/sqrt(3) = 1/3; z = (2/3 - 1/2) / (1/3).
    assert effect.mean == pytest.approx(2 / 3)
    assert effect.chance == pytest.approx(0.5)
    assert effect.z == pytest.approx(0.5)
    assert effect.sd is None
    assert finding.rows == ("t1", "t2", "t3")


def test_shuffled_adversaries_report_mean_and_deviation_over_seeds() -> None:
    threads = [thread(f"t{i}", [f"c{j}" for j in range(30)], ["c0"]) for i in range(20)]
    random = next(a for a in ADVERSARIES if a.name == "random")
    few, many = (audit(threads, [random], seeds=n).findings[0].effects["recall@20"] for n in (1, 200))
    assert few.sd is None
    # One run is a binomial share of 20 threads at 2/3: deviation sqrt(2/9/20) = .105, its mean over 200 runs .0075.
    assert many.sd == pytest.approx(0.105, abs=0.02)
    assert many.mean == pytest.approx(2 / 3, abs=0.03)
    assert audit(threads, [random], seeds=1).findings[0].rows == ()


def test_empty_ground_truth_counts_as_zero_or_is_left_out() -> None:
    threads = [thread("t1", "AB", "A"), thread("t2", "AB")]
    for empty, n in (("zero", 2), ("skip", 1)):
        found = audit(threads, seeds=2, empty=empty)  # type: ignore[arg-type]
        assert (found.n, found.n_empty) == (n, 1)


def test_threads_without_pools_are_refused() -> None:
    with pytest.raises(UserError, match="no threads to audit"):
        audit([])
    with pytest.raises(UserError, match="thread t1 has no pool"):
        audit([thread("t1", [])])


@pytest.fixture(scope="module")
def leaky() -> list[Thread]:
    """60 threads: the answer always comes first in its pool, is the shortest string and stands nowhere else."""
    return [
        thread(f"t{i}", [f"a{i}", *(f"distractor {(i + j) % 60}" for j in range(39))], [f"a{i}"]) for i in range(60)
    ]


def test_the_verdict_names_leaking_routes_in_either_direction(leaky: list[Thread]) -> None:
    judged = {verdict.route: verdict for verdict in audit(leaky, seeds=2).verdicts}
    assert judged["pool frequency"].status == "leaks"
    assert judged["place in the pool"].status == "leaks"
    # Long first ranks the answer last: below chance, and as telling as above.
    assert judged["string form"].status == "leaks"
    assert judged["named by the asker"].status == "no leak found"
    assert judged["second spellings"].status == judged["left-over answers"].status == "clean"
    assert judged["chance"].status == "reference"
    assert "says reads: thread." in judged["pool frequency"].rule
    assert "protocol only" in judged["other threads' answers"].rule


def test_the_verdict_counts_faults_instead_of_testing_them() -> None:
    threads = [thread("t1", ["A", "b", "B"], ["A"], all_entities=("A", "b")), thread("t2", ["A", "C"], ["A"])]
    judged = {verdict.route: verdict for verdict in audit(threads, seeds=1).verdicts}
    assert (judged["left-over answers"].status, judged["left-over answers"].rows) == ("faulty", 1)
    assert (judged["second spellings"].status, judged["second spellings"].rows) == ("faulty", 1)


def test_the_same_audit_gives_the_same_digits(leaky: list[Thread]) -> None:
    assert audit(leaky, seeds=3) == audit(leaky, seeds=3)


def test_adversaries_look_at_nothing_but_what_they_declare(leaky: list[Thread]) -> None:
    # Labels hidden: what reads the thread or pools alone must not change.
    hidden = [row.without_labels() for row in leaky]
    for adversary in ADVERSARIES:
        if adversary.reads != "labels":
            assert adversary.weigh(leaky) == adversary.weigh(hidden), adversary.name
    # Other threads gone: what reads the thread alone must not change.
    for adversary in ADVERSARIES:
        if adversary.reads == "thread":
            assert adversary.weigh(leaky)[:1] == adversary.weigh(leaky[:1]), adversary.name


@pytest.fixture(scope="module")
def nasty() -> list[Thread]:
    pool = ["<script>alert(1)</script>", "a|b", "A|B", "*bold*", "[x](y)", "c & d"]
    return [
        thread("t1", pool, ["a|b"], all_entities=("a|b", "<script>alert(1)</script>", "*bold*")),
        thread("t2", [*"vwxyz"], ["v"]),
    ]


def test_titles_cannot_break_the_page_or_the_tables(nasty: list[Thread]) -> None:
    found, subject = audit(nasty, seeds=1), Subject("a<b>/d", "query_only", "p|q.jsonl")
    page, text = html(found, subject), markdown(found, subject)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a&lt;b&gt;/d" in page
    assert "<script" not in re.sub(r"\\.", "", text)
    for block in re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(columns) == 1


def test_the_page_fetches_nothing(leaky: list[Thread]) -> None:
    page = html(audit(leaky, seeds=1), Subject("d", "query_only"))
    assert not re.findall(r"(?:src|href|url)\s*[=(]|@import|<script|<link", page)


def test_the_page_shows_no_number_that_the_json_lacks(leaky: list[Thread], nasty: list[Thread]) -> None:
    for threads in (leaky, nasty):
        found, subject = audit(threads, seeds=2), Subject("d", "query_only")
        known: set[str] = set()

        def collect(value: Any, known: set[str] = known) -> None:
            if isinstance(value, dict):
                for item in value.values():
                    collect(item)
            elif isinstance(value, list):
                known.add(str(len(value)))
                for item in value:
                    collect(item)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                known.update({str(value), f"{100 * value:.2f}", f"{100 * value:+.2f}", f"{value:+.1f}"})

        collect(json.loads(json.dumps(to_dict(found, subject))))
        shown = re.findall(r'<td class="number">([^<]*)</td>', html(found, subject))
        assert len(shown) > 100
        assert {part for cell in shown for part in re.split(" ± |–", cell) if part} <= known


def test_the_three_files_are_written_and_the_json_is_complete(nasty: list[Thread], tmp_path: Path) -> None:
    files = write_report(tmp_path / "out", audit(nasty, seeds=1), Subject("d", "query_only"))
    assert [file.name for file in files] == ["audit.json", "audit.md", "audit.html"]
    found = json.loads(files[0].read_text(encoding="utf-8"))
    assert found["dataset"] == "d"
    assert found["left_over_entities"] == 3
    assert found["left_over"][0]["entities"] == ["<script>alert(1)</script>", "A|B", "*bold*"]
    assert found["collisions"][0]["spellings"] == [["a|b", "A|B"]]
    assert {finding["name"] for finding in found["findings"]} == {adversary.name for adversary in ADVERSARIES}


def test_every_adversary_says_what_it_exploits_and_has_a_name_of_its_own() -> None:
    assert len({adversary.name for adversary in ADVERSARIES}) == len(ADVERSARIES)
    assert all(isinstance(a, Adversary) and a.exploits.endswith(".") for a in ADVERSARIES)
