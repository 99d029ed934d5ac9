"""Encoders and rerankers behind a server: what is sent, what is read, and what is no answer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.embedding.endpoints import ServerEmbedder, ServerOptions, ServerScorer
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
    if "down" in STATE:
        return Reply("down", status=500)
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


def server(stub: Stub) -> chat.ChatServer:
    return ServerOptions(base_url=stub.url, model_name="m", retries=0).server()


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


def vectors(*embeddings: Any) -> list[dict[str, Any]]:
    return [{"index": index, "embedding": embedding} for index, embedding in enumerate(embeddings)]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"data": vectors([1.0])}, "1 item for 2 texts, expected each index from 0 to 1 once"),
        ({"data": vectors([1.0], [2.0], [3.0])}, "3 items for 2 texts"),
        ({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]}, "2 items for 2 texts, expected each index"),
        ({"data": [{"index": "0", "embedding": [1.0]}, {"index": [1], "embedding": [2.0]}]}, "2 items for 2 texts"),
        ({"data": [*vectors([1.0]), *vectors([2.0])]}, "2 items for 2 texts"),
        ({"error": {"message": "no such model"}}, "0 items for 2 texts.*no such model"),
        ({"data": "none"}, "0 items"), ([], "0 items"), (7, "0 items"), ([[1.0], [2.0]], "0 items"),
        ({"data": vectors([1.0], [1.0, 2.0])}, "another embedding than numbers, of one length"),
        ({"data": vectors(["1.0"], ["2.0"])}, "another embedding than numbers"),
        ({"data": vectors("AACAPw==", "AAAAQA==")}, "another embedding than numbers"),
        ({"data": vectors([None], [1.0])}, "another embedding than numbers"),
        ({"data": vectors([True], [False])}, "another embedding than numbers"),
        ({"data": vectors(1.0, 2.0)}, "without a finite length"),
        ({"data": vectors([0.0], [1.0])}, "without a finite length"),
        ({"data": vectors([math.nan], [1.0])}, "without a finite length"),
    ],
)  # fmt: skip
def test_replies_that_are_no_vectors(raw: Any, message: str, stub: Stub) -> None:
    """Nothing is ranked by a guess; the message repeats the start of the reply, without the key."""
    STATE["raw"] = raw
    with pytest.raises(ValueError, match=message):
        ServerEmbedder(server(stub))(["a", "b"])


def test_vectors_of_different_lengths_are_not_compared(stub: Stub) -> None:
    embed = ServerEmbedder(server(stub))
    embed(["a"])
    STATE["raw"] = {"data": vectors([1.0, 2.0])}
    with pytest.raises(ValueError, match="vectors of 2 and of 4 numbers"):
        embed(["a", "b"])


def scores(*values: Any) -> list[dict[str, Any]]:
    return [{"index": index, "relevance_score": value} for index, value in enumerate(values)]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (scores(2.0), "1 item for 2 texts"),
        ([*scores(2.0, 1.0), {"index": 0, "relevance_score": 9.0}], "3 items for 2 texts"),
        ([{"index": 1, "relevance_score": 2.0}, {"index": 2, "relevance_score": 1.0}], "2 items for 2 texts"),
        ([{"relevance_score": 2.0}, {"relevance_score": 1.0}], "2 items for 2 texts"),  # the best first
        (scores("2.0", "1.0"), "another relevance_score than numbers"),
        (scores(None, 1.0), "another relevance_score than numbers"),
        (scores([1.0], [2.0]), "no finite number"),
        (scores(math.nan, 1.0), "no finite number"),
    ],
)
def test_replies_that_are_no_scores(raw: Any, message: str, stub: Stub) -> None:
    STATE["raw"] = {"results": raw}
    with pytest.raises(ValueError, match=message):
        ServerScorer(server(stub), "cohere").score([("q", "a"), ("q", "b")])


def test_a_key_that_the_server_repeats_is_not_shown(stub: Stub) -> None:
    STATE["raw"] = {"error": "bad key secret-key-of-a-test"}
    with pytest.raises(ValueError, match="bad key") as caught:
        ServerEmbedder(server(stub))(["a"])
    assert "secret-key-of-a-test" not in str(caught.value)


def test_a_server_that_stops_ends_the_run_which_then_resumes(stub: Stub, tmp_path: Path) -> None:
    """Its threads are not ranked at random, and the same command ranks the rest."""
    STATE["raw"] = {"data": []}
    arguments = ("text_encoder", tmp_path / "a", "--subtract", "nothing")
    with pytest.raises(UserError, match="failed on each of its first 5 threads"):
        run(stub, *arguments)
    del STATE["raw"]
    assert run(stub, *arguments).card.outcomes == {"ok": 6}
    embed = ServerEmbedder(server(stub))
    STATE["down"] = True
    for _ in range(9):
        with pytest.raises(chat.ChatError):
            embed(["a"])
    with pytest.raises(UserError, match=r"10 requests in a row got no answer.*run the same command again"):
        embed(["a"])


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("text_encoder", ["--model-name", "m"], "--base-url, --model-name: a server needs both"),
        ("reranker", ["--base-url", "http://127.0.0.1:9/v1"], "--base-url, --model-name: a server needs both"),
        ("text_encoder", ["--base-url", "x", "--model-name", "m", "--pooling", "cls"], "--pooling: has no effect"),
        ("reranker", ["--base-url", "x", "--model-name", "m", "--instruction", "a"], "--instruction: has no effect"),
        ("text_encoder", ["--base-url", "ftp://x", "--model-name", "m"], "--base-url 'ftp://x': expected a URL"),
        ("reranker", ["--base-url", "x", "--model-name", "m", "--retries", "-1"], "--retries, --timeout-s: expected"),
        ("text_encoder", ["--base-url", "x", "--model-name", "m", "--timeout-s", "nan"], "--retries, --timeout-s: exp"),
        ("minilm", ["--base-url", "http://127.0.0.1:9/v1", "--model-name", "m"], "use text_encoder for a server"),
    ],
)
def test_options_of_a_server(model: str, arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_system(model, "query_only", arguments)
