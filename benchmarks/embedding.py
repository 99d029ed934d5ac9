"""Cost of running CLAP over the three modalities, relative to its forward passes, and the number of these.

    python -m benchmarks embedding [--threads 4] [--small]

Threads of the toy dataset, and a CLAP model of the published size (194 million weights) with random weights and the
vocabulary of all-MiniLM-L6-v2; `--small` takes one of 0.2 million, where everything else weighs far more. Time begins
with a dataset on disk and a model in memory, and ends with three run folders; the bare forward passes are what of it is
spent in the model. Beside their number stands what embedding text by text and window by window would take, for every
thread and modality anew.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from baselines.data import Data, load_data
from baselines.embedding.minilm_weights import find_minilm
from baselines.launch import build_system
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan, run
from baselines.systems.clap import Clap, ClapEncoder
from musicrs_dataset.mini import load_mini
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.runs.run_card import Modality

from .side_by_side import report

# The first hears and reads everything; the others find its vectors.
MODALITIES: tuple[Modality, ...] = ("audio_query", "audio_only", "query_only")
AT_MOST, AT_LEAST = 1.25, 10.0


def save_model(folder: Path, small: bool) -> None:
    """Write a CLAP model with random weights."""
    import torch
    from transformers import AutoTokenizer, ClapConfig, ClapFeatureExtractor, ClapModel

    tokenizer = AutoTokenizer.from_pretrained(find_minilm().folder)
    text = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    sizes = {"depths": [2, 2, 12, 2], "patch_embeds_hidden_size": 128, "hidden_size": 1024}
    if small:
        text |= {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        sizes = {"depths": [1, 1, 1, 1], "patch_embeds_hidden_size": 16, "hidden_size": 128}
    audio = sizes | {"num_attention_heads": [4, 8, 16, 32], "enable_fusion": False}
    torch.manual_seed(0)
    ClapModel(ClapConfig(text_config=text, audio_config=audio)).save_pretrained(folder)
    ClapFeatureExtractor(truncation="rand_trunc").save_pretrained(folder)
    tokenizer.save_pretrained(folder)


class Meter:
    """Counts the forward passes of a model, and the seconds they take.

    Args:
        model: The model; its two methods are wrapped.
    """

    def __init__(self, model: Any) -> None:
        self.forwards, self.seconds = 0, 0.0
        for name in ("get_audio_features", "get_text_features"):
            setattr(model, name, self._metered(getattr(model, name)))

    def _metered(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        def metered(*inputs: Any, **named: Any) -> Any:
            start = perf_counter()
            features = forward(*inputs, **named)
            self.seconds += perf_counter() - start
            self.forwards += 1
            return features

        return metered


def one_by_one(data: Data) -> int:
    """Forward passes of embedding every query, name and window of every thread and modality by itself."""
    n = 0
    for thread in data.threads:
        n_windows = sum(ceil(clip.duration_s / ClapEncoder.window_s) for clip in thread.clips or ())
        n += len(MODALITIES) * len(thread.candidates) + 2 * (1 + n_windows)
    return n


def main(argv: Sequence[str] | None = None) -> None:
    """Print both ratios.

    Args:
        argv: `--threads N` and `--small`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks embedding")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), arguments.threads, arguments.small)


def measure(folder: Path, threads: int, small: bool) -> None:
    """Run the three modalities and print both ratios."""
    build(load_mini()[:threads], folder / "data", about=resolve_source("mini", clips=False).about)
    save_model(folder / "model", small)

    def system(modality: Modality) -> Clap:
        arguments = ["--weights", str(folder / "model")]
        made = build_system("clap", modality, arguments, cache=folder / "vectors")
        assert isinstance(made, Clap)
        return made

    def run_all(systems: dict[Modality, Clap]) -> None:
        for modality, made in systems.items():
            data = load_data(str(folder / "data"), modality)
            plan = Plan(system=made, system_name="clap", data=data, out=folder / modality)
            run(plan, Processes(), Reporter())

    first = system(MODALITIES[0])
    encoder = first._model
    assert isinstance(encoder, ClapEncoder)
    meter = Meter(encoder._model)
    encoder.embed_text(["what is imported and compiled at first use should not count"])
    encoder.embed_audio([np.zeros(480_000, dtype=np.float32)])
    meter.forwards, meter.seconds = 0, 0.0
    start = perf_counter()
    run_all({MODALITIES[0]: first})
    run_all({modality: system(modality) for modality in MODALITIES[1:]})
    seconds = perf_counter() - start
    naive = one_by_one(load_data(str(folder / "data"), MODALITIES[0]))
    print(f"CLAP, {'small' if small else 'full size'}, on {threads} threads in three modalities")
    print(f"  {'three runs, from disk to disk':34}{seconds:9.2f} s")
    print(f"  {'bare forward passes':34}{meter.seconds:9.2f} s{seconds / meter.seconds:9.2f} x   at most {AT_MOST:g}")
    print(f"  {'forward passes':34}{meter.forwards:9}")
    print(f"  {'one by one':34}{naive:9}{naive / meter.forwards:11.1f} x   at least {AT_LEAST:g}")
    ratios = {"time": seconds / meter.seconds, "forwards": naive / meter.forwards}
    report("ratios", {"what": "clap in three modalities", "ratios": ratios})


if __name__ == "__main__":
    main()
