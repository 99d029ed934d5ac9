"""Questions that go to a cluster as files, and answers that come back as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builder_scripts.llm import AnswerCache, Model, Parameters, Request, Response, generate
from builder_scripts.llm.batches import BatchFiles
from musicrs_metric.errors import UserError

MODEL = Model("stub")


def requests(*prompts: str) -> list[Request]:
    return [Request(prompt, "t@1", {"type": "object"}, Parameters(10)) for prompt in prompts]


def lines(folder: Path, pattern: str = "requests-*") -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.glob(pattern)) for line in file.read_text().splitlines()]


def answer(line: dict[str, Any], text: str, status: int = 200) -> str:
    """As `vllm run-batch` writes it."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    body = {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}} if status == 200 else None
    response = {"status_code": status, "request_id": "r", "body": body}
    error = None if status == 200 else {"message": "why"}
    return json.dumps({"id": "x", "custom_id": line["custom_id"], "response": response, "error": error}) + "\n"


def test_round_trip(tmp_path: Path) -> None:
    """Ask, be told what to run, put the answers there in another order, ask again: answered, and nothing waits."""
    folder = tmp_path / "batches"
    asked = requests("p0", "p1", "p2", "p1")
    backend = BatchFiles(MODEL, folder, per_file=2)
    with AnswerCache(tmp_path / "a.jsonl") as store:
        with pytest.raises(
            UserError, match=r"3 requests to stub in .*requests-001-of-002.jsonl and 1 other file;.*vllm"
        ):
            generate(asked, backend, store)
        waiting = lines(folder)
        assert [line["body"]["messages"][0]["content"] for line in waiting] == ["p0", "p1", "p2"]
        assert {(line["method"], line["url"]) for line in waiting} == {("POST", "/v1/chat/completions")}
        assert waiting[0]["body"]["response_format"]["json_schema"]["schema"] == {"type": "object"}
        (folder / "answers.jsonl").write_text(
            "".join(answer(line, f"a{at}") for at, line in reversed([*enumerate(waiting)]))
        )
        found = generate(asked, backend, store)
    assert [response.text for response in found] == ["a0", "a1", "a2", "a1"]
    assert found[0] == Response("a0", "stop", 7, 2)
    assert not lines(folder)


def test_what_is_answered_is_kept_while_the_rest_waits(tmp_path: Path) -> None:
    """A job that did a part costs nothing of that part, even when its file is gone."""
    backend = BatchFiles(MODEL, tmp_path)
    with AnswerCache(tmp_path / "store" / "a.jsonl") as store:
        with pytest.raises(UserError, match="2 requests"):
            generate(requests("p0", "p1"), backend, store)
        file = tmp_path / "answers.jsonl"
        file.write_text(answer(lines(tmp_path)[1], "one"))
        with pytest.raises(UserError, match="1 request to stub"):
            generate(requests("p0", "p1"), backend, store)
        file.unlink()
        assert [line["body"]["messages"][0]["content"] for line in lines(tmp_path)] == ["p0"]
        file.write_text(answer(lines(tmp_path)[0], "zero"))
        assert [response.text for response in generate(requests("p0", "p1"), backend, store)] == ["zero", "one"]


def test_lines_that_failed(tmp_path: Path) -> None:
    """A busy server's line waits again; one that was refused for good is a failure with its reason."""
    backend = BatchFiles(MODEL, tmp_path)
    with AnswerCache(tmp_path / "store" / "a.jsonl") as store:
        with pytest.raises(UserError):
            generate(requests("p0", "p1", "p2"), backend, store)
        first, second, third = lines(tmp_path)
        file = tmp_path / "answers.jsonl"
        file.write_text(answer(first, "", 429) + answer(second, "", 400) + answer(third, "fine"))
        with pytest.raises(UserError, match="1 request to stub"):
            generate(requests("p0", "p1", "p2"), backend, store)
        file.write_text(file.read_text() + answer(first, "fine too"))
        found = generate(requests("p0", "p1", "p2"), backend, store)
    assert [response.text for response in found] == ["fine too", "", "fine"]
    assert found[1].error == 'status 400: {"message": "why"}'


def test_a_damaged_answer_file_is_named(tmp_path: Path) -> None:
    """File and line, as everywhere."""
    (tmp_path / "answers.jsonl").write_text('{"custom_id": "k", "response": {"status_code"')
    with (
        AnswerCache(tmp_path / "store" / "a.jsonl") as store,
        pytest.raises(UserError, match=r"answers.jsonl, line 1: not JSON"),
    ):
        generate(requests("p"), BatchFiles(MODEL, tmp_path), store)
