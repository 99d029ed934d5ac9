"""Scoring candidates in one packed pass over a cached prompt, beside one whole forward pass for each.

    python -m benchmarks packed [--prefix 2000] [--candidates 100] [--rounds 1]

A Qwen2 model of random weights (2 layers, 128 wide) on a CPU. Candidates have as many tokens as those of the published
pools, 4 on average. The naive way asks for no more logits than it needs; the way in between reads the prompt once and
each candidate by itself. Their scores are compared as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from baselines.generative.packed import Prefix

from .side_by_side import Contender, compare, report

TARGET = 10.0
VOCABULARY = 4096


def make_model(**sizes: int) -> Any:
    """A causal model of random weights.

    Args:
        sizes: Of its configuration, where they differ from the small ones.
    """
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    small = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4}
    heads = {"num_key_value_heads": 4, "vocab_size": VOCABULARY, "max_position_embeddings": 8192}
    torch.manual_seed(0)
    return Qwen2ForCausalLM(Qwen2Config(**(small | heads | sizes))).eval()


def make_job(prefix: int, candidates: int) -> tuple[list[int], list[list[int]]]:
    """A prompt and candidates of random tokens: 1 to 7 of them, 4 on average."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 8, candidates)
    return rng.integers(VOCABULARY, size=prefix).tolist(), [rng.integers(VOCABULARY, size=n).tolist() for n in sizes]


def packed(model: Any, job: tuple[list[int], list[list[int]]]) -> list[float]:
    """This project: the prompt once, all candidates at once."""
    return [found.total for found in read(model, job[0]).score(job[1])]


def one_by_one(model: Any, job: tuple[list[int], list[list[int]]]) -> list[float]:
    """The prompt once, each candidate by itself."""
    prefix = read(model, job[0])
    return [prefix.score([tokens])[0].total for tokens in job[1]]


def naive(model: Any, job: tuple[list[int], list[list[int]]]) -> list[float]:
    """Prompt and candidate, for each candidate anew."""
    import torch

    totals = []
    for tokens in job[1]:
        ids = torch.tensor([[*job[0], *tokens]], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, logits_to_keep=len(tokens) + 1).logits[0, :-1].float()
        asked = torch.tensor(tokens, device=model.device)[:, None]
        totals.append(float(logits.log_softmax(-1).gather(1, asked).sum()))
    return totals


def read(model: Any, tokens: list[int]) -> Prefix:
    """A prompt of tokens, read."""
    import torch

    ids = torch.tensor([tokens], device=model.device)
    return Prefix(model, {"input_ids": ids, "attention_mask": torch.ones_like(ids)})


def main(argv: Sequence[str] | None = None) -> None:
    """Print the ratios and the largest difference of a score.

    Args:
        argv: `--prefix N`, `--candidates N` and `--rounds N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks packed")
    parser.add_argument("--prefix", type=int, default=2000)
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args(argv)
    model, job = make_model(), make_job(arguments.prefix, arguments.candidates)
    difference = float(np.abs(np.subtract(packed(model, job), naive(model, job))).max())
    print(f"largest difference of a score: {difference:.1e}   at most 1e-4")
    ways = {"packed": packed, "one by one over a cached prompt": one_by_one, "naive": naive}
    contenders = [Contender(name, partial(way, model)) for name, way in ways.items()]
    title = f"{arguments.candidates} candidates after a prompt of {arguments.prefix} tokens"
    ratios = compare(title, contenders, lambda: job, rounds=arguments.rounds, targets={})
    print(f"packed scoring is {ratios['naive']:.1f} times as fast as naive scoring   at least {TARGET:g}")
    report("packed", {"times_as_fast": ratios["naive"], "largest_difference": difference})


if __name__ == "__main__":
    main()
