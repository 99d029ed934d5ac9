"""The Omni models of random weights: what is theirs alone, and that prompts are those of the official processors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from baselines.generative.families.whisper import in_chunks, quartered
from baselines.generative.language_model import Prompt
from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError
from tests.baselines import family_checks as checks
from tests.baselines.tiny_lm import tone
from tests.baselines.tiny_omni import save_qwen2_5_omni, save_qwen3_omni

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SAVERS: dict[str, Callable[[Path], Path]] = {"qwen2_5_omni": save_qwen2_5_omni, "qwen3_omni": save_qwen3_omni}
PROCESSORS = {"qwen2_5_omni": "Qwen2_5OmniProcessor", "qwen3_omni": "Qwen3OmniMoeProcessor"}
CLIPS = [
    [tone(1.0)], [tone(0.1)], [tone(0.5013), tone(3.337), tone(1.99)], [tone(0.77)] * 3, [tone(31.0), tone(2.0)],
]  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVERS.items()}


def test_four_frames_become_one_vector() -> None:
    """As convolution of stride 2 and mean of 2 have it, whose lengths torch computes here."""
    for frames in range(8, 400):
        halved = torch.nn.functional.conv1d(torch.zeros(1, 1, frames), torch.zeros(1, 1, 3), stride=2, padding=1)
        assert quartered(frames) == torch.nn.functional.avg_pool1d(halved, 2).shape[-1]
    assert quartered(30_000) == 7500  # 300 s at 25 a second


def test_a_hundred_frames_become_thirteen_vectors() -> None:
    """As three convolutions of stride 2 over chunks of 100 frames have it."""
    for frames in range(1, 230):
        lengths = [*[100] * (frames // 100), *([frames % 100] if frames % 100 else [])]
        total = 0
        for length in lengths:
            vectors = torch.zeros(1, 1, length)
            for _ in range(3):
                vectors = torch.nn.functional.conv1d(vectors, torch.zeros(1, 1, 3), stride=2, padding=1)
            total += vectors.shape[-1]
        assert in_chunks(frames) == total
    assert in_chunks(30_000) == 3900  # 300 s at 13 a second


def test_an_extractor_that_would_cut_a_clip_is_told(folders: dict[str, Path], tmp_path: Path) -> None:
    """Of another model, for 5 s: a clip of 6 s would lose its end without a message."""
    folder = shutil.copytree(folders["qwen2_5_omni"], tmp_path / "short")
    transformers.WhisperFeatureExtractor(feature_size=16, chunk_length=5).save_pretrained(folder)
    language_model = checks.make_language_model("qwen2_5_omni", "--weights", folder)
    assert language_model.encode([Prompt("words", (tone(5.0),))])
    with pytest.raises(ValueError, match=r"a clip of 6\.0 s, but the extractor next to the weights takes 5 s"):
        language_model.encode([Prompt("words", (tone(5.0), tone(6.0)))])


def _official(name: str, folder: Path, text: str, clips: Sequence[Samples]) -> Any:
    """What the official processor makes of a prompt that has one mark for each clip."""
    pytest.importorskip("torchvision", reason="the official processors import torchvision")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    processor = getattr(transformers, PROCESSORS[name])(
        image_processor=transformers.Qwen2VLImageProcessor(),
        video_processor=transformers.Qwen2VLVideoProcessor(),
        feature_extractor=transformers.WhisperFeatureExtractor.from_pretrained(folder),
        tokenizer=tokenizer,
        chat_template="",
    )
    return processor(text=text, audio=list(clips), sampling_rate=16_000, return_tensors="pt")


@pytest.mark.parametrize("clips", CLIPS, ids=lambda clips: str(len(clips)))
@pytest.mark.parametrize("name", SAVERS)
def test_prompts_are_those_of_the_official_processor(folders: dict[str, Path], name: str, clips: list[Samples]) -> None:
    """The same token numbers, and the same frames wherever the mask lets the model look."""
    language_model = checks.make_language_model(name, "--weights", folders[name])
    found = language_model.encode([Prompt("dreamy, please", tuple(clips))])
    mark = {"qwen2_5_omni": "<|audio_bos|><|AUDIO|><|audio_eos|>"}.get(
        name, "<|audio_start|><|audio_pad|><|audio_end|>"
    )
    system = {"qwen2_5_omni": "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"}.get(name, "")
    user = f"<|im_start|>user\n{mark * len(clips)}dreamy, please<|im_end|>\n<|im_start|>assistant\n"
    expected = _official(name, folders[name], system + user, clips)
    assert torch.equal(found["input_ids"], expected["input_ids"])

    def seen(inputs: Any) -> Any:
        return inputs["input_features"].transpose(1, 2)[inputs["feature_attention_mask"].bool()]

    assert torch.equal(seen(found), seen(expected))


@pytest.mark.parametrize("name", SAVERS)
def test_only_what_hears_and_thinks_is_kept(folders: dict[str, Path], name: str) -> None:
    """Of a whole checkpoint, every weight of the Thinker but those of its eyes, and none of talker and vocoder."""
    from safetensors.torch import load_file

    stored = load_file(folders[name] / "model.safetensors")
    assert {key.split(".")[0] for key in stored} > {"thinker", "talker"}
    kept = {key: value for key, value in stored.items() if key.startswith("thinker.") and ".visual." not in key}
    model = checks.make_language_model(name, "--weights", folders[name]).model
    assert sum(weight.numel() for weight in model.parameters()) == sum(value.numel() for value in kept.values())
    head = dict(model.named_parameters())["lm_head.weight"]
    assert torch.equal(head, kept["thinker.lm_head.weight"])


@pytest.mark.parametrize("name", SAVERS)
def test_eyes_may_be_missing(folders: dict[str, Path], name: str, tmp_path: Path) -> None:
    """They are not used, so a checkpoint without them is whole."""
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders[name], tmp_path / "blind")
    stored = load_file(folder / "model.safetensors")
    blind = {key: value for key, value in stored.items() if ".visual." not in key}
    assert len(blind) < len(stored)
    save_file(blind, folder / "model.safetensors", metadata={"format": "pt"})
    checks.make_language_model(name, "--weights", folder).load()


@pytest.mark.parametrize("name", SAVERS)
def test_an_extractor_of_another_rate_is_refused(folders: dict[str, Path], name: str, tmp_path: Path) -> None:
    """Otherwise all audio would be too high or too low, without a message."""
    folder = shutil.copytree(folders[name], tmp_path / "other rate")
    file = folder / "preprocessor_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"sampling_rate": 24_000}))
    with pytest.raises(UserError, match="takes 24000 Hz, expected 16000 Hz"):
        checks.make_language_model(name, "--weights", folder).encode([Prompt("this", tuple(CLIPS[-1]))])
