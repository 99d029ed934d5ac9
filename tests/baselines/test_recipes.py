"""Recipes: the runs of their parts, the fusion, and files that are no recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from baselines.cli import app
from baselines.fusion import fuse
from baselines.recipes import is_recipe, read_recipe, shipped_recipes
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import read_run_card

RECIPE = """
name = "words_and_order"
description = "Two systems that need no weights."
[[parts]]
name = "words"
model = "lexical"
weight = 3
[[parts]]
name = "others"
model = "tests.baselines.test_recipes:ByLength"
"""


def _by_length() -> Any:
    from baselines.system import Declaration, System

    class ByLength(System):
        declaration = Declaration(
            name="by_length",
            paradigm="retrieval",
            modalities=("query_only",),
            reads="thread",
            description="Short first.",
        )

        def rank(self, batch: Any) -> Any:
            return [task.by_score([-len(title) for title in task.thread.candidates]) for task in batch]

    return ByLength


ByLength = _by_length()


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=True)


def test_a_recipe_makes_its_parts_and_resumes(mini: Path, tmp_path: Path) -> None:
    """The fused file is the fusion of the files of the parts; a stop and a second call change no byte."""
    file, out = tmp_path / "mine.toml", tmp_path / "out"
    file.write_text(RECIPE)
    line: list[str | Path] = ["run", "--model", file, "--modality", "query_only", "--dataset", mini, "--out", out]
    assert invoke(*line, "--limit", "4").exit_code == 0
    done = invoke(*line)
    assert done.exit_code == 0, done.output
    assert "None" not in done.output
    parts = [read_predictions(out / "parts" / name / "predictions.jsonl").predictions for name in ("words", "others")]
    fused = read_predictions(out / "predictions.jsonl").predictions
    assert [p.ranking for p in fused] == [
        fuse(list(pair), "zscore", [0.75, 0.25]).ranking for pair in zip(*parts, strict=True)
    ]
    card = read_run_card(out)
    assert (card.name, card.reads, card.extra["recipe"]) == ("words_and_order", "pools", "words_and_order")
    assert card.settings == {"method": "zscore", "weights": [0.75, 0.25]}
    assert [part["name"] for part in card.extra["fused"]] == ["lexical", "by_length"]
    before = (out / "predictions.jsonl").read_bytes()
    assert invoke(*line).exit_code == 0
    assert (out / "predictions.jsonl").read_bytes() == before
    other = invoke("run", "--model", file, "--dataset", mini, "--out", out / "parts" / "words")
    assert isinstance(other.exception, UserError)
    assert "holds the run 'lexical'" in str(other.exception)


def test_the_shipped_recipe_names_its_weights() -> None:
    """`show` prints all parts; `--weights NAME=SOURCE` reaches each part that uses it."""
    assert shipped_recipes() == ["fused_text"]
    assert is_recipe("fused_text")
    assert not is_recipe("minilm")
    done = invoke("show", "fused_text")
    assert "part mpnet (weight 1): text_encoder" in done.output
    recipe = read_recipe("fused_text", ["--weights", "mpnet=/models/mpnet"])
    assert [part.arguments for part in recipe.parts] == [
        ("--subtract", "subreddit"), ("--weights", "/models/mpnet"), ("--weights", "/models/mpnet"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("[[parts]]\nname = \"others\"", "[[more]]\nname = \"others\""), "field 'more' is unknown"),
        (("name = \"others\"", "name = \"words\""), "parts are words, words, expected at least two with distinct"),
        (("name = \"others\"", "name = \"../others\""), "expected the name of a folder"),
        (("weight = 3", "weight = \"3\""), "part 'words': weight is '3', expected a number"),
        (("weight = 3", "weight = -1"), "part 'words': weight is -1, expected a number from 0"),
        (("weight = 3", "weight = nan"), "weight is nan, expected a number from 0"),
        (("lexical", "fused_text"), "model is 'fused_text', expected a system, not a recipe"),
        (("description", "weights = {mpnet = 3}\ndescription"), "weights holds mpnet = 3, expected text"),
        (("weight = 3", "method = \"rrf\""), "field 'method' is unknown"),
        (("weight = 3", "modality = \"sound\""), "modality is 'sound', expected"),
        (("weight = 3", "weights = [\"mpnet\"]"), "weights is a list of 1, expected a key"),
        (("weight = 3", "weights = \"mpnet\""), r"weights is 'mpnet', expected a key of \[weights\]"),
        (("description", "method = \"sum\"\ndescription"), "method is 'sum', expected one of zscore, rrf, rank"),
        (("name = \"words_and_order\"", ""), "name is null, expected text"),
        (("name", "= ="), "cannot be read"),
    ],
)  # fmt: skip
def test_files_that_are_no_recipe(changed: tuple[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RECIPE.replace(*changed, 1))
    with pytest.raises(UserError, match=message):
        read_recipe(str(tmp_path / "mine.toml"))


@pytest.mark.parametrize("arguments", [["--weights", "mpnet"], ["--weights"], ["--weights", "other=x"], ["--center"]])
def test_arguments_that_fit_no_recipe(arguments: list[str]) -> None:
    with pytest.raises(UserError, match=r"expected NAME=SOURCE|no such option"):
        read_recipe("fused_text", arguments)
    with pytest.raises(UserError, match=r"no\.toml: cannot be read"):
        read_recipe("no.toml")
