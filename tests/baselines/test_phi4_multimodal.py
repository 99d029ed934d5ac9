"""Phi-4-multimodal of random weights: its adapter, its two sets of rotary factors, its prompts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.generative.language_model import Prompt
from baselines.generative.packed import Prefix
from baselines.generative.protocols import PROTOCOLS
from baselines.generative.transformers_model import TransformersModel
from baselines.system import ALL_MODALITIES
from baselines.systems.phi4_multimodal import Phi4Multimodal
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines import family_checks as checks
from tests.baselines.tiny_lm import tone
from tests.baselines.tiny_phi4 import ALPHA, RANK, save_phi4_multimodal

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

NAME = "phi4_multimodal"
ADAPTER = "speech-lora/adapter_model.safetensors"
CONFIG = "speech-lora/adapter_config.json"
SWITCH = 128


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_phi4_multimodal(tmp_path_factory.mktemp(NAME), switch=SWITCH)


def test_the_weights_are_those_of_the_pull_request() -> None:
    """The repository's main branch needs code of its own, which recent versions of transformers break."""
    assert Phi4Multimodal.Options().weights == "microsoft/Phi-4-multimodal-instruct@refs/pr/70"


@pytest.mark.parametrize("modality", ALL_MODALITIES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_adapter_is_added_where_there_is_something_to_hear(folder: Path, modality: Modality, protocol: str) -> None:
    """W + alpha / r * B A in every map of the language model; nothing in query_only, but in the protocol titles."""
    stored = safetensors.load_file(folder / "model.safetensors")
    adapter = safetensors.load_file(folder / ADAPTER)
    system = checks.make_system(NAME, modality, "--weights", folder, "--protocol", protocol)
    assert isinstance(system.language_model, TransformersModel)
    found = system.language_model.model.state_dict()
    merged = modality != "query_only" or protocol == "titles"
    n_changed = 0
    for key, value in stored.items():
        up = adapter.get(f"base_model.model.{key.removesuffix('.weight')}.lora_B.weight")
        down = adapter.get(f"base_model.model.{key.removesuffix('.weight')}.lora_A.weight")
        expected = value if up is None or not merged else value + ALPHA / RANK * up @ down
        n_changed += not torch.equal(found[key], value)
        torch.testing.assert_close(found[key], expected)
    assert n_changed == (8 if merged else 0)  # four maps in each of two layers


def _other_names(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    for key in list(tensors):
        name = key.removeprefix("base_model.model.model.").replace(".weight", ".speech.weight")
        tensors[f"any.thing.{name}"] = tensors.pop(key)


def test_what_wraps_a_name_in_the_adapter_does_not_matter(folder: Path, tmp_path: Path) -> None:
    """The library peft has named its files in several ways."""
    expected = checks.make_language_model(NAME, "--weights", folder).model.state_dict()
    other = _changed(folder, tmp_path, _other_names)
    found = checks.make_language_model(NAME, "--weights", other).model.state_dict()
    assert all(torch.equal(found[key], expected[key]) for key in expected)


def _lacking(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    del tensors["base_model.model.model.layers.1.mlp.down_proj.lora_B.weight"]


def _left_over(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    tensors["base_model.model.model.layers.7.mlp.down_proj.lora_B.weight"] = torch.zeros(1)


def _misshapen(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    tensors["base_model.model.model.layers.0.mlp.down_proj.lora_A.weight"] = torch.zeros(RANK, 5)


def _of_another_rank(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    settings["r"] = RANK + 1


def _scaled_otherwise(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    settings["use_rslora"] = True


def _without_rank(tensors: dict[str, Any], settings: dict[str, Any]) -> None:
    del settings["r"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_lacking, r"lacks 1 key: model\.layers\.1\.mlp\.down_proj\.lora_B"),
        (_left_over, r"1 key: base_model\.model\.model\.layers\.7\.mlp\.down_proj\.lora_B\.weight"),
        (
            _misshapen,
            r"model\.layers\.0\.mlp\.down_proj has \(\(32, 3\), \(3, 5\)\), expected \(\(32, 3\), \(3, 64\)\)",
        ),
        (_of_another_rank, r"o_proj has .*expected \(\(32, 4\), \(4, 32\)\)"),
        (_scaled_otherwise, "use_rslora"),
        (_without_rank, r"adapter_config\.json.*'r'"),
    ],
)
def test_an_adapter_that_does_not_fit_is_refused(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], message: str
) -> None:
    """The message names what is wrong."""
    with pytest.raises(UserError, match=message):
        checks.make_language_model(NAME, "--weights", _changed(folder, tmp_path, change)).load()


@pytest.mark.parametrize("file", [ADAPTER, CONFIG])
def test_a_missing_adapter_is_refused(folder: Path, tmp_path: Path, file: str) -> None:
    """With audio; a run without audio does not need it."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / file).unlink()
    with pytest.raises(UserError, match=Path(file).name):
        checks.make_language_model(NAME, "--weights", copy).load()
    system = checks.make_system(NAME, "query_only", "--weights", copy)
    system.language_model.load()


def _changed(folder: Path, scratch: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """A copy of the checkpoint with another adapter."""
    copy = shutil.copytree(folder, scratch / "copy")
    tensors, settings = safetensors.load_file(copy / ADAPTER), json.loads((copy / CONFIG).read_text())
    change(tensors, settings)
    safetensors.save_file(tensors, copy / ADAPTER)
    (copy / CONFIG).write_text(json.dumps(settings))
    return copy


def _prompt_of(language_model: TransformersModel, length: int) -> Prompt:
    """A prompt of so many tokens, with sound in it."""
    for n_words in range(length):
        prompt = Prompt("Aa " * n_words, (tone(1.0),))
        if language_model.inputs([prompt])["input_ids"].shape[1] >= length:
            return prompt
    raise AssertionError("no such prompt")


def test_scores_are_of_one_set_of_factors(folder: Path) -> None:
    """A prompt that ends just below the switch, and candidates that all end beyond it: as whole passes have it."""
    language_model = checks.make_language_model(NAME, "--weights", folder)
    prompt = _prompt_of(language_model, SWITCH - 1)
    continuations = [
        language_model.ids(name) for name in ("Slowdive - Alison", "Sigur Rós", "Boards of Canada - Roygbiv")
    ]
    assert min(map(len, continuations)) > 2
    expected = torch.tensor(checks.naive_totals(language_model, prompt, continuations))
    found = torch.tensor([each.total for each in language_model.score(prompt, continuations)])
    mixed = torch.tensor(
        [each.total for each in Prefix(language_model.model, language_model.inputs([prompt])).score(continuations)]
    )
    assert (found - expected).abs().max() < 1e-4
    assert (mixed - expected).abs().max() > 1e-3  # what would have been


def test_candidates_of_one_thread_share_a_set_of_factors(folder: Path) -> None:
    """Those that end below the switch are scored as the longest is, or their scores would not compare."""
    language_model = checks.make_language_model(NAME, "--weights", folder)
    prompt = _prompt_of(language_model, SWITCH - 8)
    short, long = language_model.ids("A"), language_model.ids("Boards of Canada - Roygbiv, Boards of Canada")
    assert len(long) > 8
    alone, beside = language_model.score(prompt, [short])[0], language_model.score(prompt, [short, long])[0]
    below = checks.naive_totals(language_model, prompt, [short])[0]
    assert alone.total == pytest.approx(below, abs=1e-4)
    assert beside.total != pytest.approx(below, abs=1e-4)
    assert language_model.score(prompt, [short])[0] == alone  # nothing of it stays behind


def _greedy(language_model: TransformersModel, prompt: Prompt, budget: int, allowed: list[int]) -> list[int]:
    """The likeliest allowed tokens by whole passes, which reach to the end of the answer: it chooses the factors."""
    inputs = language_model.inputs([prompt])
    start = inputs["input_ids"].shape[1]
    answer: list[int] = []
    while len(answer) < budget:
        fill = [0] * (budget - len(answer))  # later tokens do not change a token
        ids = torch.cat([inputs["input_ids"], torch.tensor([[*answer, *fill]], dtype=torch.long)], 1)
        with torch.inference_mode():
            logits = language_model.model(**inputs | {"input_ids": ids, "attention_mask": torch.ones_like(ids)}).logits[
                0
            ]
        answer.append(allowed[int(logits[start + len(answer) - 1, allowed].argmax())])
    return answer


@pytest.mark.parametrize("start", [SWITCH - 40, SWITCH - 3, SWITCH + 5])
def test_answers_are_of_one_set_of_factors(folder: Path, start: int) -> None:
    """Below, across and beyond the switch, freely and under a constraint; across it, the prompt is not lost."""
    language_model = checks.make_language_model(NAME, "--weights", folder)
    prompt = _prompt_of(language_model, start)
    some = language_model.ids("abcdefghijkl")
    assert language_model.choose(prompt, lambda _: some, 12) == _greedy(language_model, prompt, 12, some)
    every = [token for token in range(len(language_model.tokenizer)) if token not in language_model.ends]
    language_model.model.generation_config.suppress_tokens = language_model.ends  # an answer of full length
    expected = language_model.tokenizer.decode(
        _greedy(language_model, prompt, 12, every), skip_special_tokens=True
    ).strip()
    assert [found.text for found in language_model.complete([Prompt("short"), prompt], 12)][1] == expected


def test_prompts_are_those_of_the_official_processor(folder: Path) -> None:
    """Token numbers, frames, lengths and mask, for one clip and for several."""
    pytest.importorskip("torchvision", reason="the official processor imports torchvision")
    processor = transformers.Phi4MultimodalProcessor(
        transformers.Phi4MultimodalImageProcessor(),
        transformers.Phi4MultimodalFeatureExtractor.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )
    language_model = checks.make_language_model(NAME, "--weights", folder)
    for clips in ([tone(1.0)], [tone(0.1), tone(3.3), tone(0.5)]):
        text = f"<|user|>{'<|audio|>' * len(clips)}dreamy, please<|end|><|assistant|>"
        expected = processor(text=text, audio=clips, sampling_rate=16_000, return_tensors="pt")
        found = language_model.encode([Prompt("dreamy, please", tuple(clips))])
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[key], expected[key]) for key in found)
