"""A model in this process: held to the schema, repeatable, and told from a model that is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder_scripts.llm import Model, Parameters, Request, Response
from builder_scripts.llm.generate import Stop
from builder_scripts.llm.local import Local
from musicrs_metric.errors import UserError
from tests.builder_scripts.tiny_qwen import save_qwen

pytest.importorskip("xgrammar")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["song", "album"]},
        "names": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 12}},
    },
    "required": ["kind", "names"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on so small a model, threads only wait for each other
    yield Model(str(save_qwen(tmp_path_factory.mktemp("qwen"))))
    torch.set_num_threads(threads)


def ask(model: Model, prompts: list[str], parameters: Parameters, batch_size: int = 4) -> list[Response]:
    requests = {str(at): Request(prompt, "t@1", SCHEMA, parameters) for at, prompt in enumerate(prompts)}
    found = dict(Local(model, batch_size).answer(requests))
    assert sorted(found) == sorted(requests)
    return [found[key] for key in requests]


PROMPTS = ["Name music.", "A much longer prompt, so that the shorter ones are padded: " + "music " * 40, "Strings?"]


def test_every_finished_answer_obeys_the_schema(model: Model) -> None:
    """Random weights would never write JSON; held to the schema they do, caps included, without blanks."""
    finished = [r for r in ask(model, PROMPTS * 2, Parameters(200), batch_size=2) if r.finish == "stop"]
    assert finished
    for response in finished:
        answer = json.loads(response.text, strict=False)
        assert set(answer) == {"kind", "names"}
        assert answer["kind"] in ("song", "album")
        assert len(answer["names"]) <= 2
        assert all(len(name) <= 12 for name in answer["names"])
        assert re.match(r'\{"kind":\s?"', response.text)


@pytest.mark.figures
def test_the_same_question_gives_the_same_answer(model: Model) -> None:
    """Greedy in spite of the model's own defaults, and alone or in a batch."""
    alone = ask(model, PROMPTS, Parameters(120), batch_size=1)
    assert ask(model, PROMPTS, Parameters(120), batch_size=1) == alone
    assert [r.text for r in ask(model, PROMPTS, Parameters(120), batch_size=3)] == [r.text for r in alone]


def test_sampling_is_seeded(model: Model) -> None:
    """One seed, one answer; another seed, another; and the caller's random numbers go on as if nothing was."""
    import torch

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, same, other = (
        ask(model, PROMPTS, Parameters(60, temperature=1.0, seed=seed), batch_size=3) for seed in (1, 1, 2)
    )
    assert torch.equal(torch.rand(1), expected)
    assert first == same
    assert [r.text for r in first] != [r.text for r in other]


def test_a_cut_answer_says_so_and_tokens_are_counted(model: Model) -> None:
    """Three tokens are too few for the schema; padding counts neither as read nor as written."""
    responses = ask(model, PROMPTS, Parameters(3), batch_size=3)
    assert {r.finish for r in responses} == {"length"}
    assert {r.completion_tokens for r in responses} == {3}
    alone = ask(model, PROMPTS[:1], Parameters(3))
    assert responses[0].prompt_tokens == alone[0].prompt_tokens
    assert responses[1].prompt_tokens > responses[0].prompt_tokens


def test_a_stop_keeps_finished_answers_alone(model: Model) -> None:
    """After the time of grace a batch ends at its next token, and what it cut off is no answer."""
    stop = Stop()
    stop.ask(2)
    stop._over_at = 0.0
    requests = {str(at): Request(prompt, "t@1", SCHEMA, Parameters(200)) for at, prompt in enumerate(PROMPTS)}
    assert list(Local(model, 2).answer(requests, stop)) == []


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    """Named with the option, in one line."""
    with pytest.raises(UserError, match=r"--model .*nowhere: cannot be loaded"):
        ask(Model(str(tmp_path / "nowhere")), ["p"], Parameters(3))


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    """A base model would go on with the prompt instead of answering it."""
    with pytest.raises(UserError, match="no chat template"):
        ask(Model(str(save_qwen(tmp_path, chat=None))), ["p"], Parameters(3))


def test_too_little_memory_is_told_with_the_option(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a page of CUDA."""
    import torch
    from transformers import Qwen2ForCausalLM

    def fail(*args: Any, **options: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Qwen2ForCausalLM, "generate", fail)
    with pytest.raises(UserError, match="out of memory with 3 requests at once; lower --batch-size"):
        ask(model, PROMPTS, Parameters(3))
