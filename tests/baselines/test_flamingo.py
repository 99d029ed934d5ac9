"""The Flamingo models of random weights: what is theirs alone, and prompts as the official processors write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from baselines.generative.language_model import Completion, Prompt
from baselines.system import Task
from musicrs_metric.runs.run_card import Modality
from tests.baselines import family_checks as checks
from tests.baselines.tiny_flamingo import save_audio_flamingo3, save_music_flamingo
from tests.baselines.tiny_lm import NAMES, tone
from tests.baselines.toys import thread

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SAVERS: dict[str, Callable[[Path], Path]] = {
    "audio_flamingo3": save_audio_flamingo3,
    "music_flamingo": save_music_flamingo,
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVERS.items()}


@pytest.mark.parametrize("seconds", [0.1, 1.0, 29.99, 30.0, 31.0, 61.7])
@pytest.mark.parametrize("name", SAVERS)
def test_prompts_are_those_of_the_official_processor(folders: dict[str, Path], name: str, seconds: float) -> None:
    """Token numbers, frames and masks, for one window and several."""
    language_model = checks.make_language_model(name, "--weights", folders[name])
    processor = transformers.AutoProcessor.from_pretrained(folders[name])
    turns = [{"role": "user", "content": [{"type": "text", "text": "dreamy, please"}, {"type": "audio"}]}]
    text = processor.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    expected = processor(text=text, audio=tone(seconds), sampling_rate=16_000)
    found = language_model.encode([Prompt("dreamy, please", (tone(seconds),))])
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[key], expected[key]) for key in found)


@pytest.mark.parametrize("name", SAVERS)
def test_clips_are_joined(folders: dict[str, Path], name: str) -> None:
    """A prompt with three clips is one with the three in a row."""
    language_model = checks.make_language_model(name, "--weights", folders[name])
    clips = (tone(1.0), tone(0.5, pitch=330.0), tone(29.0, pitch=440.0))
    found = language_model.encode([Prompt("all", clips)])
    expected = language_model.encode([Prompt("all", (np.concatenate(clips),))])
    assert found["input_features"].shape[0] == 2  # 30.5 s in windows of 30 s
    assert all(torch.equal(found[key], expected[key]) for key in expected)


@pytest.mark.parametrize("name", SAVERS)
def test_nothing_is_sampled(folders: dict[str, Path], name: str) -> None:
    """The checkpoint says to sample and to punish repeats; the answer is the likeliest token, one after the other."""
    language_model = checks.make_language_model(name, "--weights", folders[name])
    assert transformers.GenerationConfig.from_pretrained(folders[name]).do_sample
    prompt = Prompt("dreamy, please", (tone(1.0),))
    inputs = language_model.inputs([prompt])
    answer: list[int] = []
    for _ in range(12):
        with torch.inference_mode():
            token = int(language_model.model(**inputs).logits[0, -1].argmax())
        if token in language_model.ends:
            break
        answer.append(token)
        inputs["input_ids"] = torch.cat([inputs["input_ids"], torch.tensor([[token]])], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    assert answer
    found = language_model.complete([prompt], 12)[0]
    assert found.text == language_model.tokenizer.decode(answer, skip_special_tokens=True).strip()


@pytest.mark.parametrize(("protocol", "silent"), [("titles", True), ("listwise", False)])
@pytest.mark.parametrize("modality", ["query_only", "audio_query"])
@pytest.mark.parametrize("name", SAVERS)
def test_a_second_of_silence_stands_in_as_published(
    folders: dict[str, Path],
    name: str,
    modality: Modality,
    protocol: str,
    silent: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without clips, and under the protocol titles only."""
    system = checks.make_system(name, modality, "--weights", folders[name], "--protocol", protocol)
    asked: list[Prompt] = []

    def complete(prompts: list[Prompt], budget: int) -> list[Completion]:
        asked.extend(prompts)
        return [Completion("1", 1, cut=False)] * len(prompts)

    monkeypatch.setattr(system.language_model, "complete", complete)
    mute = thread("t0", NAMES, NAMES[:1], clips=() if modality == "audio_query" else None)
    system.inspect_threads([mute])
    system.rank([Task(mute)])
    assert [clip.shape for clip in asked[0].clips] == ([(16_000,)] if silent else [])
    assert not any(clip.any() for clip in asked[0].clips)
