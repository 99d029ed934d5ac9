"""BEATs against the formulas of its papers, written out or as other libraries have them."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from musicrs_metric.errors import UserError

torch = pytest.importorskip("torch")
pytest.importorskip("torchaudio")

from baselines.vendored.beats import (  # noqa: E402
    Attention,
    Beats,
    BeatsConfig,
    Layer,
    PositionConv,
    distance_bucket,
    fbank,
    load_beats,
)
from tests.baselines.tiny_beats import TINY, save_beats, tiny_beats  # noqa: E402

# The names in the authors' checkpoints, by module.
OUTSIDE_LAYERS = {
    "patch_embedding": ["weight"],
    "layer_norm": ["weight", "bias"],
    "post_extract_proj": ["weight", "bias"],
    "encoder.pos_conv.0": ["weight_g", "weight_v", "bias"],
    "encoder.layer_norm": ["weight", "bias"],
}
OF_A_LAYER = {
    "self_attn.relative_attention_bias": ["weight"],
    "self_attn.k_proj": ["weight", "bias"],
    "self_attn.v_proj": ["weight", "bias"],
    "self_attn.q_proj": ["weight", "bias"],
    "self_attn.out_proj": ["weight", "bias"],
    "self_attn.grep_linear": ["weight", "bias"],
    "self_attn": ["grep_a"],
    "self_attn_layer_norm": ["weight", "bias"],
    "fc1": ["weight", "bias"],
    "fc2": ["weight", "bias"],
    "final_layer_norm": ["weight", "bias"],
}


def noise(seconds: float, n: int = 1, seed: int = 0) -> Any:
    return torch.randn(n, round(16_000 * seconds), generator=torch.Generator().manual_seed(seed)) * 0.1


def test_parameters_are_named_as_in_the_published_checkpoints() -> None:
    """Every name, no more and no fewer, with the shapes of the published sizes."""
    with torch.device("meta"):
        parameters = Beats(BeatsConfig()).state_dict()
    layers = {f"encoder.layers.{i}.{module}": names for i in range(12) for module, names in OF_A_LAYER.items()}
    expected = {f"{module}.{name}" for module, names in (OUTSIDE_LAYERS | layers).items() for name in names}
    assert set(parameters) == expected
    shapes = {name: tuple(parameters[name].shape) for name in parameters}
    assert shapes["patch_embedding.weight"] == (512, 1, 16, 16)
    assert shapes["encoder.pos_conv.0.weight_v"] == (768, 48, 128)
    assert shapes["encoder.pos_conv.0.weight_g"] == (1, 1, 128)
    assert shapes["encoder.layers.11.self_attn.relative_attention_bias.weight"] == (320, 12)
    assert shapes["encoder.layers.0.self_attn.grep_linear.weight"] == (8, 64)
    assert shapes["encoder.layers.0.fc1.weight"] == (3072, 768)


def test_a_checkpoint_loads_without_its_classifier(tmp_path: Path) -> None:
    """What was saved under the authors' names computes the same; dropout and gradients are off."""
    loaded = load_beats(save_beats(tmp_path / "beats.pt"))
    wave = noise(0.5)
    with torch.inference_mode():
        assert torch.equal(loaded(wave), tiny_beats()(wave))
    assert not loaded.training


@pytest.mark.parametrize(("seconds", "patches"), [(0.175, 8), (1, 48), (10, 496), (30, 1496)])
def test_length_of_the_output(seconds: float, patches: int) -> None:
    """(samples - 400) / 160 + 1 frames, 16 to a patch, 8 patches above each other."""
    beats = tiny_beats()
    with torch.inference_mode():
        assert beats(noise(seconds)).shape == (1, patches, TINY.encoder_embed_dim)
    assert beats.n_patches(round(16_000 * seconds)) == patches


def test_less_than_a_patch_is_refused_in_words() -> None:
    """One sample less than 25 ms + 15 * 10 ms, alone or in a padded wave."""
    beats = tiny_beats()
    with pytest.raises(ValueError, match=r"0\.100 s of audio, expected at least 0\.175 s.*pad it with silence"):
        beats(noise(0.1))
    with pytest.raises(ValueError, match=r"expected at least 0\.175 s"):
        beats(noise(1, n=2), [16_000, 2799])
    assert beats(noise(1, n=2), [16_000, 2800]).shape == (2, 48, TINY.encoder_embed_dim)


def test_mel_bands_are_those_of_kaldi() -> None:
    """transformers has the same filter bank in numpy; here with mean and deviation of the authors applied."""
    from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

    wave = noise(0.4)
    filters = mel_filter_bank(257, 128, 20, 8000, 16_000, norm=None, mel_scale="kaldi", triangularize_in_mel_space=True)
    expected = spectrogram(
        wave[0].numpy() * 2**15,
        window_function(400, "povey", periodic=False),
        frame_length=400,
        hop_length=160,
        fft_length=512,
        power=2.0,
        center=False,
        preemphasis=0.97,
        mel_filters=filters,
        mel_floor=1.192092955078125e-07,
        log_mel="log",
        remove_dc_offset=True,
    ).T
    assert np.allclose(fbank(wave)[0], (expected - 15.41663) / (2 * 6.55582), atol=2e-4)


def test_distances_are_numbered_as_in_t5() -> None:
    """Every distance within 30 s of patches, and some sizes other than the published ones."""
    from transformers.models.t5.modeling_t5 import T5Attention

    distances = torch.arange(-1496, 1497)
    for buckets, farthest in [(320, 800), (32, 128), (8, 20)]:
        expected = T5Attention._relative_position_bucket(distances, True, buckets, farthest)
        assert torch.equal(distance_bucket(distances, buckets, farthest), expected)


def test_attention_with_gates_written_out() -> None:
    """r = d + u d + (1 - u) s g d for each query and key, with u, g = sigmoid of the query's two sums, in loops."""
    torch.manual_seed(1)
    heads, width, n = TINY.encoder_attention_heads, TINY.encoder_embed_dim, 5
    size = width // heads
    attention = Attention(TINY, torch.nn.Embedding(TINY.num_buckets, heads)).double()
    torch.nn.init.uniform_(attention.grep_a, 0.5, 2.0)
    x, distance_bias = torch.randn(1, n, width).double(), torch.randn(heads, n, n).double()
    padding = torch.tensor([[False, False, False, False, True]])

    query, key, value = attention.q_proj(x)[0], attention.k_proj(x)[0], attention.v_proj(x)[0]
    mixed = torch.zeros(n, width).double()
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        for i in range(n):
            sums = (attention.grep_linear.weight @ query[i, part] + attention.grep_linear.bias).reshape(2, 4).sum(1)
            gate, g = torch.sigmoid(sums)
            u, s = 1 - gate, attention.grep_a[0, head, 0, 0]
            scores = []
            for j in range(n - 1):  # the last key is padding
                d = distance_bias[head, i, j]
                r = d + u * d + (1 - u) * s * g * d
                scores.append(query[i, part] @ key[j, part] / math.sqrt(size) + r)
            weights = torch.stack(scores).softmax(0)
            mixed[i, part] = sum(weight * value[j, part] for j, weight in enumerate(weights))
    expected = attention.out_proj(mixed)
    assert torch.allclose(attention(x, distance_bias, padding)[0], expected, atol=1e-12)


def test_position_convolution_is_weight_normalised() -> None:
    """As torch's own weight normalisation over the taps, with the last of the frames that an even kernel adds cut."""
    torch.manual_seed(2)
    ours = PositionConv(TINY)
    torch.nn.init.uniform_(ours.weight_g, 0.5, 2.0)
    torch.nn.init.normal_(ours.bias)
    width, taps = TINY.encoder_embed_dim, TINY.conv_pos
    theirs = torch.nn.Conv1d(width, width, taps, padding=taps // 2, groups=TINY.conv_pos_groups)
    theirs = torch.nn.utils.parametrizations.weight_norm(theirs, dim=2)
    theirs.parametrizations.weight.original0.data = ours.weight_g.data
    theirs.parametrizations.weight.original1.data = ours.weight_v.data
    theirs.bias.data = ours.bias.data
    x = torch.randn(2, 11, width)
    expected = torch.nn.functional.gelu(theirs(x.transpose(1, 2))[..., :11]).transpose(1, 2)
    assert torch.allclose(ours(x), expected, atol=1e-6)


def test_a_layer_scales_what_it_adds_to() -> None:
    """DeepNorm: norm(alpha x + f(x)) with alpha = (2 layers)^(1/4); f is made a constant to see it."""
    layer = Layer(TINY, torch.nn.Embedding(TINY.num_buckets, TINY.encoder_attention_heads))
    torch.nn.init.zeros_(layer.self_attn.out_proj.weight)
    torch.nn.init.zeros_(layer.fc2.weight)
    attended, mapped = layer.self_attn.out_proj.bias, layer.fc2.bias
    x = torch.randn(1, 4, TINY.encoder_embed_dim)
    alpha = (2 * TINY.encoder_layers) ** 0.25

    def norm(y: Any) -> Any:
        return (y - y.mean(-1, keepdim=True)) / (y.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()

    expected = norm(alpha * norm(alpha * x + attended) + mapped)
    bias = torch.zeros(TINY.encoder_attention_heads, 4, 4)
    assert torch.allclose(layer(x, bias, None), expected, atol=1e-5)


def test_padding_changes_nothing() -> None:
    """A wave in a padded batch, its padding silent or not, has the patches it has alone, and zeros after them."""
    beats = tiny_beats()
    lengths = [16_000, 12_345, 2800]
    waves = noise(1, n=3)
    with torch.inference_mode():
        together = beats(waves, lengths)
        for row, length in enumerate(lengths):
            alone = beats(waves[row : row + 1, :length])[0]
            assert torch.allclose(together[row, : len(alone)], alone, atol=1e-5)
            assert not together[row, len(alone) :].any()
        assert torch.allclose(beats(waves), torch.cat([beats(wave[None]) for wave in waves]), atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"deep_norm": False}, "cfg has deep_norm false, expected true as in every"),
        ({"embed_dim": 12}, "does not fit BEATs: size mismatch for"),
        ({"encoder_layers": 3}, r"does not fit BEATs: Missing key.*encoder\.layers\.2\."),
        ({"encoder_layers": 1}, r"does not fit BEATs: Unexpected key.*encoder\.layers\.1\."),
    ],
)
def test_another_checkpoint_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Another recipe, other sizes, parameters missing or left over: one line that names the file."""
    with pytest.raises(UserError, match=message) as caught:
        load_beats(save_beats(tmp_path / "beats.pt", **changes))
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_the_table_of_distances_is_the_first_layers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file may hold it once, or once per layer. A table that differs from the first is reported and not used."""
    weights = tiny_beats().state_dict()
    first, second = (f"encoder.layers.{layer}.self_attn.relative_attention_bias.weight" for layer in range(2))
    once = {name: value for name, value in weights.items() if name != second}
    found = load_beats(save_beats(tmp_path / "once.pt", model=once)).state_dict()
    assert all(torch.equal(found[name], value) for name, value in weights.items())
    assert caplog.messages == []
    odd = save_beats(tmp_path / "odd.pt", model=weights | {second: weights[second] + 1})
    found = load_beats(odd).state_dict()
    assert torch.equal(found[first], weights[first])
    assert f"1 of 2 differ from the first layer's ({second}); the first is used" in caplog.text


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    """No file, no archive, an archive of something else, and code in place of tensors."""
    file = tmp_path / "beats.pt"
    with pytest.raises(UserError, match=r"cannot be read \(No such file"):
        load_beats(file)
    file.write_bytes(b"no archive")
    with pytest.raises(UserError, match="cannot be read"):
        load_beats(file)
    torch.save({"weights": torch.zeros(1)}, file)
    with pytest.raises(UserError, match="with 'cfg' and 'model', found weights"):
        load_beats(file)
    with file.open("wb") as stream:
        pickle.dump({"cfg": print}, stream)
    with pytest.raises(UserError, match="cannot be read"):
        load_beats(file)
