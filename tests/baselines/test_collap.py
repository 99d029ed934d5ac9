"""CoLLAP on towers of random weights: what it computes, what it refuses, and what it says of itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from baselines.launch import build_system
from baselines.system import Context
from baselines.systems.collap import CollapEncoder, CollapOptions
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines.tiny_towers import (
    MODALITIES,
    few_threads,
    noise,
    run_in_processes,
    run_on_few,
    save_towers,
    scores,
)

torch = pytest.importorskip("torch")
pytest.importorskip("torchaudio")
transformers = pytest.importorskip("transformers")

from baselines.vendored.collap import DIMENSIONS, AudioTower, load_projections, untrained_projection  # noqa: E402
from tests.baselines.tiny_beats import tiny_beats  # noqa: E402

TEXTS = ["Slow", "a longer name, of a dozen tokens or so, and then some more", "", "ノストス", "Slow dance"]


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The options that name the towers."""
    return save_towers(tmp_path_factory.mktemp("towers"))


def encoder(towers: list[str], seed: int = 0, weights: Path | None = None) -> CollapEncoder:
    gpt2, whisper, beats = towers[1::2]
    file = None if weights is None else str(weights)
    options = CollapOptions(gpt2=gpt2, whisper=whisper, beats=beats, untrained=file is None, weights=file)
    return CollapEncoder(options, Context(modality="audio_query", seed=seed))


def projections(text: int = 32, audio: int = 32, **changes: Any) -> dict[str, Any]:
    """Projections that look like trained ones."""
    rng = torch.Generator().manual_seed(7)
    shapes = {
        "text_proj.weight": (DIMENSIONS, text),
        "text_proj.bias": (DIMENSIONS,),
        "audio_proj.weight": (DIMENSIONS, audio),
        "audio_proj.bias": (DIMENSIONS,),
    }
    return {name: torch.randn(shape, generator=rng) for name, shape in shapes.items()} | changes


def save(tensors: dict[str, Any], file: Path) -> Path:
    from safetensors.torch import save_file

    save_file(tensors, file)
    return file


def linear(tensors: dict[str, Any], name: str, features: Any) -> npt.NDArray[np.float32]:
    return torch.nn.functional.linear(features, tensors[f"{name}.weight"], tensors[f"{name}.bias"]).numpy()  # type: ignore[no-any-return]


def test_a_text_is_gpt2_at_its_last_token(towers: list[str], tmp_path: Path) -> None:
    """Each text alone and without padding through the library's model, then torch's linear map; "" is its end token."""
    tensors = projections()
    tokenizer = transformers.AutoTokenizer.from_pretrained(towers[1])
    gpt2 = transformers.GPT2Model.from_pretrained(towers[1]).eval()
    states = []
    for text in TEXTS:
        ids = tokenizer(text)["input_ids"] or [tokenizer.eos_token_id]
        with torch.inference_mode():
            states.append(gpt2(input_ids=torch.tensor([ids])).last_hidden_state[0, -1])
    expected = linear(tensors, "text_proj", torch.stack(states))
    found = encoder(towers, weights=save(tensors, tmp_path / "w.safetensors")).embed_text(TEXTS)
    assert np.allclose(found, expected, atol=1e-5)


def test_texts_are_cut_at_128_tokens(towers: list[str]) -> None:
    """Text after the 128th token changes nothing, text before it does."""
    found = encoder(towers).embed_text(["\n" * 128, "\n" * 128 + "more", "\n" * 127])
    assert np.array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2])


def test_sound_is_the_mean_of_both_towers(towers: list[str], tmp_path: Path) -> None:
    """The encoder of Whisper over 30 s, and BEATs, which gets at least 1 s and zeros up to as many frames."""
    tensors = projections()
    model = encoder(towers, weights=save(tensors, tmp_path / "w.safetensors"))
    whisper = transformers.WhisperModel.from_pretrained(towers[3]).eval()
    extractor = transformers.WhisperFeatureExtractor.from_pretrained(towers[3])
    for seconds in (0.1, 30):
        window = noise(seconds, 16_000)
        mel = extractor(window, sampling_rate=16_000, return_tensors="pt").input_features
        with torch.inference_mode():
            spoken = whisper.encoder(mel).last_hidden_state[0]
            wave = torch.from_numpy(np.pad(window, (0, max(0, 16_000 - len(window)))))
            used_audio = tiny_beats()(wave[None])[0]
        frames = torch.zeros(1500, 16)
        frames[: len(used_audio)] = used_audio
        expected = linear(tensors, "audio_proj", torch.cat([spoken, frames], dim=1).mean(0)[None])
        assert np.allclose(model.embed_audio([window]), expected, atol=1e-5)


@pytest.mark.figures
def test_a_batch_is_as_good_as_one_by_one(towers: list[str]) -> None:
    """Texts and windows, to the last bit: on it hangs that several processes rank as one."""
    model = encoder(towers)
    windows = [noise(1.5, 16_000), noise(30, 16_000)]
    alone = [encoder(towers).embed_audio([window])[0] for window in windows]
    assert np.array_equal(model.embed_audio(windows), alone)
    assert np.array_equal(model.embed_text(TEXTS), [encoder(towers).embed_text([text])[0] for text in TEXTS])


def test_untrained_projections_hang_on_the_seed_alone() -> None:
    """Not on what else draws random numbers; another seed and the other projection have other numbers."""
    torch.manual_seed(5)
    first = untrained_projection("text_proj", 64, seed=3)
    torch.rand(100)
    again = untrained_projection("text_proj", 64, seed=3)
    assert np.array_equal(first.weight, again.weight)
    assert np.array_equal(first.bias, again.bias)
    others = [untrained_projection(name, 64, seed) for seed in (2, 3, 4) for name in ("text_proj", "audio_proj")]
    assert len({projection.weight.tobytes() for projection in others}) == 6


def test_untrained_projections_follow_the_law_of_a_new_linear_layer() -> None:
    """torch draws weights and bias evenly from -1/sqrt(d) to 1/sqrt(d): deviation 1/sqrt(3 d)."""
    weight, bias = untrained_projection("audio_proj", 100, seed=0)
    for values in (weight, bias):
        assert np.abs(values).max() == pytest.approx(0.1, rel=0.01)
        assert values.std() == pytest.approx(0.1 / 3**0.5, rel=0.05)
    assert (weight.shape, bias.shape) == ((512, 100), (512,))


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (
            {"text_proj.weight": torch.zeros(512, 32)},
            "found text_proj.weight, expected audio_proj.bias, audio_proj.weight",
        ),
        (projections(logit_scale=torch.zeros(1)), "found .*logit_scale.*, expected audio_proj.bias"),
        (projections(**{"text_proj.bias": torch.zeros(1)}), r"text_proj has .* a bias of shape \(1,\), expected"),
        (projections(**{"audio_proj.weight": torch.zeros(256, 32)}), r"audio_proj has weights of shape \(256, 32\)"),
    ],
)
def test_other_projections_are_refused(tensors: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Too few, too many, or of other sizes."""
    with pytest.raises(UserError, match=message):
        load_projections(save(tensors, tmp_path / "w.safetensors"))


def test_projections_of_other_towers_are_refused(towers: list[str], tmp_path: Path) -> None:
    """Projections of the published sizes do not fit the tiny towers, and the message names both sizes."""
    weights = save(projections(text=768, audio=2048), tmp_path / "w.safetensors")
    with pytest.raises(UserError, match="text_proj takes 768 numbers, the tower before it gives 32"):
        encoder(towers, weights=weights).embed_text(["a"])


def test_a_file_of_projections_that_is_none(towers: list[str], tmp_path: Path) -> None:
    """No such file, found out before anything is loaded, and one of another kind."""
    with pytest.raises(UserError, match=r"--weights .*w\.safetensors: cannot be read \(No such file"):
        encoder(towers, weights=tmp_path / "w.safetensors")
    (tmp_path / "w.safetensors").write_bytes(b"pickled?")
    with pytest.raises(UserError, match=r"cannot be read .*expected a \.safetensors file"):
        load_projections(tmp_path / "w.safetensors")


def test_random_projections_must_be_asked_for(towers: list[str], tmp_path: Path) -> None:
    """Neither --weights nor --untrained, and both: one line that says why."""
    for arguments, found in [((), "neither"), (("--untrained", "--weights", "w.safetensors"), "both")]:
        with pytest.raises(UserError, match=f"found {found}, expected one of them; no trained projections") as caught:
            build_system("collap", "audio_only", [*towers, *arguments])
        assert "\n" not in str(caught.value)


def test_parts_that_are_missing_are_named_by_their_option(towers: list[str]) -> None:
    """BEATs has no default, a folder of GPT-2 is no BEATs; without clips neither it nor Whisper is asked for."""
    with pytest.raises(
        UserError, match=r"--beats: expected a checkpoint of BEATs; .*https://github.com/microsoft/unilm"
    ):
        build_system("collap", "audio_only", ["--untrained", *towers[:4]])
    with pytest.raises(UserError, match="--whisper nowhere: no such folder"):
        build_system("collap", "audio_only", ["--untrained", *towers, "--whisper", "nowhere"])
    with pytest.raises(UserError, match="--gpt2 nowhere: no such folder"):
        build_system("collap", "query_only", ["--untrained", "--gpt2", "nowhere"])
    build_system("collap", "query_only", ["--untrained", *towers[:2]])


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one run computed is there for the next."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("modality", MODALITIES)
def test_it_runs_and_says_that_it_is_untrained(
    modality: Modality, towers: list[str], cache: Path, tmp_path: Path
) -> None:
    """Every thread answered with its pool; name, protocol and revision of the card all say what its score is worth."""
    result = run_on_few("collap", modality, tmp_path, "--untrained", *towers, seed=4, cache=cache)
    for thread, prediction in zip(few_threads(), result.predictions, strict=True):
        assert prediction.outcome in (None, "ok")
        assert Counter(prediction.ranking) == Counter(thread.candidates)
    card = result.card
    assert card.name.startswith("collap (untrained projections)")
    assert (card.trained, card.protocol, card.seed) == (False, "untrained projections", 4)
    assert (card.model_revision or "").endswith("untrained projections of seed 4")
    assert (card.clip_plan is None) == (modality == "query_only")


def test_trained_projections_are_told_apart(towers: list[str], tmp_path: Path) -> None:
    """With --weights the card names the file's hash and no longer says untrained."""
    weights = save(projections(), tmp_path / "w.safetensors")
    card = run_on_few("collap", "query_only", tmp_path, "--weights", str(weights), *towers[:2]).card
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert (card.trained, card.protocol) == (True, None)
    assert (card.model_revision or "").endswith(f"projections sha256:{digest}")
    assert "untrained" not in card.name


def test_clips_and_query_add_up_as_published(towers: list[str], cache: Path, tmp_path: Path) -> None:
    """The paper adds half the cosine of either; the sum of vectors ranks the same, at any weight."""
    for weight in (0.5, 0.2):
        arguments = ["--untrained", *towers, "--audio-weight", str(weight)]
        both, query, audio = (
            run_on_few("collap", modality, tmp_path / str(weight), *arguments, cache=cache).predictions
            for modality in MODALITIES
        )
        for of_both, of_query, of_audio in zip(both, query, audio, strict=True):
            used_audio, asked = scores(of_audio), scores(of_query)
            fused = {name: weight * used_audio[name] + (1 - weight) * asked[name] for name in used_audio}
            found = scores(of_both)
            factors = [found[name] / fused[name] for name in fused if abs(fused[name]) > 1e-3]
            assert len(factors) > 10
            assert np.allclose(factors, factors[0], rtol=1e-3)
            assert factors[0] >= 1  # the sum of two vectors of length 1 is brought back to that length


def test_another_seed_ranks_otherwise_and_costs_no_forward(
    towers: list[str], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the towers make of texts and windows does not hang on the seed, and is found on disk."""
    first = run_on_few("collap", "audio_query", tmp_path, "--untrained", *towers, seed=1, cache=cache)
    monkeypatch.setattr(AudioTower, "forward", lambda *_: pytest.fail("Whisper or BEATs was run again"))
    monkeypatch.setattr(transformers.GPT2Model, "forward", lambda *_, **__: pytest.fail("GPT-2 was run again"))
    second = run_on_few("collap", "audio_query", tmp_path, "--untrained", *towers, seed=2, cache=cache)
    for one, other in zip(first.predictions, second.predictions, strict=True):
        assert one.ranking != other.ranking


@pytest.mark.figures
def test_two_processes_rank_as_one(towers: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    """Clips and queries, nothing cached, four threads dealt to two processes: the same bytes."""
    one, two = (run_in_processes(world, "collap", tmp_path, environment, "--untrained", *towers) for world in (1, 2))
    assert one == two
