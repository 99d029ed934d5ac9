"""Checkpoints of SALMONN and FUTGA as their authors saved them, and Whisper's encoder without its decoder.

A checkpoint holds what was trained: the bridge (`baselines.vendored.salmonn`), and low-rank changes of the language
model's query and value maps (LoRA, arXiv:2106.09685), which are added to its weights here. SALMONN's lies under "model"
in a dictionary. FUTGA's is bare, has 16 bits, and holds the Q-Former with a text branch that nothing runs. The library
peft has named the low-rank matrices `lora_A.weight` and `lora_A.default.weight` over time; either is read.

The authors' runner leaves frozen weights out of a file by the names in `named_parameters()`, which lists a tensor that
several modules share once. `state_dict()` lists it under every name, so a file keeps copies under the other names:
BEATs' table of distances under the layers 1 to 11, and the head of a language model that is tied to its embeddings.
The copies are compared with the part in memory and left out.
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
# What a checkpoint may hold beside: nothing that is run hangs on it.
UNUSED = re.compile(
    r"""
    # Buffers, which follow from the configuration; whether they are saved depends on the version of transformers.
    speech_Qformer\.bert\.embeddings\.position_ids
    | llama_model\..*\.rotary_emb\.(inv_freq|original_inv_freq|cos_cached|sin_cached)
    # The text branch of the Q-Former.
    | speech_Qformer\.bert\.embeddings\.(word|position)_embeddings\.weight
    | speech_Qformer\.bert\.encoder\.layer\.\d+\.(intermediate|output)\.(dense|LayerNorm)\.(weight|bias)
    | speech_Qformer\.cls\..*
    """,
    re.VERBOSE,
)
# Written before each key by DistributedDataParallel, by torch.compile, and by a wrapper around the whole model.
_PREFIXES = re.compile(r"^((module|_orig_mod|model)\.)+")
# Under one of these a training run keeps the weights beside its own state.
_WRAPPERS = ("model", "state_dict", "model_state_dict", "module")
_BEATS, _LANGUAGE_MODEL = "beats.", "llama_model.base_model.model."
# The weights of a language model that may be one and the same.
_TIED = ("lm_head.weight", "model.embed_tokens.weight")
_QFORMER = "speech_Qformer."
_EXPECTED = "a checkpoint of SALMONN or FUTGA"
_log = logging.getLogger(__name__)


def load_bridge(
    file: Path, model: nn.Module, speech: int | None = None, sound: int | None = None, *, beats: Beats | None = None
) -> Bridge:
    """Load a checkpoint of the authors into a bridge and a language model; no code is read from it.

    Args:
        file: Such as `salmonn_7b_v0.pth`, `salmonn_v1.pth` or FUTGA's `salomnn_7b.bin`.
        model: The LlamaForCausalLM whose weights it changes.
        speech: Features of a frame of Whisper's encoder; None for those that the checkpoint was trained with.
        sound: The same of BEATs.
        beats: The BEATs that the copies in the file are compared with; None to compare them with each other.

    Returns:
        The bridge in evaluation mode, on the CPU, in float32.

    Raises:
        UserError: It cannot be read, parameters are missing or left over, or have other shapes than the parts around
            them ask for, or the language model's weights are not in memory. They are unchanged then.
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
            "--device-map: leaves weights of Vicuna outside the GPUs, where nothing can be added to them; "
            "expected GPUs that hold all of it"
        )
    bridge.load_state_dict({name: tensors[key].float() for key, name in ours.items()})
    for key, linear in changed.items():
        _merge(linear, tensors[f"{key}.lora_A.weight"], tensors[f"{key}.lora_B.weight"])
    return bridge.float().eval()


def load_whisper_encoder(folder: Path) -> Any:
    """Load the encoder of a Whisper checkpoint; the decoder's weights are left out.

    Args:
        folder: As `save_pretrained` writes it, or a snapshot of a Hub repository such as openai/whisper-large-v2.

    Returns:
        transformers' WhisperEncoder in evaluation mode, on the CPU, in float32.

    Raises:
        UserError: Weights of the encoder are missing or left over, or have other shapes than its configuration says, or
            there is no Whisper in the folder.
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
        f"{key} has shape {tuple(found)}, expected {tuple(wanted)}" for key, found, wanted in info["mismatched_keys"]
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
    for given, value in content.items():
        key = re.sub(r"\.lora_([AB])\.default\.", r".lora_\1.", _PREFIXES.sub("", str(given)))
        if key in tensors:
            raise UserError(f"--weights {file}: holds {key} under two names, expected one; which is right is unknown")
        if not UNUSED.fullmatch(key):
            tensors[key] = value
    return tensors


def _without_copies(
    file: Path, tensors: Mapping[str, Tensor], model: nn.Module, beats: Beats | None
) -> dict[str, Tensor]:
    """Leave out copies of shared frozen weights, and warn where they are not copies of what is in memory."""
    tables = {key: value for key, value in tensors.items() if _is_table(key)}
    if tables:
        own = None if beats is None else next(v for name, v in beats.state_dict().items() if TABLE.fullmatch(name))
        first, which = (next(iter(tables.values())), "first") if own is None else (own, "table of --beats")
        others = differing(tables, first)
        if others:
            _log.warning(
                "--weights %s: %d of the %d copies of BEATs' table of distances differ from the %s, which is used (%s)"
                "; name the BEATs that the checkpoint was trained with", file, len(others), len(tables), which,
                some(others, 2),
            )  # fmt: skip
    tied = {f"{_LANGUAGE_MODEL}{name}": name for name in _TIED}
    heads = {key: tensors[key] for key in tied if key in tensors}
    for key, value in heads.items():
        own = model.get_parameter(tied[key])
        # The authors' code appends a row to the embeddings, for padding.
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
    """What the authors call a parameter of `Bridge`; their Q-Former is a BERT with a branch for queries."""
    if not name.startswith(_QFORMER):
        return name
    inner = name.removeprefix(_QFORMER).replace("attention.attention.", "attention.self.")
    return f"{_QFORMER}bert.{re.sub('^layernorm', 'embeddings.LayerNorm', inner)}"


def _changed(model: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """The maps of a language model that LoRA changes, by their place in a checkpoint."""
    for name, module in model.named_modules():
        if name.endswith(("self_attn.q_proj", "self_attn.v_proj")) and isinstance(module, nn.Linear):
            yield f"llama_model.base_model.model.{name}", module


def _size(tensors: Mapping[str, Tensor], key: str, default: int) -> int:
    """Length of the last axis of a tensor, or that of the published one where it is missing or a single number."""
    return tensors[key].shape[-1] if key in tensors and tensors[key].ndim else default


def _compare(file: Path, tensors: Mapping[str, Tensor], expected: Mapping[str, tuple[int, ...]]) -> None:
    missing, unexpected = expected.keys() - tensors.keys(), tensors.keys() - expected.keys()
    comparable = {} if missing else expected  # a key that is missing may leave the sizes of others open
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
    """Add a low-rank change to a weight, in float32 whatever the weight's type is."""
    weight = linear.weight
    change = (ALPHA / RANK) * up.float() @ down.float()
    weight.copy_((weight.float() + change.to(weight.device)).to(weight.dtype))
