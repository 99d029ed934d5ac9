"""Cases A04 to A22 and P05, against their stub server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from baselines.launch import build_system
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan, RunResult, run
from builder_scripts.llm import Model, Parameters, Request
from builder_scripts.llm.server import Server
from musicrs_metric.base import chat
from musicrs_metric.errors import UserError
from tests.baselines.test_openai_api import sounding
from tests.baselines.test_server_runs import Said, records
from tests.baselines.toys import thread, toy_data

pytest.importorskip("openai")

ENTITIES = {"type": "object", "properties": {"entities": {"type": "array"}}, "required": ["entities"]}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "FIRST_WAIT_S", 0.001)


@contextmanager
def stub(cases: Path, mode: str, folder: Path) -> Iterator[str]:
    """The URL of the stub server in some mode."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [sys.executable, str(cases / "stub_server.py"), mode, str(port)]
    with subprocess.Popen(line, cwd=folder) as process:
        try:
            for _ in range(200):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def ask(url: str, out: Path, *arguments: str, reporter: Reporter | None = None, **options: Any) -> RunResult:
    system = build_system("openai_api", "query_only", ["--base-url", url, "--model-name", "m", *arguments])
    plan = Plan(system=system, system_name="openai_api", data=toy_data(6), out=out, batch_size=6, **options)
    result = run(plan, Processes(), reporter or Reporter())
    assert result is not None
    return result


@pytest.mark.parametrize("mode", ["good", "default_temperature", "eos", "null"])
def test_a04_a06_every_answer_is_read(cases: Path, tmp_path: Path, mode: str) -> None:
    """Six whole answers; the card says which field was left out."""
    with stub(cases, mode, tmp_path) as url:
        result = ask(url, tmp_path / "run", "--retries", "0")
    assert result.card.outcomes == {"ok": 6}
    assert result.predictions[0].ranking[0].startswith("E")
    assert result.card.extra["fields_left_out"] == (["temperature"] if mode == "default_temperature" else [])


@pytest.mark.parametrize(("mode", "retries"), [("error_beside", 0), ("error_only", 2)])
def test_a08_a10_errors_inside_status_200_are_failures(cases: Path, tmp_path: Path, mode: str, retries: int) -> None:
    """With the server's words, after as many attempts as for 429; the same command asks again."""
    for arguments in ((), ("again",)):
        with stub(cases, mode, tmp_path) as url, pytest.raises(UserError, match="the provider is over its rate limit"):
            ask(url, tmp_path / "run", "--retries", str(retries), retry_failed=bool(arguments))
    n_asked = len((tmp_path / f"requests-{mode}.jsonl").read_text().splitlines())
    assert n_asked == 2 * (1 + 6 * (1 + retries))
    with stub(cases, "good", tmp_path) as url:
        assert ask(url, tmp_path / "run").card.outcomes == {"ok": 6}


def test_a12_a_model_that_thinks_stops_the_run(cases: Path, tmp_path: Path) -> None:
    with stub(cases, "thinks", tmp_path) as url:
        with pytest.raises(UserError, match=r"the model thinks, .*budget --answer-tokens is too small"):
            ask(url, tmp_path / "run", "--retries", "0")
        assert ask(url, tmp_path / "more", "--answer-tokens", "4000").card.outcomes == {"ok": 6}
    assert all("I look at each" in record["reasoning"] for record in records(tmp_path / "run"))


def test_a14_the_first_request_holds_audio(cases: Path, tmp_path: Path) -> None:
    from baselines.data import Data, as_references

    clips = (sounding(1.0, 16_000),)
    threads = [thread("t0", ["A0", "B0", "C0"], ["A0"], clips=clips)]
    data = Data(threads, as_references(threads, "toy", "audio_query"))
    with stub(cases, "needs_sound", tmp_path) as url:
        system = build_system("openai_api", "audio_query", ["--base-url", url, "--model-name", "m", "--retries", "0"])
        plan = Plan(system=system, system_name="openai_api", data=data, out=tmp_path / "run")
        result = run(plan, Processes(), Reporter())
    assert result is not None
    assert result.card.outcomes == {"ok": 1}


def test_a16_a_run_goes_on_at_another_url(cases: Path, tmp_path: Path) -> None:
    with stub(cases, "good", tmp_path) as first:
        ask(first, tmp_path / "run", limit=4)
    with stub(cases, "good", tmp_path) as second:
        result = ask(second, tmp_path / "run")
    assert (result.reused, result.card.outcomes) == (4, {"ok": 6})
    assert result.card.extra["earlier_settings"] == [{"base_url": first}]
    assert "http" not in result.card.name


def test_a18_a_cut_prompt_is_reported(cases: Path, tmp_path: Path) -> None:
    """The toy prompts are short, so it is the equal count that gives the server away."""
    said = Said()
    with stub(cases, "short_window", tmp_path) as url:
        data = toy_data(1)
        threads = [
            thread(f"t{n}", [f"candidate {letter} of {n}" * 20 for letter in "ABCDE"], query="q" * 10 * n)
            for n in range(6)
        ]
        from baselines.data import as_references

        data = data._replace(threads=threads, references=as_references(threads, "toy", "query_only"))
        system = build_system("openai_api", "query_only", ["--base-url", url, "--model-name", "m"])
        result = run(Plan(system=system, system_name="openai_api", data=data, out=tmp_path / "run"), Processes(), said)
    assert result is not None
    assert any("256 tokens" in line for line in said.lines)
    assert [record["tokens"]["prompt"] for record in records(tmp_path / "run")] == [256] * 6
    assert "prompts_cut" in result.card.extra


def test_a22_a_url_that_is_none_is_one_line() -> None:
    """In the builder as in the baselines, with the URL and an example."""
    with pytest.raises(UserError, match=r"^--url 'http://\[': expected a URL like http://127\.0\.0\.1:8000/v1$"):
        Server(Model("m"), "http://[")
    with pytest.raises(UserError, match=r"^--base-url 'http://\[': expected a URL like http://127\.0\.0\.1:8000/v1$"):
        build_system("openai_api", "query_only", ["--base-url", "http://[", "--model-name", "m"])


def test_p05_the_line_feed_of_a_secret_file_is_no_part_of_the_key(
    cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUSICRS_LLM_KEY", "sk-invented-0123456789abcdef\n")
    request = Request("Which songs?", "test@1", ENTITIES, Parameters(max_tokens=20))
    with stub(cases, "good", tmp_path) as url:
        ((_, response),) = Server(Model("m"), url, retries=0).answer({"k": request})
    assert json.loads(response.text) == {"entities": []}
    assert "sk-invented" not in "".join(capfd.readouterr())
