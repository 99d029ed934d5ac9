"""The published checkpoints of SALMONN and FUTGA, and the encoder of Whisper without its decoder.

A checkpoint holds the trained parts: the bridge (`baselines.vendored.salmonn`), and low-rank changes of the query and
value maps of the language model (LoRA, arXiv:2106.09685), which are added to its weights here. That of SALMONN is under
"model" in a dictionary. That of FUTGA has no such key and 16 bits, and holds an unused text branch of the Q-Former. The
library peft has used the names `lora_A.weight` and `lora_A.default.weight` for the low-rank matrices; both are read.

The code of the authors excludes frozen weights from a file by the names in `named_parameters()`, which lists a shared
tensor once. `state_dict()` lists it under every name, so a file keeps copies under the other names: the table of
distances of BEATs under the layers 1 to 11, and the head of a language model that is tied to its embeddings. The copies
are compared with the part in memory and dropped.
"""

from __future__ import annotations

import logging
import pickle
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from musicrs_metric.errors import UserError, some

from .beats import TABLE, Beats, BeatsConfig, differing
from .salmonn import HEAD, Bridge, Sizes

RANK, ALPHA = 8, 32
# Further keys that a checkpoint may hold. No part that runs uses them.
UNUSED = re.compile(
    r"""
    # Buffers, which follow from the configuration. The version of transformers decides whether they are saved.
    speech_Qformer\.bert\.embeddings\.position_ids
    | llama_model\..*\.rotary_emb\.(inv_freq|original_inv_freq|cos_cached|sin_cached)
    # The text branch of the Q-Former.
    | speech_Qformer\.bert\.embeddings\.(word|position)_embeddings\.weight
    | speech_Qformer\.bert\.encoder\.layer\.\d+\.(intermediate|output)\.(dense|LayerNorm)\.(weight|bias)
    | speech_Qformer\.cls\..*
    """,
    re.VERBOSE,
)
# Prefixes by DistributedDataParallel, by torch.compile, and by a wrapper around the whole model.
_PREFIXES = re.compile(r"^((module|_orig_mod|model)\.)+")
# Keys under which a training run saves the weights next to its own state.
_WRAPPERS = ("model", "state_dict", "model_state_dict", "module")
_BEATS, _LANGUAGE_MODEL = "beats.", "llama_model.base_model.model."
# The weights of a language model that may be one shared tensor.
_TIED = ("lm_head.weight", "model.embed_tokens.weight")
_QFORMER = "speech_Qformer."
_EXPECTED = "a checkpoint of SALMONN or FUTGA"
_log = logging.getLogger(__name__)


def load_bridge(
    file: Path, model: nn.Module, speech: int | None = None, sound: int | None = None, *, beats: Beats | None = None
) -> Bridge:
    """Load a published checkpoint into a bridge and a language model. No code is read from it.

    Args:
        file: For example `salmonn_7b_v0.pth`, `salmonn_v1.pth` or `salomnn_7b.bin` of FUTGA.
        model: The LlamaForCausalLM whose weights the checkpoint changes.
        speech: Features per frame of the encoder of Whisper; None for the number in the checkpoint.
        sound: Features per frame of BEATs; None for the number in the checkpoint.
        beats: BEATs, to compare it with the copies in the file; None to compare the copies with each other.

    Returns:
        The bridge in evaluation mode, on the CPU, in float32.

    Raises:
        UserError: The file cannot be read, parameters are missing or surplus, or have other shapes than the other parts
            need, or the weights of the language model are not in memory. Then the language model is unchanged.
    """
    tensors = _without_copies(file, _read(file), model, beats)
    hidden = _size(tensors, "speech_query_tokens", Sizes.hidden)
    if hidden % HEAD:
        raise UserError(f"--weights {file}: its Q-Former has {hidden} features, expected a multiple of {HEAD}")
    bridge = Bridge(
        Sizes(
            speech=speech or _size(tensors, "ln_speech.weight", Sizes.speech),
            sound=sound or _size(tensors, "ln_audio.weight", Sizes.sound),
            model=model.get_input_embeddings().embedding_dim,  # type: ignore[operator]
            hidden=hidden,
            inner=_size(tensors, f"{_QFORMER}bert.encoder.layer.0.intermediate_query.dense.bias", Sizes.inner),
        )
    )
    ours = {_published(name): name for name in bridge.state_dict()}
    changed = dict(_changed(model))
    expected = {key: tuple(bridge.state_dict()[name].shape) for key, name in ours.items()}
    for key, linear in changed.items():
        expected[f"{key}.lora_A.weight"] = (RANK, linear.in_features)
        expected[f"{key}.lora_B.weight"] = (linear.out_features, RANK)
    _compare(file, tensors, expected)
    if any(linear.weight.is_meta for linear in changed.values()):
        raise UserError(
            "--device-map: leaves weights of Vicuna outside the GPUs, where the checkpoint cannot change them; "
            "expected GPUs that hold all of it"
        )
    bridge.load_state_dict({name: tensors[key].float() for key, name in ours.items()})
    for key, linear in changed.items():
        _merge(linear, tensors[f"{key}.lora_A.weight"], tensors[f"{key}.lora_B.weight"])
    return bridge.float().eval()


def load_whisper_encoder(folder: Path) -> Any:
    """Load the encoder of a Whisper checkpoint, without the weights of its decoder.

    Args:
        folder: Folder as `save_pretrained` writes it, or a snapshot of a Hub repository such as
        openai/whisper-large-v2.

    Returns:
        WhisperEncoder of transformers in evaluation mode, on the CPU, in float32.

    Raises:
        UserError: Weights of the encoder are missing or surplus, or have other shapes than in its configuration, or the
            folder holds no Whisper.
    """
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    class Encoder(WhisperEncoder):  # type: ignore[misc]
        _keys_to_ignore_on_load_unexpected: ClassVar = [r"^(model\.)?decoder\.", r"^proj_out\."]

    try:
        encoder, info = Encoder.from_pretrained(
            folder,
            key_mapping={r"^(model\.)?encoder\.": ""},
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # to name them all
        )
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"--whisper {folder}: cannot be loaded ({' '.join(str(error).split())[:200]})") from error
    sizes = [
        f"{key} has shape {tuple(shape)}, expected {tuple(wanted)}" for key, shape, wanted in info["mismatched_keys"]
    ]
    faults = _faults(info["missing_keys"], info["unexpected_keys"], sizes)
    if faults:
        raise UserError(f"--whisper {folder}: does not fit Whisper's encoder: {faults}")
    return encoder.float().eval()


def _read(file: Path) -> dict[str, Tensor]:
    try:
        content: Any = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise UserError(f"--weights {file}: cannot be read ({reason}); expected {_EXPECTED}") from error
    while isinstance(content, Mapping):
        inner = next((content[name] for name in _WRAPPERS if isinstance(content.get(name), Mapping)), None)
        if inner is None:
            break
        content = inner
    if not (isinstance(content, Mapping) and all(isinstance(value, Tensor) for value in content.values())):
        raise UserError(f"--weights {file}: expected {_EXPECTED}: a dictionary of tensors, or one under 'model'")
    tensors: dict[str, Tensor] = {}
    for name, value in content.items():
        key = re.sub(r"\.lora_([AB])\.default\.", r".lora_\1.", _PREFIXES.sub("", str(name)))
        if key in tensors:
            raise UserError(f"--weights {file}: holds {key} under two names, expected one of them")
        if not UNUSED.fullmatch(key):
            tensors[key] = value
    return tensors


def _without_copies(
    file: Path, tensors: Mapping[str, Tensor], model: nn.Module, beats: Beats | None
) -> dict[str, Tensor]:
    """Drop copies of shared frozen weights, and warn if they differ from the weights in memory."""
    tables = {key: value for key, value in tensors.items() if _is_table(key)}
    if tables:
        own = None if beats is None else next(v for name, v in beats.state_dict().items() if TABLE.fullmatch(name))
        first, which = (next(iter(tables.values())), "first") if own is None else (own, "table of --beats")
        others = differing(tables, first)
        if others:
            _log.warning(
                "--weights %s: %d of the %d copies of BEATs' table of distances differ from the %s, which is used (%s)"
                "; name the BEATs of the training of the checkpoint", file, len(others), len(tables), which,
                some(others, 2),
            )  # fmt: skip
    tied = {f"{_LANGUAGE_MODEL}{name}": name for name in _TIED}
    heads = {key: tensors[key] for key in tied if key in tensors}
    for key, value in heads.items():
        own = model.get_parameter(tied[key])
        # The code of the authors appends a row to the embeddings, for padding.
        if not own.is_meta and differing({key: value[: len(own)]}, own):
            _log.warning(
                "--weights %s: %s differs from that of --vicuna, which is used; name the Vicuna that the checkpoint "
                "was trained with", file, key,
            )  # fmt: skip
    return {key: value for key, value in tensors.items() if key not in tables and key not in heads}


def _is_table(key: str) -> bool:
    table = TABLE.fullmatch(key.removeprefix(_BEATS)) if key.startswith(_BEATS) else None
    return table is not None and int(table[1]) < BeatsConfig.encoder_layers


def _published(name: str) -> str:
    """Return the published name of a parameter of `Bridge`. The published Q-Former is a BERT with a query branch."""
    if not name.startswith(_QFORMER):
        return name
    inner = name.removeprefix(_QFORMER).replace("attention.attention.", "attention.self.")
    return f"{_QFORMER}bert.{re.sub('^layernorm', 'embeddings.LayerNorm', inner)}"


def _changed(model: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """Yield the maps of a language model that LoRA changes, with their names in a checkpoint."""
    for name, module in model.named_modules():
        if name.endswith(("self_attn.q_proj", "self_attn.v_proj")) and isinstance(module, nn.Linear):
            yield f"llama_model.base_model.model.{name}", module


def _size(tensors: Mapping[str, Tensor], key: str, default: int) -> int:
    """Return the length of the last axis of a tensor, or the default if it is missing or a single number."""
    return tensors[key].shape[-1] if key in tensors and tensors[key].ndim else default


def _compare(file: Path, tensors: Mapping[str, Tensor], expected: Mapping[str, tuple[int, ...]]) -> None:
    missing, unexpected = expected.keys() - tensors.keys(), tensors.keys() - expected.keys()
    comparable = {} if missing else expected  # a missing key may leave the sizes of others undefined
    sizes = [
        f"{key} has shape {tuple(tensors[key].shape)}, expected {shape}"
        for key, shape in comparable.items()
        if tensors[key].shape != shape
    ]
    sizes += [
        f"{key} holds {tensors[key].dtype} or a number that is not finite, expected finite floating-point numbers"
        for key in comparable
        if not (tensors[key].is_floating_point() and tensors[key].isfinite().all())
    ]
    faults = _faults(missing, unexpected, sizes)
    if faults:
        raise UserError(f"--weights {file}: does not fit what --vicuna, --whisper and --beats name: {faults}")


def _faults(missing: Collection[str], unexpected: Collection[str], sizes: list[str]) -> str:
    faults = {"missing": missing, "unexpected": unexpected}
    named = [f"{fault} {some(sorted(keys))}" for fault, keys in faults.items() if keys]
    return "; ".join([*named, *([some(sizes, 2)] if sizes else [])])


@torch.no_grad()
def _merge(linear: nn.Linear, down: Tensor, up: Tensor) -> None:
    """Add a low-rank change to a weight, in float32 whatever the type of the weight."""
    weight = linear.weight
    change = (ALPHA / RANK) * up.float() @ down.float()
    weight.copy_((weight.float() + change.to(weight.device)).to(weight.dtype))
