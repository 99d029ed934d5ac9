"""Models of few and random weights behind `collap` and `pe_audio`, and a few threads with clips to rank by them."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from baselines.data import Data, as_references
from baselines.launch import build_system
from baselines.run.runner import RunResult
from musicrs_dataset.mini import load_mini
from musicrs_dataset.records import Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import Modality, read_run_card
from tests.baselines.tiny_beats import save_beats
from tests.baselines.tiny_models import tiny_tokenizer
from tests.baselines.toys import ROOT, run_toy

# An eighth of the published one, for the sake of time.
PE_AUDIO_RATE = 6000
MODALITIES: tuple[Modality, ...] = ("audio_query", "query_only", "audio_only")


@cache
def few_threads() -> list[Thread]:
    """Four threads of the mini dataset, of four genres, with two clips each."""
    return load_mini()[::7]


def run_on_few(
    name: str, modality: Modality, out: Path, *arguments: str, seed: int = 0, cache: Path | None = None
) -> RunResult:
    """Run a system on the few threads, in this process."""
    threads = few_threads()
    system = build_system(name, modality, arguments, seed=seed, cache=cache)
    data = Data(threads, as_references(threads, "few", modality))
    return run_toy(system, data, out / f"{name} {modality} {seed}")


def run_in_processes(world: int, name: str, out: Path, environment: dict[str, str], *arguments: str) -> bytes:
    """Run a system in that many processes, with clips and queries and an empty cache; what it writes."""
    if not (out / "data").exists():
        build(few_threads(), out / "data", about=resolve_source("mini", clips=False).about, configs=("audio_query",))
    run = out / f"run of {world}"
    where = ["--dataset", str(out / "data"), "--out", str(run), "--cache", str(out / f"cache of {world}")]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(world)] if world > 1 else []
    line = [sys.executable, *launch, "-m", "baselines", "run", "--model", name, "--modality", "audio_query"]
    done = subprocess.run(
        [*line, *where, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert read_run_card(run).extra["processes"] == world
    return (run / "predictions.jsonl").read_bytes()


def scores(prediction: Prediction) -> dict[str, float]:
    """Score by candidate."""
    assert prediction.scores is not None
    return dict(zip(prediction.ranking, prediction.scores, strict=True))


def noise(seconds: float, rate: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Quiet noise."""
    samples = np.random.default_rng(seed).standard_normal(round(seconds * rate)) * 0.1
    return samples.astype(np.float32)


def save_towers(folder: Path) -> list[str]:
    """GPT-2, Whisper and BEATs in three places; the options of `collap` that name them."""
    import torch
    from tokenizers import processors
    from transformers import GPT2Config, GPT2Model, WhisperConfig, WhisperFeatureExtractor, WhisperModel

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(padding_side="right")
    tokenizer.backend_tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)  # GPT-2 puts nothing around
    tokenizer.save_pretrained(folder / "gpt2")
    gpt2 = GPT2Config(
        vocab_size=len(tokenizer), n_positions=128, n_embd=32, n_layer=1, n_head=2, bos_token_id=2, eos_token_id=2
    )
    GPT2Model(gpt2).save_pretrained(folder / "gpt2")
    WhisperFeatureExtractor().save_pretrained(folder / "whisper")
    whisper = WhisperConfig(
        vocab_size=60, d_model=16, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=16, decoder_layers=1,
        decoder_attention_heads=2, decoder_ffn_dim=16, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1,
    )  # fmt: skip
    WhisperModel(whisper).save_pretrained(folder / "whisper")
    beats = save_beats(folder / "beats.pt")
    return ["--gpt2", str(folder / "gpt2"), "--whisper", str(folder / "whisper"), "--beats", str(beats)]


def pe_audio_config() -> Any:
    """The sizes of a PE-Audio model of some 100,000 weights."""
    from transformers import PeAudioConfig

    dac = {"encoder_hidden_size": 4, "downsampling_ratios": [2, 8, 10, 12], "codebook_dim": 8, "hidden_size": 32}
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {"model_type": "modernbert", "vocab_size": len(tiny_tokenizer()), "max_position_embeddings": 512}
    special = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "cls_token_id": 0, "sep_token_id": 2}
    return PeAudioConfig(text_config=sizes | text | special, audio_config=sizes | {"head_dim": 16, "dac_config": dac})


def save_pe_audio(folder: Path, *, frames: bool = False) -> Path:
    """A PE-Audio model with its processor; `frames` for one vector per 40 ms."""
    import torch
    from transformers import PeAudioFeatureExtractor, PeAudioFrameLevelModel, PeAudioModel, PeAudioProcessor

    torch.manual_seed(0)
    (PeAudioFrameLevelModel if frames else PeAudioModel)(pe_audio_config()).save_pretrained(folder)
    PeAudioProcessor(PeAudioFeatureExtractor(sampling_rate=PE_AUDIO_RATE), tiny_tokenizer()).save_pretrained(folder)
    return folder
