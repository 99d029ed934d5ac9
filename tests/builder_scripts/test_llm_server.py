"""Answers from a server that is well, slow, busy, broken or lying."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from builder_scripts.llm import AnswerCache, Model, Parameters, Request, generate
from builder_scripts.llm.request import Response
from builder_scripts.llm.server import PATIENCE, Server
from musicrs_metric.errors import UserError
from tests.builder_scripts.llm_stub import Reply, Stub, stub_server

MODEL = Model("stub", "r1")
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def request(prompt: str) -> Request:
    return Request(prompt, "test@1", SCHEMA, Parameters(max_tokens=20, seed=3))


def server(stub: Stub, url: str = "", retries: int = 2, timeout_s: float = 5.0, concurrency: int = 4) -> Server:
    return Server(MODEL, url or stub.url, retries=retries, timeout_s=timeout_s, concurrency=concurrency)


def one(stub: Stub, **options: Any) -> Response:
    ((_, response),) = server(stub, **options).answer({"k": request("hello")})
    return response


def test_the_body_carries_schema_and_parameters() -> None:
    """What decides the answer is what is sent; the schema goes as json_schema, which no server of today ignores."""
    with stub_server(lambda prompt, before: Reply('{"a": 1}')) as stub:
        assert one(stub) == Response('{"a": 1}', "stop", 10, 5)
    (body,) = stub.bodies
    assert body == {
        "model": "stub",
        "messages": [{"role": "user", "content": "hello"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
        "max_tokens": 20,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 3,
    }


def test_responses_come_in_the_order_of_the_requests(tmp_path: Path) -> None:
    """The second is answered last, and stands second all the same; repeats are asked once."""
    with stub_server(lambda prompt, before: Reply(prompt, delay_s=0.3 if prompt == "p1" else 0.02)) as stub:
        prompts = [*(f"p{n}" for n in range(12)), "p3"]
        with AnswerCache(tmp_path / "answers.jsonl") as store:
            found = generate([request(prompt) for prompt in prompts], server(stub), store)
    assert [response.text for response in found] == prompts
    assert len(stub.bodies) == 12
    assert 2 <= stub.most_at_once <= 4


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_busy_server_is_asked_again(status: int) -> None:
    """Twice refused for the moment, then answered."""
    busy = Reply("busy", status=status, headers={"Retry-After": "0.01"})
    with stub_server(lambda prompt, before: busy if before < 2 else Reply("{}")) as stub:
        assert one(stub).text == "{}"
    assert len(stub.bodies) == 3


def test_retry_after_is_obeyed() -> None:
    """A server that asks for 1.2 s is left alone for that long; without the header the first wait is at most 0.5 s."""
    with stub_server(
        lambda prompt, before: Reply("{}") if before else Reply("", status=429, headers={"Retry-After": "1.2"})
    ) as stub:
        began = time.monotonic()
        assert one(stub).finish == "stop"
    assert 1.2 <= time.monotonic() - began < 2.5


def test_a_connection_cut_in_the_body_is_asked_again() -> None:
    """Half a body is no answer."""
    with stub_server(lambda prompt, before: Reply('{"a": 1}', cut=before == 0)) as stub:
        assert one(stub).text == '{"a": 1}'
    assert len(stub.bodies) == 2


def test_a_slow_server_is_given_up_on() -> None:
    """Each attempt has its time; the reason says how many there were."""
    with stub_server(lambda prompt, before: Reply("{}", delay_s=1.0)) as stub:
        response = one(stub, timeout_s=0.1, retries=1)
    assert response.finish is None
    assert response.error == "no answer within 0.1 s, 2 times"


def test_a_refused_question_is_not_asked_again() -> None:
    """A prompt that is too long is too long the second time; the server's reason is told."""
    with stub_server(lambda prompt, before: Reply("maximum context length is 8 tokens", status=400)) as stub:
        response = one(stub)
    assert len(stub.bodies) == 1
    assert response.error is not None
    assert response.error.startswith("status 400")
    assert "maximum context length" in response.error


@pytest.mark.parametrize(
    ("finish", "expected"), [("stop", "stop"), ("length", "length"), ("content_filter", "filtered")]
)
def test_how_an_answer_ended_is_kept(finish: str, expected: str) -> None:
    """A cut answer is told from a whole one."""
    with stub_server(lambda prompt, before: Reply('{"a": 1', finish=finish)) as stub:
        assert one(stub).finish == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>gateway</html>", b"{}", b"null", b'{"choices": []}', b'{"choices": [{"message": null}]}',
        b'{"choices": [{"finish_reason": "tool_calls", "message": {"content": null}}]}',
        b'{"choices": [{"finish_reason": "stop", "message": {"content": ["a"]}}]}',
    ],
)  # fmt: skip
def test_a_body_that_is_no_completion_is_no_answer(raw: bytes) -> None:
    """Whatever a gateway sends with status 200, nothing of it passes for a model's words."""
    with stub_server(lambda prompt, before: Reply(raw=raw)) as stub:
        response = one(stub, retries=0)
    assert response.finish is None
    assert response.error


def test_failures_are_not_kept_and_answers_are(tmp_path: Path) -> None:
    """Each run asks for what failed before and nothing else; when all is answered, for nothing."""
    broken: set[str] = set()
    with stub_server(lambda prompt, before: Reply("no", status=500) if prompt in broken else Reply(prompt)) as stub:
        for fail, expected in (({"p1", "p3"}, 5), ({"p3"}, 2), (set[str](), 1), (set[str](), 0)):
            broken, before = fail, len(stub.bodies)
            with AnswerCache(tmp_path / "answers.jsonl") as store:
                found = generate([request(f"p{n}") for n in range(5)], server(stub, retries=0), store)
            assert len(stub.bodies) - before == expected
            assert [response.finish is None for response in found] == [f"p{n}" in fail for n in range(5)]


def test_a_server_that_is_down_stops_the_run(tmp_path: Path) -> None:
    """Nobody waits for a hundred thousand failures; what was answered before is kept."""
    answers = 3
    with (
        stub_server(lambda prompt, before: Reply(prompt) if int(prompt) < answers else Reply("x", status=503)) as stub,
        AnswerCache(tmp_path / "answers.jsonl") as store,
        pytest.raises(UserError, match=rf"{PATIENCE} requests in a row got no answer, at last: status 503"),
    ):
        generate([request(str(n)) for n in range(200)], server(stub, retries=0, concurrency=1), store)
    assert len(AnswerCache(tmp_path / "answers.jsonl")) == answers
    assert len(stub.bodies) < 100


def test_a_server_that_is_not_there_is_told_in_one_line() -> None:
    """The address is named, and nothing hangs."""
    with stub_server(lambda prompt, before: Reply()) as stub:
        pass
    with pytest.raises(UserError, match=r"127\.0\.0\.1.*no connection"):
        list(server(stub, retries=0).answer({str(n): request(str(n)) for n in range(PATIENCE + 5)}))


def test_an_unknown_model_stops_at_once() -> None:
    """404 is the user's to mend: the model's name, or /v1."""
    with (
        stub_server(lambda prompt, before: Reply("The model `stub` does not exist.", status=404)) as stub,
        pytest.raises(UserError, match=r"no model 'stub' there.*--model"),
    ):
        one(stub)


def test_no_secret_in_errors_logs_or_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The key goes into the header and nowhere else, even where the server repeats it."""
    key = "sk-very-secret-123"
    monkeypatch.setenv("MUSICRS_LLM_KEY", key)
    caplog.set_level(logging.DEBUG)
    told = []
    replies = [Reply(f"key {key} says no", status=400), Reply(f"key {key} says no", status=500), Reply("{}")]
    for reply in replies:
        with (
            stub_server(lambda prompt, before, reply=reply: reply) as stub,  # type: ignore[misc]
            AnswerCache(tmp_path / "answers.jsonl") as store,
        ):
            (response,) = generate([request("p")], server(stub, retries=0), store)
            told.append(str(response.error))
        assert stub.headers[0]["authorization"] == f"Bearer {key}"
    with (
        stub_server(lambda prompt, before: Reply(f"Incorrect API key: {key}", status=401)) as stub,
        pytest.raises(UserError, match=r"the key in \$MUSICRS_LLM_KEY was refused") as refused,
    ):
        one(stub)
    told += [str(refused.value), caplog.text, (tmp_path / "answers.jsonl").read_text(encoding="utf-8")]
    assert key not in " ".join(told)


@pytest.mark.parametrize("url", ["http://user:pass-word@host/v1", "https://host/v1?key=pass-word"])
def test_an_address_with_a_secret_is_refused(url: str) -> None:
    """Addresses are shown and logged, so no password may stand in one."""
    with pytest.raises(UserError, match=r"put the key into \$MUSICRS_LLM_KEY") as refused:
        Server(MODEL, url)
    assert "pass-word" not in str(refused.value)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "", "http:///v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """Before anything is asked, with an example of a good one."""
    with pytest.raises(UserError, match=r"--url .*expected a URL like http://127\.0\.0\.1:8000/v1"):
        Server(MODEL, url)


def test_a_key_for_another_service_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of OpenAI's own client is not for a server of one's own."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "other-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Key: other-secret\nauthorization: Bearer other-secret")
    monkeypatch.delenv("MUSICRS_LLM_KEY", raising=False)
    with stub_server(lambda prompt, before: Reply("{}")) as stub:
        one(stub)
    assert "other-secret" not in json.dumps(stub.headers)
    assert stub.headers[0]["authorization"] == "Bearer none"
