"""SALMONN as a system: four parts in four places, prompts as the authors wrote them, rankings under every protocol."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.generative.language_model import Prompt
from baselines.generative.protocols import PROTOCOLS
from baselines.launch import build_system
from baselines.registry import system_class
from baselines.system import ALL_MODALITIES
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines.toys import thread

torch = pytest.importorskip("torch")
pytest.importorskip("torchaudio")
transformers = pytest.importorskip("transformers")
sentencepiece = pytest.importorskip("sentencepiece")

from baselines.audio_text.checkpoint_files import find_checkpoint_file  # noqa: E402
from baselines.generative.families.salmonn import SalmonnModel  # noqa: E402
from tests.baselines.family_checks import (  # noqa: E402
    check_choice,
    check_completions,
    check_run,
    check_scores,
    check_tokens,
    make_language_model,
    make_system,
    sounding,
)
from tests.baselines.tiny_lm import tone  # noqa: E402
from tests.baselines.tiny_salmonn import Parts, save_checkpoint, save_parts  # noqa: E402


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """The four parts of a tiny SALMONN."""
    return save_parts(tmp_path_factory.mktemp("salmonn"))


@pytest.fixture(scope="module")
def language_model(parts: Parts) -> SalmonnModel:
    """SALMONN of these parts, loaded."""
    made = make_language_model("salmonn_7b", *parts.arguments)
    assert isinstance(made, SalmonnModel)
    made.load()
    return made


def encoded(language_model: SalmonnModel, *pieces: Any) -> Any:
    """Texts by sentencepiece and the table of Vicuna, audio by the encoder. Row 1 of the table begins a text."""
    pieces_of = sentencepiece.SentencePieceProcessor(model_file=str(language_model.folder / "tokenizer.model"))
    table = language_model.model.state_dict()["model.embed_tokens.weight"]
    rows = [table[1:2]]
    for piece in pieces:
        if isinstance(piece, str):
            rows.append(table[pieces_of.encode(piece)])
        else:
            with torch.inference_mode():
                rows.append(language_model._audio_encoder(piece))
    return torch.cat(rows)


def test_a_prompt_is_written_as_the_authors_did(language_model: SalmonnModel) -> None:
    """The beginning, USER and the mark, 88 tokens, the mark's end and the request, ASSISTANT; clips are joined."""
    one, other = tone(1.2), tone(0.7, pitch=330.0)
    found = language_model.encode([Prompt("Rank these songs.", (one, other))])
    joined = np.concatenate([one, other])
    expected = encoded(language_model, "USER: <Speech>", joined, "</Speech> Rank these songs.\nASSISTANT:")
    assert torch.allclose(found["inputs_embeds"][0], expected, atol=1e-6)
    assert found["attention_mask"].tolist() == [[1] * len(expected)]


def test_a_prompt_without_sound_has_no_mark_of_it(language_model: SalmonnModel) -> None:
    """The same beginning and end."""
    found = language_model.encode([Prompt("Rank these songs.")])
    assert torch.equal(found["inputs_embeds"][0], encoded(language_model, "USER: Rank these songs.\nASSISTANT:"))


def test_shorter_prompts_are_filled_up_on_the_left(language_model: SalmonnModel) -> None:
    """With zeros that the mask leaves out."""
    found = language_model.encode([Prompt("a"), Prompt("Rank these songs, please.")])
    rows, mask = found["inputs_embeds"], found["attention_mask"]
    short = encoded(language_model, "USER: a\nASSISTANT:")
    assert torch.equal(rows[0, -len(short) :], short)
    assert not rows[0, : -len(short)].any()
    assert mask.sum(1).tolist() == [len(short), rows.shape[1]]
    assert mask[0, -len(short) :].all()


def test_nobody_can_write_a_mark(language_model: SalmonnModel) -> None:
    """Neither Vicuna's control tokens nor the mark of sound pass from a post into a prompt."""
    text = "a<s>b</s>c<Speech>d</Speech>e<SpeechHere>f<unk>g"
    assert language_model.clean(text) == "a b c d e f g"
    assert language_model.ids(text) == language_model.ids("a b c d e f g")


def test_scores_choices_and_completions_are_those_of_one_at_a_time(language_model: SalmonnModel) -> None:
    """Packed against naive to 1e-4, constrained against `generate`, a batch against single prompts."""
    check_scores(language_model)
    check_choice(language_model)
    check_completions(language_model)
    check_tokens(language_model)


@pytest.mark.figures
@pytest.mark.parametrize(("name", "file"), [("salmonn_7b", "salmonn_7b_v0.pth"), ("salmonn_13b", "salmonn_v1.pth")])
@pytest.mark.parametrize("modality", ALL_MODALITIES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_runs_from_end_to_end(
    name: str, file: str, modality: Modality, protocol: str, parts: Parts, tmp_path: Path
) -> None:
    """From the checkpoint in the authors' layout, found by the name that they gave it, to a ranking of every pool."""
    (tmp_path / file).symlink_to(parts.weights)
    check_run(name, modality, protocol, tmp_path / "run", *parts._replace(weights=tmp_path).arguments)


def test_ten_clips_give_three_seconds_each(parts: Parts) -> None:
    """30 s in all, joined in order, and no more than the limit, although resampling may add a sample to each."""
    system = make_system("salmonn_7b", "audio_only", *parts.arguments)
    clips = tuple(sounding(4.0, 200.0 + 20 * i, 44_100) for i in range(10))
    of_ten = thread("t0", ["A", "B"], ["A"], clips=clips, query=None)
    system.inspect_threads([of_ten])
    assert system.audio_used(of_ten) == [3.0] * 10
    (sound,) = system._audio(of_ten)
    assert abs(len(sound) - 480_000) <= 10
    for i in range(10):
        part = sound[i * 48_000 + 8000 : i * 48_000 + 40_000]
        peak = np.abs(np.fft.rfft(part)).argmax() / 2  # 2 s: bins of half a hertz
        assert peak == pytest.approx(200 + 20 * i, abs=1)
    language_model = system.language_model
    assert isinstance(language_model, SalmonnModel)
    sizes = set()
    for extra in (0, 10):
        prompt = Prompt("Rank.", (*[np.zeros(48_000, np.float32)] * 9, np.zeros(48_000 + extra, np.float32)))
        sizes.add(language_model.encode([prompt])["inputs_embeds"].shape)
    assert len(sizes) == 1
    with pytest.raises(ValueError, match="expected at most 30 s"):
        language_model.encode([Prompt("Rank.", (np.zeros(480_002, np.float32),))])


def test_memory_counts_beams_and_the_audio_encoder_as_they_are() -> None:
    """The 12.6 GiB of Vicuna 7B double in float32; the 2.8 GiB of the encoder do not. Four beams have four caches.

    1,024 tokens of 512 KiB are half a GiB, in float32 one.
    """
    for protocol, cache in (("listwise", 1.0), ("titles", 4.0)):
        language_model = make_system("salmonn_7b", "query_only", "--protocol", protocol).language_model
        (line,) = language_model.describe_run(1024, 1, is_scored=False)
        assert f"weights 28.0, key-value cache {cache}, " in line


def test_silence_is_heard_in_titles_alone(parts: Parts) -> None:
    """One second of silence without clips. Other protocols give the model no audio at all."""
    asked = thread("t0", ["A", "B"], ["A"])
    for protocol, samples in (("titles", [16_000]), ("listwise", [])):
        system = make_system("salmonn_7b", "query_only", "--protocol", protocol, *parts.arguments)
        sound = system._audio(asked)
        assert [len(clip) for clip in sound] == samples
        assert not any(clip.any() for clip in sound)


@pytest.mark.parametrize(("protocol", "beams"), [("titles", 4), ("listwise", 1)])
def test_four_beams_search_in_titles_alone(protocol: str, beams: int, parts: Parts) -> None:
    """The same answer as `generate` gives with these settings, and no other where Vicuna's own file samples."""
    language_model = make_language_model("salmonn_7b", *parts.arguments, "--protocol", protocol)
    prompt = Prompt("Rank these songs.")
    (found,) = language_model.complete([prompt], 12)
    plain = transformers.LlamaForCausalLM.from_pretrained(language_model.folder, dtype=torch.float32)
    plain.load_state_dict(language_model.model.state_dict())
    plain.generation_config = transformers.GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=0)
    with torch.inference_mode():
        rows = plain.generate(
            **language_model.encode([prompt]), max_new_tokens=12, num_beams=beams, do_sample=False,
            min_new_tokens=1 if beams > 1 else None,
        )  # fmt: skip
    assert found.text == language_model.tokenizer.decode(rows[0], skip_special_tokens=True).strip()
    assert found.n_tokens > 0


def test_without_sound_neither_whisper_nor_beats_is_needed(parts: Parts) -> None:
    """Not named, not looked for, not in the revision; Vicuna is changed as ever."""
    arguments = parts.arguments[:4]
    deaf = make_system("salmonn_7b", "query_only", *arguments, "--whisper", "nowhere").language_model
    assert isinstance(deaf, SalmonnModel)
    deaf.load()
    hearing = make_language_model("salmonn_7b", *parts.arguments)
    for name, weight in hearing.model.state_dict().items():
        assert torch.equal(deaf.model.state_dict()[name], weight)
    digest = hashlib.sha256(parts.weights.read_bytes()).hexdigest()
    assert deaf.revision == f"salmonn_7b_v0.pth sha256:{digest}, Vicuna {deaf.checkpoint.revision}"


def test_the_revision_names_every_part(parts: Parts, language_model: SalmonnModel) -> None:
    """By its hash, where it comes from a disk."""
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in (parts.weights, parts.beats)]
    assert language_model.revision.startswith(f"salmonn_7b_v0.pth sha256:{digests[0]}, Vicuna sha256:")
    assert ", Whisper sha256:" in language_model.revision
    assert language_model.revision.endswith(f", BEATs sha256:{digests[1]}")


def test_the_audio_encoder_computes_in_32_bits(parts: Parts) -> None:
    """Whatever the language model does, which is given what it takes."""
    language_model = make_language_model("salmonn_7b", *parts.arguments, "--dtype", "bfloat16")
    assert isinstance(language_model, SalmonnModel)
    (found,) = language_model.complete([Prompt("Rank.", (tone(1.0),))], 3)
    assert found.n_tokens > 0
    assert {p.dtype for p in language_model.model.parameters()} == {torch.bfloat16}
    assert {p.dtype for p in language_model._audio_encoder.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": "nowhere"}, "--weights nowhere: no such file; expected a Hub id"),
        ({"weights": "."}, r"--weights salmonn_7b_v0\.pth: cannot be read \(No such file"),
        ({"vicuna": "nowhere"}, "--vicuna nowhere: no such folder"),
        ({"whisper": "nowhere"}, "--whisper nowhere: no such folder"),
        ({"beats": "nowhere"}, r"--beats nowhere: cannot be read \(No such file"),
    ],
)
def test_a_part_that_is_not_there_is_named_by_its_option(
    changes: dict[str, str], message: str, parts: Parts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before anything is loaded."""
    monkeypatch.chdir(tmp_path)
    named = {name: str(path) for name, path in parts._asdict().items()} | changes
    arguments = [word for name, path in named.items() for word in (f"--{name}", path)]
    with pytest.raises(UserError, match=message):
        build_system("salmonn_7b", "audio_query", arguments).run_facts()


def test_beats_has_no_default(parts: Parts) -> None:
    """No hub has it. The message names its source."""
    with pytest.raises(
        UserError, match=r"--beats: expected a checkpoint of BEATs; .*https://github.com/microsoft/unilm"
    ):
        build_system("salmonn_7b", "audio_query", parts.arguments[:6]).run_facts()


def test_a_vicuna_that_lacks_weights_is_refused(parts: Parts, tmp_path: Path) -> None:
    """The option and the key are named."""
    for file in parts.vicuna.iterdir():
        if not file.name.endswith(".bin"):
            (tmp_path / file.name).symlink_to(file)
    for file in parts.vicuna.glob("*.bin"):
        weights = torch.load(file, weights_only=True)
        weights.pop("model.layers.1.mlp.up_proj.weight", None)
        torch.save(weights, tmp_path / file.name)
    with pytest.raises(UserError, match=r"^--vicuna .* lacks 1 key: model\.layers\.1\.mlp\.up_proj\.weight"):
        make_language_model("salmonn_7b", *parts._replace(vicuna=tmp_path).arguments).load()


def test_a_vicuna_without_tokenizer_is_refused(parts: Parts, tmp_path: Path) -> None:
    """In words that name what it lacks, which transformers gets wrong."""
    for file in parts.vicuna.iterdir():
        if not file.name.startswith("tokenizer"):
            (tmp_path / file.name).symlink_to(file)
    language_model = make_language_model("salmonn_7b", *parts._replace(vicuna=tmp_path).arguments)
    with pytest.raises(UserError, match=r"its tokenizer cannot be loaded .*expected a tokenizer\.model, and"):
        language_model.n_tokens("a")


def test_a_checkpoint_from_the_hub_is_called_by_its_commit(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file in a cache of huggingface_hub. For a missing one, the message names the remedy."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--someone--SALMONN"
    (repository / "snapshots" / commit).mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    save_checkpoint(repository / "snapshots" / commit / "salmonn_v1.pth")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for source in ("someone/SALMONN", f"someone/SALMONN@{commit}"):
        found = find_checkpoint_file(source, "salmonn_v1.pth")
        assert found.revision == commit
        assert found.path.is_file()
    with pytest.raises(
        UserError, match=r"someone/FUTGA: salomnn_7b\.bin is not in the cache, .*name the file with --weights"
    ):
        find_checkpoint_file("someone/FUTGA", "salomnn_7b.bin")


def test_weights_are_of_the_revision_that_was_named(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newer versions of Vicuna and Whisper, published after the run fixed its revisions, are ignored."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    first, second = "1" * 40, "2" * 40
    for name, folder in (("vicuna", parts.vicuna), ("whisper", parts.whisper)):
        repository = tmp_path / f"models--someone--{name}"
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text(first)
        shutil.copytree(folder, repository / "snapshots" / first)
        (repository / "snapshots" / second).mkdir()
        (repository / "snapshots" / second / "config.json").write_text("{}")
    language_model = make_language_model(
        "salmonn_7b", *parts.arguments, "--vicuna", "someone/vicuna", "--whisper", "someone/whisper"
    )
    assert f"Vicuna {first}, Whisper {first}" in language_model.revision
    for name in ("vicuna", "whisper"):
        (tmp_path / f"models--someone--{name}" / "refs" / "main").write_text(second)
    language_model.load()
    (found,) = language_model.complete([Prompt("Rank.", (tone(1.0),))], 3)
    assert found.n_tokens > 0


def test_a_checkpoint_file_on_the_disk_is_taken_for_the_published_model(parts: Parts) -> None:
    """By file and by folder. Another model of the Hub has its own name and an unknown licence."""
    published = system_class("salmonn_7b").declaration
    for weights in (parts.weights, parts.weights.parent):
        declared = make_system("salmonn_7b", "audio_query", *parts._replace(weights=weights).arguments).declaration
        assert (declared.model_id, declared.licence) == (published.model_id, published.licence)
    declared = make_system("salmonn_7b", "audio_query", "--weights", "someone/SALMONN@v2").declaration
    assert (declared.model_id, declared.licence) == ("someone/SALMONN", None)


@pytest.mark.parametrize(("name", "terms"), [("salmonn_7b", "Llama 2"), ("salmonn_13b", "non-commercial")])
def test_the_terms_are_those_of_the_strictest_part(name: str, terms: str) -> None:
    """Vicuna 7B v1.5 follows Llama 2, Vicuna 13B v1.1 the first LLaMA."""
    assert terms in (system_class(name).declaration.licence or "")
