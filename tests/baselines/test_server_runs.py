"""What a run against a server keeps and says: fields left out, tokens, cost, reasoning, cut prompts, other URLs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from baselines.commands.summary import outcome_lines
from baselines.generative.empty_answers import FIRST, IN_A_ROW
from baselines.launch import build_system
from baselines.run.dry_run import dry_run
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan, RunResult, run
from baselines.run.usage import cut_prompts
from baselines.systems.openai_api import OpenAIApi
from musicrs_metric.base import chat
from musicrs_metric.errors import UserError
from tests.baselines.toys import toy_data
from tests.chat_stub import Reply, chat_server, prompt_of
from tests.server_behaviours import Body, completion, good, says

pytest.importorskip("openai")


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "FIRST_WAIT_S", 0.001)


class Said(Reporter):
    """Keeps the lines for the user."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


def system(url: str, *arguments: str, modality: str = "query_only") -> OpenAIApi:
    made = build_system(
        "openai_api", modality, ["--base-url", url, "--model-name", "stub", "--retries", "1", *arguments]
    )
    assert isinstance(made, OpenAIApi)
    return made


def ask(url: str, out: Path, *arguments: str, n: int = 6, said: Said | None = None, **options: Any) -> RunResult:
    plan = Plan(
        system=system(url, *arguments), system_name="openai_api", data=toy_data(n), out=out, batch_size=n, **options
    )
    result = run(plan, Processes(), said or Said())
    assert result is not None
    return result


def records(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]


def test_the_card_says_what_the_server_refuses(tmp_path: Path) -> None:
    """A reasoning model: no temperature, another name of the budget; once found out, nothing else is sent."""

    def answer(body: Body, before: int) -> Reply:
        if "temperature" in body or "max_tokens" in body:
            return says(400, "unsupported: 'temperature'" if "temperature" in body else "unsupported: 'max_tokens'")
        return good(body)

    with chat_server(answer) as stub:
        result = ask(stub.url, tmp_path / "run")
    assert result.card.outcomes == {"ok": 6}
    assert (result.card.extra["fields_left_out"], result.card.extra["budget_field"]) == (
        ["temperature"],
        "max_completion_tokens",
    )
    assert len(stub.bodies) == 3 + 6
    assert any("refuses the fields temperature" in line for line in outcome_lines(result, 6))
    assert result.card.name == "openai_api --model-name stub"


def test_further_fields_go_with_every_request(tmp_path: Path) -> None:
    """They are on the card with their values, make another run, and win over the defaults."""
    extra = tmp_path / "extra.json"
    extra.write_text('{"chat_template_kwargs": {"enable_thinking": false}, "temperature": 0.6}')
    with chat_server(lambda body, before: good(body)) as stub:
        result = ask(stub.url, tmp_path / "run", "--extra-body", str(extra))
        with pytest.raises(UserError, match="option extra_body was"):
            ask(stub.url, tmp_path / "run")
    assert all(body["chat_template_kwargs"] == {"enable_thinking": False} for body in stub.bodies)
    assert {body["temperature"] for body in stub.bodies} == {0.6}
    assert json.loads(result.card.settings["extra_body"])["temperature"] == 0.6
    with (
        chat_server(lambda body, before: says(400, "temperature must be 1", param="temperature")) as stub,
        pytest.raises(
            UserError, match="temperature must be 1; the fields chat_template_kwargs, temperature of --extra"
        ),
    ):
        ask(stub.url, tmp_path / "other", "--extra-body", str(extra))
    with pytest.raises(UserError, match=r"--extra-body .*none.json: cannot be read"):
        system("http://127.0.0.1:9/v1", "--extra-body", str(tmp_path / "none.json"))


def test_another_url_of_the_same_model_goes_on(tmp_path: Path) -> None:
    """The second session takes what the first left, says so, and the card keeps both URLs."""
    said = Said()
    with chat_server(lambda body, before: good(body)) as first:
        ask(first.url, tmp_path / "run", limit=3)
    with chat_server(lambda body, before: good(body)) as second:
        result = ask(second.url, tmp_path / "run", said=said)
        assert len(second.asked) == 3
        result = ask(second.url, tmp_path / "run")
    assert result.card.settings["base_url"] == second.url
    assert result.card.extra["earlier_settings"] == [{"base_url": first.url}]
    assert said.lines == [f'base_url was "{first.url}" in an earlier session and is now "{second.url}"']
    with pytest.raises(UserError, match="option model_name was 'stub' and is now 'other'"):
        ask(second.url, tmp_path / "run", "--model-name", "other")


def test_tokens_and_cost_are_added_up(tmp_path: Path) -> None:
    """6 prompts of 100 tokens, 30 of reasoning and 20 of the answer, in two sessions; prices per million tokens."""
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 30}}

    def answer(body: Body, before: int) -> Reply:
        text = json.loads(good(body).body())["choices"][0]["message"]["content"]
        return completion({"content": text, "reasoning": "hm"}, "stop", usage)

    prices = ["--price-read", "1000", "--price-written", "10000"]
    with chat_server(answer) as stub:
        ask(stub.url, tmp_path / "run", *prices, limit=2)
        result = ask(stub.url, tmp_path / "run", *prices)
    assert result.card.extra["tokens"] == {"prompt": 600, "reasoning": 180, "answer": 120, "answers_counted": 6}
    assert result.card.extra["cost"] == pytest.approx(600 * 0.001 + 300 * 0.01)
    assert result.card.extra["models_returned"] == {"stub-2": 6}
    assert "Tokens by the server's count: 600 of prompts, 180 of reasoning, 120 of answers; cost 3.60." in list(
        outcome_lines(result, 6)
    )
    assert [record["reasoning"] for record in records(tmp_path / "run")] == ["hm"] * 6


def test_a_dry_run_estimates_tokens_and_cost(tmp_path: Path) -> None:
    """For the threads that it would rank, with the budget of every answer; nothing is asked."""
    made = system("http://127.0.0.1:9/v1", "--answer-tokens", "1000", "--price-written", "2")
    plan = Plan(system=made, system_name="openai_api", data=toy_data(6), out=tmp_path / "run", limit=4)
    lines = list(dry_run(plan))
    (line,) = [line for line in lines if line.startswith("4 requests: about ")]
    assert line.endswith("at most 4,000 of reasoning and answers; cost at most about 0.008")
    assert not (tmp_path / "run").exists()


def test_a_model_that_thinks_its_budget_away_stops_the_run(tmp_path: Path) -> None:
    """After one batch, with the option to change; the reasoning is in answers.jsonl, and no ranking is kept."""
    out = tmp_path / "run"
    with chat_server(
        lambda body, before: completion({"content": None, "reasoning": "I look at [1]."}, "length")
    ) as stub:
        with pytest.raises(UserError, match=f"the model thinks, and {FIRST} answers .*--answer-tokens 300 is too"):
            ask(stub.url, out, "--answer-tokens", "300")
        assert [record["reasoning"] for record in records(out)] == ["I look at [1]."] * 6
        assert not list(out.glob("parts/rank*.jsonl")) or not any(
            file.stat().st_size for file in out.glob("parts/rank*.jsonl")
        )
    with chat_server(lambda body, before: good(body)) as stub:
        assert ask(stub.url, out, "--answer-tokens", "300").card.outcomes == {"ok": 6}
    assert all("reasoning" not in record for record in records(out))


def test_answers_sent_as_reasoning_are_named(tmp_path: Path) -> None:
    """A server with the wrong parser: nothing was cut, so a larger budget is no remedy."""
    with (
        chat_server(lambda body, before: completion({"content": "", "reasoning": "[2] > [1]"})) as stub,
        pytest.raises(UserError, match="the reasoning parser of this model"),
    ):
        ask(stub.url, tmp_path / "run")


def test_many_empty_answers_in_a_row_stop_the_run(tmp_path: Path) -> None:
    """Ten of them, wherever they come; nine and an answer do not."""

    def answer(n_empty: int) -> Any:
        def reply(body: Body, before: int) -> Reply:
            found = re.search(r"query of t(\d+)", prompt_of(body))
            is_empty = found is not None and int(found[1]) < n_empty
            return completion({"content": "" if is_empty else "[1] > [2] > [3] > [4] > [5]"})

        return reply

    with chat_server(answer(IN_A_ROW)) as stub, pytest.raises(UserError, match="10 answers in a row are empty"):
        ask(stub.url, tmp_path / "ten", n=15)
    with chat_server(answer(IN_A_ROW - 1)) as stub:
        assert ask(stub.url, tmp_path / "nine", n=15).card.outcomes == {"empty": 9, "ok": 6}


@pytest.mark.parametrize(("counts", "message"), [
    (lambda n, size: 20, "the server cut 6 prompts: it read 20 tokens"),
    (lambda n, size: size // 3, None),
    (lambda n, size: 0, None),
    (lambda n, size: 150 if n != 5 else 20, "the server cut 1 prompt: "),
])  # fmt: skip
def test_prompts_that_the_server_cut_are_reported(tmp_path: Path, counts: Any, message: str | None) -> None:
    """During the run and at its end; the number is kept with each answer and on the card."""

    def answer(body: Body, before: int) -> Reply:
        words = prompt_of(body)
        n = next((n for n in range(6) if f"query of t{n}" in words), 0)
        content = json.loads(good(body).body())["choices"][0]["message"]["content"]
        return completion(
            {"content": content}, "stop", {"prompt_tokens": counts(n, len(words)), "completion_tokens": 5}
        )

    said = Said()
    with chat_server(answer) as stub:
        result = ask(stub.url, tmp_path / "run", said=said)
    lines = [line for line in [*said.lines, *outcome_lines(result, 6)] if line.startswith("Warning: ")]
    assert len(lines) == (2 if message else 0)
    assert all(message in line for line in lines if message)
    assert ("prompts_cut" in result.card.extra) == (message is not None)
    assert all("prompt" in record["tokens"] for record in records(tmp_path / "run"))


@pytest.mark.parametrize(("sizes", "tokens", "n_short", "n_equal"), [
    ([3000, 3100, 3200], [700, 720, 740], 0, 0),
    ([3000, 3100, 3200], [512, 512, 512], 0, 3),
    ([3000, 3000, 3000], [700, 700, 700], 0, 0),
    ([3000, 3100], [512, 512], 0, 0),
    ([1000, 3000, 3300, 3700], [250, 700, 700, 700], 0, 3),
    ([1000, 3000, 3010, 3020], [250, 700, 700, 700], 0, 0),
    ([3000, 3100, 3200], [256, 700, 740], 1, 0),
    ([3000, 3100, 3200], [None, None, None], 0, 0),
])  # fmt: skip
def test_which_counts_show_a_cut(sizes: list[int], tokens: list[int | None], n_short: int, n_equal: int) -> None:
    """Less than a token for eight bytes, or one highest number for prompts of different lengths."""
    found = cut_prompts(
        {"thread_id": str(n), "prompt_bytes": size, "tokens": {"prompt": count}}
        for n, (size, count) in enumerate(zip(sizes, tokens, strict=True))
    )
    assert (len(found.short), len(found.equal)) == (n_short, n_equal)


def test_the_first_request_holds_audio_where_clips_are_sent(tmp_path: Path) -> None:
    """A model that takes nothing but audio is greeted with a second of silence."""

    def answer(body: Body, before: int) -> Reply:
        parts = body["messages"][0]["content"]
        has_audio = isinstance(parts, list) and any(part["type"] == "input_audio" for part in parts)
        return good(body) if has_audio else says(400, "this model takes audio")

    with chat_server(answer) as stub:
        made = system(stub.url, modality="audio_query")
        made.language_model.load()
        assert len(stub.bodies) == 1
        with pytest.raises(UserError, match="refuses even a single word, status 400: this model takes audio"):
            system(stub.url).language_model.load()


def test_what_failed_is_asked_again_by_the_same_command(tmp_path: Path) -> None:
    """Without --retry-failed, also below a limit; an answer in which nothing could be read stays."""
    state = {"is_down": True}

    def answer(body: Body, before: int) -> Reply:
        words = prompt_of(body)
        if "query of t1" in words:
            return completion({"content": "What a lovely piece."})
        return says(503, "gone") if state["is_down"] and "query of t4" in words else good(body)

    with chat_server(answer) as stub:
        assert ask(stub.url, tmp_path / "run").card.outcomes == {"failed": 2, "ok": 4}
        n_asked = len(stub.asked)
        state["is_down"] = False
        result = ask(stub.url, tmp_path / "run", limit=2)
        assert result.card.outcomes == {"failed": 1, "ok": 5}
        assert len(stub.asked) == n_asked + 1
        assert ask(stub.url, tmp_path / "run").reused == 6
