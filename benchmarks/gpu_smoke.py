"""On a GPU, where there is one: packed against naive scoring in bfloat16, and how many tokens a second there are.

    python -m benchmarks gpu_smoke [--prefix 2000] [--candidates 100] [--device cpu]

A Qwen2 model of random weights, 0.8 billion of them (16 layers, 2,048 wide). In bfloat16 two ways of one computation
differ in the third digit, so both are compared with float32 on the same device: packing must add no error of its own.
Without a GPU it says so and ends well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .packed import make_job, make_model, naive, packed
from .side_by_side import report

# How many times as far from float32 as naive scoring packed scoring may be, both in bfloat16.
AT_MOST = 3.0
SIZES = {
    "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 16, "num_attention_heads": 16,
    "num_key_value_heads": 16,
}  # fmt: skip
NEW_TOKENS = 64


def main(argv: Sequence[str] | None = None) -> None:
    """Print errors and tokens a second.

    Args:
        argv: `--prefix N`, `--candidates N`, and `--device NAME` to try it without a GPU, on a small model.

    Raises:
        SystemExit: Packing adds errors; the exit code is 1.
    """
    import torch

    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu_smoke")
    parser.add_argument("--prefix", type=int, default=2000)
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args(argv)
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("no GPU here, nothing to check")
        return
    sizes = SIZES if arguments.device == "cuda" else {}
    model = make_model(**sizes).to(arguments.device)
    job = make_job(arguments.prefix, arguments.candidates)
    exact = naive(model, job)
    model = model.to(torch.bfloat16)
    errors = {name: _error(way(model, job), exact) for name, way in (("packed", packed), ("naive", naive))}
    print(
        f"{_name(arguments.device)}, {sum(p.numel() for p in model.parameters()) / 1e9:.2f} billion weights, bfloat16"
    )
    print(f"root mean square error of a score: packed {errors['packed']:.3f}, naive {errors['naive']:.3f}")
    seconds = {name: _seconds(way, model, job) for name, way in (("packed", packed), ("naive", naive))}
    n_tokens = len(job[0]) + sum(map(len, job[1]))
    scored = n_tokens / seconds["packed"]
    generated = _generated(model, job[0])
    print(f"packed scoring: {scored:,.0f} tokens/s, {seconds['naive'] / seconds['packed']:.1f} times as fast as naive")
    print(f"generation after a prompt of {len(job[0])} tokens: {generated:,.1f} tokens/s")
    report("gpu_smoke", {"errors": errors, "seconds": seconds, "scored_per_s": scored, "generated_per_s": generated})
    if errors["packed"] > AT_MOST * errors["naive"]:
        raise SystemExit(f"packed scoring is further from float32 than {AT_MOST:g} times naive scoring")


def _error(found: list[float], exact: list[float]) -> float:
    return float(np.sqrt(np.square(np.subtract(found, exact)).mean()))


def _seconds(way: Any, model: Any, job: Any) -> float:
    way(model, (job[0], job[1][:2]))  # the first pass of a shape takes longer
    _wait(model)
    start = perf_counter()
    way(model, job)
    _wait(model)
    return perf_counter() - start


def _generated(model: Any, tokens: list[int]) -> float:
    import torch

    ids = torch.tensor([tokens], device=model.device)
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "do_sample": False, "pad_token_id": 0}
    seconds = []
    for n in (1, 1 + NEW_TOKENS):  # the first token takes reading the prompt
        _wait(model)
        start = perf_counter()
        model.generate(**given, max_new_tokens=n, min_new_tokens=n)
        _wait(model)
        seconds.append(perf_counter() - start)
    return NEW_TOKENS / (seconds[1] - seconds[0])


def _wait(model: Any) -> None:
    import torch

    if model.device.type == "cuda":
        torch.cuda.synchronize()


def _name(device: str) -> str:
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else device


if __name__ == "__main__":
    main()
