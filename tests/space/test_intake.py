"""The door of the board: what is taken, what is refused, and in which words."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.runs.predictions import Fault
from space.board.data import LeaderboardData
from space.intake import IntakeError, SubmissionForm, Taken, take
from space.settings import Limits
from space.store.files import key_of

from .toy import FORM, gzipped, jsonl, lines, ranked, zipped

GOOD = jsonl(lines())
STANDARD = Limits()


def taken(
    upload: bytes, data: LeaderboardData, form: SubmissionForm = FORM, *, limits: Limits = STANDARD, **options: Any
) -> Taken:
    return take(upload, form, data, limits, **options)


def faults(upload: bytes, data: LeaderboardData, form: SubmissionForm = FORM, **options: Any) -> tuple[Fault, ...]:
    with pytest.raises(IntakeError) as error:
        taken(upload, data, form, **options)
    assert all("\n" not in str(fault) for fault in error.value.faults)
    return error.value.faults


def said(upload: bytes, data: LeaderboardData, form: SubmissionForm = FORM, **options: Any) -> str:
    """The one fault of an upload, in words."""
    (fault,) = faults(upload, data, form, **options)
    return str(fault)


@pytest.mark.parametrize(
    "upload",
    [
        GOOD,
        gzipped(GOOD),
        gzipped(GOOD[:40]) + gzipped(GOOD[40:]),
        zipped({"sub/anything.txt": GOOD}),
        zipped({"p.jsonl": GOOD, "__MACOSX/._p.jsonl": b"\0\5", ".DS_Store": b"\0", "folder/": b""}),
        zipped({"p.jsonl": GOOD}, zipfile.ZIP_STORED),
        b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n"),
    ],
    ids=["plain", "gzip", "two gzip members", "zip", "zip of macOS", "stored zip", "BOM and CRLF"],
)
def test_a_file_is_read_however_it_is_packed(upload: bytes, data: LeaderboardData) -> None:
    """The content decides the format, not the file name."""
    assert {row.thread_id: row.ranking for row in taken(upload, data).submission.predictions} == {
        row.thread_id: row.ranking for row in ranked()
    }


def test_sorted_by_thread_without_item_scores(data: LeaderboardData) -> None:
    """The order of the lines and the scores of titles change nothing on a board, and so not the key."""
    rows = [row | {"scores": [1.0] * len(row["ranking"])} for row in reversed(lines())]
    first, second = (taken(upload, data).submission for upload in (GOOD, jsonl(rows)))
    assert first.key == second.key
    assert first.predictions == second.predictions


@pytest.mark.parametrize(
    ("upload", "words"),
    [
        (b"", "0 bytes"),
        (b"\n \n", "no prediction"),
        (zipped({"a.jsonl": GOOD, "b.jsonl": GOOD}), "2 files (a.jsonl, b.jsonl)"),
        (zipped({"__MACOSX/x": b"1"}), "no file"),
        (zipped({"../../evil.jsonl": GOOD}), "outside of its folder"),
        (zipped({"..\\evil.jsonl": GOOD}), "outside of its folder"),
        (zipped({"/etc/evil.jsonl": GOOD}), "outside of its folder"),
        (zipped({"p.jsonl": GOOD}, zipfile.ZIP_BZIP2), "unusual compression"),
        (zipped({"p.jsonl.gz": gzipped(GOOD)}), "gzip archive"),
        (zipped({f"{i}.jsonl": b"" for i in range(101)}), "many files"),
        (gzipped(GOOD)[:-20], "incomplete"),
        (zipped({"p.jsonl": GOOD})[:-30], "incomplete"),
        (gzipped(GOOD)[:-8] + b"\0" * 8, "damaged"),
        (b"\0" * 257 + b"ustar" + b"\0" * 250, "tar archive"),
        (b"\x28\xb5\x2f\xfd" + b"0" * 20, "zstandard archive"),
        (jsonl([lines()]), "JSON array"),
    ],
)  # fmt: skip
def test_what_is_no_prediction_file(upload: bytes, words: str, data: LeaderboardData) -> None:
    """It is refused in one sentence that says what it is."""
    assert words in said(upload, data)


def test_a_zip_with_a_password(data: LeaderboardData) -> None:
    """The flag in its directory is enough to refuse it."""
    content = bytearray(zipped({"p.jsonl": GOOD}))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + offset] |= 1
    assert "password" in said(bytes(content), data)


def test_sizes_that_a_zip_states_prove_nothing(data: LeaderboardData) -> None:
    """A directory that claims a small file does not get a large one through."""
    content = zipped({"p.jsonl": b"\n" * 3_000_000})
    claimed = content.replace((3_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert claimed != content
    assert "damaged" in said(claimed, data)


@pytest.mark.parametrize(
    ("limits", "upload", "words"),
    [
        (Limits(upload_bytes=100), GOOD, "expected at most 100 bytes"),
        (Limits(unpacked_bytes=200), gzipped(GOOD), "more than 200 bytes after unpacking"),
        (Limits(unpacked_bytes=200), zipped({"p.jsonl": GOOD}), "more than 200 bytes after unpacking"),
        (Limits(line_bytes=50), GOOD, "line 1: found more than 50 bytes in one line"),
        (Limits(lines=5), GOOD, "more than 5 lines"),
        (Limits(unpacked_bytes=len(GOOD), lines=6, line_bytes=max(map(len, GOOD.splitlines())) + 1), GOOD, ""),
    ],
)
def test_limits(limits: Limits, upload: bytes, words: str, data: LeaderboardData) -> None:
    """An upload at a limit is accepted. One byte more is refused, and the message states the limit."""
    if words:
        assert words in said(upload, data, limits=limits)
    else:
        taken(upload, data, limits=limits)


def test_a_ranking_and_a_title_have_their_limits(data: LeaderboardData) -> None:
    """Both are named by thread."""
    rows = lines()
    rows[0]["ranking"] *= 3
    rows[1]["ranking"].append("x" * 21)
    found = faults(jsonl(rows), data, limits=Limits(beyond_pool=7, title=20))
    assert [(fault.thread, fault.field) for fault in found] == [("t3_a", "ranking"), ("t3_b", "ranking")]
    assert "found 12 titles, expected at most 11: its pool has 4 candidates" in found[0].message
    assert len(faults(jsonl(rows), data, limits=Limits(beyond_pool=8, title=20))) == 1


BOMB = """
import resource, sys
from space.intake import IntakeError, take
from space.settings import Limits
from tests.space.toy import FORM, bomb, jsonl, lines, toy_data
take(jsonl(lines()), FORM, toy_data(), Limits())
upload = bomb(sys.argv[1].encode() * 1000, 256_000, start=sys.argv[2].encode())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    take(upload, FORM, toy_data(), Limits())
except IntakeError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize(
    ("repeated", "start", "words"),
    [("\n", "", "more than 100,000 lines"), ("[", "", "in one line"), ("a", '{"thread_id": "', "in one line")],
)
def test_a_bomb_is_refused_with_bounded_memory(repeated: str, start: str, words: str) -> None:
    """256 MB in a file of 0.25 MB take no more than a few lines do."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", BOMB, repeated, start]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    message, megabytes = done.stdout.splitlines()
    assert words in message
    assert int(megabytes) < 16


def test_threads_missing(data: LeaderboardData) -> None:
    """They are refused by name, and with the declaration they are taken and the submission says so."""
    upload = jsonl(lines()[:4])
    assert "2 threads of 6 (t3_e, t3_f)" in said(upload, data)
    assert taken(upload, data, replace(FORM, partial=True)).submission.partial
    assert not taken(GOOD, data, replace(FORM, partial=True)).submission.partial


def test_all_faults_are_listed_with_line_thread_and_field(data: LeaderboardData) -> None:
    """Those of the form too, in one answer."""
    rows: list[Any] = [*lines(), {"thread_id": "t3_z", "ranking": ["Ash"]}, {"thread_id": "t3_a"}, "nonsense"]
    found = faults(jsonl(rows), data, SubmissionForm(name=" ", modality="smell", paradigm="retrieval", reads="thread"))
    assert [(fault.file, fault.line, fault.thread, fault.field) for fault in found] == [
        ("form", None, None, "name"),
        ("form", None, None, "modality"),
        ("predictions.jsonl", 7, "t3_z", "thread_id"),
        ("predictions.jsonl", 8, "t3_a", "ranking"),
        ("predictions.jsonl", 9, None, None),
    ]


def test_a_run_without_any_title_of_the_pools_is_refused(data: LeaderboardData) -> None:
    """With the number of titles and an example; one known title is enough for a submission."""
    rows = [row | {"ranking": ["Invented 1", "Invented 2"]} for row in lines()]
    (fault,) = faults(jsonl(rows), data)
    assert fault.field == "ranking"
    assert fault.message.startswith("found 12 titles such as 'Invented 1', none of which is in the pool of its thread")
    rows[-1] = rows[-1] | {"ranking": ["Invented 1", lines()[-1]["ranking"][0]]}
    assert taken(jsonl(rows), data).submission.predictions
    assert taken(jsonl([row | {"ranking": []} for row in lines()]), data).submission.predictions


def test_scores_are_never_read(data: LeaderboardData) -> None:
    """Whatever a card says of its results, the stored card is nothing that a board computes from."""
    boast = json.dumps({"recall@20": 1.0, "scores": {"mrr": 1}}).encode()
    made = taken(GOOD, data, card=boast).submission
    assert made.card.extra == {"recall@20": 1.0, "scores": {"mrr": 1}}
    assert made.key == taken(GOOD, data).submission.key


def test_a_card_fills_the_fields_that_the_form_leaves_empty(data: LeaderboardData) -> None:
    """Field by field, without a warning where both agree."""
    design = data.design("wider")
    values = {"name": "From the card", "paradigm": "retrieval", "fingerprint": design.fingerprint, "seed": 3}
    result = taken(jsonl(lines(ranked(design=design))), data, replace(FORM, name=""), card=json.dumps(values).encode())
    card = result.submission.card
    assert (card.name, card.modality, card.paradigm) == ("From the card", "query_only", "retrieval")
    assert (card.fingerprint, card.pools, card.config, card.seed) == (
        design.fingerprint, "wider", "query_only_wider", 3,
    )  # fmt: skip
    assert result.warnings == ()


def test_a_filled_in_field_counts_more_than_the_card(data: LeaderboardData) -> None:
    """The warnings name each contradiction."""
    wider = data.design("wider")
    values = {
        "name": "random",
        "reads": "pools",
        "fingerprint": wider.fingerprint,
        "pools": "wider",
        "link": "https://a.b",
    }
    form = replace(FORM, pools="published", link="https://c.d")
    result = taken(GOOD, data, form, card=json.dumps(values).encode())
    card, published = result.submission.card, data.design("published")
    assert (card.name, card.reads) == (FORM.name, FORM.reads)
    assert (card.fingerprint, card.pools, card.config) == (published.fingerprint, "published", "query_only")
    assert result.submission.link == "https://c.d"
    assert [warning.partition(":")[0] for warning in result.warnings] == ["name", "reads", "link", "pools"]
    assert result.warnings[1] == "reads: the form states 'thread', run.json states 'pools'; the form counts"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "found no JSON"),
        (b"[]", "expected a JSON object"),
        (b'{"seed": "x"}', "'seed'"),
        (b'{"seed": 1e999}', "'seed'"),
        (b'{"wall_time_s": 1' + b"0" * 400 + b"}", "'wall_time_s'"),
        (b'{"audio_coverage": {"threads": "all"}}', "'audio_coverage'"),
        (b'{"audio_coverage": {"threads": 5}}', "a share from 0 to 1"),
        (b'{"name": "\\u0000"}', "'name'"),
        (b'{"hardware": "\\u202e"}', "'hardware'"),
        (b'{"model_id": "\\ud800"}', "'model_id'"),
        (b'{"settings": ' + b"[" * 400 + b"]" * 400 + b"}", "levels deep"),
        (b'{"settings": ' + b"[" * 90_000, "bytes"),
        (b'{"fingerprint": "0000"}', "no data of this leaderboard"),
        (b'{"fingerprint": ["0000"]}', "no data of this leaderboard"),
        (b"\xff", "found no JSON"),
    ],
)
def test_cards_that_are_refused(content: bytes, words: str, data: LeaderboardData) -> None:
    """By the field that is at fault."""
    message = said(GOOD, data, card=content)
    assert message.startswith("run.json")
    assert words in message


def test_faults_of_a_card_come_in_the_order_of_its_fields(data: LeaderboardData) -> None:
    """All of them at once, each once, the same every time."""
    card = {"hardware": "\0", "link": "ftp://\0", "model_id": "x" * 501, "name": "", "reads": "minds"}
    found = faults(GOOD, data, SubmissionForm(), card=json.dumps(card).encode())
    assert [(fault.file, fault.field) for fault in found] == [
        ("run.json", "name"),
        ("form", "modality"),
        ("form", "paradigm"),
        ("run.json", "reads"),
        ("run.json", "link"),
        ("run.json", "model_id"),
        ("run.json", "hardware"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "found nothing"),
        ("name", None, "found nothing"),
        ("name", " \u200d ", "found nothing"),
        ("name", "x" * 101, "101 characters"),
        ("name", "x" * 5000, "5,000 characters"),
        ("name", "name\0null", "U+0000"),
        ("name", "\u202egnp.exe", "U+202E"),
        ("name", "zero\u200bwidth", "U+200B"),
        ("name", "\u3164", "U+3164"),
        ("name", "Toy system\u2800", "U+2800"),
        ("name", "\u034fToy system", "U+034F"),
        ("name", "e" + "\u0301" * 9, "marks on one letter"),
        ("name", "\ud800", "surrogate"),
        ("name", ["a"], "a list of 1"),
        ("name", "ask me@example.org", "e-mail"),
        ("description", "ask me@example.org", "e-mail"),
        ("description", "x" * 501, "501 characters"),
        ("modality", "", "found nothing, expected one of audio_query"),
        ("modality", ["audio_query"], "a list of 1"),
        ("reads", "minds", "expected one of thread, pools, labels"),
        ("open_weights", "yes", "expected true or false"),
        ("partial", "yes", "expected true or false"),
        ("pools", "deep", "expected published or wider"),
        ("pools", ["published"], "expected published or wider"),
        ("link", "http://example.org", "https://"),
        ("link", "javascript:alert(1)", "https://"),
        ("link", "https://user:secret@example.org", "user name"),
        ("link", "https://localhost", "localhost"),
        ("link", "https://127.0.0.1/", "127.0.0.1"),
        ("link", "https://0x7f.1/", "0x7f.1"),
        ("link", "https://exam ple.org", "host"),
        ("link", "https://example.org/\u202e", "U+202E"),
        ("link", 'https://example.org/"onload="', "quotes"),
        ("link", "https://[::1", "expected a URL"),
        ("link", "https://example.org:99999", "expected a URL"),
        ("link", f"https://example.org/{'x' * 300}", "at most 300"),
    ],
)  # fmt: skip
def test_fields_that_are_refused(field: str, value: Any, words: str, data: LeaderboardData) -> None:
    """By name, with what was found and what is expected."""
    (fault,) = faults(GOOD, data, replace(FORM, **{field: value}))
    assert (fault.file, fault.field) == ("form", field)
    assert words in fault.message
    assert fault.message.isprintable()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Beyonc\u00e9 \U0001f3b7", "Beyonc\u00e9 \U0001f3b7"),
        ("Beyonce\u0301", "Beyonc\u00e9"),
        (" line\nbreak\t", "line break"),
        ("\U0001f469\u200d\U0001f3a4", "\U0001f469\u200d\U0001f3a4"),
        ("x" * 100, "x" * 100),
        ("../../etc/passwd", "../../etc/passwd"),
    ],
)
def test_names_that_are_kept(given: str, kept: str, data: LeaderboardData) -> None:
    """As they were given, in one line."""
    assert taken(GOOD, data, replace(FORM, name=given)).submission.card.name == kept


def test_link_and_description(data: LeaderboardData) -> None:
    """A good link is kept letter for letter, also from the card."""
    link = "https://Example.org:8443/a%20b?c=d&e=(f)#g"
    made = taken(GOOD, data, replace(FORM, link=link, description=" Ranks  by\nwords. ")).submission
    assert (made.link, made.description) == (link, "Ranks by words.")
    made = taken(GOOD, data, card=json.dumps({"link": "https://a.b", "description": "c"}).encode()).submission
    assert (made.link, made.description) == ("https://a.b", "c")
    assert made.card.extra == {}


def test_the_key_tells_name_modality_data_and_predictions_apart(data: LeaderboardData) -> None:
    """The same four are one submission, whatever else is said."""
    first = taken(GOOD, data).submission
    again = taken(gzip.compress(GOOD), data, replace(FORM, description="other", paradigm="generative")).submission
    others = [
        taken(GOOD, data, replace(FORM, name="Another")).submission,
        taken(GOOD, data, replace(FORM, modality="audio_only")).submission,
        taken(jsonl(lines(ranked(5))), data).submission,
        taken(GOOD, data, replace(FORM, pools="wider")).submission,
    ]
    assert again.key == first.key == key_of(first.card, first.predictions)
    assert len({first.key, *(other.key for other in others)}) == 5


def test_the_same_line_twice_is_told(data: LeaderboardData) -> None:
    """It is read once, with a word about it."""
    assert "given twice" in taken(GOOD + GOOD.splitlines(keepends=True)[0], data).warnings[0]


def test_published_upload_cases(cases: Path, data: LeaderboardData) -> None:
    """Files from public reports: packed ones are read, all others refused in words."""
    packed = {
        "bomb_64MB_of_newlines.jsonl.gz": "more than",
        "traversal.zip": "outside of its folder",
        "truncated.jsonl.gz": "incomplete",
        "two_files.zip": "2 files",
    }
    for name, words in packed.items():
        assert words in said((cases / "s01" / name).read_bytes(), data)
    for name in ("good.jsonl.gz", "gz_named_jsonl.jsonl", "macos.zip"):  # three threads that this data does not have
        (found,) = faults((cases / "s01" / name).read_bytes(), data)
        assert (found.line, found.field, "2 more lines" in found.message) == (1, "thread_id", True)
    columns = {
        "blank_lines_only.jsonl": [(None, None)],
        "empty.jsonl": [(None, None)],
        "not_json_line2.jsonl": [(1, "thread_id"), (2, None)],
        "one_bad_line.jsonl": [(1, "thread_id"), (2, "ranking")],
        "one_json_array.json": [(None, None)],
        "ranking_is_string.jsonl": [(n, "ranking") for n in (1, 2, 3)],
        "wrong_key.jsonl": [(1, "thread_id")],
    }
    for name, places in columns.items():
        assert [(fault.line, fault.field) for fault in faults((cases / "s02" / name).read_bytes(), data)] == places
