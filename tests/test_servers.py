"""Both rooms against all known behaviours of servers: the correct answer or one clear line, and never the key."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from baselines.launch import build_system
from builder_scripts.llm import AnswerCache, Model, Parameters, Request, generate
from builder_scripts.llm.server import Server
from musicrs_metric.base import chat, chat_attempt
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_predictions
from tests.baselines.toys import run_toy, toy_data
from tests.chat_stub import Reply, chat_server
from tests.server_behaviours import BEHAVIOURS, KEY, QUICK, Behaviour, right

pytest.importorskip("openai")

N = 5
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CASES = [
    pytest.param(each, id=each.name, marks=() if each.name in QUICK else pytest.mark.figures) for each in BEHAVIOURS
]


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Set short waits, a small limit of replies, a key, and the most verbose log."""
    monkeypatch.setattr(chat, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(chat_attempt, "LARGEST", 200_000)
    monkeypatch.setenv("MUSICRS_LLM_KEY", f"{KEY}\n")
    caplog.set_level(logging.DEBUG)


def check_no_key(texts: list[str]) -> None:
    """Check that no text holds the key, its escaped form, or eight characters of it in a row."""
    for text in texts:
        for part in (KEY[at : at + 8] for at in range(len(KEY) - 7)):
            assert part not in text


def files_of(folder: Path) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in folder.rglob("*") if file.is_file()]


@pytest.mark.parametrize("behaviour", CASES)
def test_a_run_ends_in_the_right_ranking_or_in_one_line(
    behaviour: Behaviour, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """`baselines run` on five threads."""
    out, message = tmp_path / "run", ""
    with chat_server(lambda body, before: _reply(behaviour, body, before)) as stub:
        options = ["--base-url", stub.url, "--model-name", "stub", "--retries", "2", "--timeout-s", "0.3"]
        try:
            system = build_system("openai_api", "query_only", options)
            run_toy(system, toy_data(N), out, system_name="openai_api", batch_size=N)
        except UserError as error:
            message = str(error)
        n_asked = len(stub.bodies)
    if behaviour.baselines == "answer":
        assert message == ""
        predictions = read_predictions(out / "predictions.jsonl").predictions
        letters = {tuple(title[0] for title in prediction.ranking) for prediction in predictions}
        assert (letters, {prediction.outcome for prediction in predictions}) == ({tuple("BAEDC")}, {"ok"})
    else:
        assert re.search(behaviour.baselines, message)
        assert "\n" not in message
        assert not (out / "predictions.jsonl").exists()
    assert n_asked <= (N + 1) * behaviour.n_most
    captured = capfd.readouterr()
    check_no_key([message, caplog.text, captured.out, captured.err, *(files_of(out) if out.exists() else ())])


@pytest.mark.parametrize("behaviour", CASES)
def test_a_stage_keeps_the_right_answer_or_the_reason(
    behaviour: Behaviour, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A stage of the builder with two questions."""
    requests = [Request(f"question {n}", "test@1", SCHEMA, Parameters(max_tokens=200, seed=3)) for n in range(2)]
    file, expected = tmp_path / "answers.jsonl", behaviour.builder or behaviour.baselines
    with chat_server(lambda body, before: _reply(behaviour, body, before)) as stub, AnswerCache(file) as store:
        server = Server(Model("stub"), stub.url, retries=2, timeout_s=0.3, concurrency=2)
        try:
            responses = generate(requests, server, store)
            messages = [str(response.error or response.finish) for response in responses]
            texts = [response.text.strip() for response in responses]
        except UserError as error:
            messages, texts = [str(error)], []
        n_asked = len(stub.bodies)
    if expected == "answer":
        assert (texts, messages) == ([right({"messages": [{"content": "question"}]})] * 2, ["stop"] * 2)
    else:
        pattern = {"cut": "length"}.get(expected, expected.removeprefix("refuses even a single word, "))
        assert all(re.search(pattern, line) for line in messages)
        assert not any("\n" in line for line in messages)
    assert n_asked <= 2 * behaviour.n_most
    captured = capfd.readouterr()
    check_no_key([*messages, caplog.text, captured.out, captured.err, *files_of(tmp_path)])


def _reply(behaviour: Behaviour, body: Mapping[str, Any], before: int) -> Reply:
    return behaviour.answer(body, before)
