"""SALMONN's bridge against the formulas of BERT and LoRA written out, and its checkpoints in the authors' layouts."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from musicrs_metric.errors import UserError
from tests.baselines.tiny_towers import noise

torch = pytest.importorskip("torch")
pytest.importorskip("torchaudio")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from baselines.vendored.beats import load_beats  # noqa: E402
from baselines.vendored.salmonn import TOKENS, WINDOW, Bridge, SalmonnAudioEncoder, Sizes  # noqa: E402
from baselines.vendored.salmonn_checkpoint import load_bridge, load_whisper_encoder  # noqa: E402
from tests.baselines.tiny_beats import tiny_beats  # noqa: E402
from tests.baselines.tiny_salmonn import (  # noqa: E402
    MODEL,
    SOUND,
    SPEECH,
    Flavour,
    Parts,
    Tensors,
    draw,
    save_checkpoint,
    save_parts,
    shapes,
)

BERT = "speech_Qformer.bert"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """The four parts of a tiny SALMONN."""
    return save_parts(tmp_path_factory.mktemp("salmonn"))


def vicuna(parts: Parts) -> Any:
    return transformers.LlamaForCausalLM.from_pretrained(parts.vicuna, dtype=torch.float32).eval()


def bridge(file: Path, model: Any) -> Bridge:
    return load_bridge(file, model, SPEECH, SOUND)


def linear(tensors: Tensors, name: str, x: Any) -> Any:
    return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def norm(tensors: Tensors, name: str, x: Any, eps: float) -> Any:
    scaled = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + eps).sqrt()
    return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def attend(tensors: Tensors, name: str, x: Any, given: Any) -> Any:
    """Attention in loops, with 64 numbers per head, and the residual that follows it."""
    query = linear(tensors, f"{name}.self.query", x)
    key, value = linear(tensors, f"{name}.self.key", given), linear(tensors, f"{name}.self.value", given)
    mixed = torch.zeros_like(query)
    for start in range(0, query.shape[-1], 64):
        head = slice(start, start + 64)
        for i in range(len(x)):
            weights = torch.stack([query[i, head] @ key[j, head] / math.sqrt(64) for j in range(len(given))]).softmax(0)
            mixed[i, head] = sum(weight * value[j, head] for j, weight in enumerate(weights))
    return norm(tensors, f"{name}.output.LayerNorm", linear(tensors, f"{name}.output.dense", mixed) + x, 1e-12)


def answer(tensors: Tensors, window: Any) -> Any:
    """What a Q-Former of two layers makes of one window."""
    x = norm(tensors, f"{BERT}.embeddings.LayerNorm", tensors["speech_query_tokens"][0], 1e-12)
    for layer in (f"{BERT}.encoder.layer.{i}" for i in range(2)):
        x = attend(tensors, f"{layer}.attention", x, x)
        x = attend(tensors, f"{layer}.crossattention", x, window)
        inner = linear(tensors, f"{layer}.intermediate_query.dense", x)
        inner = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
        x = norm(
            tensors, f"{layer}.output_query.LayerNorm", linear(tensors, f"{layer}.output_query.dense", inner) + x, 1e-12
        )
    return linear(tensors, "speech_llama_proj", x)[0]


def tokens(tensors: Tensors, speech: Any, sound: Any) -> Any:
    """Both encoders' frames to tokens: one wave, in double precision."""
    tensors = {key: value.double() for key, value in tensors.items()}
    frames = torch.zeros(max(len(speech), len(sound)), SPEECH + SOUND).double()
    frames[: len(speech), :SPEECH] = norm(tensors, "ln_speech", speech.double(), 1e-5)
    frames[: len(sound), SPEECH:] = norm(tensors, "ln_audio", sound.double(), 1e-5)
    return torch.stack([answer(tensors, frames[i * 17 : i * 17 + 17]) for i in range(len(frames) // 17)])


@pytest.mark.parametrize("flavour", ["salmonn", "futga"])
@pytest.mark.parametrize(("speech_frames", "sound_frames"), [(40, 24), (34, 50)])
def test_the_bridge_is_a_bert_with_a_branch_for_queries(
    flavour: Flavour, speech_frames: int, sound_frames: int, parts: Parts, tmp_path: Path
) -> None:
    """Loaded by the authors' names and compared with BERT in loops; zeros fill up the shorter, 17 frames a window."""
    tensors = draw(flavour, seed=3)
    if flavour == "futga":  # its file has 16 bits
        tensors = {key: value.bfloat16().float() for key, value in tensors.items()}
    model = bridge(save_checkpoint(tmp_path / "bridge", flavour, tensors), vicuna(parts))
    rng = torch.Generator().manual_seed(1)
    speech = torch.randn(2, speech_frames, SPEECH, generator=rng)
    sound = torch.randn(2, sound_frames, SOUND, generator=rng)
    with torch.inference_mode():
        found = model.double()(speech.double(), sound.double())
    assert found.shape == (2, max(speech_frames, sound_frames) // 17, MODEL)
    for row in range(2):
        assert torch.allclose(found[row], tokens(tensors, speech[row], sound[row]), atol=1e-9)


def test_parameters_have_the_published_sizes() -> None:
    """Trained parameters without LoRA, as the sizes of the published checkpoints imply: 7B and 13B."""
    with torch.device("meta"):
        seven, thirteen = Bridge(Sizes()), Bridge(Sizes(model=5120))
    lora_seven = 32 * 2 * 8 * (4096 + 4096)
    lora_thirteen = 40 * 2 * 8 * (5120 + 5120)
    assert sum(p.numel() for p in seven.parameters()) + lora_seven == 30_186_240
    assert sum(p.numel() for p in thirteen.parameters()) + lora_thirteen == 33_332_992


@pytest.mark.parametrize("seconds", [0.1, 1.0, 7.3, 30.0])
def test_any_sound_is_88_tokens(seconds: float, parts: Parts) -> None:
    """Whisper's encoder of the library and BEATs alone, on what is followed by silence up to 1 s, then the formulas."""
    wave = noise(seconds, 16_000)
    extractor = transformers.WhisperFeatureExtractor.from_pretrained(parts.whisper)
    whisper = transformers.WhisperForConditionalGeneration.from_pretrained(parts.whisper).model.encoder.eval()
    limits = SalmonnAudioEncoder(
        extractor, load_whisper_encoder(parts.whisper), load_beats(parts.beats), bridge(parts.weights, vicuna(parts))
    )
    used_audio = np.pad(wave, (0, max(0, 16_000 - len(wave))))
    with torch.inference_mode():
        speech = whisper(extractor(used_audio, sampling_rate=16_000, return_tensors="pt").input_features)
        sound = tiny_beats()(torch.from_numpy(used_audio)[None])
        found = limits(wave)
    assert found.shape == (88, MODEL)
    frames = speech.last_hidden_state[0]
    assert (len(frames), TOKENS, WINDOW) == (1500, 88, 17)
    expected = tokens(draw(), frames[: 3 * 17], sound[0, : 3 * 17])  # three windows suffice; the loops are slow
    assert torch.allclose(found[:3].double(), expected, atol=1e-3)


def test_more_than_30_seconds_are_refused(parts: Parts) -> None:
    """Whisper would silently drop the rest."""
    limits = SalmonnAudioEncoder(
        transformers.WhisperFeatureExtractor(), load_whisper_encoder(parts.whisper), tiny_beats(),
        bridge(parts.weights, vicuna(parts)),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"30\.1 s of audio, expected at most 30 s"):
        limits(noise(30.1, 16_000))


@pytest.mark.parametrize("flavour", ["salmonn", "futga"])
def test_merged_maps_compute_what_adapters_do(flavour: Flavour, parts: Parts, tmp_path: Path) -> None:
    """LoRA in the forward pass, W x + 32/8 B (A x) at the query and value maps, against weights that were changed."""
    tensors = draw(flavour, seed=5)
    if flavour == "futga":
        tensors = {key: value.bfloat16().float() for key, value in tensors.items()}
    merged, plain = vicuna(parts), vicuna(parts)
    bridge(save_checkpoint(tmp_path / "bridge", flavour, tensors), merged)

    def adapted(key: str) -> Any:
        down, up = tensors[f"{key}.lora_A.weight"], tensors[f"{key}.lora_B.weight"]
        return lambda _, given, output: output + 32 / 8 * (given[0] @ down.T) @ up.T

    ids = torch.tensor([[1, 50, 60, 70, 80]])
    with torch.inference_mode():
        before = plain(ids).logits
        for i, layer in enumerate(plain.model.layers):
            for name in ("q_proj", "v_proj"):
                key = f"llama_model.base_model.model.model.layers.{i}.self_attn.{name}"
                layer.self_attn.get_submodule(name).register_forward_hook(adapted(key))
        expected, found = plain(ids).logits, merged(ids).logits
    assert torch.allclose(found, expected, atol=1e-4)
    assert (before - expected).abs().max() > 0.1


def test_what_is_merged_into_16_bits_is_added_in_32(parts: Parts) -> None:
    """The sum is rounded once."""
    narrow = transformers.LlamaForCausalLM.from_pretrained(parts.vicuna, dtype=torch.bfloat16)
    before = {name: value.clone() for name, value in narrow.state_dict().items()}
    bridge(parts.weights, narrow)
    tensors, name = draw(), "model.layers.1.self_attn.v_proj"
    key = f"llama_model.base_model.model.{name}.lora_"
    change = 4 * tensors[f"{key}B.weight"] @ tensors[f"{key}A.weight"]
    after = narrow.state_dict()
    assert torch.equal(after[f"{name}.weight"], (before[f"{name}.weight"].float() + change).bfloat16())
    unchanged = [name for name in after if not name.endswith(("q_proj.weight", "v_proj.weight"))]
    assert all(torch.equal(after[name], before[name]) for name in unchanged)


def test_what_is_not_in_memory_cannot_be_changed(parts: Parts) -> None:
    """Weights that accelerate keeps on a disk would silently stay as they were."""
    with torch.device("meta"):
        absent = transformers.LlamaForCausalLM(transformers.LlamaConfig.from_pretrained(parts.vicuna))
    with pytest.raises(UserError, match="--device-map: leaves weights of Vicuna outside the GPUs"):
        bridge(parts.weights, absent)


# What may be absent or present without any effect: buffers, and the text branch.
IDLE = {key for key in shapes("salmonn") if key.endswith(("position_ids", "inv_freq"))} | (
    shapes("futga").keys() - shapes("salmonn").keys()
)


def test_every_key_that_is_missing_is_named(parts: Parts, tmp_path: Path) -> None:
    """One alone, and the others five at a time, as many as a message names."""
    file, model, tensors = tmp_path / "bridge", vicuna(parts), draw()
    keys = sorted(tensors.keys() - IDLE)
    for missing in [keys[:1], *(keys[start : start + 5] for start in range(1, len(keys), 5))]:
        save_checkpoint(file, tensors={name: value for name, value in tensors.items() if name not in missing})
        with pytest.raises(UserError) as caught:
            bridge(file, model)
        assert str(caught.value).endswith(f": missing {', '.join(missing)}")


@pytest.mark.parametrize("flavour", ["salmonn", "futga"])
def test_what_is_not_used_may_be_absent(flavour: Flavour, parts: Parts, tmp_path: Path) -> None:
    """Buffers and the text branch: with and without them, the same."""
    tensors, found = draw(flavour), []
    for i, kept in enumerate((tensors, {key: value for key, value in tensors.items() if key not in IDLE})):
        model = bridge(save_checkpoint(tmp_path / str(i), flavour, kept), vicuna(parts))
        found.append(model.state_dict())
    assert all(torch.equal(value, found[1][name]) for name, value in found[0].items())


@pytest.mark.parametrize(
    "key",
    [
        "ln_video.weight",
        f"{BERT}.encoder.layer.2.attention.self.query.weight",
        f"{BERT}.encoder.layer.0.crossattention.self.gate.weight",
        "llama_model.base_model.model.model.layers.2.self_attn.q_proj.lora_A.weight",
        "llama_model.base_model.model.model.layers.0.self_attn.k_proj.lora_A.weight",
        "speech_encoder.conv1.weight",
        "beats.layer_norm.weight",
        "beats.encoder.layers.12.self_attn.relative_attention_bias.weight",
        "beats.encoder.layers.1.self_attn.grep_a",
        "llama_model.base_model.model.model.norm.weight",
    ],
)
def test_a_key_too_many_is_named(key: str, parts: Parts, tmp_path: Path) -> None:
    """An unknown module, a layer or an adapter beyond the last, an encoder of another training."""
    file = save_checkpoint(tmp_path / "bridge", tensors=draw() | {key: torch.zeros(2)})
    with pytest.raises(UserError) as caught:
        bridge(file, vicuna(parts))
    assert str(caught.value).startswith(f"--weights {file}: does not fit")
    assert str(caught.value).endswith(f": unexpected {key}")


def table_of(layer: int) -> str:
    return f"beats.encoder.layers.{layer}.self_attn.relative_attention_bias.weight"


def state(model: Any, parts: Parts, file: Path, **arguments: Any) -> dict[str, Any]:
    """What a checkpoint makes of a bridge and a Vicuna."""
    found = load_bridge(file, model, SPEECH, SOUND, **arguments)
    return found.state_dict() | {f"vicuna.{name}": value for name, value in model.state_dict().items()}


def test_the_authors_list_of_keys_loads(cases: Path, tmp_path: Path) -> None:
    """A file with the keys and shapes that the authors' runner wrote: every tensor is used or known to be idle."""
    listed = (cases.parent / "reference" / "salmonn_checkpoint_keys.txt").read_text().splitlines()
    sizes = {key: tuple(map(int, re.findall(r"[0-9]+", shape))) for key, _, shape in (s.partition(" ") for s in listed)}
    rng = torch.Generator().manual_seed(0)
    tensors = {key: torch.randn(size, generator=rng) for key, size in sizes.items()}
    tensors[table_of(2)] = tensors[table_of(1)]
    config = transformers.LlamaConfig(  # lora_A (8, 64) of three layers
        vocab_size=10, hidden_size=64, intermediate_size=8, num_hidden_layers=3, num_attention_heads=4
    )
    file = tmp_path / "salmonn.pth"
    torch.save({"model": tensors, "optimizer": {}, "scaler": None, "epoch": 29, "config": {}}, file)
    model = transformers.LlamaForCausalLM(config)
    before = model.model.layers[2].self_attn.v_proj.weight.detach().clone()
    found = load_bridge(file, model, 64, 96)
    assert torch.equal(found.speech_query_tokens, tensors["speech_query_tokens"])
    lora = "llama_model.base_model.model.model.layers.2.self_attn.v_proj.lora"
    change = 4 * tensors[f"{lora}_B.default.weight"] @ tensors[f"{lora}_A.default.weight"]
    assert torch.allclose(model.model.layers[2].self_attn.v_proj.weight, before + change, atol=1e-4)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("flavour", ["salmonn", "futga"])
def test_copies_of_the_shared_table_change_nothing(
    flavour: Flavour, kind: Any, parts: Parts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Case H14: eleven layers of BEATs, equal to its own table in the precision of the file, bring no message."""
    beats = load_beats(parts.beats)
    own = beats.state_dict()[table_of(0).removeprefix("beats.")]
    tensors = draw(flavour)
    copies = {table_of(layer): own.to(kind) for layer in range(1, 12)}
    plain = state(vicuna(parts), parts, save_checkpoint(tmp_path / "plain", flavour, tensors))
    for arguments in ({}, {"beats": beats}):
        file = save_checkpoint(tmp_path / "copies", flavour, tensors | copies)
        found = state(vicuna(parts), parts, file, **arguments)
        assert all(torch.equal(value, plain[name]) for name, value in found.items())
    assert caplog.messages == []


def test_copies_that_are_none_are_told(parts: Parts, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """All eleven differ from BEATs in memory, one differs from the first of them: another BEATs, or a damaged file."""
    beats = load_beats(parts.beats)
    own = beats.state_dict()[table_of(0).removeprefix("beats.")]
    copies = {table_of(layer): own.clone() for layer in range(1, 12)}
    other = {key: value + 1e-3 for key, value in copies.items()}
    for tables, arguments, expected in (
        (other, {"beats": beats}, "11 of the 11 copies of BEATs' table of distances differ from the table of --beats"),
        (copies | {table_of(7): own + 1e-3}, {}, "1 of the 11 copies of BEATs' table of distances differ from the fir"),
        (copies | {table_of(7): own[:5]}, {"beats": beats}, f"({table_of(7)}); name the BEATs of the training"),
    ):
        caplog.clear()
        load_bridge(save_checkpoint(tmp_path / "f", tensors=draw() | tables), vicuna(parts), SPEECH, SOUND, **arguments)
        (message,) = caplog.messages
        assert expected in message


def test_a_head_tied_to_the_embeddings_is_a_copy(
    parts: Parts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Equal to that of the language model, except for the row that the authors append. Another one is reported."""
    key = "llama_model.base_model.model.lm_head.weight"
    own = vicuna(parts).lm_head.weight.detach()
    longer = torch.cat([own, torch.zeros(1, MODEL)]).half()
    bridge(save_checkpoint(tmp_path / "a", tensors=draw() | {key: longer}), vicuna(parts))
    assert caplog.messages == []
    bridge(save_checkpoint(tmp_path / "b", tensors=draw() | {key: longer + 1}), vicuna(parts))
    assert f"{key} differs from that of --vicuna, which is used" in caplog.text


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "model."])
@pytest.mark.parametrize("wrapper", [None, "model", "state_dict", "module"])
def test_wrapped_checkpoints_are_the_same(prefix: str, wrapper: str | None, parts: Parts, tmp_path: Path) -> None:
    """As several processes, a compiler or a trainer write them."""
    tensors = {f"{prefix}{key}": value for key, value in draw().items()}
    torch.save(tensors if wrapper is None else {wrapper: tensors, "epoch": 3}, tmp_path / "wrapped")
    plain = state(vicuna(parts), parts, parts.weights)
    found = state(vicuna(parts), parts, tmp_path / "wrapped")
    assert all(torch.equal(value, plain[name]) for name, value in found.items())


def test_one_weight_under_two_names_is_refused(parts: Parts, tmp_path: Path) -> None:
    """With and without the prefix: which of them was trained is unknown."""
    file = save_checkpoint(tmp_path / "f", tensors=draw() | {"module.ln_audio.bias": torch.zeros(SOUND)})
    with pytest.raises(UserError, match=r"holds ln_audio\.bias under two names"):
        bridge(file, vicuna(parts))


@pytest.mark.parametrize("value", [torch.full((SOUND,), math.nan), torch.zeros(SOUND, dtype=torch.int8)])
def test_weights_that_are_no_numbers_are_refused(value: Any, parts: Parts, tmp_path: Path) -> None:
    """A training run that diverged, and integers whose scale is stored elsewhere."""
    with pytest.raises(UserError, match=r"ln_audio\.bias holds torch\.\w+ or a number that is not finite"):
        bridge(save_checkpoint(tmp_path / "f", tensors=draw() | {"ln_audio.bias": value}), vicuna(parts))


@pytest.mark.parametrize(
    ("key", "found", "wanted"),
    [
        ("ln_audio.weight", (768,), (16,)),
        ("speech_llama_proj.weight", (5120, 128), (32, 128)),
        (f"{BERT}.encoder.layer.1.crossattention.self.key.weight", (128, 2048), (128, 32)),
        ("speech_query_tokens", (1, 2, 128), (1, 1, 128)),
        ("llama_model.base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight", (16, 32), (8, 32)),
    ],
)
def test_a_shape_that_does_not_fit_is_told_with_the_one_that_would(
    key: str, found: tuple[int, ...], wanted: tuple[int, ...], parts: Parts, tmp_path: Path
) -> None:
    """Another BEATs, another Vicuna, another Whisper, two questions a window, another rank."""
    file, model = save_checkpoint(tmp_path / "bridge", tensors=draw() | {key: torch.zeros(found)}), vicuna(parts)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(UserError) as caught:
        bridge(file, model)
    assert f"{key} has shape {found}, expected {wanted}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_q_former_that_is_no_bert_is_refused(parts: Parts, tmp_path: Path) -> None:
    """Its heads have 64 numbers each."""
    file = save_checkpoint(tmp_path / "bridge", tensors=draw() | {"speech_query_tokens": torch.zeros(1, 1, 200)})
    with pytest.raises(UserError, match="its Q-Former has 200 features, expected a multiple of 64"):
        bridge(file, vicuna(parts))


def test_what_is_no_checkpoint_is_refused(parts: Parts, tmp_path: Path) -> None:
    """No file, no archive, an archive of something else, and code in place of tensors."""
    file, model = tmp_path / "bridge.pth", vicuna(parts)
    with pytest.raises(UserError, match=r"cannot be read \(No such file"):
        bridge(file, model)
    file.write_bytes(b"no archive")
    with pytest.raises(UserError, match="cannot be read"):
        bridge(file, model)
    for content in ([torch.zeros(1)], {"model": {"epoch": 3}}, {"cfg": {}, "weights": torch.zeros(1)}):
        torch.save(content, file)
        with pytest.raises(UserError, match="expected a checkpoint of SALMONN or FUTGA: a dictionary of tensors"):
            bridge(file, model)
    with file.open("wb") as stream:
        pickle.dump({"model": print}, stream, protocol=2)
    with pytest.raises(UserError, match="cannot be read"):
        bridge(file, model)


def test_of_whisper_only_the_encoder_is_loaded(parts: Parts, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same states as the whole model's encoder, also from a bare model's file, and no report of the decoder's."""
    whole = transformers.WhisperForConditionalGeneration.from_pretrained(parts.whisper).eval()
    whole.model.save_pretrained(tmp_path / "bare")
    mel = torch.randn(1, 80, 3000, generator=torch.Generator().manual_seed(0))
    capfd.readouterr()
    for folder in (parts.whisper, tmp_path / "bare"):
        encoder = load_whisper_encoder(folder)
        assert not any("decoder" in name for name, _ in encoder.named_parameters())
        with torch.inference_mode():
            assert torch.equal(encoder(mel).last_hidden_state, whole.model.encoder(mel).last_hidden_state)
    assert "UNEXPECTED" not in "".join(capfd.readouterr())


def test_a_whisper_with_other_weights_is_refused(parts: Parts, tmp_path: Path) -> None:
    """A weight of the encoder missing, one too many, and one of another size: all three in one line."""
    whole = transformers.WhisperForConditionalGeneration.from_pretrained(parts.whisper)
    whole.config.save_pretrained(tmp_path)
    weights = whole.state_dict()
    del weights["model.encoder.layers.0.fc1.bias"]
    weights |= {"model.encoder.gate": torch.zeros(1), "model.encoder.layers.0.fc2.weight": torch.zeros(3, 3)}
    torch.save(weights, tmp_path / "pytorch_model.bin")
    with pytest.raises(UserError) as caught:
        load_whisper_encoder(tmp_path)
    assert str(caught.value).endswith(
        "missing layers.0.fc1.bias; unexpected gate; layers.0.fc2.weight has shape (3, 3), expected (16, 16)"
    )
