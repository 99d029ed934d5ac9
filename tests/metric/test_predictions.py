"""Prediction files: what is read, what is refused and how the refusal is told, what is written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import (
    Fault,
    Prediction,
    PredictionError,
    format_line,
    parse_line,
    rankings_for,
    read_prediction_lines,
    read_predictions,
    write_predictions,
)

from .support import TINY, references_of, write_lines

REFERENCES = references_of(TINY)


def faults_of(path: Path, **options: Any) -> tuple[Fault, ...]:
    with pytest.raises(PredictionError) as error:
        read_predictions(path, **options)
    assert "\n" not in str(error.value)
    return error.value.faults


def line(**fields: Any) -> dict[str, Any]:
    return {"thread_id": "t3_a", "ranking": ["Bop", "Ade"]} | fields


def test_a_full_line_is_read() -> None:
    """Every optional field comes back; integers are scores too."""
    text = '{"thread_id": "t3_a", "ranking": ["x", "y"], "scores": [1, 0.5], "outcome": "repaired", "n_answered": 1}'
    assert parse_line(text).prediction == Prediction("t3_a", ("x", "y"), (1, 0.5), "repaired", 1)


@pytest.mark.parametrize(
    "keys", [("thread_id", "ranking"), ("id", "ranking"), ("name", "predicted"), ("id", "predicted")]
)
def test_aliases(tmp_path: Path, keys: tuple[str, str]) -> None:
    """The keys of the authors' own output are read like the field names."""
    path = write_lines(tmp_path / "p.jsonl", [{keys[0]: "t3_a", keys[1]: ["Bop"]}])
    assert read_predictions(path).predictions == (Prediction("t3_a", ("Bop",)),)


def test_alias_beside_the_field(tmp_path: Path) -> None:
    """Both names with one value are fine; with two values nobody can tell which is meant."""
    assert read_predictions(
        write_lines(tmp_path / "same.jsonl", [line(id="t3_a", predicted=["Bop", "Ade"])])
    ).predictions
    faults = faults_of(write_lines(tmp_path / "two.jsonl", [line(id="t3_b"), line(predicted=["Ade", "Bop"])]))
    assert [(fault.line, fault.field) for fault in faults] == [(1, "thread_id"), (2, "ranking")]


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"ranking": "Bop, Ade"}, "ranking", "found 'Bop, Ade', expected a list of titles"),
        ({"ranking": None}, "ranking", "missing or null"),
        ({"ranking": {"Bop": 1}}, "ranking", "found an object"),
        ({"ranking": ["Bop", 30]}, "ranking", "item 2 is 30, expected text"),
        ({"ranking": ["Bop", None]}, "ranking", "item 2 is null, expected text"),
        ({"ranking": [["Bop"]]}, "ranking", "item 1 is a list of 1, expected text"),
        ({"ranking": ["Bop", ""]}, "ranking", "item 2 is '', which names nothing"),
        ({"ranking": [' \t"', "Bop"]}, "ranking", "names nothing"),
        ({"ranking": ["“”"]}, "ranking", "names nothing"),
        ({"ranking": ["\n"]}, "ranking", "names nothing"),
        ({"ranking": ["\ud83c"]}, "ranking", "half a surrogate pair"),
        ({"thread_id": 7}, "thread_id", "found 7, expected the Reddit name"),
        ({"thread_id": " "}, "thread_id", "found ' '"),
        ({"thread_id": None}, "thread_id", "missing or null"),
        ({"scores": [1.0]}, "scores", "found 1 scores, expected one per item of the ranking (2)"),
        ({"scores": [1.0, None]}, "scores", "item 2 is null, expected a finite number"),
        ({"scores": [1.0, "2"]}, "scores", "item 2 is '2', expected a finite number"),
        ({"scores": [True, 1.0]}, "scores", "item 1 is true, expected a finite number"),
        ({"scores": [float("nan"), 1.0]}, "scores", "item 1 is nan, expected a finite number"),
        ({"scores": [1.0, float("-inf")]}, "scores", "item 2 is -inf, expected a finite number"),
        ({"scores": [1.0, 10**400]}, "scores", "item 2 is 1000"),
        ({"scores": 1.0}, "scores", "found 1.0, expected a list"),
        ({"outcome": "fine"}, "outcome", "found 'fine', expected one of ok, repaired, truncated, refusal, empty"),
        ({"outcome": ["ok"]}, "outcome", "found a list of 1"),
        ({"n_answered": 3}, "n_answered", "found 3, expected an integer from 0 to 2"),
        ({"n_answered": -1}, "n_answered", "found -1"),
        ({"n_answered": True}, "n_answered", "found true"),
        ({"n_answered": 1.0}, "n_answered", "found 1.0"),
    ],
)
def test_a_fault_is_told_by_line_field_and_thread(
    tmp_path: Path, fields: dict[str, Any], field: str, said: str
) -> None:
    """Each wrong value alone, in the second line of a file."""
    path = write_lines(tmp_path / "p.jsonl", [{"thread_id": "t3_b", "ranking": []}, line(**fields)])
    (fault,) = faults_of(path)
    assert (fault.file, fault.line, fault.field) == (str(path), 2, field)
    assert fault.thread == (
        "t3_a" if field != "thread_id" else fields["thread_id"] if fields["thread_id"] == " " else None
    )
    assert said in fault.message
    assert f"{path}, line 2" in str(fault)


def test_an_overflowing_score_is_not_finite(tmp_path: Path) -> None:
    """1e999 is good JSON and reads as infinity."""
    path = write_lines(tmp_path / "p.jsonl", ['{"thread_id": "t3_a", "ranking": ["Bop"], "scores": [1e999]}'])
    assert [(fault.field, fault.thread) for fault in faults_of(path)] == [("scores", "t3_a")]


@pytest.mark.parametrize(
    "text",
    [
        '{"thread_id": "t3_a", "ranking": ["Bop"]',
        '{"thread_id": "t3_a", "ranking": ["Bop"], "note": NaN}',
        '{"thread_id": "t3_a", "thread_id": "t3_b", "ranking": []}',
        "t3_a,Bop",
        '{"thread_id": "t3_a", "ranking": ["Bop"]} {"thread_id": "t3_b", "ranking": ["Bog"]}',
        "[" * 100_000,
    ],
)
def test_what_is_not_json(tmp_path: Path, text: str) -> None:
    """Cut lines, NaN anywhere, a key given twice, CSV, two objects, and brackets without end."""
    path = write_lines(tmp_path / "p.jsonl", [line(), text])
    (fault,) = faults_of(path)
    assert (fault.line, fault.field) == (2, None)
    assert fault.message.startswith("not JSON")


@pytest.mark.parametrize("text", ["null", "3", '"t3_a"', '["t3_a", ["Bop"]]'])
def test_a_line_of_other_json(tmp_path: Path, text: str) -> None:
    """A line that is JSON but no object."""
    (fault,) = faults_of(write_lines(tmp_path / "p.jsonl", [line(), text]))
    assert fault.line == 2
    assert "expected one object per line" in fault.message


def test_all_faults_of_a_file_are_gathered(tmp_path: Path) -> None:
    """Faults of one line and of many, in file order; the message names the first and counts the rest."""
    path = write_lines(
        tmp_path / "p.jsonl", [line(ranking="x", outcome="y"), line(), line(thread_id="t3_b", scores=[])]
    )
    assert [(fault.line, fault.field) for fault in faults_of(path)] == [(1, "ranking"), (1, "outcome"), (3, "scores")]
    with pytest.raises(PredictionError, match=r"line 1: thread t3_a, field 'ranking': .* \(and 2 more faults\)"):
        read_predictions(path)


def test_faults_kept_are_bounded(tmp_path: Path) -> None:
    """A file of a thousand wrong lines tells the first hundred and the number of all."""
    path = write_lines(tmp_path / "p.jsonl", ["no"] * 1000)
    with pytest.raises(PredictionError, match=r"\(and 999 more faults\)") as error:
        read_predictions(path)
    assert [fault.line for fault in error.value.faults] == list(range(1, 101))
    assert error.value.n_faults == 1000


def test_a_file_of_other_data_has_one_fault(tmp_path: Path) -> None:
    """All threads that the dataset does not have are told at the first of them, and counted."""
    rows = [line(), *(line(thread_id=f"t3_x{i}") for i in range(477))]
    with pytest.raises(PredictionError) as error:
        read_predictions(write_lines(tmp_path / "p.jsonl", rows), REFERENCES)
    (fault,) = error.value.faults
    assert (error.value.n_faults, fault.line, fault.thread) == (1, 2, "t3_x0")
    assert fault.message.endswith("; nor are those of 476 more lines, such as t3_x1, t3_x2, t3_x3")


def test_one_thread_with_two_rankings(tmp_path: Path) -> None:
    """Which one counts cannot be guessed: refused, both lines named."""
    (fault,) = faults_of(write_lines(tmp_path / "p.jsonl", [line(), line(ranking=["Ade", "Bop"])]))
    assert (fault.line, fault.thread) == (2, "t3_a")
    assert "line 1" in fault.message


def test_the_same_line_twice(tmp_path: Path) -> None:
    """Read once, with a warning that names the line."""
    found = read_predictions(write_lines(tmp_path / "p.jsonl", [line(), line(), line(thread_id="t3_b")]))
    assert [prediction.thread_id for prediction in found.predictions] == ["t3_a", "t3_b"]
    (warning,) = found.warnings
    assert "line 2 (thread t3_a)" in warning


def test_keys_that_are_not_read(tmp_path: Path) -> None:
    """A misspelt optional key is no fault, and no secret either."""
    found = read_predictions(write_lines(tmp_path / "p.jsonl", [line(score=[1, 2]), line(thread_id="t3_b", score=[])]))
    (warning,) = found.warnings
    assert "'score' (on 2 lines)" in warning


def test_misspelt_required_key_shows_what_was_found(tmp_path: Path) -> None:
    """The keys of the line are told, so that the misspelling is seen."""
    (fault,) = faults_of(write_lines(tmp_path / "p.jsonl", [{"thread_id": "t3_a", "rankings": ["Bop"]}]))
    assert fault.field == "ranking"
    assert "'rankings'" in fault.message


def test_unknown_thread(tmp_path: Path) -> None:
    """An id that the dataset lacks is refused where the dataset is known."""
    path = write_lines(tmp_path / "p.jsonl", [line(), line(thread_id="a")])
    assert len(read_predictions(path).predictions) == 2
    (fault,) = faults_of(path, references=REFERENCES)
    assert (fault.line, fault.field, fault.thread) == (2, "thread_id", "a")
    assert "such as t3_a" in fault.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "found no prediction"),
        (b"\n \n\r\n", "found no prediction"),
        (b'[{"thread_id": "t3_a", "ranking": ["Bop"]}]', "found a JSON array"),
        (b'[\n  {"thread_id": "t3_a", "ranking": ["Bop"]}\n]\n', "found a JSON array"),
        (b"\x1f\x8b\x08\x00\x00", "found a gzip archive"),
        (b"PK\x03\x04", "found a zip archive"),
    ],
)
def test_what_is_no_prediction_file(tmp_path: Path, content: bytes, said: str) -> None:
    """One fault for the whole file, however many lines it has."""
    (tmp_path / "p.jsonl").write_bytes(content)
    (fault,) = faults_of(tmp_path / "p.jsonl")
    assert fault.line is None
    assert said in fault.message


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """A path that is not there, and one that is a folder."""
    assert faults_of(tmp_path / "none.jsonl")[0].message.startswith("no such file; expected a prediction file")
    assert "is a folder" in faults_of(tmp_path)[0].message


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe that nobody writes to is refused at once, and so is a device."""
    os.mkfifo(tmp_path / "predictions.jsonl")
    for path in (tmp_path / "predictions.jsonl", Path(os.devnull)):
        assert faults_of(path)[0].message == "is a pipe or a device; expected a regular file"


@pytest.mark.parametrize(
    ("encoding", "line", "message"), [("latin-1", 1, "not UTF-8"), ("utf-16", None, "found UTF-16, expected UTF-8")]
)
def test_other_encodings(tmp_path: Path, encoding: str, line: int | None, message: str) -> None:
    """Only UTF-8 is read; the message names the line, or the encoding of the whole file."""
    (tmp_path / "p.jsonl").write_bytes('{"thread_id": "t3_a", "ranking": ["é"]}'.encode(encoding))
    (fault,) = faults_of(tmp_path / "p.jsonl")
    assert fault.line == line
    assert message in fault.message


def test_a_cut_file_says_so(tmp_path: Path) -> None:
    """The last line without its end: refused with a hint, and nothing of the good lines is used."""
    whole = json.dumps(line()) + "\n" + json.dumps(line(thread_id="t3_b"))
    (tmp_path / "p.jsonl").write_text(whole[:-5], encoding="utf-8")
    (fault,) = faults_of(tmp_path / "p.jsonl")
    assert "cut off" in fault.message


def test_lines_that_are_no_file_on_disk() -> None:
    """They are judged as a file is, under the name that they are given; a blank line counts."""
    good = b'{"thread_id": "t3_a", "ranking": ["Bop"]}\n'
    found = read_prediction_lines(iter([b"\xef\xbb\xbf" + good, b"\n"]), "upload", REFERENCES)
    assert [prediction.ranking for prediction in found.predictions] == [("Bop",)]
    with pytest.raises(PredictionError) as error:
        read_prediction_lines([good, b"\n", b'{"thread_id": "t3_z", "ranking": []}\n'], "upload", REFERENCES)
    assert [(fault.file, fault.line, fault.thread) for fault in error.value.faults] == [("upload", 3, "t3_z")]


def test_lines_end_with_a_line_feed_alone(tmp_path: Path) -> None:
    """Separators that other readers split at stand inside titles; a byte order mark and CRLF are no harm."""
    title = "a\u2028b\u0085c\x0bd"
    text = json.dumps({"thread_id": "t3_a", "ranking": [title]}, ensure_ascii=False)
    (tmp_path / "p.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n")
    assert read_predictions(tmp_path / "p.jsonl").predictions == (Prediction("t3_a", (title,)),)


def test_terminal_codes_are_shown_not_sent(tmp_path: Path) -> None:
    """What a file holds cannot colour or clear the reader's terminal."""
    path = write_lines(tmp_path / "p.jsonl", [{"thread_id": "t3_\x1b[2J", "ranking": ["\x1b[31m", 3]}])
    assert "\x1b" not in str(faults_of(path)[0])


def test_round_trip(tmp_path: Path) -> None:
    """Written as UTF-8 with no null fields, and read back equal."""
    predictions = (
        Prediction("t3_a", ("Déjà Vu", "“Bop”"), (2.5, -1.0), "repaired", 1),
        Prediction("t3_b", (), None, "empty", 0),
        Prediction("t3_c", ("ガーネット",)),
    )
    write_predictions(tmp_path / "p.jsonl", predictions)
    assert read_predictions(tmp_path / "p.jsonl").predictions == predictions
    text = (tmp_path / "p.jsonl").read_text(encoding="utf-8")
    assert text.splitlines()[2] == '{"thread_id": "t3_c", "ranking": ["ガーネット"]}'
    assert text.endswith("\n")


@pytest.mark.parametrize(
    "wrong",
    [
        Prediction("t3_a", ("Bop",), (float("nan"),)),
        Prediction("t3_a", (" ",)),
        Prediction("t3_a", ("Bop",), None, "fine"),  # type: ignore[arg-type]
        Prediction("t3_b", ("Bop",)),
    ],
)
def test_nothing_is_written_that_would_be_refused(tmp_path: Path, wrong: Prediction) -> None:
    """The file that was there stays, and no partial file is left; the last case names a thread twice."""
    path = tmp_path / "p.jsonl"
    write_predictions(path, [Prediction("t3_z", ())])
    before = path.read_bytes()
    with pytest.raises(PredictionError):
        write_predictions(path, [Prediction("t3_b", ("Bog",)), wrong])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_line_by_itself() -> None:
    """Writers that append can format and judge one line."""
    text = format_line(Prediction("t3_a", ("Bop",)))
    assert text == '{"thread_id": "t3_a", "ranking": ["Bop"]}\n'
    assert parse_line(text).prediction == Prediction("t3_a", ("Bop",))
    assert parse_line(text[:-5]).prediction is None


def test_rankings_in_dataset_order() -> None:
    """Joined by thread id; a thread without a prediction is None, which differs from an empty answer."""
    given = [Prediction("t3_c", ()), Prediction("t3_a", ("Bop",))]
    assert rankings_for(given, REFERENCES) == [("Bop",), None, ()]
    with pytest.raises(UserError, match="thread t3_x: not in dataset here"):
        rankings_for([Prediction("t3_x", ())], REFERENCES)
    with pytest.raises(UserError, match="thread t3_a: given twice"):
        rankings_for([*given, Prediction("t3_a", ())], REFERENCES)


def test_memory_stays_with_the_predictions(tmp_path: Path) -> None:
    """Reading a file of blank lines needs no memory that grows with it."""
    import tracemalloc

    with (tmp_path / "p.jsonl").open("w", encoding="utf-8") as file:
        file.write(json.dumps(line()) + "\n")
        file.write("\n" * 1_000_000)
    tracemalloc.start()
    read_predictions(tmp_path / "p.jsonl")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
