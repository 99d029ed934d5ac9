"""Qwen2-Audio with random weights: the checks of all families, and that no clip is cut silently."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.generative.language_model import Prompt
from baselines.generative.protocols import PROTOCOLS
from baselines.generative.protocols.constrained import line_tokens
from baselines.generative.transformers_model import TransformersModel
from baselines.generative.trie import CandidateTrie
from baselines.system import ALL_MODALITIES
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines import family_checks as family
from tests.baselines.family_checks import sounding
from tests.baselines.tiny_lm import NAMES, save_qwen2_audio, tone
from tests.baselines.toys import thread

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("soundfile")

NAME = "qwen2_audio"


@pytest.fixture(scope="module")
def language_model(folder: Path) -> TransformersModel:
    return family.make_language_model(NAME, "--weights", folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen2_audio(tmp_path_factory.mktemp(NAME))


def test_packed_scores_are_naive_scores(folder: Path) -> None:
    """To 1e-4, with and without sound."""
    family.check_scores(family.make_language_model(NAME, "--weights", folder))


def test_constrained_generation_is_that_of_the_library(folder: Path) -> None:
    """Token by token, and a permutation."""
    family.check_choice(family.make_language_model(NAME, "--weights", folder))


@settings(max_examples=200, deadline=None)
@given(
    titles=st.lists(st.one_of(st.sampled_from([*NAMES, "<|im_end|>", " ", "\n\n"]), st.text(max_size=8)), min_size=1)
)
def test_any_pool_can_be_listed(language_model: TransformersModel, titles: list[str]) -> None:
    """Whatever the titles, down to control tokens and line ends, a walk through their tokens lists each once."""
    trie = CandidateTrie(line_tokens(language_model, titles))
    answer: list[int] = []
    while tokens := trie(answer):
        answer.append(tokens[len(answer) % len(tokens)])
    assert sorted(trie.order) == list(range(len(titles)))


def test_the_number_format_is_part_of_a_run(folder: Path) -> None:
    """A CPU and a GPU have different defaults, and a run may be moved from one to the other."""
    formats = {}
    for named in ((), ("--dtype", "bfloat16")):
        system = family.make_system(NAME, "query_only", "--weights", folder, *named)
        system.inspect_threads([thread("t1", "ABC", query="anything")])
        formats[named] = system.run_facts().extra["number_format"]
    assert list(formats.values()) == ["float32", "bfloat16"]


def test_a_batch_answers_as_one_by_one(folder: Path) -> None:
    """Prompts of many lengths."""
    family.check_completions(family.make_language_model(NAME, "--weights", folder))


def test_no_prompt_takes_more_tokens_than_declared(folder: Path) -> None:
    """Clips of 0.1 to 30 s, alone and together."""
    family.check_tokens(family.make_language_model(NAME, "--weights", folder))


def test_weights_are_loaded_whole_or_not_at_all(folder: Path, tmp_path: Path) -> None:
    """A missing and a left-over key are named."""
    family.check_keys(NAME, folder, tmp_path)


class Touch:
    """Code that a pickle runs when it is opened."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def _cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def _misshapen(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["language_model.model.layers.0.self_attn.q_proj.weight"] = torch.ones(3, 5)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def _with_code(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"lm_head.weight": Touch(folder / "code was run")}, folder / "pytorch_model.bin")


def _of_another_type(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "phi4_multimodal"}))


def _without_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_cut, "cannot be loaded as Qwen2AudioForConditionalGeneration"),
        (_misshapen, "lacks 1 key: .*layers.0.self_attn.q_proj.weight"),
        (_with_code, "cannot be loaded as Qwen2AudioForConditionalGeneration"),
        (_of_another_type, "holds a model of type 'phi4_multimodal', expected 'qwen2_audio'"),
        (_without_tokenizer, "no tokenizer in it"),
    ],
)
def test_a_checkpoint_that_is_broken_or_another_s_is_refused(
    folder: Path, tmp_path: Path, change: Callable[[Path], None], message: str
) -> None:
    """In one line that names the option and the folder; no code of it is run, and nothing of a default size is made."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    change(copy)
    with pytest.raises(UserError, match=f"^--weights {copy}: {message}"):
        family.make_language_model(NAME, "--weights", copy).load()
    assert not (copy / "code was run").exists()


@pytest.mark.figures
@pytest.mark.parametrize("modality", ALL_MODALITIES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_runs_from_end_to_end(folder: Path, modality: Modality, protocol: str, tmp_path: Path) -> None:
    """Every modality under every protocol, one clip of which cannot be decoded."""
    family.check_run(NAME, modality, protocol, tmp_path / "run", "--weights", folder)


@pytest.mark.parametrize("lengths", [(30,), (31,), (45,), (30,) * 10, (0.3, 61, 12.34)], ids=str)
def test_nothing_of_a_clip_is_cut_in_silence(folder: Path, lengths: tuple[float, ...]) -> None:
    """By the count of frames and tokens of the processor, all audio that counts as used reaches the model."""
    system = family.make_system(NAME, "audio_only", "--weights", folder)
    one = thread("t0", NAMES, clips=[sounding(seconds) for seconds in lengths])
    system.inspect_threads([one])
    used_audio = system.audio_used(one)
    ask = system.request(one)
    language_model = system.language_model
    assert isinstance(language_model, TransformersModel)
    encoded = language_model.encode([ask.prompt])
    frames = encoded["feature_attention_mask"].sum(1)
    assert int(frames.sum()) == pytest.approx(sum(used_audio) * 100, abs=len(frames))  # a frame every 10 ms
    n_sound = (encoded["input_ids"] == language_model.tokenizer.convert_tokens_to_ids("<|AUDIO|>")).sum()
    assert n_sound == sum((((n - 1) // 2 + 1) - 2) // 2 + 1 for n in frames.tolist())
    assert n_sound >= 24.9 * sum(used_audio) - len(frames)
    assert encoded["input_ids"].shape[1] + ask.budget <= 8192
    if sum(lengths) < 300:
        assert used_audio == list(lengths)
    else:  # 7,500 tokens of audio leave too little for text and answer: the most that fits is used, to half a second
        assert len(set(used_audio)) == 1
        assert 8192 - (encoded["input_ids"].shape[1] + ask.budget) < 64 + 32 + 10 * 16 + 25


def test_a_plan_that_exceeds_the_context_is_refused_with_the_numbers(folder: Path) -> None:
    """300 s of ten clips, as the paper's run asked for."""
    system = family.make_system(NAME, "audio_only", "--weights", folder, "--seconds", "300")
    with pytest.raises(
        UserError, match=r"--seconds 300: thread t0 takes \d+ tokens .* the context holds 8192"
    ) as refused:
        system.inspect_threads([thread("t0", NAMES, clips=[replace(sounding(0.5), duration_s=30.0)] * 10)])
    assert "for audio" in str(refused.value)


def test_published_sampling_plays_no_part(folder: Path, tmp_path: Path) -> None:
    """A generation_config.json next to the weights that samples and penalises repeats changes no answer."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    sampling = {"do_sample": True, "temperature": 9.0, "repetition_penalty": 5.0, "min_new_tokens": 9, "top_k": 2}
    (copy / "generation_config.json").write_text(json.dumps(sampling))
    prompt = Prompt("some music, please")
    plain, sampled = (family.make_language_model(NAME, "--weights", each) for each in (folder, copy))
    assert sampled.complete([prompt], 20) == plain.complete([prompt], 20)


@pytest.mark.parametrize("token", ["<|im_end|>", "<|endoftext|>"])
def test_an_answer_ends_where_the_model_ends_it(folder: Path, token: str) -> None:
    """By either token that ends a turn, and what follows it in a batch is no answer; otherwise by the budget."""
    language_model = family.make_language_model(NAME, "--weights", folder)
    word, end = language_model.ids("music")[0], language_model.tokenizer.convert_tokens_to_ids(token)
    rows = torch.tensor([[5, word, end, word], [5, word, word, word], [5, end, end, end]])
    language_model.model.generate = lambda **_given: rows
    language_model.inputs = lambda *_given: {"input_ids": rows[:, :1]}  # type: ignore[method-assign]
    found = language_model.complete([Prompt("")] * 3, 3)
    one = language_model.tokenizer.decode([word]).strip()
    assert [answer[:3] for answer in found] == [
        (one, 1, False),
        (language_model.tokenizer.decode([word] * 3).strip(), 3, True),
        ("", 0, False),
    ]


def test_a_model_in_shards_over_devices_in_half_precision(folder: Path, tmp_path: Path) -> None:
    """Written in several files, spread by accelerate, in bfloat16: the scores are those of one file to two digits."""
    model = family.make_language_model(NAME, "--weights", folder)
    copy = shutil.copytree(folder, tmp_path / "sharded", ignore=shutil.ignore_patterns("*.safetensors"))
    model.model.save_pretrained(copy, max_shard_size="100KB")
    assert len(list(copy.glob("*.safetensors"))) > 1
    sharded = family.make_language_model(NAME, "--weights", copy, "--device-map", "auto", "--dtype", "bfloat16")
    assert sharded.revision != model.revision
    prompt, names = Prompt("slow", (tone(1.0),)), [model.ids(name) for name in NAMES]
    exact, found = model.score(prompt, names), sharded.score(prompt, names)
    assert sharded.model.dtype == torch.bfloat16
    assert [one.total for one in found] == pytest.approx([one.total for one in exact], rel=0.02)
    next(copy.glob("*-00002-*")).unlink()
    with pytest.raises(UserError, match="cannot be loaded as Qwen2AudioForConditionalGeneration"):
        family.make_language_model(NAME, "--weights", copy).load()


def test_one_model_is_not_spread_by_several_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take all devices for itself."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="--device-map: distributes one model over all devices; start a single process"):
        family.make_system(NAME, "query_only", "--weights", folder, "--device-map", "auto")


def test_weights_are_of_the_revision_that_the_card_names(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a run no weights are asked of the Hub; afterwards those of that commit, though there is a newer one."""
    asked: list[tuple[str | None, bool]] = []
    newest = iter(["aaa", "bbb"])

    def download(name: str, revision: str | None, allow_patterns: list[str]) -> str:
        assert name == "Qwen/Qwen2-Audio-7B-Instruct"
        asked.append((revision, "*.safetensors" in allow_patterns))
        commit = revision or next(newest)
        return str(shutil.copytree(folder, tmp_path / commit, dirs_exist_ok=True))

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    language_model = family.make_language_model(NAME)
    assert language_model.revision == "aaa"
    assert language_model.n_tokens("some words") > 0
    assert asked == [(None, False)]
    language_model.load()
    assert asked == [(None, False), ("aaa", True)]


@pytest.mark.parametrize("protocol", ["titles", "listwise"])
def test_a_clip_in_four_pieces_is_one_clip(protocol: str, folder: Path) -> None:
    """Case H20: the model takes 95 s as four pieces; the prompt speaks of the one clip that was linked."""
    system = family.make_system(NAME, "audio_query", "--weights", folder, "--protocol", protocol)
    one = replace(thread("t3_a", ("Amber", "Birch", "Cedar")), clips=(sounding(95.0),))
    system.inspect_threads([one])
    prompt = system.request(one).prompt
    assert len(prompt.clips) == 4
    assert "With it they gave the clip that you hear." in prompt.text
    differences = system.run_facts().extra.get("unlike_published", [])
    assert any("79 s per thread" in difference for difference in differences) == (protocol == "titles")
