"""Answers on disk: found by content, never paid for twice, whole after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder_scripts.llm import AnswerCache, Model, Parameters, Request, Response, content_key
from builder_scripts.llm.request import no_answer

MODEL = Model("m", "r1")
REQUEST = Request("prompt", "t@1", {"type": "object"}, Parameters(10))


def text_of(store: AnswerCache, key: str) -> str | None:
    response = store.get(key)
    return None if response is None else response.text


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Model("other", "r1"), {}),
        (Model("m", "r2"), {}),
        (MODEL, {"prompt": "prompt "}),
        (MODEL, {"template": "t@2"}),
        (MODEL, {"schema": {"type": "array"}}),
        (MODEL, {"parameters": Parameters(11)}),
        (MODEL, {"parameters": Parameters(10, temperature=0.1)}),
        (MODEL, {"parameters": Parameters(10, top_p=0.9)}),
        (MODEL, {"parameters": Parameters(10, seed=1)}),
        (Model("m", "r1", '{"top_k": 1}'), {}),
        (Model("m", "r1", thinking_tokens=100), {}),
    ],
)
def test_whatever_decides_an_answer_changes_the_key(model: Model, change: dict[str, Any]) -> None:
    """No answer is taken for another's."""
    assert content_key(replace(REQUEST, **change), model) != content_key(REQUEST, MODEL)


def test_the_key_is_the_same_on_every_machine() -> None:
    """sha256 of canonical JSON, written out here by hand; the order of keys in a schema is of no matter."""
    import hashlib

    request = Request("é", "t@1", {"b": 1, "a": 2}, Parameters(10))
    canonical = (
        '{"model":"m","parameters":{"max_tokens":10,"seed":0,"temperature":0.0,"top_p":1.0},"prompt":"\\u00e9",'
        '"revision":"r1","schema":{"a":2,"b":1},"template":"t@1"}'
    )
    assert content_key(request, MODEL) == hashlib.sha256(canonical.encode()).hexdigest()


def test_what_is_added_is_found_by_the_next_process(tmp_path: Path) -> None:
    """Text of every kind comes back as it was, half a surrogate pair included, and no prompt lies in the file."""
    texts = ["plain", "línea\nand\u2028more \x00", '{"a": "\\u00e9"}', "half \ud83d", ""]
    path = tmp_path / "new" / "answers.jsonl"
    with AnswerCache(path) as store:
        for at, text in enumerate(texts):
            store.add(str(at), MODEL, replace(REQUEST, prompt="a private reply"), Response(text, "stop", 3, 4))
    again = AnswerCache(path)
    assert [again.get(str(at)) for at in range(len(texts))] == [
        Response(text, "stop", 3, 4, cached=True) for text in texts
    ]
    assert "private" not in path.read_text(encoding="utf-8")
    assert path.read_bytes().count(b"\n") == len(texts)


def test_the_first_answer_counts(tmp_path: Path) -> None:
    """Later answers to one key, as two processes can write them, change no result."""
    path = tmp_path / "answers.jsonl"
    stores = [AnswerCache(path), AnswerCache(path)]
    for store, text in zip(stores, ("first", "second"), strict=True):
        with store:
            store.add("k", MODEL, REQUEST, Response(text, "stop"))
    assert path.read_bytes().count(b"\n") == 2
    assert text_of(AnswerCache(path), "k") == "first"


def test_a_failure_is_no_answer(tmp_path: Path) -> None:
    """It must be asked again, so it cannot be kept as one."""
    with AnswerCache(tmp_path / "a.jsonl") as store, pytest.raises(ValueError, match="no answer to keep: status 500"):
        store.add("k", MODEL, REQUEST, no_answer("status 500"))


def test_a_failure_is_kept_as_a_failure(tmp_path: Path) -> None:
    """It is no answer, it is there with its reason, an equal one is kept once, and an answer takes its place."""
    path = tmp_path / "a.jsonl"
    cut = Response("{", "length", 3, 4)
    with AnswerCache(path) as store:
        store.add("k", MODEL, REQUEST, cut, "cut")
        store.add("k", MODEL, REQUEST, cut, "cut")
        store.add("refused", MODEL, REQUEST, no_answer("status 400: too long"), "no answer")
    assert path.read_bytes().count(b"\n") == 2
    with AnswerCache(path) as store:
        assert store.get("k") is None
        assert (store.failures["k"].finish, store.failures["refused"].error) == ("length", "status 400: too long")
        store.add("k", MODEL, REQUEST, Response("{}", "stop"))
    after = AnswerCache(path)
    assert (text_of(after, "k"), list(after.failures)) == ("{}", ["refused"])


@pytest.mark.parametrize(("finish", "text"), [("length", '{"a'), ("filtered", "")])
def test_old_stores_hold_failures_as_answers(tmp_path: Path, finish: Any, text: str) -> None:
    """A cut or filtered answer of an earlier version counts as a failure, whichever line stands first."""
    path = tmp_path / "a.jsonl"
    with AnswerCache(path) as store:
        store.add("k", MODEL, REQUEST, Response(text, finish), "x")
    path.write_text("".join(path.read_text().replace(', "failure": "x", "error": null', "")))
    assert "failure" not in path.read_text()
    store = AnswerCache(path)
    assert (store.get("k"), "k" in store.failures) == (None, True)


def test_an_unreadable_answer_is_taken_back(tmp_path: Path) -> None:
    """An earlier version kept it as an answer; the failure of the same text takes it back, no other one does."""
    path = tmp_path / "a.jsonl"
    with AnswerCache(path) as store:
        store.add("k", MODEL, REQUEST, Response("prose", "stop"))
        store.add("k", MODEL, REQUEST, no_answer("status 500"), "no answer")
        assert text_of(store, "k") == "prose"
        store.add("k", MODEL, REQUEST, Response("prose", "stop"), "unreadable")
        store.add("k", MODEL, REQUEST, Response("{}", "stop"))
    assert text_of(AnswerCache(path), "k") == "{}"


def test_a_torn_line_is_passed_over_and_never_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After a kill in the middle of a line the next answer begins a line of its own, and the loss is told."""
    path = tmp_path / "answers.jsonl"
    with AnswerCache(path) as store:
        store.add("a", MODEL, REQUEST, Response("A", "stop"))
        store.add("b", MODEL, REQUEST, Response("B", "stop"))
    torn = path.read_bytes()[:-20]
    path.write_bytes(torn)
    with AnswerCache(path) as store:
        assert ("a" in store, "b" in store) == (True, False)
        assert "line 2: torn or damaged" in caplog.text
        store.add("c", MODEL, REQUEST, Response("C", "stop"))
    assert path.read_bytes().startswith(torn + b"\n")
    after = AnswerCache(path)
    assert [text_of(after, key) for key in "ac"] == ["A", "C"]


def test_a_kill_costs_at_most_the_last_line(tmp_path: Path) -> None:
    """`kill -9` while answers are written: each line that the process told of is there."""
    path = tmp_path / "answers.jsonl"
    code = (
        "import sys; from pathlib import Path; from builder_scripts.llm import *\n"
        "store = AnswerCache(Path(sys.argv[1])); request = Request('p', 't', {}, Parameters(1)); n = 0\n"
        "while True:\n"
        "    store.add(str(n), Model('m'), request, Response('x' * 5000, 'stop')); print(n, flush=True); n += 1\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(20)]
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    told += [int(line) for line in process.stdout.read().split("\n") if line]
    process.wait()
    process.stdout.close()
    store = AnswerCache(path)
    assert len(told) >= 20
    assert all(text_of(store, str(n)) == "x" * 5000 for n in told[:-1])
