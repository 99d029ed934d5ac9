"""Readers of other corpora with invented files of the same form, and the rules of their evaluations by hand."""

from __future__ import annotations

import json
from math import log2, sqrt
from pathlib import Path
from typing import Any

import pytest

from musicrs_dataset.corpora.record import CatalogueSource, PoolSource
from musicrs_dataset.corpora.sources import is_corpus, read_corpus
from musicrs_dataset.corpora.write import write_corpus
from musicrs_metric.catalogue.corpus import load_corpus
from musicrs_metric.catalogue.rules.challenge2026 import lexical_diversity
from musicrs_metric.catalogue.rules.score import score_as
from musicrs_metric.errors import UserError


def lines(path: Path, *rows: Any) -> Path:
    """Write one JSON value per line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def catalogue_of(source: str) -> CatalogueSource:
    """Read a corpus with a catalogue."""
    corpus = read_corpus(source)
    assert isinstance(corpus, CatalogueSource)
    return corpus


def track(name: str, cluster: str) -> dict[str, Any]:
    """Invent a track of CPCD."""
    return {
        "track_ids": name, "track_titles": f"Song {name}", "track_artists": ["The Invented"],
        "track_release_titles": "Weather", "track_cluster_ids": cluster, "track_canonical_ids": f"canonical {name}",
    }  # fmt: skip


def turn(text: str, *liked: str) -> dict[str, Any]:
    """Invent a turn of CPCD."""
    return {"user_query": text, "system_response": "", "search_queries": [], "search_results": [],
            "liked_results": list(liked), "disliked_results": []}  # fmt: skip


TRACKS = {f"t{i}": track(f"t{i}", f"c{i % 110}") for i in range(115)}


@pytest.fixture
def cpcd(tmp_path: Path) -> Path:
    """Two dialogues. In the first, four tracks are liked, of which three become known."""
    first = {"id": "aa", "turns": [turn("rain", "t0", "t1", "t2", "t3"), turn("slow")], "tracks": TRACKS,
             "goal_playlist": ["t0", "t3", "canonical t9", "gone"]}  # fmt: skip
    second = {"id": "bb", "turns": [turn("fast", "t5"), turn("more")], "tracks": {}, "goal_playlist": ["t5"]}
    return lines(tmp_path / "dev.jsonl", first, second)


def test_cpcd_reader(cpcd: Path) -> None:
    """Queries grow, three liked tracks per earlier turn are known, and a canonical id becomes its track."""
    turns, catalogue, about = catalogue_of(f"cpcd:{cpcd}")
    assert [one.thread_id for one in turns] == ["aa:0", "aa:1", "bb:0", "bb:1"]
    assert turns[1].query == "rain\nslow"
    assert (turns[0].known, turns[1].known) == ((), ("t0", "t1", "t2"))
    assert turns[0].ground_truth == ("t0", "t3", "t9", "gone")
    assert turns[1].links == ("t0", "t1", "t2", "t3")
    assert (len(catalogue), catalogue.n_clusters, about.license) == (115, 110, "cc-by-4.0")


def test_cpcd_search_pools(tmp_path: Path) -> None:
    """A pool holds the clusters found so far, without known ones; a turn without a relevant one is skipped."""
    tracks = {name: track(name, cluster) for name, cluster in (("t0", "c0"), ("t1", "c1"), ("t2", "c2"), ("u0", "c0"))}
    tracks["t2"]["track_titles"] = "Song t1"
    rows = [
        turn("rain", "t0") | {"search_results": [["t0", "u0"], ["t1"]]},
        turn("slow") | {"search_results": [["t2", "lost"]]},
        turn("none") | {"search_results": []},
    ]
    first = {"id": "aa", "turns": rows, "tracks": tracks, "goal_playlist": ["u0", "canonical t2"]}
    nothing = {"id": "bb", "turns": [turn("hm")], "tracks": {}, "goal_playlist": ["t1"]}
    corpus = read_corpus(f"cpcd-search:{lines(tmp_path / 'dev.jsonl', first, nothing)}")
    assert isinstance(corpus, PoolSource)
    by_id = {thread.thread_id: thread for thread in corpus.threads}
    assert list(by_id) == ["aa:0", "aa:1", "aa:2"]
    assert by_id["aa:0"].candidates == ("Song t0 by The Invented", "Song t1 by The Invented")
    assert by_id["aa:0"].ground_truth == ("Song t0 by The Invented",)
    # t0 is known by then. Two clusters have the same title, artist and album, so their ids are added.
    same = "Song t1 by The Invented (Weather)"
    assert by_id["aa:1"].candidates == by_id["aa:2"].candidates == (f"{same} [t1]", f"{same} [t2]")
    assert by_id["aa:1"].ground_truth == (f"{same} [t2]",)
    assert dict(by_id["aa:1"].columns) == {"dialogue": "aa", "turn": "1"}
    assert by_id["aa:1"].query == "rain\nslow"
    assert "4 turns, 3 of them" in corpus.about.notes[0]


def test_cpcd_catalogue_under_its_published_name(cpcd: Path) -> None:
    """A clone holds `cpcd_v1.tracks.jsonl`. It is the catalogue, and no file of dialogues."""
    more = {"new": track("new", "cluster of its own")}
    lines(cpcd.with_name("cpcd_v1.tracks.jsonl"), *(TRACKS | more).values())
    for path in (cpcd, cpcd.parent):
        assert len(catalogue_of(f"cpcd:{path}").catalogue) == 116
    lines(cpcd.with_name("other.tracks.jsonl"), *TRACKS.values())
    with pytest.raises(UserError, match="expected one catalogue"):
        read_corpus(f"cpcd:{cpcd}")


def cpcd_answers(path: Path, ranking: list[str], *names: str) -> Path:
    """Write answers in the form of CPCD."""
    return lines(path, *({"docid": name, "neighbor": [{"docid": item} for item in ranking]} for name in names))


def test_cpcd_rules_by_hand(cpcd: Path, tmp_path: Path) -> None:
    """Dialogue bb is missing and its turn 1 has nothing left to find: excluded there, 0 here."""
    write_corpus(catalogue_of(f"cpcd:{cpcd}"), tmp_path / "data")
    answers = cpcd_answers(tmp_path / "a.jsonl", list(TRACKS), "aa:0", "aa:1")
    scores = score_as("cpcd", answers, str(tmp_path / "data"))
    # Turn 0: hits at 1, 4, 10 of G = 4. Turn 1: t0 t1 t2 are known, so hits at 1, 7 of G = 3.
    assert scores.theirs["macro"]["recall@10"] == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert scores.theirs["turn 0"]["map@5"] == pytest.approx((1 + 2 / 4) / 4)
    assert scores.theirs["turn 1"]["map@10"] == pytest.approx((1 + 2 / 7) / 3)
    assert scores.ours["macro"]["recall@10"] == pytest.approx((3 / 4 + 2 / 3) / 4)
    assert (scores.counts["dialogues"], scores.counts["dialogues of ours"]) == (1, 2)
    assert len(scores.differences) == 2
    both = cpcd_answers(tmp_path / "b.jsonl", list(TRACKS), "aa:0", "aa:1", "bb:0", "bb:1", "bb:7")
    scores = score_as("cpcd", both, str(tmp_path / "data"))
    assert (scores.counts["turns"], scores.counts["turns of ours"]) == (3, 4)


@pytest.mark.parametrize(
    ("ranking", "names", "message"),
    [(list(TRACKS), ["aa:0"], "aa:1"), (list(TRACKS)[:100], ["aa:0", "aa:1"], "fewer than 100"),
     ([*TRACKS, "other"], ["aa:0", "aa:1"], "not in the catalogue"), (list(TRACKS), ["zz:0"], "no turn of")],
)  # fmt: skip
def test_cpcd_rules_stop_where_their_script_stops(
    cpcd: Path, tmp_path: Path, ranking: list[str], names: list[str], message: str
) -> None:
    """A missing turn, a short list, an unknown id, an unknown dialogue."""
    write_corpus(catalogue_of(f"cpcd:{cpcd}"), tmp_path / "data")
    with pytest.raises(UserError, match=message):
        score_as("cpcd", cpcd_answers(tmp_path / "a.jsonl", ranking, *names), str(tmp_path / "data"))


@pytest.fixture
def challenge(tmp_path: Path) -> Path:
    """Two sessions of two turns, with texts."""
    truth = [
        {"session_id": s, "user_id": "u", "turn_number": t, "ground_truth_track_id": f"{s}{t}"}
        for s in ("s1", "s2")
        for t in (1, 2)
    ]
    rows = [
        {"turn_number": t, "role": role, "content": text, "thought": ""}
        for t in (1, 2)
        for role, text in (("user", f"ask {t}"), ("music", f"s1{t}"), ("assistant", f"say {t}"))
    ]
    folder = tmp_path / "challenge"
    folder.mkdir()
    (folder / "truth.json").write_text(json.dumps(truth))
    lines(folder / "conversations.jsonl", {"session_id": "s1", "conversations": rows})
    items = [{"id": f"{s}{t}", "title": f"Title {s}{t}"} for s in ("s1", "s2", "s3") for t in (1, 2)]
    lines(folder / "catalogue.jsonl", *items)
    return folder


def test_challenge_reader(challenge: Path) -> None:
    """The query of turn 2 holds turn 1 with its track by name, and nothing of the answer of turn 2."""
    turns, catalogue, _ = catalogue_of(f"challenge2026:{challenge}")
    assert turns[1].query == "ask 1\nTitle s11 by \nsay 1\nask 2"
    assert (turns[1].ground_truth, turns[1].known, len(catalogue)) == (("s12",), (), 6)


def test_challenge_rules_by_hand(challenge: Path, tmp_path: Path) -> None:
    """Ranks 1, 3, none, 2."""
    write_corpus(catalogue_of(f"challenge2026:{challenge}"), tmp_path / "data")
    lists = {("s1", 1): ["s11"], ("s1", 2): ["x", "y", "s12"], ("s2", 1): ["x"], ("s2", 2): ["s11", "s22"]}
    rows = [
        {"session_id": s, "user_id": "u", "turn_number": t, "predicted_track_ids": ids, "predicted_response": "a B a b"}
        for (s, t), ids in lists.items()
    ]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows))
    scores = score_as("challenge2026", path, str(tmp_path / "data")).theirs
    assert scores["mean"]["ndcg@10"] == pytest.approx((1 + 1 / log2(4) + 0 + 1 / log2(3)) / 4)
    assert scores["mean"]["ndcg@1"] == 0.25
    assert scores["turn 2"]["ndcg@20"] == pytest.approx((1 / log2(4) + 1 / log2(3)) / 2)
    assert scores["mean"]["catalog_diversity"] == 5 / 6
    path.write_text(json.dumps(rows[:3]))
    with pytest.raises(UserError, match="1 turn without a row"):
        score_as("challenge2026", path, str(tmp_path / "data"))
    path.write_text(json.dumps([{**rows[0], "predicted_track_ids": ["x", "x"]}, *rows[1:]]))
    with pytest.raises(UserError, match="twice"):
        score_as("challenge2026", path, str(tmp_path / "data"))


def test_lexical_diversity() -> None:
    """a b, b a, a b: two distinct of three. Pairs do not cross responses."""
    assert lexical_diversity(["a B a b"]) == pytest.approx(2 / 3)
    assert lexical_diversity(["a", "b", ""]) == 0


def he_answers(tmp_path: Path) -> Path:
    """Invent two answers; Heat is relevant twice, Ronin was seen before."""

    def written(*titles: tuple[str, int]) -> list[dict[str, Any]]:
        return [{"movie_name": t, "min_edit_distance": d, "nearest_movie": t} for t, d in titles]

    return lines(
        tmp_path / "he.jsonl",
        {"index": 0, "rec_list": written(("Ronin", 0), ("Alien", 5), ("Heat", 1)), "gt_list": ["Heat", "Ronin"],
         "prev_list": ["Ronin"]},
        {"index": 1, "rec_list": written(("Alien", 0), ("Alien", 0), ("Heat", 0)), "gt_list": ["Heat"],
         "prev_list": []},
    )  # fmt: skip


def test_he2023_rules_by_hand(tmp_path: Path) -> None:
    """Recommendation has two rows. A repeat takes a place; filters move Heat of the first answer up."""
    scores = score_as("he2023", he_answers(tmp_path), "musicrs").theirs
    plain, strict = scores["recommendation"], scores["recommendation filtered unseen"]
    assert plain["mrr@5"] == pytest.approx(1 / 3)
    assert strict["mrr@5"] == pytest.approx((1 + 1 / 3) / 2)
    assert strict["recall@1"] == 0.5
    assert strict["recall@1 se"] == pytest.approx(sqrt(0.5) / sqrt(2))
    assert scores["discussion"]["recall@1"] == 1
    assert scores["discussion unseen"]["recall@20"] == 0


def test_he2023_reader(tmp_path: Path) -> None:
    """Rows without a recommendation are skipped; only films are known items."""
    row = {"context": [], "resp": "", "rec": [12], "prev_entity": [3, 99], "dialog_id": "test_0", "turn_id": "test_4",
           "input": "User: Hi!"}  # fmt: skip
    lines(tmp_path / "test.jsonl", row, {**row, "rec": [], "turn_id": "test_5"})
    (tmp_path / "entity2id.json").write_text(json.dumps({"Heat": 12, "Ronin": 3, "drama": 99}))
    (tmp_path / "item_ids.json").write_text("[12, 3]")
    for name in ("inspired", "redial", "reddit-movie"):
        turns, catalogue, about = catalogue_of(f"{name}:{tmp_path}")
        assert (turns[0].thread_id, turns[0].ground_truth, turns[0].known) == ("test_0:test_4", ("12",), ("3",))
        assert (len(turns), len(catalogue), about.loads_as) == (1, 2, name.replace("-", "_"))


def test_own_corpus_over_pools(tmp_path: Path) -> None:
    """Turns count from 0 if absent; further fields are columns."""
    row = {"query": "q", "candidates": ["a", "b"], "ground_truth": ["a"], "mood": "calm", "year": 1990}
    path = lines(tmp_path / "lab.jsonl", *({**row, "dialogue": d} for d in ("x", "x", "y")))
    corpus = read_corpus(f"jsonl:{path}")
    assert isinstance(corpus, PoolSource)
    assert [thread.thread_id for thread in corpus.threads] == ["x:0", "x:1", "y:0"]
    assert dict(corpus.threads[1].columns) == {"dialogue": "x", "turn": "1", "mood": "calm", "year": "1990"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"query": "q"}], "no field 'ground_truth'"),
        ([{"query": "q", "ground_truth": ["a"]}], "neither 'candidates' .* nor the catalogue"),
        ([{"query": "q", "ground_truth": ["a"], "candidates": ["a"]}, {"query": "q", "ground_truth": ["a"]}], "in all"),
        ([{"query": "q", "ground_truth": ["a"], "candidates": ["a"], "tags": ["x"]}], "tags is a list of 1"),
        ([{"query": "q", "ground_truth": ["a"], "candidates": ["a"], "clips": "x"}], "column of MusiCRS"),
        ([{"query": "q", "ground_truth": ["a"], "candidates": ["a"], "turn": 1}], "without a dialogue"),
        ([{"query": "q", "ground_truth": ["a"], "candidates": ["a"], "dialogue": "d", "turn": 1}] * 2, "also on"),
        ([{"query": "q", "ground_truth": ["a"], "candidates": ["a"], "known": ["a"]}], "only a catalogue"),
    ],
)
def test_own_corpus_refused(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    """One line that says what to fix."""
    with pytest.raises(UserError, match=message):
        read_corpus(f"jsonl:{lines(tmp_path / 'lab.jsonl', *rows)}")


def test_own_corpus_over_a_catalogue(tmp_path: Path) -> None:
    """The folder loads again with the same labels, and `datasets` reads it by path."""
    lines(tmp_path / "tracks.jsonl", {"id": "i1", "title": "A", "artists": "B"}, {"id": "i2", "cluster": "c"})
    row = {"query": "q", "ground_truth": ["i2"], "catalogue": "tracks.jsonl", "dialogue": "d", "known": ["i1"]}
    source = catalogue_of(f"jsonl:{lines(tmp_path / 'lab.jsonl', row)}")
    folder = write_corpus(source, tmp_path / "data")
    corpus = load_corpus(folder)
    assert (corpus.thread_ids, corpus.known, corpus.groups["turn"]) == (["d:0"], [["i1"]], ["0"])
    assert corpus.catalogue.fingerprint == source.catalogue.fingerprint
    assert write_corpus(source, tmp_path / "data") == folder  # a build may replace itself
    import datasets

    assert datasets.load_dataset(str(folder), "query_only", split="test")[0]["ground_truth"] == ["i2"]
    # A rebuild with other words and equal labels gives its own rows, not those that `datasets` has in its cache.
    source = catalogue_of(f"jsonl:{lines(tmp_path / 'lab.jsonl', row | {'query': 'other words'})}")
    write_corpus(source, tmp_path / "data")
    assert datasets.load_dataset(str(folder), "query_only", split="test")[0]["query"] == "other words"


def test_names_of_readers() -> None:
    """A path or a Hub id is no reader."""
    assert is_corpus("cpcd:x")
    assert not is_corpus("cpcd")
    assert not is_corpus("org/name")


def test_whole_numbers_with_a_fraction_of_0(tmp_path: Path) -> None:
    """Programs write 1.0 for 1 if a column has gaps. The turn is 1."""
    row = {"query": "slow", "candidates": ["A", "B"], "ground_truth": ["A"]}
    path = lines(tmp_path / "own.jsonl", row | {"dialogue": 7.0, "turn": 1.0}, row | {"dialogue": "d", "tempo": 0.5})
    corpus = read_corpus(f"jsonl:{path}")
    assert isinstance(corpus, PoolSource)
    assert [thread.thread_id for thread in corpus.threads] == ["7:1", "d:0"]
    assert dict(corpus.threads[1].columns)["tempo"] == "0.5"
