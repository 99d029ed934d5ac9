"""Encoders and rerankers behind a server: what is sent, what is read, and what is no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.launch import build_system
from musicrs_metric.base import chat
from musicrs_metric.errors import UserError
from tests import chat_stub
from tests.baselines.test_text_encoders import data
from tests.baselines.toys import run_toy
from tests.chat_stub import Reply, Stub, chat_server

STATE: dict[str, Any] = {}


def vector(text: str) -> list[float]:
    """A vector that depends on the text, and not of length 1."""
    return [float(len(text)), 1.0 + text.count("o"), 2.0 + text.count(" ") ** 2, 1.0]


def reply(body: dict[str, Any], before: int) -> Reply:
    """Embeddings in reverse order, or scores; the first request of a run meets a busy server."""
    if STATE.pop("busy", False):
        return Reply("busy", status=503)
    if "raw" in STATE:
        return Reply(raw=json.dumps(STATE["raw"]).encode())
    if "input" in body:
        items = [{"index": index, "embedding": vector(text)} for index, text in enumerate(body["input"])]
        return Reply(raw=json.dumps({"object": "list", "data": items[::-1]}).encode())
    if "texts" in body:  # TEI sorts by score
        items = [{"index": index, "score": -float(len(text))} for index, text in enumerate(body["texts"])]
        return Reply(raw=json.dumps(sorted(items, key=lambda item: -item["score"])).encode())
    items = [{"index": index, "relevance_score": float(len(text))} for index, text in enumerate(body["documents"])]
    return Reply(raw=json.dumps({"id": "x", "results": items[::-1]}).encode())


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(chat, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(chat_stub, "prompt_of", lambda body: json.dumps(body)[:99])
    monkeypatch.setenv("MUSICRS_LLM_KEY", "secret-key-of-a-test")
    STATE.clear()
    with chat_server(reply) as running:
        yield running


def run(stub: Stub, model: str, out: Path, *arguments: str) -> Any:
    line = ["--base-url", stub.url, "--model-name", "m", "--retries", "2", *arguments]
    return run_toy(build_system(model, "query_only", line), data(), out)


def test_vectors_of_a_server(stub: Stub, tmp_path: Path) -> None:
    """Each distinct text is sent once, with the key, again after 503, and its vector has length 1."""
    STATE["busy"] = True
    result = run(stub, "text_encoder", tmp_path / "a", "--subtract", "nothing")
    sent = [text for body in stub.bodies[1:] for text in body["input"]]
    assert len(sent) == len(set(sent)) == 5 + 6  # names and queries
    assert stub.bodies[0] == stub.bodies[1] | {}
    assert {body["model"] for body in stub.bodies} == {"m"}
    assert {headers["authorization"] for headers in stub.headers} == {"Bearer secret-key-of-a-test"}
    threads = {each.thread_id: each for each in data().threads}
    for prediction in result.predictions:
        names, query = threads[prediction.thread_id].candidates, threads[prediction.thread_id].query or ""
        rows = np.array([vector(text) for text in (*names, query)])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        found = dict(zip(prediction.ranking, prediction.scores or (), strict=True))
        assert found == pytest.approx(dict(zip(names, rows[:-1] @ rows[-1], strict=True)), abs=1e-6)
    card = result.card
    assert (card.model_id, card.model_revision, card.open_weights, card.reads) == ("m", "m", None, "thread")
    assert "secret-key" not in (tmp_path / "a/run.json").read_text()


@pytest.mark.parametrize(("api", "longest_first"), [("cohere", True), ("tei", False)])
def test_scores_of_a_server(api: str, longest_first: bool, stub: Stub, tmp_path: Path) -> None:
    result = run(stub, "reranker", tmp_path / "a", "--api", api, "--query-prefix", "{genre}: ")
    for prediction in result.predictions:
        assert list(prediction.ranking) == sorted(prediction.ranking, key=len, reverse=longest_first)
    bodies = [set(body) for body in stub.bodies]
    assert (
        bodies == [{"query", "texts", "raw_scores"} if api == "tei" else {"model", "query", "documents", "top_n"}] * 6
    )
    assert all(body["query"].startswith("Jazz: ") for body in stub.bodies)


@pytest.mark.parametrize(
    "raw",
    [
        {"data": []}, {"data": [{"index": 0, "embedding": [1.0]}]}, {"data": "none"}, [], {}, 7,
        {"data": [{"index": i, "embedding": [0.0, 0.0]} for i in range(11)]},
        {"data": [{"index": 0, "embedding": [1.0, 0.0]} for _ in range(11)]},
    ],
)  # fmt: skip
def test_replies_that_are_no_vectors_fail_the_run(raw: Any, stub: Stub, tmp_path: Path) -> None:
    """No thread is ranked by a guess: the run stops after five failed threads."""
    STATE["raw"] = raw
    with pytest.raises(UserError, match=r"text_encoder failed on each of its first 5 threads, .*(the server|vector)"):
        run(stub, "text_encoder", tmp_path / "a", "--subtract", "nothing")


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("text_encoder", ["--model-name", "m"], "--base-url, --model-name: a server needs both"),
        ("reranker", ["--base-url", "http://127.0.0.1:9/v1"], "--base-url, --model-name: a server needs both"),
        ("text_encoder", ["--base-url", "x", "--model-name", "m", "--pooling", "cls"], "--pooling: has no effect"),
        ("reranker", ["--base-url", "x", "--model-name", "m", "--instruction", "a"], "--instruction: has no effect"),
        ("text_encoder", ["--base-url", "ftp://x", "--model-name", "m"], "--base-url 'ftp://x': expected a URL"),
        ("minilm", ["--base-url", "http://127.0.0.1:9/v1", "--model-name", "m"], "use text_encoder for a server"),
    ],
)
def test_options_of_a_server(model: str, arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_system(model, "query_only", arguments)
