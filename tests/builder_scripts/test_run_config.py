"""The settings of a whole run: what they mean, and how a mistake in them is told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from builder_scripts.cli import app
from builder_scripts.pipeline.config import RunConfig, read_config
from builder_scripts.release.options import ReleaseOptions
from musicrs_metric.errors import UserError

SMALLEST: dict[str, Any] = {"work": "work", "mine": {"dumps": ["/dumps", "more"]}, "release": {"name": "mine"}}


def written(folder: Path, value: object) -> Path:
    path = folder / "run.yaml"
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value), encoding="utf-8")
    return path


def test_paths_count_from_the_file(tmp_path: Path) -> None:
    """Wherever the command is started; absolute ones stay."""
    config = read_config(written(tmp_path, SMALLEST))
    assert config.work == tmp_path / "work"
    assert config.mine.dumps == [Path("/dumps"), tmp_path / "more"]


def test_the_example(tmp_path: Path) -> None:
    """The settings that the documentation shows are settings."""
    page = (Path(__file__).parents[2] / "docs" / "building.md").read_text(encoding="utf-8")
    shown = page.partition("```yaml\n")[2].partition("```")[0]
    config = read_config(written(tmp_path, shown))
    assert (config.release.name, config.refine.genres) == ("jazz-and-metal", {"country": "Country"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mine": {}}, "mine.dumps is missing"),
        ({"mine": {"dumps": []}}, "mine.dumps is a list of 0, expected: .*at least 1"),
        ({"thread": {}}, r"thread is no setting; did you mean threads\? .* has work, home, mine, threads"),
        ({"threads": {"min_reply": 3}}, r"threads.min_reply is no setting; did you mean min_replies\? .* has engine, "),
        ({"mine": {"dumps": ["a"], "subreddit": ["jazz"]}}, r"mine.subreddit is no .* did you mean subreddits\?"),
        ({"baseline": {"zzz": 1}}, "baseline.zzz is no setting; it has model, modality, pools, seed, options"),
        ({"threads": {"min_replies": "three"}}, "threads.min_replies is 'three', expected: a valid integer"),
        (
            {"pools": {"designs": ["best"]}},
            "pools.designs.0 is 'best', expected: 'paper', 'balanced', 'fresh' or 'grouped'",
        ),
        ({"mine": {"dumps": ["a"], "subreddits": ["a b"]}}, "mine.subreddits.0: found 'a b', expected the name of a"),
        ({"extract": {"max_failures": 2}}, "extract.max_failures is 2, expected: less than or equal to 1"),
        ({"work": None}, "work is null, expected: .*path"),
    ],
)
def test_mistakes(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    """One line: where, what was found, what was expected."""
    with pytest.raises(UserError, match=re.escape(str(tmp_path / "run.yaml")) + ": .*" + told) as caught:
        read_config(written(tmp_path, SMALLEST | change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "told"), [("a: [1", "line 1: not YAML"), ("- a", "expected sections"), ("", "null")])
def test_no_settings(tmp_path: Path, text: str, told: str) -> None:
    """What is no YAML, or another kind of it."""
    with pytest.raises(UserError, match=told):
        read_config(written(tmp_path, text))
    with pytest.raises(UserError, match="cannot be read"):
        read_config(tmp_path / "none.yaml")


PLURALS = {
    "subreddit": "subreddits",
    "kind": "kinds",
    "genre": "genres",
    "macro-genre": "macro-genres",
    "design": "designs",
}


@pytest.mark.parametrize(
    ("section", "command", "only_in_file", "only_in_command"),
    [
        ("mine", "mine", set(), set()),
        ("threads", "threads", set(), set()),
        ("extract", "extract", set(), {"estimate"}),
        ("queries", "queries", set(), {"estimate"}),
        ("refine", "refine", set(), set()),
        ("audio", "audio", set(), {"limit", "retry-failed"}),
        ("annotate", "annotate settle", {"skip"}, set()),
        ("pools", "pools", set(), {"unjudged"}),
        ("release", "release", set(), set()),
    ],
)
def test_same_as_on_the_command_line(
    section: str, command: str, only_in_file: set[str], only_in_command: set[str]
) -> None:
    """A section has the options of its command, with the same defaults and bounds."""
    found: Any = get_command(app)
    for name in command.split():
        found = found.commands[name]
    options = {parameter.opts[0].removeprefix("--"): parameter for parameter in found.params}
    ours = RunConfig.model_fields[section].annotation
    assert ours is not None
    fields = {name.replace("_", "-"): field for name, field in ours.model_fields.items() if name not in only_in_file}
    names = {PLURALS.get(name, name) for name in options}
    assert names == {*fields, *only_in_command, "work"}
    for name, option in options.items():
        field = fields.get(PLURALS.get(name, name))
        if field is not None and not isinstance(field.default, list | dict):
            assert option.default == (None if field.is_required() else field.default)
            assert option.help


@pytest.mark.parametrize("name", ["musicrs", "MusiCRS", "", "../up", "a/b", "-x", "x" * 97])
def test_names(name: str) -> None:
    """A release is a folder of its own, and never takes the published dataset's name."""
    with pytest.raises(UserError, match="another name than the published"):
        ReleaseOptions(name=name).check()
