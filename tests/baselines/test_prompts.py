"""Prompts: what they say in each modality, and that they are filled in without a second look at what was filled in."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from musicrs_metric.answers import prompts, read_answer
from musicrs_metric.matching import Pool

TITLES = ("Iris", "Cash $query", "Two\nlines")
SOUND = re.compile(r"clip|hear|audio|sound|listen|recording", re.IGNORECASE)


@pytest.mark.parametrize("name", prompts.NAMES)
def test_sound_is_spoken_of_where_there_is_sound(name: str) -> None:
    """And the query where there is one."""
    prompt = prompts.load(name)
    for query in ("Something slow.", None):
        for n_clips in (0, 1, 3):
            text = prompt.render(query=query, candidates=TITLES, n_clips=n_clips)
            assert bool(SOUND.search(text)) == (n_clips > 0)
            assert ("3 clips" in text) == (n_clips == 3)
            assert text.count("Something slow.") == (query is not None)
            assert "None" not in text


@pytest.mark.parametrize("name", ["listwise", "titles", "constrained"])
def test_candidates_are_shown_once_in_their_order(name: str) -> None:
    """A dollar sign in a title is only that, and a title is one line."""
    text = prompts.load(name).render(query="What about $candidates?", candidates=TITLES, n_clips=0)
    places = [text.index(title) for title in ("Iris", "Cash $query", "Two lines")]
    assert places == sorted(places)
    assert [text.count(title) for title in ("Iris", "Cash $query", "Two lines")] == [1, 1, 1]
    assert "What about $candidates?" in text


def test_numbers_are_those_that_the_parser_counts_by() -> None:
    """The number before a title resolves to that title."""
    text = prompts.load("listwise").render(query="q", candidates=TITLES, n_clips=0)
    for place, title in enumerate(("Iris", "Cash $query", "Two lines")):
        found = re.search(rf"^(\[\d+\]) {re.escape(title)}$", text, re.MULTILINE)
        assert found is not None
        assert read_answer(found[1], Pool(TITLES), numbered=True, cut=False).places == (place,)


def test_pointwise_shows_no_candidate() -> None:
    """So that a score cannot depend on the order of the pool."""
    prompt = prompts.load("pointwise")
    assert prompt.render(query="q", candidates=TITLES, n_clips=1) == prompt.render(query="q", candidates=(), n_clips=1)


@pytest.mark.parametrize("name", prompts.NAMES)
def test_the_hash_is_that_of_the_file(name: str) -> None:
    """As `sha256sum` prints it; all differ."""
    file = Path(prompts.__file__).with_name(f"{name}.toml")
    assert prompts.load(name).sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert len({prompts.load(other).sha256 for other in prompts.NAMES}) == len(prompts.NAMES)


def test_the_words_of_titles_are_those_of_its_earlier_name() -> None:
    """The hash on the cards of runs under `--protocol paper`; under another one, they could not be resumed."""
    prompt = prompts.load("titles")
    assert prompt.sha256 == "9636222f95dbf7984bff4bdd372cba8f5bda2f79e2581d76a7c866e8d2356a4f"
    assert prompt.name == "titles"


def test_an_unknown_prompt_is_told() -> None:
    """With those that there are."""
    with pytest.raises(KeyError, match="expected one of listwise, titles"):
        prompts.load("listwse")
