"""PE-Audio of random weights: what it computes against the model's own forward pass, and what it loads."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from baselines.audio_text.checkpoints import find_checkpoint
from baselines.launch import build_system
from baselines.system import Context
from baselines.systems.pe_audio import PeAudioEncoder
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines.tiny_towers import (
    MODALITIES,
    PE_AUDIO_RATE,
    few_threads,
    noise,
    pe_audio_config,
    run_on_few,
    save_pe_audio,
)

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
if not hasattr(transformers, "PeAudioModel"):
    pytest.skip("transformers has no PE-Audio before 5.0", allow_module_level=True)

TEXTS = ["Slow", "a longer name, of a dozen tokens or so, and then some more", "", "ノストス", "Slow dance"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of one vector per window."""
    return save_pe_audio(tmp_path_factory.mktemp("pe_audio"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the run over clips and queries embedded is there for the two others."""
    return tmp_path_factory.mktemp("cache")


def encoder(folder: Path) -> PeAudioEncoder:
    return PeAudioEncoder(find_checkpoint(str(folder)), Context(modality="audio_query"))


@pytest.mark.parametrize("frames", [False, True])
def test_vectors_are_those_of_the_forward_pass(frames: bool, tmp_path: Path) -> None:
    """Text and sound together through the library's own processor and model; a vector per frame becomes their mean."""
    folder = save_pe_audio(tmp_path, frames=frames)
    model = (
        (transformers.PeAudioFrameLevelModel if frames else transformers.PeAudioModel).from_pretrained(folder).eval()
    )
    processor = transformers.PeAudioProcessor.from_pretrained(folder)
    windows = [noise(1.3, PE_AUDIO_RATE, seed) for seed in range(2)]
    with torch.inference_mode():
        texts = processor(text=TEXTS, return_tensors="pt", padding=True)
        sound = processor(audio=windows, sampling_rate=PE_AUDIO_RATE, return_tensors="pt")
        found = model(**texts, **sound)
    used_audio = found.audio_embeds.mean(1) if frames else found.audio_embeds
    assert np.allclose(encoder(folder).embed_audio(windows), used_audio, atol=1e-5)
    assert np.allclose(encoder(folder).embed_text(TEXTS), found.text_audio_embeds, atol=1e-5)


def test_a_batch_is_as_good_as_one_by_one(folder: Path) -> None:
    """Texts of many lengths, and windows."""
    model = encoder(folder)
    windows = [noise(0.5, PE_AUDIO_RATE, seed) for seed in range(3)]
    assert np.allclose(model.embed_audio(windows), [model.embed_audio([w])[0] for w in windows], atol=1e-5)
    assert np.allclose(model.embed_text(TEXTS), [model.embed_text([text])[0] for text in TEXTS], atol=1e-5)


def test_texts_are_cut_at_512_tokens(folder: Path) -> None:
    """With start and end that leaves 510; what follows changes nothing."""
    found = encoder(folder).embed_text(["\n" * 510, "\n" * 510 + "more", "\n" * 400])
    assert np.array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2])


def audio_visual(folder: Path, source: Path) -> Path:
    """A checkpoint of the layout of `facebook/pe-av-*`: the audio model is a part of a larger one.

    The text tower is outside of it, shared with the video model.
    """
    from safetensors.torch import load_file, save_file

    shutil.copytree(source, folder, dirs_exist_ok=True)
    tensors = {
        name if name.startswith("text_model.") else f"audio_model.{name}": tensor
        for name, tensor in load_file(source / "model.safetensors").items()
    }
    others = {f"{part}.weight": torch.ones(3) for part in ("video_model.video_head.proj", "audio_video_encoder.norm")}
    save_file(tensors | others, folder / "model.safetensors", metadata={"format": "pt"})
    config = pe_audio_config().to_dict()
    parts = {"audio_config": config["audio_config"], "video_config": {"model_type": "pe_video_encoder"}}
    about = {"model_type": "pe_audio_video", "architectures": ["PeAudioVideoModel"], "dtype": "float32"}
    sizes = {"text_config": config["text_config"], "audio_video_config": parts}
    (folder / "config.json").write_text(json.dumps(about | sizes))
    return folder


def test_the_audio_part_of_an_audio_visual_model(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same vectors as from the audio model alone, and no list of what was not loaded."""
    whole = encoder(audio_visual(tmp_path / "whole", folder))
    window = [noise(0.5, PE_AUDIO_RATE)]
    assert np.array_equal(whole.embed_audio(window), encoder(folder).embed_audio(window))
    assert np.array_equal(whole.embed_text(TEXTS), encoder(folder).embed_text(TEXTS))
    printed = capfd.readouterr()
    assert "UNEXPECTED" not in printed.out + printed.err


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("facebook/pe-av-large@main", ("facebook/pe-av-large", "Apache-2.0")),
        ("facebook/pe-a-frame-small@main", ("facebook/pe-a-frame-small", "Apache-2.0")),
        ("elsewhere/model", ("elsewhere/model", None)),
        (".", ("facebook/pe-av-large", "Apache-2.0")),
    ],
)
def test_the_card_names_the_model(
    weights: str, expected: tuple[str, str | None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another model is called by its own name; those of Meta are under one licence, that of others is not known."""
    monkeypatch.setattr("baselines.audio_text.dual.find_checkpoint", lambda _: find_checkpoint(str(folder)))
    system = build_system("pe_audio", "query_only", ["--weights", weights])
    assert (system.declaration.model_id, system.declaration.licence) == expected


def test_weights_that_lack_something_are_refused(folder: Path, tmp_path: Path) -> None:
    """Else transformers would draw them at random and say so in a warning."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    del tensors["text_audio_head.proj.weight"]
    save_file(tensors, tmp_path / "model/model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"lacks text_audio_head\.proj\.weight; expected PE-Audio"):
        encoder(tmp_path / "model").embed_text(["a"])


def test_another_model_is_refused(folder: Path, tmp_path: Path) -> None:
    """A folder that holds a model of another type: one line that names both types."""
    shutil.copytree(folder, tmp_path / "model")
    (tmp_path / "model/config.json").write_text('{"model_type": "clap"}')
    with pytest.raises(UserError, match="found a model of type clap, expected pe_audio or pe_audio_video, such as"):
        encoder(tmp_path / "model").embed_text(["a"])
    with pytest.raises(UserError, match="--weights nowhere: no such folder"):
        build_system("pe_audio", "audio_only", ["--weights", "nowhere"])


@pytest.mark.parametrize("modality", MODALITIES)
def test_it_runs(modality: Modality, folder: Path, cache: Path, tmp_path: Path) -> None:
    """Every thread is answered with its pool, by scores that are cosines; the card names the weights."""
    result = run_on_few("pe_audio", modality, tmp_path, "--weights", str(folder), cache=cache)
    for thread, prediction in zip(few_threads(), result.predictions, strict=True):
        assert prediction.outcome in (None, "ok")
        assert Counter(prediction.ranking) == Counter(thread.candidates)
        assert np.abs(prediction.scores or ()).max() <= 1 + 1e-6
    assert result.card.model_revision == find_checkpoint(str(folder)).revision
    assert (result.card.licence, result.card.trained) == ("Apache-2.0", False)
