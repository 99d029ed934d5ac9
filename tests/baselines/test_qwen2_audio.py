"""Qwen2-Audio of random weights: the family's duties, and that nothing of a clip is cut in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.generative.protocols import PROTOCOLS
from baselines.system import ALL_MODALITIES
from musicrs_metric.run_card import Modality
from tests.baselines import family_checks as family
from tests.baselines.tiny_lm import save_qwen2_audio

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("soundfile")

NAME = "qwen2_audio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen2_audio(tmp_path_factory.mktemp(NAME))


def test_packed_scores_are_naive_scores(folder: Path) -> None:
    """To 1e-4, with and without sound."""
    family.check_scores(family.make_listener(NAME, "--weights", folder))


def test_constrained_generation_is_that_of_the_library(folder: Path) -> None:
    """Token by token, and a permutation."""
    family.check_choice(family.make_listener(NAME, "--weights", folder))


def test_a_batch_answers_as_one_by_one(folder: Path) -> None:
    """Prompts of many lengths."""
    family.check_completions(family.make_listener(NAME, "--weights", folder))


def test_no_prompt_takes_more_tokens_than_declared(folder: Path) -> None:
    """Clips of 0.1 to 30 s, alone and together."""
    family.check_tokens(family.make_listener(NAME, "--weights", folder))


def test_weights_are_loaded_whole_or_not_at_all(folder: Path, tmp_path: Path) -> None:
    """A missing and a left-over key are named."""
    family.check_keys(NAME, folder, tmp_path)


@pytest.mark.parametrize("modality", ALL_MODALITIES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_runs_from_end_to_end(folder: Path, modality: Modality, protocol: str, tmp_path: Path) -> None:
    """Every modality under every protocol, one clip of which cannot be decoded."""
    family.check_run(NAME, modality, protocol, tmp_path / "run", "--weights", folder)
