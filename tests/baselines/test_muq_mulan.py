"""MuQ-MuLan against a package of the same name and the same calls; the real weights are not to be had in tests."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.audio_text.checkpoints import Checkpoint, find_checkpoint
from baselines.launch import build_system
from baselines.system import Context
from baselines.systems.muq_mulan import MuqMulan, MuqMulanEncoder, _restore_outputs_of_version_4
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines.tiny_models import tiny_tokenizer
from tests.baselines.tiny_towers import MODALITIES, few_threads, noise, run_on_few

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

# What `muq` 0.1.0 does as far as callers see it: one of two arguments, rows of length 1, texts that are padded to the
# longest of the batch and averaged with their padding, and text models that fail beyond 512 tokens.
STUB = """
import torch
from torch import nn
from transformers import AutoTokenizer


class Text(nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.embedding = nn.Embedding(400, 24)

    def forward(self, texts):
        ids = self.tokenizer(texts, return_tensors="pt", padding=True)["input_ids"]
        if ids.shape[1] > 512:
            raise IndexError("index out of range in self")
        return self.embedding(ids).mean(-2)


class Mulan(nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.text = Text(folder)


class MuQMuLan(nn.Module):
    def __init__(self, folder):
        super().__init__()
        torch.manual_seed(0)
        self.mulan = Mulan(folder)
        self.audio = nn.Linear(64, 24)
        self.seen = []

    @classmethod
    def from_pretrained(cls, folder):
        print("Loading weights from local directory")
        return cls(folder)

    @property
    def mulan_module(self):
        return self.mulan

    def forward(self, wavs=None, texts=None, *, parallel_processing=False):
        assert (wavs is None) != (texts is None), "Please provide either wavs or texts, but not both"
        assert not self.training
        if texts is not None:
            found = self.mulan.text(texts)
        else:
            assert wavs.ndim == 2 and wavs.dtype == torch.float32
            self.seen.append(tuple(wavs.shape))
            spectrum = torch.fft.rfft(wavs).abs()
            found = self.audio(nn.functional.adaptive_avg_pool1d(spectrum, 64))
        return nn.functional.normalize(found, dim=-1)
"""
TEXTS = ["Slow", "a longer name, of a dozen tokens or so, and then some more", "ノストス"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of weights, and the package that takes it."""
    (tmp_path / "packages/muq").mkdir(parents=True)
    (tmp_path / "packages/muq/__init__.py").write_text(STUB)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delitem(sys.modules, "muq", raising=False)
    tiny_tokenizer().save_pretrained(tmp_path / "weights")
    (tmp_path / "weights/config.json").write_text("{}")
    (tmp_path / "weights/model.safetensors").write_bytes(b"")
    yield tmp_path / "weights"
    sys.modules.pop("muq", None)


def encoder(folder: Path) -> MuqMulanEncoder:
    return MuqMulanEncoder(find_checkpoint(str(folder)), Context(modality="audio_query"))


def test_each_text_goes_through_the_model_alone(folder: Path) -> None:
    """The package takes the mean over padding, too: in a batch a short text would get another vector."""
    model = encoder(folder)
    alone = [model.embed_text([text])[0] for text in TEXTS]
    assert np.array_equal(model.embed_text(TEXTS), alone)
    with torch.inference_mode():
        assert not np.allclose(model._model(texts=TEXTS).numpy(), alone)


def test_texts_are_cut_before_the_model_fails(folder: Path) -> None:
    """More than 512 tokens are too many for it; what follows them changes nothing."""
    model = encoder(folder)
    found = model.embed_text(["\n" * 510, "\n" * 510 + "more"])
    assert np.array_equal(found[0], found[1])


def test_windows_come_in_batches_of_one_length_at_24_khz(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a tensor of float32; what the package prints goes where messages go."""
    model = encoder(folder)
    windows = [noise(0.2, model.sampling_rate, seed) for seed in range(3)]
    together = model.embed_audio(windows)
    assert model.sampling_rate == 24_000
    assert model._model.seen == [(3, 4800)]
    assert np.allclose(together, [model.embed_audio([window])[0] for window in windows], atol=1e-5)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("modality", MODALITIES)
def test_it_runs(modality: Modality, folder: Path, tmp_path: Path) -> None:
    """Every thread is answered with its pool, and the card has the licence of the weights."""
    result = run_on_few("muq_mulan", modality, tmp_path, "--weights", str(folder))
    for thread, prediction in zip(few_threads(), result.predictions, strict=True):
        assert prediction.outcome in (None, "ok")
        assert Counter(prediction.ranking) == Counter(thread.candidates)
    assert result.card.licence == "CC-BY-NC-4.0"


@pytest.mark.skipif(find_spec("muq") is not None, reason="muq is installed")
def test_without_the_package(tmp_path: Path) -> None:
    """One line that names it, from the command line and from Python."""
    with pytest.raises(UserError, match="muq_mulan needs muq"):
        build_system("muq_mulan", "audio_only", [])
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(UserError, match=r"needs the package muq .*pip install 'muq>=0\.1,<0\.2'"):
        encoder(tmp_path).embed_text(["a"])


def test_its_licence_is_shown() -> None:
    """The weights are not for everyone, and the declaration says so."""
    assert MuqMulan.declaration.licence == "CC-BY-NC-4.0"
    assert "non-commercial" in MuqMulan.declaration.note


@pytest.mark.parametrize(
    ("weights", "expected"),
    [("OpenMuQ/MuQ-MuLan-large@main", ("OpenMuQ/MuQ-MuLan-large", "CC-BY-NC-4.0")), ("a/b@main", ("a/b", None))],
)
def test_the_card_names_the_model(
    weights: str, expected: tuple[str, str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one of the Hub is not passed off as the published one, nor its licence."""
    monkeypatch.setattr("baselines.audio_text.dual.find_checkpoint", lambda _: Checkpoint(tmp_path, "made up"))
    declared = MuqMulan(MuqMulan.Options(weights=weights), Context(modality="query_only")).declaration
    assert (declared.model_id, declared.licence) == expected


class Settings(dict[str, Any]):
    """A dictionary whose values are attributes, too, as muq configures layers of transformers."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__


def test_layers_of_transformers_give_what_muq_asks_for() -> None:
    """The states before each layer and after the last, in every call, as the layers run by hand have them."""
    from transformers.models.wav2vec2_conformer.modeling_wav2vec2_conformer import Wav2Vec2ConformerEncoder

    config = transformers.Wav2Vec2ConformerConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2, position_embeddings_type="rotary",
    )  # fmt: skip
    torch.manual_seed(0)
    encoder = Wav2Vec2ConformerEncoder(Settings(config.to_dict())).eval()
    _restore_outputs_of_version_4(encoder)
    for n in (7, 5):
        x = torch.randn(2, n, 16)
        with torch.inference_mode():
            found = encoder(x, output_hidden_states=True)["hidden_states"]
            expected, positions = [x], encoder.embed_positions(x)
            for layer in encoder.layers:
                output = layer(expected[-1], relative_position_embeddings=positions)
                expected.append(output[0] if isinstance(output, tuple) else output)
            expected[-1] = encoder.layer_norm(expected[-1])
        assert len(found) == 3
        assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(found, expected, strict=True))
