"""FUTGA as a system: the layout of its checkpoint, its audio, and the search of the published run."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.generative.language_model import Prompt
from baselines.generative.protocols import PROTOCOLS
from baselines.system import ALL_MODALITIES
from baselines.systems.futga import Futga
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality
from tests.baselines.toys import thread

torch = pytest.importorskip("torch")
pytest.importorskip("torchaudio")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from tests.baselines.family_checks import check_run, check_scores, make_language_model, make_system, sounding  # noqa: E402
from tests.baselines.tiny_salmonn import Parts, draw, save_checkpoint, save_parts  # noqa: E402


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """The four parts of a tiny FUTGA."""
    return save_parts(tmp_path_factory.mktemp("futga"), "futga")


@pytest.mark.figures
@pytest.mark.parametrize("modality", ALL_MODALITIES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_runs_from_end_to_end(modality: Modality, protocol: str, parts: Parts, tmp_path: Path) -> None:
    """From the checkpoint in the authors' layout, in its folder, to a ranking of every pool."""
    folder = parts._replace(weights=parts.weights.parent)
    check_run("futga", modality, protocol, tmp_path / "run", *folder.arguments)


def test_packed_scores_are_naive_scores(parts: Parts) -> None:
    """To 1e-4, with and without sound."""
    check_scores(make_language_model("futga", *parts.arguments))


def test_both_layouts_are_one_model(parts: Parts, tmp_path: Path) -> None:
    """The same numbers of 16 bits in SALMONN's layout change Vicuna alike."""
    tensors = {key: value.bfloat16().float() for key, value in draw("futga").items()}
    other = save_checkpoint(tmp_path / "salmonn_7b_v0.pth", "salmonn", tensors)
    ours = make_language_model("futga", *parts.arguments).model.state_dict()
    theirs = make_language_model("salmonn_7b", *parts._replace(weights=other).arguments).model.state_dict()
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())


def test_every_clip_gives_its_share(parts: Parts) -> None:
    """30 s in all. The published run joined ten times as much and used its first 30 s."""
    system = make_system("futga", "audio_only", *parts.arguments)
    clips = tuple(sounding(seconds) for seconds in (20.0, 2.0, 30.0))
    asked = thread("t0", ["A", "B"], ["A"], clips=clips, query=None)
    system.inspect_threads([asked])
    assert system.audio_used(asked) == [10.0, 2.0, 10.0]
    assert "up to 30 s of a thread" in (system.run_facts().clip_plan or "")
    assert "joined into one" in (system.run_facts().clip_plan or "")


def test_the_search_under_titles_is_the_published_one_without_its_draws(parts: Parts) -> None:
    """Ten beams and a penalty of 1.5 for repetitions, as `generate` has them; other protocols are greedy."""
    prompt = Prompt("Rank these songs, songs, songs.")
    answers = {}
    for protocol, search in (
        ("titles", {"num_beams": 10, "repetition_penalty": 1.5, "min_new_tokens": 1}),
        ("listwise", {}),
    ):
        language_model = make_language_model("futga", *parts.arguments, "--protocol", protocol)
        (answers[protocol],) = language_model.complete([prompt], 24)
        assert language_model.complete([prompt], 24) == [answers[protocol]]
        plain = transformers.LlamaForCausalLM.from_pretrained(language_model.folder, dtype=torch.float32)
        plain.load_state_dict(language_model.model.state_dict())
        plain.generation_config = transformers.GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=0)
        with torch.inference_mode():
            rows = plain.generate(**language_model.encode([prompt]), max_new_tokens=24, do_sample=False, **search)
        assert answers[protocol].text == language_model.tokenizer.decode(rows[0], skip_special_tokens=True).strip()
    assert answers["titles"] != answers["listwise"]


def test_a_checkpoint_of_another_size_is_refused_when_it_is_loaded(parts: Parts, tmp_path: Path) -> None:
    """With the key and both shapes, in one line."""
    file = save_checkpoint(tmp_path / "b.bin", "futga", draw("futga") | {"ln_speech.weight": torch.ones(1280)})
    with pytest.raises(UserError, match=r"ln_speech\.weight has shape \(1280,\), expected \(16,\)") as caught:
        make_language_model("futga", *parts._replace(weights=file).arguments).load()
    assert "\n" not in str(caught.value)


def test_it_says_what_the_published_run_heard() -> None:
    """A reader who compares scores has to know, and nothing is drawn at random here."""
    assert "the first clip only" in Futga.declaration.note
    assert "drew answers at random" in Futga.declaration.note
