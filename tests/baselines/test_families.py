"""What every listening model has to hold to, for the families that have little of their own beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from baselines.generative.families.prompt_text import control_pattern
from baselines.generative.language_model import Prompt
from baselines.generative.protocols import PROTOCOLS
from baselines.registry import system_class
from baselines.system import ALL_MODALITIES
from musicrs_metric.runs.run_card import Modality
from tests.baselines import family_checks as checks
from tests.baselines.tiny_flamingo import save_audio_flamingo3, save_music_flamingo
from tests.baselines.tiny_lm import tone
from tests.baselines.tiny_omni import save_qwen2_5_omni, save_qwen3_omni
from tests.baselines.tiny_phi4 import save_phi4_multimodal

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("soundfile")

SAVERS: dict[str, Callable[[Path], Path]] = {
    "qwen2_5_omni": save_qwen2_5_omni,
    "qwen3_omni": save_qwen3_omni,
    "audio_flamingo3": save_audio_flamingo3,
    "music_flamingo": save_music_flamingo,
    "phi4_multimodal": save_phi4_multimodal,
}


class Family(NamedTuple):
    name: str
    folder: Path


@pytest.fixture(scope="module", params=SAVERS)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Family:
    return Family(request.param, SAVERS[request.param](tmp_path_factory.mktemp(request.param)))


def test_packed_scores_are_naive_scores(family: Family) -> None:
    """To 1e-4, with and without sound."""
    checks.check_scores(checks.make_language_model(family.name, "--weights", family.folder))


def test_constrained_generation_is_that_of_the_library(family: Family) -> None:
    """Token by token, and a permutation."""
    checks.check_choice(checks.make_language_model(family.name, "--weights", family.folder))


def test_a_batch_answers_as_one_by_one(family: Family) -> None:
    """Prompts of many lengths, one of them without sound."""
    checks.check_completions(checks.make_language_model(family.name, "--weights", family.folder))


def test_no_prompt_takes_more_tokens_than_declared(family: Family) -> None:
    """Clips of 0.1 to 30 s, alone and together."""
    checks.check_tokens(checks.make_language_model(family.name, "--weights", family.folder))


def test_weights_are_loaded_whole_or_not_at_all(family: Family, tmp_path: Path) -> None:
    """A missing and a left-over key are named."""
    checks.check_keys(family.name, family.folder, tmp_path)


@pytest.mark.figures
@pytest.mark.parametrize("modality", ALL_MODALITIES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_runs_from_end_to_end(family: Family, modality: Modality, protocol: str, tmp_path: Path) -> None:
    """Every modality under every protocol, one clip of which cannot be decoded."""
    checks.check_run(family.name, modality, protocol, tmp_path / "run", "--weights", family.folder)


def test_nobodys_words_end_a_turn_or_pose_as_sound(family: Family) -> None:
    """A post made of control tokens, whole and nested, adds none to its prompt."""
    language_model = checks.make_language_model(family.name, "--weights", family.folder)
    control = language_model.tokenizer.get_added_vocab()
    halves = [(token[: len(token) // 2], token[len(token) // 2 :]) for token in control]
    nested = [f"{first}{token}{second}" for token in control for first, second in halves]
    posts = ["a post", " ".join(control), "".join(control), "".join(nested)]

    def controls(post: str) -> Counter[int]:
        tokens = language_model.inputs([Prompt(post, (tone(1.0),))])["input_ids"][0].tolist()
        return Counter(token for token in tokens if token in control.values())

    assert all(controls(post) == controls("a post") for post in posts)
    assert len(controls("a post")) > 2


def test_a_control_token_that_begins_another_leaves_nothing_of_it() -> None:
    """The longest goes first; what is left of both sides does not grow together."""

    class Controls:
        all_special_tokens = ("<x>",)

        def get_added_vocab(self) -> dict[str, int]:
            return {"<x>": 1, "<x>y>": 2}

    pattern = control_pattern(Controls())
    assert pattern is not None
    assert pattern.sub(" ", "a<x>y>b<<x>x>c") == "a b< x>c"


def test_numbers_come_from_sixteen_bits_too(family: Family) -> None:
    """Frames are given in the number format of the weights."""
    language_model = checks.make_language_model(family.name, "--weights", family.folder, "--dtype", "bfloat16")
    for prompt in checks.prompts(language_model):
        assert all(
            found.total < 0
            for found in language_model.score(prompt, [language_model.ids("Slowdive"), language_model.ids("A")])
        )


@pytest.mark.parametrize("name", SAVERS)
def test_a_declaration_says_where_its_weights_come_from(name: str) -> None:
    """Licence and id are there, and what is not free to use is said to be so."""
    declaration = system_class(name).declaration
    assert declaration.model_id
    assert declaration.licence
    assert ("non-commercial" in declaration.note) == ("Noncommercial" in declaration.licence)
