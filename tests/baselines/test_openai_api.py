"""A model behind a server that is well, slow, busy, broken, deaf or lying."""

from __future__ import annotations

import base64
import io
import itertools
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.data import Data, as_references
from baselines.generative.server_model import MAX_FAILURES
from baselines.launch import build_system
from baselines.run.guard import FAILURES
from baselines.run.runner import RunResult
from baselines.system import Context
from baselines.systems.openai_api import OpenAIApi, OpenAIOptions
from musicrs_dataset.records import Clip
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction, read_predictions
from musicrs_metric.runs.run_card import Modality
from tests.baselines.toys import run_toy, thread, toy_data
from tests.chat_stub import Reply, chat_server, prompt_of

pytest.importorskip("openai")

SYSTEM = "baselines.systems.openai_api:OpenAIApi"
READY = Reply("yes")


def system(url: str, *arguments: str, modality: Modality = "query_only") -> OpenAIApi:
    given = ["--base-url", url, "--model-name", "stub", "--retries", "1", *arguments]
    made = build_system(SYSTEM, modality, given)
    assert isinstance(made, OpenAIApi)
    return made


def run(url: str, out: Path, *arguments: str, n: int = 7) -> RunResult:
    return run_toy(system(url, *arguments), toy_data(n), out, system_name="openai_api", batch_size=4)


def thread_of(words: str) -> int:
    """The number of the toy thread that a prompt is about."""
    found = re.search(r"query of t(\d+)", words)
    assert found is not None
    return int(found[1])


def to_threads(answer: Callable[[int, int], Reply]) -> Callable[[dict[str, Any], int], Reply]:
    """Answer by the thread's number and how often it was asked; the word that is asked beforehand is answered."""

    def reply(body: dict[str, Any], before: int) -> Reply:
        words = prompt_of(body)
        return READY if words == "Say yes." else answer(thread_of(words), before)

    return reply


GOOD = Reply('{"ranking": [2, 1, 5, 4, 3]}')


def by_thread(out: Path) -> dict[str, Prediction]:
    return {found.thread_id: found for found in read_predictions(out / "predictions.jsonl").predictions}


def test_a_run_is_asked_at_once_and_does_not_depend_on_what_comes_first(tmp_path: Path) -> None:
    """The same file with and without delays, which turn the order of arrival around."""

    def answer(delay: float) -> Callable[[int, int], Reply]:
        return lambda n, _: Reply(f'{{"ranking": [{n % 5 + 1}]}}', delay_s=delay * (3 - n % 4))

    for name, delay in (("even", 0.0), ("uneven", 0.06)):
        with chat_server(to_threads(answer(delay))) as stub:
            run(stub.url, tmp_path / name, "--concurrency", "3")
            assert len(stub.asked) == 7
            assert delay == 0 or 2 <= stub.most_at_once <= 3
    even, uneven = ((tmp_path / name / "predictions.jsonl").read_bytes() for name in ("even", "uneven"))
    assert even == uneven
    third = by_thread(tmp_path / "even")["t2"]
    assert (third.ranking[0], third.n_answered, third.outcome) == ("C2", 1, "repaired")


def test_a_stopped_run_goes_on_at_another_pace(tmp_path: Path) -> None:
    """With other numbers of requests and attempts, which the card keeps; another format of answers is another run."""
    with chat_server(to_threads(lambda _n, _before: GOOD)) as stub:
        toy = toy_data(7)
        run_toy(system(stub.url, "--concurrency", "3"), toy, tmp_path / "run", system_name="openai_api", limit=3)
        slower = ["--concurrency", "1", "--timeout-s", "30", "--retries", "0"]
        result = run(stub.url, tmp_path / "run", *slower)
        assert result.reused == 3
        assert [result.card.settings[name] for name in ("concurrency", "timeout_s", "retries")] == [1, 30.0, 0]
        with pytest.raises(UserError, match="option answer_format was null and is now 'text'"):
            run(stub.url, tmp_path / "run", *slower, "--answer-format", "text")
    assert sorted(by_thread(tmp_path / "run")) == [f"t{n}" for n in range(7)]


def test_what_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """One user turn, no sampling, a budget, a schema; the key goes into the header and nowhere else."""
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    caplog.set_level(logging.DEBUG)
    with chat_server(to_threads(lambda n, _: GOOD if n else Reply("no: sk-very-secret", status=418))) as stub:
        run(stub.url, tmp_path / "run", "--api-key-env", "SOME_KEY")
    body = next(body for body in stub.bodies if prompt_of(body) != "Say yes.")
    assert (body["model"], body["temperature"]) == ("stub", 0)
    assert body["max_tokens"] > 40
    assert body["response_format"]["json_schema"]["schema"]["properties"]["ranking"]["items"] == {"type": "integer"}
    assert all(headers["authorization"] == "Bearer sk-very-secret" for headers in stub.headers)
    files = [file.read_text() for file in (tmp_path / "run").rglob("*") if file.is_file()]
    assert not any("sk-very-secret" in text for text in [*files, caplog.text])
    assert any("status 418" in text for text in files)
    card = json.loads((tmp_path / "run/run.json").read_text())
    assert (card["protocol"], card["model_revision"]) == ("listwise", "stub")


def test_the_line_end_of_a_file_is_no_part_of_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that was read from a file is sent without it; one that no header can hold is refused, and not shown."""
    monkeypatch.setenv("SOME_KEY", "sk-very-secret\n")
    with chat_server(to_threads(lambda n, _: GOOD)) as stub:
        run(stub.url, tmp_path / "run", "--api-key-env", "SOME_KEY")
    assert {headers["authorization"] for headers in stub.headers} == {"Bearer sk-very-secret"}
    for key in ("sk-very\nsecret", "sk-very-sécret"):
        monkeypatch.setenv("SOME_KEY", key)
        with pytest.raises(UserError, match=r"^\$SOME_KEY: the key contains invalid characters") as caught:
            system("http://127.0.0.1:9/v1", "--api-key-env", "SOME_KEY")
        assert "very" not in str(caught.value)


def test_structured_output_that_is_refused_is_left_out(tmp_path: Path) -> None:
    """A server that knows neither schemas nor the older name of the budget is asked without, for all threads."""

    def answer(body: dict[str, Any], before: int) -> Reply:
        if "response_format" in body or "max_tokens" in body:
            return Reply("unsupported", status=400)
        return READY if prompt_of(body) == "Say yes." else Reply("[2] > [1] > [5] > [4] > [3]")

    with chat_server(answer) as stub:
        assert run(stub.url, tmp_path / "run").card.outcomes == {"ok": 7}
        assert len(stub.asked) == 7
        assert all("max_completion_tokens" in body for body in stub.bodies[-7:])


@pytest.mark.parametrize(("protocol", "answer_format", "items"), [
    ("listwise", None, "integer"), ("listwise", "text", None), ("titles", None, None), ("titles", "json", "string"),
])  # fmt: skip
def test_the_schema_is_that_of_the_protocol(protocol: Any, answer_format: Any, items: str | None) -> None:
    """Numbers or titles; none for the paper's prompt unless asked for, as it was published with none."""
    schema = OpenAIOptions(model_name="stub", protocol=protocol, answer_format=answer_format).schema
    assert (schema and schema["properties"]["ranking"]["items"]["type"]) == items


def test_titles_keep_what_is_invented(tmp_path: Path) -> None:
    """As misses in their places, next to the candidates of the pool."""
    with chat_server(to_threads(lambda n, _: Reply(f"B{n}, Wonderwall, A{n}, B{n}"))) as stub:
        run(stub.url, tmp_path / "run", "--protocol", "titles")
        assert stub.bodies[-1]["max_tokens"] == 512
    first = by_thread(tmp_path / "run")["t0"]
    assert (first.ranking[:3], first.n_answered) == (("B0", "Wonderwall", "A0"), 3)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_busy_server_is_asked_again(tmp_path: Path, status: int) -> None:
    """Refused for the moment, then answered."""
    busy = Reply("busy", status=status, headers={"Retry-After": "0.01"})
    with chat_server(to_threads(lambda n, before: busy if n == 3 and not before else GOOD)) as stub:
        assert run(stub.url, tmp_path / "run").card.outcomes == {"ok": 7}
        assert len(stub.asked) == 8


@pytest.mark.parametrize(
    ("reply", "outcome", "n_answered"),
    [
        (Reply('{"ranking": [2, 1, 5', finish="length"), "truncated", 2),
        (Reply("[2] > [1] > [5", finish="length"), "truncated", 3),  # of five candidates, no number begins with 5
        (Reply('{"ranking": [2, 1, 5, 4, 3]}', finish="length"), "ok", 5),
        (Reply("I'm sorry, I cannot hear anything."), "refusal", 0),
        (Reply(""), "empty", 0),
        (Reply(None), "empty", 0),
        (Reply("What a lovely piece."), "failed", 0),
        (Reply('```json\n{"ranking": ["A3", "C3"]}\n```'), "repaired", 2),
        (Reply('{"ranking": [0, 9, 1, 1]}'), "repaired", 1),
        (Reply("withheld", finish="content_filter"), "failed", 0),
        (Reply(raw=b"<html>"), "failed", 0),
        (Reply(raw=b'{"choices": []}'), "failed", 0),
        (Reply(raw=b"[" * 100_000), "failed", 0),
        (Reply(raw=GOOD.body().replace(b": 5}", b": 1e999}")), "ok", 5),
        (Reply("broken", status=500, headers={"Retry-After": "0.01"}), "failed", 0),
        (Reply("the prompt is too long", status=400), "failed", 0),
        (Reply('{"ranking": [1]}', delay_s=1.5), "failed", 0),
    ],
)
def test_every_kind_of_answer_is_an_outcome(tmp_path: Path, reply: Reply, outcome: str, n_answered: int) -> None:
    """One thread goes wrong: it has its line and its outcome, the others are asked once and keep their answers."""
    with chat_server(to_threads(lambda n, _: reply if n == 3 else GOOD)) as stub:
        run(stub.url, tmp_path / "run", "--timeout-s", "0.7", "--retries", "0")
        assert sorted(map(thread_of, stub.asked)) == list(range(7))
    found = by_thread(tmp_path / "run")
    third = found.pop("t3")
    assert (third.outcome, third.n_answered) == (outcome, n_answered)
    assert sorted(third.ranking) == ["A3", "B3", "C3", "D3", "E3"]
    assert {prediction.outcome for prediction in found.values()} == {"ok"}
    assert ((tmp_path / "run" / FAILURES).exists()) == (outcome == "failed" and reply.text != "What a lovely piece.")


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply("who are you?", status=401), r"status 401: who are you\?; the key in \$MUSICRS_LLM_KEY is not set"),
        (Reply("no such model", status=404), "no model 'stub' there .*--model-name.*--base-url"),
        (Reply(raw=b"<html>"), "is it a server with OpenAI's API"),
        (Reply("no", status=400), "refuses even a single word, status 400"),
    ],
)
def test_a_wrong_key_model_or_address_is_told_before_the_first_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply, message: str
) -> None:
    """In one line that says what to change; no prediction is written."""
    monkeypatch.delenv("MUSICRS_LLM_KEY", raising=False)
    with chat_server(lambda body, before: reply) as stub, pytest.raises(UserError, match=message):
        run(stub.url, tmp_path / "run", "--retries", "0")
    assert stub.asked == []


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    """No connection, and what to check."""
    with pytest.raises(UserError, match=r"no connection .*is it a server"):
        run("http://127.0.0.1:9/v1", tmp_path / "run", "--retries", "0")


def test_a_server_that_goes_away_stops_the_run(tmp_path: Path) -> None:
    """After ten threads in a row without an answer, not at the first; the same command asks for all that failed."""
    gone = Reply("gone", status=503, headers={"Retry-After": "0.01"})
    answers = itertools.chain([GOOD] * 8, [gone] * 12, itertools.repeat(GOOD))
    with chat_server(to_threads(lambda n, _: next(answers))) as stub:
        with pytest.raises(UserError, match=f"{MAX_FAILURES} threads in a row got no answer"):
            run(stub.url, tmp_path / "run", "--retries", "0", n=24)
        assert len(stub.asked) == 20
        assert run(stub.url, tmp_path / "run", "--retries", "0", n=24).card.outcomes == {"ok": 24}
        assert len(stub.asked) == 36


def test_a_server_that_fails_now_and_then_is_not_given_up(tmp_path: Path) -> None:
    """Twelve threads of twenty-four without an answer, but never ten in a row."""
    gone = Reply("gone", status=503, headers={"Retry-After": "0.01"})
    with chat_server(to_threads(lambda n, _: gone if n % 2 else GOOD)) as stub:
        assert run(stub.url, tmp_path / "run", "--retries", "0", n=24).card.outcomes == {"failed": 12, "ok": 12}
        assert len(stub.asked) == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--protocol", "constrained"], "--protocol constrained: needs a model in this process, because no server"),
        (["--protocol", "pointwise"], "--protocol pointwise: needs a model in this process, because no server"),
        (["--base-url", "localhost:8000"], "--base-url 'localhost:8000': expected a URL like http://"),
        (["--base-url", "http://[::1"], r"--base-url 'http://\[::1': expected a URL like http://"),
        (["--base-url", "http://host:port/v1"], "--base-url 'http://host:port/v1': expected a URL like http://"),
        (["--base-url", "http://host\n/v1"], "expected a URL like http://"),
        (["--base-url", "http://me:secret@host/v1"], "expected a URL without password"),
        (["--base-url", "http://host/v1#secret"], "expected a URL without password"),
        (["--concurrency", "0"], "expected at least 1"),
        (["--clip-limit-s", "0"], "--clip-limit-s 0: expected a positive number"),
        (["--total-limit-s", "-1"], "--total-limit-s -1: expected a positive number"),
        (["--tokens-per-second", "nan"], "--tokens-per-second nan: expected a positive number"),
        (["--model-name", ""], "--model-name: missing"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], message: str) -> None:
    """With the reason, before anything is asked."""
    with pytest.raises(UserError, match=message) as caught:
        system("http://127.0.0.1:9/v1", *arguments)
    assert "secret" not in str(caught.value)


def test_a_deaf_model_takes_no_clips() -> None:
    """--audio none goes with query_only alone."""
    with pytest.raises(UserError, match="--audio none: audio_only needs a model that takes audio"):
        system("http://127.0.0.1:9/v1", "--audio", "none", modality="audio_only")
    assert system("http://127.0.0.1:9/v1", "--audio", "none").language_model.limits.context == 32_768


def sounding(seconds: float, rate: int) -> Clip:
    """A clip of half-loud noise."""
    import numpy as np
    import soundfile

    file = io.BytesIO()
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, round(seconds * rate))
    soundfile.write(file, noise, rate, format="WAV")
    return Clip(file.getvalue(), "a.wav", "AAAAAAAAAAA", 0.0, seconds)


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ([], [2.5, 1.0]),
        (["--clip-limit-s", "1"], [0.834, 0.833, 0.833, 1.0]),
        (["--joined"], [3.5]),
        (["--seconds", "2"], [1.0, 1.0]),
        (["--context", "700"], [1.0, 1.0]),
    ],
)
def test_clips_are_sent_as_wav_before_the_words(tmp_path: Path, arguments: list[str], seconds: list[float]) -> None:
    """Mono at 16 kHz, in the number and length of the limits. The prompt mentions them."""
    import soundfile

    clips = (sounding(2.5, 48_000), sounding(1.0, 44_100))
    threads = [thread("t0", ["A0", "B0", "C0", "D0", "E0"], ["A0"], clips=clips)]
    data = Data(threads, as_references(threads, "toy", "audio_query"))
    if "--context" in arguments:  # as many tokens as the words, the answer and two seconds take
        made = system("http://127.0.0.1:9/v1", modality="audio_query")
        made.inspect_threads(threads)
        arguments = ["--context", str(made.plan.most_tokens - 37)]
    with chat_server(to_threads(lambda n, _: GOOD)) as stub:
        made = system(stub.url, *arguments, modality="audio_query")
        run_toy(made, data, tmp_path / "run", system_name="openai_api")
    *sound, words = stub.bodies[-1]["messages"][0]["content"]
    assert words["type"] == "text"
    assert "the 2 clips that you hear" in words["text"]  # as many as were linked, however they are sent
    found = []
    for part in sound:
        assert (part["type"], part["input_audio"]["format"]) == ("input_audio", "wav")
        samples, rate = soundfile.read(io.BytesIO(base64.b64decode(part["input_audio"]["data"])))
        assert (rate, samples.ndim) == (16_000, 1)
        assert 0.2 < abs(samples).max() <= 1
        found.append(len(samples) / rate)
    assert found == pytest.approx(seconds, abs=0.002)


def test_the_guess_of_tokens_is_generous() -> None:
    """At least what a byte-pair tokenizer that splits digits needs, so that no plan is exceeded."""
    language_model = OpenAIApi(OpenAIOptions(model_name="stub"), Context(modality="query_only")).language_model
    assert language_model.n_tokens("") == 0
    assert language_model.n_tokens("100, 99") == 6
    assert language_model.n_tokens("Something dreamy") >= 4
    assert language_model.n_tokens("ノストス") >= 4
