from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import pytest

from baselines.options import as_json, changed_options, describe, option, parse_options, passing_options, with_defaults
from musicrs_metric.errors import UserError


@dataclass(frozen=True)
class Options:
    center: bool = option(False, "a switch")
    weight: float = option(0.5, "a number")
    top_k: int | None = option(None, "a count")
    protocol: Literal["list", "pairs"] = option("list", "a choice")
    folder: Path | None = option(None, "a place")  # noqa: RUF009 - `option` makes a field


def test_every_type_is_read() -> None:
    """A switch, a number, a count, a choice and a path, given as one would type them."""
    line = ["--center", "--weight", "0.25", "--top-k", "3", "--protocol", "pairs", "--folder", "a/b"]
    assert parse_options(Options, line, "toy") == Options(True, 0.25, 3, "pairs", Path("a/b"))
    assert parse_options(Options, [], "toy") == Options()
    assert parse_options(Options, ["--no-center"], "toy") == Options()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--weihgt 1", "--weihgt: no such option of `run`, nor of toy, which takes --center, --weight"),
        ("--weight heavy", "toy: argument --weight: invalid float value: 'heavy'"),
        ("--protocol list2", "toy: argument --protocol: invalid choice: 'list2'"),
        ("--top-k", "toy: argument --top-k: expected one argument"),
        ("--cent", "--cent: no such option"),
        ("stray", "stray: no such option"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(line: str, message: str) -> None:
    """The option is named, and what there is; an abbreviation is no option."""
    with pytest.raises(UserError) as caught:
        parse_options(Options, line.split(), "toy")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_options_on_the_card_and_in_the_name() -> None:
    """The card holds plain JSON types; the name holds what differs from the defaults."""
    options = Options(center=True, folder=Path("a/b"))
    assert as_json(options) == {
        "center": True, "weight": 0.5, "top_k": None, "protocol": "list", "folder": "a/b",
    }  # fmt: skip
    assert changed_options(options) == "--center --folder a/b"


def test_what_changes_no_ranking_is_no_part_of_the_name() -> None:
    """It is read and kept on the card like others."""

    @dataclass(frozen=True)
    class More(Options):
        retries: int = option(6, "attempts", identity=False)

    options = parse_options(More, ["--retries", "2", "--center"], "toy")
    assert (as_json(options)["retries"], changed_options(options), passing_options(options)) == (
        2,
        "--center",
        ["retries"],
    )


def test_another_default_keeps_type_help_and_order() -> None:
    """The option is read as before, and its new default is not part of the name of a run."""

    changed = with_defaults(Options, weight=0.25)
    assert [item.name for item in fields(changed)] == [item.name for item in fields(Options)]
    assert list(describe(changed))[1] == ("--weight", "0.25", "a number")
    assert parse_options(changed, [], "toy").weight == 0.25
    assert changed_options(parse_options(changed, ["--weight", "0.5"], "toy")) == "--weight 0.5"
