"""A Qwen2 of few and random weights, with a chat template, in a folder as the published ones are."""

from __future__ import annotations

from pathlib import Path

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WORDS = ('{"entities": [{"name": "Slow Lament", "type": "song"}]}', '{"query": "dark music for strings, please"}')


def save_qwen(folder: Path, *, chat: str | None = CHAT) -> Path:
    """Write model and tokenizer; the weights are the same in every call."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        WORDS,
        trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=chat
    ).save_pretrained(folder)
    # More logits than tokens, as the published models have.
    config = Qwen2Config(
        vocab_size=384, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=4096, bos_token_id=0, eos_token_id=2, pad_token_id=0,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Qwen2ForCausalLM(config)
    # As Qwen2.5 ships it: sampling by default, and two tokens that end an answer.
    model.generation_config.update(do_sample=True, temperature=0.7, top_k=20, top_p=0.8, repetition_penalty=1.05)
    model.generation_config.eos_token_id = [2, 0]
    model.save_pretrained(folder)
    return folder
