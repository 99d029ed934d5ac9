"""Causal language models: tiny checkpoints under every protocol, the contrast, and the softmax over few tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from baselines.generative.language_model import Prompt
from baselines.generative.protocols import PROTOCOLS
from baselines.launch import build_system
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import read_run_card
from tests.baselines import tiny_texts
from tests.baselines.test_launch import ACCELERATE, command, finish
from tests.baselines.test_text_encoders import data
from tests.baselines.tiny_lm import CHATML, tiny_tokenizer
from tests.baselines.toys import run_toy


def save_gemma(folder: Path) -> Path:
    """A Gemma 3 whose sliding window is shorter than any prompt here."""
    import torch
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    torch.manual_seed(5)
    tokenizer = tiny_tokenizer(["<bos>", *CHATML], bos_token="<bos>", eos_token="<|im_end|>", pad_token="<|endoftext|>")
    config = Gemma3TextConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=2048, sliding_window=12, initializer_range=0.4,
        layer_types=["sliding_attention", "full_attention"], pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=tokenizer.bos_token_id,
    )  # fmt: skip
    Gemma3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("lm")
    return {
        "qwen3": tiny_texts.save(folder / "qwen3", "qwen3", "ForCausalLM", answers=()),
        "gemma3": save_gemma(folder / "gemma3"),
    }


def system(folder: Path, *arguments: str) -> Any:
    return build_system("causal_lm", "query_only", ["--weights", str(folder), *arguments])


def logprob(model: Any, prompt: list[int], answer: list[int], among: list[int] | None) -> float:
    """The log-probability in one plain forward pass over prompt and answer."""
    import torch

    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits[0].double()
    logits = logits[len(prompt) - 1 : -1]
    columns = logits if among is None else logits[:, among]
    picked = logits[torch.arange(len(answer)), torch.tensor(answer)]
    return float((picked - columns.logsumexp(1)).sum())


@pytest.mark.parametrize("kind", ["qwen3", "gemma3"])
@pytest.mark.parametrize("softmax", ["names", "all"])
def test_the_contrast_is_a_difference_of_two_plain_passes(
    kind: str, softmax: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    """Packed passes over a cache give what one pass per name gives, also beyond a sliding window."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    found = run_toy(system(folders[kind], "--softmax", softmax), data(3), tmp_path / "out").predictions
    tokenizer = AutoTokenizer.from_pretrained(folders[kind])
    model = AutoModelForCausalLM.from_pretrained(folders[kind], dtype=torch.float32).eval()
    for thread, prediction in zip(data(3).threads, found, strict=True):
        texts = [
            f"A post on r/jazz: {request}\nA good recommendation of music is:"
            for request in (thread.query, "Can you recommend some Jazz music?")
        ]
        own, general = (tokenizer(text)["input_ids"] for text in texts)
        names = {n: tokenizer(f" {n}", add_special_tokens=False)["input_ids"] for n in thread.candidates}
        among = sorted({token for tokens in names.values() for token in tokens}) if softmax == "names" else None
        expected = {
            name: logprob(model, own, tokens, among) - logprob(model, general, tokens, among)
            for name, tokens in names.items()
        }
        assert dict(zip(prediction.ranking, prediction.scores or (), strict=True)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_runs_and_resumes(protocol: str, folders: dict[str, Path], tmp_path: Path) -> None:
    """Two threads, then the rest: the same file as at one go."""
    for out, limits in (("a", (2, None)), ("b", (None,))):
        for limit in limits:
            made = system(folders["qwen3"], "--protocol", protocol)
            result = run_toy(made, data(3), tmp_path / out, limit=limit, system_name="causal_lm")
    assert result.card.protocol == protocol
    assert not (tmp_path / "b/failures.log").exists()  # an answer may be unreadable, but no call fails
    assert (tmp_path / "a/predictions.jsonl").read_bytes() == (tmp_path / "b/predictions.jsonl").read_bytes()


@pytest.mark.figures
@pytest.mark.parametrize("options", [["pointwise"], ["generate_then_match", "--answer-tokens", "24"]])
def test_two_processes_resume_what_one_began(
    options: list[str], folders: dict[str, Path], mini: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """Six threads: in one process, and in one for two threads, then in two of accelerate. The files are the same."""
    arguments = ["--weights", str(folders["gemma3"]), "--protocol", *options, "--limit"]
    one, resumed = tmp_path / "one", tmp_path / "resumed"
    finish(command(one, mini, "causal_lm", *arguments, "6"), environment)
    finish(command(resumed, mini, "causal_lm", *arguments, "2"), environment)
    finish(command(resumed, mini, "causal_lm", *arguments, "6", kind=ACCELERATE, world=2), environment)
    assert [read_run_card(out).extra["processes"] for out in (one, resumed)] == [1, 2]
    for file in ("predictions.jsonl", "answers.jsonl"):
        assert (one / file).read_bytes() == (resumed / file).read_bytes()
    assert (one / "predictions.jsonl").read_bytes().count(b"\n") == 6


def test_prompts_get_a_chat_template_unless_they_are_bare(folders: dict[str, Path]) -> None:
    model = system(folders["qwen3"]).language_model
    model.tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    for prompt, expected in ((Prompt("so what"), "<|im_start|>so what<|im_end|>"), (Prompt("so", is_bare=True), "so")):
        assert model.tokenizer.decode(model.encode([prompt])["input_ids"][0]) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--weights: missing"),
        (["--weights", "/no/such"], "no such folder"),
        (["--weights", ".", "--normalisation", "contrast", "--protocol", "listwise"], "needs --protocol pointwise"),
        (["--weights", "/no/such", "--gguf", "x.gguf"], "no such file|expected"),
    ],
)
def test_mistakes(arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_system("causal_lm", "query_only", arguments).inspect_threads(data(2).threads)


def test_a_masked_model_is_no_causal_one(tmp_path: Path) -> None:
    """transformers would load it with attention to both sides."""
    folder = tiny_texts.save(tmp_path / "m", "bert", "ForMaskedLM")
    with pytest.raises(UserError, match="a masked language model; expected a causal one"):
        system(folder).inspect_threads(data(2).threads)


def test_the_contrast_takes_the_query_only() -> None:
    """Audio models have the option, too; a bare text holds no clip."""
    with pytest.raises(UserError, match="contrast: takes the query only, not audio_query"):
        build_system("qwen2_audio", "audio_query", ["--protocol", "pointwise", "--normalisation", "contrast"])
