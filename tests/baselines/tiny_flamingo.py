"""Audio Flamingo 3 and Music Flamingo of random weights, saved with the processors that the published ones have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.baselines.tiny_lm import CHATML, tiny_tokenizer

# Shape of the published templates: a system prompt, then one audio marker per turn before its text.
_TEMPLATE = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou know sound.<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] | selectattr('type', 'equalto', 'audio') | list %}<sound>{% endif %}"
    "{% for c in m['content'] %}{% if 'text' in c %}{{ c['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def save_audio_flamingo3(folder: Path) -> Path:
    """Audio Flamingo 3: windows of 30 s, up to 20 of them."""
    return _save(folder, "AudioFlamingo3", 600)


def save_music_flamingo(folder: Path) -> Path:
    """Music Flamingo: windows of 30 s, up to 40 of them, between marks."""
    return _save(folder, "MusicFlamingo", 1200)


def _save(folder: Path, name: str, max_audio_len: int) -> Path:
    import torch
    import transformers

    marks = {"audio_token_id": "<sound>"}
    if name == "MusicFlamingo":
        marks |= {"audio_bos_token_id": "<|sound_bos|>", "audio_eos_token_id": "<|sound_eos|>"}
    tokenizer = tiny_tokenizer(
        [*CHATML, *marks.values()], eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="right"
    )
    extractor = transformers.WhisperFeatureExtractor(feature_size=16, return_attention_mask=True)
    sound: dict[str, Any] = {
        "model_type": "audioflamingo3_encoder", "num_mel_bins": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 32, "hidden_size": 40, "max_source_positions": 1500,
    }  # fmt: skip
    text: dict[str, Any] = {
        "model_type": "qwen2", "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32_768,
        "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None,
    }  # fmt: skip
    numbers = {key: tokenizer.convert_tokens_to_ids(token) for key, token in marks.items()}
    config = getattr(transformers, f"{name}Config")(audio_config=sound, text_config=text, **numbers)
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config)
    # As published for Audio Flamingo 3: sampling, and a punishment of repeats.
    model.generation_config = transformers.GenerationConfig(
        do_sample=True, temperature=0.7, top_k=20, top_p=0.8, repetition_penalty=1.05,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model.save_pretrained(folder)
    processor = getattr(transformers, f"{name}Processor")
    processor(extractor, tokenizer, chat_template=_TEMPLATE, max_audio_len=max_audio_len).save_pretrained(folder)
    return folder
