"""Text encoders on disk: the weights, and the settings in the files that sentence-transformers writes next to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from musicrs_metric.errors import UserError, show

from ..audio_text.checkpoints import check_tokenizer, find_checkpoint

Pooling = Literal["mean", "cls", "last"]

# Longest text by default. Queries are shorter, and the memory of attention grows with the square of the length.
MAX_TOKENS = 512
_POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last",
    "mean": "mean", "cls": "cls", "lasttoken": "last",
}  # fmt: skip
# Encoders that count positions from the padding index: two of their positions hold no token.
_OFFSET = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "data2vec-text", "longformer")


class Encoder(NamedTuple):
    """A text encoder and its settings.

    Attributes:
        folder: Folder for `from_pretrained`.
        revision: Commit of the Hub or hash of the files.
        key: Part of the name of the file that caches its vectors.
        pooling: The vector of a text: the mean of its states, the first state, or the last.
        max_tokens: Longer texts are cut.
        longest: Most tokens that the model takes.
        prompts: Prefixes of the model's authors by their names; this program applies none of them unasked.
    """

    folder: Path
    revision: str
    key: str
    pooling: Pooling = "mean"
    max_tokens: int = MAX_TOKENS
    longest: int = MAX_TOKENS
    prompts: Mapping[str, str] = {}


def find_encoder(source: str, pooling: Pooling | None = None, max_tokens: int | None = None) -> Encoder:
    """Find a text encoder on the Hub or in a folder, and read its settings.

    Args:
        source: See `baselines.audio_text.checkpoints.HELP`.
        pooling: None for the model's own.
        max_tokens: None for the model's own, at most `MAX_TOKENS`.

    Raises:
        UserError: The model is missing, has parts that this program does not apply, states no pooling, or takes fewer
            tokens.
    """
    checkpoint = find_checkpoint(source)
    check_tokenizer(checkpoint.folder)
    key = checkpoint.revision.removeprefix("sha256:")[:16]
    return read_settings(Encoder(checkpoint.folder, checkpoint.revision, key), pooling, max_tokens)


def read_settings(encoder: Encoder, pooling: Pooling | None, max_tokens: int | None) -> Encoder:
    """Return an encoder with the settings of its files, except for those that the user set.

    Args:
        encoder: The encoder.
        pooling: None for the model's own.
        max_tokens: None for the model's own, at most `MAX_TOKENS`.

    Raises:
        UserError: See `find_encoder`.
    """
    folder = encoder.folder
    config = read_json(folder / "config.json")
    if config.get("is_encoder_decoder"):
        raise UserError(
            f"--weights {folder}: an encoder with a decoder ({show(config.get('model_type'))}); expected an encoder, "
            "or a decoder that embeds"
        )
    modules = read_json(folder / "modules.json", list)
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    if unknown := [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Normalize")]:
        raise UserError(
            f"--weights {folder}: modules.json names {unknown[0]}, which this program does not apply; expected a model "
            "of transformer, pooling and normalisation"
        )
    longest = longest_input(config)
    chosen = default_tokens(folder, longest) if max_tokens is None else max_tokens
    if not 1 < chosen <= longest:
        raise UserError(f"--max-tokens {chosen}: expected 2 to {longest}, the most that {folder.name} takes")
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    return encoder._replace(
        pooling=pooling or _own_pooling(folder, modules),
        max_tokens=chosen,
        longest=longest,
        prompts={name: text for name, text in prompts.items() if text},
    )


def longest_input(config: Mapping[str, Any]) -> int:
    """Return the most tokens that a model takes, from its config.json."""
    positions = int(config.get("max_position_embeddings") or 10**6)
    if config.get("model_type") in _OFFSET:
        positions -= int(config.get("pad_token_id", 1)) + 1
    return positions


def default_tokens(folder: Path, longest: int, at_most: int = MAX_TOKENS) -> int:
    """Return the most tokens of a text: `max_seq_length` of the model, else the limit of its tokenizer."""
    own = read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    own = own or read_json(folder / "tokenizer_config.json").get("model_max_length")
    return min(int(own) if own else longest, longest, at_most)


def read_json(path: Path, kind: type[Any] = dict) -> Any:
    """Read one of the model's files.

    Args:
        path: The file.
        kind: Type of its content, dict or list. An empty one stands for a file that the model lacks.

    Raises:
        UserError: The file is no JSON of this type.
    """
    if not path.is_file():
        return kind()
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"--weights {path.parent}: {path.name} is not readable ({error}); download it again") from error
    if not isinstance(values, kind):
        raise UserError(f"--weights {path.parent}: {path.name} holds {show(values)}; download it again")
    return values


def _own_pooling(folder: Path, modules: list[dict[str, Any]]) -> Pooling:
    paths = [module["path"] for module in modules if str(module.get("type", "")).endswith("Pooling")]
    own = read_json(folder / (paths[0] if paths else "1_Pooling") / "config.json")
    modes = own.get("pooling_mode") or [name for name, is_on in own.items() if "_mode_" in name and is_on is True]
    modes = [modes] if isinstance(modes, str) else modes
    if len(modes) == 1 and modes[0] in _POOLINGS:
        return _POOLINGS[modes[0]]
    stated = f"states {', '.join(modes)}" if modes else "states no pooling"
    raise UserError(f"--weights {folder}: {stated}; set --pooling to mean, cls or last as the model's authors do")
