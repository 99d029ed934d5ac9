"""SALMONN and FUTGA with few and random weights in the published layout, with a Vicuna, a Whisper and a BEATs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from tests.baselines.tiny_beats import TINY, save_beats

Flavour = Literal["salmonn", "futga"]
Tensors = dict[str, torch.Tensor]

SPEECH, SOUND, MODEL, HIDDEN, INNER, LAYERS, RANK = 16, TINY.encoder_embed_dim, 32, 128, 48, 2, 8
LINES = (
    "USER: <Speech></Speech> Rank these songs, most fitting first.\nASSISTANT: 1, 2, 3, 4, 5, 6, 7, 8, 9, 0",
    "Slow laments in the dark; a fast and bright fanfare for brass; dreamy music with drums, please.",
)


class Parts(NamedTuple):
    """Where a model's four parts are."""

    weights: Path
    vicuna: Path
    whisper: Path
    beats: Path

    @property
    def arguments(self) -> list[str]:
        """The options that name them."""
        return [word for name, path in self._asdict().items() for word in (f"--{name}", str(path))]


def shapes(flavour: Flavour = "salmonn", changed: int = 2) -> dict[str, tuple[int, ...]]:
    """What a checkpoint holds, written down from the authors' code: a BERT with a branch for queries, and LoRA.

    Args:
        flavour: SALMONN's Q-Former was saved without the branch for text, FUTGA's with it.
        changed: Layers of the language model.
    """
    found: dict[str, tuple[int, ...]] = {"speech_query_tokens": (1, 1, HIDDEN)}

    def norm(name: str, size: int = HIDDEN) -> None:
        found.update({f"{name}.weight": (size,), f"{name}.bias": (size,)})

    def linear(name: str, takes: int = HIDDEN, gives: int = HIDDEN) -> None:
        found.update({f"{name}.weight": (gives, takes), f"{name}.bias": (gives,)})

    def block(name: str, takes: int) -> None:
        linear(f"{name}.self.query")
        linear(f"{name}.self.key", takes)
        linear(f"{name}.self.value", takes)
        linear(f"{name}.output.dense")
        norm(f"{name}.output.LayerNorm")

    norm("ln_speech", SPEECH)
    norm("ln_audio", SOUND)
    linear("speech_llama_proj", HIDDEN, MODEL)
    bert = "speech_Qformer.bert"
    norm(f"{bert}.embeddings.LayerNorm")
    found[f"{bert}.embeddings.position_ids"] = (1, 512)
    for layer in [f"{bert}.encoder.layer.{i}" for i in range(LAYERS)]:
        block(f"{layer}.attention", HIDDEN)
        block(f"{layer}.crossattention", SPEECH + SOUND)
        for branch in ("_query", "") if flavour == "futga" else ("_query",):
            linear(f"{layer}.intermediate{branch}.dense", HIDDEN, INNER)
            linear(f"{layer}.output{branch}.dense", INNER, HIDDEN)
            norm(f"{layer}.output{branch}.LayerNorm")
    if flavour == "futga":
        found[f"{bert}.embeddings.word_embeddings.weight"] = (50, HIDDEN)
        found[f"{bert}.embeddings.position_embeddings.weight"] = (512, HIDDEN)
        linear("speech_Qformer.cls.predictions.transform.dense")
        norm("speech_Qformer.cls.predictions.transform.LayerNorm")
        linear("speech_Qformer.cls.predictions.decoder", HIDDEN, 50)
        found["speech_Qformer.cls.predictions.bias"] = (50,)
    for place in range(changed):
        attention = f"llama_model.base_model.model.model.layers.{place}.self_attn"
        for part in ("q_proj", "v_proj"):
            found[f"{attention}.{part}.lora_A.weight"] = (RANK, MODEL)
            found[f"{attention}.{part}.lora_B.weight"] = (MODEL, RANK)
        if flavour == "salmonn":  # transformers 4.28 saved them
            found[f"{attention}.rotary_emb.inv_freq"] = (4,)
    return found


def draw(flavour: Flavour = "salmonn", seed: int = 0) -> Tensors:
    """A checkpoint's tensors, the same in every call."""
    rng = torch.Generator().manual_seed(seed)
    tensors = {}
    for key, shape in shapes(flavour).items():
        scale = 0.1 if "lora" in key or len(shape) == 1 else 0.3
        tensors[key] = torch.randn(shape, generator=rng) * scale + (1.0 if _is_gain(key) else 0.0)
        if key.endswith("position_ids"):
            tensors[key] = torch.arange(512)[None]
    return tensors


def _is_gain(key: str) -> bool:
    return key.endswith(("LayerNorm.weight", "ln_speech.weight", "ln_audio.weight"))


def save_checkpoint(file: Path, flavour: Flavour = "salmonn", tensors: Tensors | None = None) -> Path:
    """Write a checkpoint in the layout of SALMONN or FUTGA.

    Args:
        file: Where to.
        flavour: SALMONN's training run saved more than the weights; FUTGA's wrote a bare dictionary of 16 bits, with a
            newer peft.
        tensors: Others than `draw` gives.
    """
    tensors = draw(flavour) if tensors is None else tensors
    if flavour == "salmonn":
        torch.save({"model": tensors, "optimizer": {"state": {}}, "scaler": None, "epoch": 29, "config": {}}, file)
        return file
    newer = {key.replace(".lora_A.", ".lora_A.default.").replace(".lora_B.", ".lora_B.default."): value
             for key, value in tensors.items()}  # fmt: skip
    torch.save({key: value.bfloat16() if value.is_floating_point() else value for key, value in newer.items()}, file)
    return file


def save_vicuna(folder: Path, seed: int = 0) -> Path:
    """A Vicuna as lmsys published it: weights in two pickled pieces, and of the tokenizer only `tokenizer.model`."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir()
    _train_tokenizer(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=400, hidden_size=MODEL, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=4096, bos_token_id=1, eos_token_id=2, pad_token_id=0, tie_word_embeddings=False,
        architectures=["LlamaForCausalLM"], initializer_range=0.3,
    )  # fmt: skip
    config.save_pretrained(folder)
    model = LlamaForCausalLM(config)
    weights = {key: value.half() for key, value in model.state_dict().items()}
    weights |= {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(4) for i in range(2)}
    names = sorted(weights)
    index: dict[str, str] = {}
    for piece, keys in enumerate((names[::2], names[1::2]), 1):
        file = f"pytorch_model-0000{piece}-of-00002.bin"
        torch.save({key: weights[key] for key in keys}, folder / file)
        index |= dict.fromkeys(keys, file)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    # Vicuna v1.5 samples by its own generation_config.json.
    sampling = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "temperature": 0.9, "top_p": 0.6}
    (folder / "generation_config.json").write_text(json.dumps(sampling | {"do_sample": True}))
    return folder


def _train_tokenizer(folder: Path) -> None:
    import sentencepiece

    (folder / "lines").write_text("\n".join(LINES * 40))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "lines"), model_prefix=str(folder / "tokenizer"), model_type="bpe", vocab_size=400,
        byte_fallback=True, unk_id=0, bos_id=1, eos_id=2, pad_id=-1, normalization_rule_name="identity",
        remove_extra_whitespaces=False, add_dummy_prefix=True, minloglevel=2, hard_vocab_limit=False,
    )  # fmt: skip
    (folder / "lines").unlink()
    (folder / "tokenizer.vocab").unlink()
    config: dict[str, Any] = {
        "tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
        "add_bos_token": True, "add_eos_token": False, "legacy": False, "model_max_length": 4096,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def save_whisper(folder: Path) -> Path:
    """A Whisper as OpenAI's repositories hold it: encoder and decoder in one file."""
    from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

    torch.manual_seed(0)
    config = WhisperConfig(
        vocab_size=60, d_model=SPEECH, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=16, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    WhisperFeatureExtractor().save_pretrained(folder)
    WhisperForConditionalGeneration(config).save_pretrained(folder)
    return folder


def save_parts(folder: Path, flavour: Flavour = "salmonn") -> Parts:
    """All four parts in four places."""
    return Parts(
        save_checkpoint(folder / ("salomnn_7b.bin" if flavour == "futga" else "salmonn_7b_v0.pth"), flavour),
        save_vicuna(folder / "vicuna"),
        save_whisper(folder / "whisper"),
        save_beats(folder / "beats.pt"),
    )
