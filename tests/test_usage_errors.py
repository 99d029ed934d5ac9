"""A wrong option, argument or command ends in one line that names it, with exit code 2, in every room."""

from __future__ import annotations

import importlib
import inspect
import sys
import typing
from collections.abc import Iterator
from enum import Enum

import pytest
import typer

from musicrs_metric.errors import front_door

ROOMS = ["musicrs_dataset", "musicrs_metric", "baselines", "space", "builder_scripts"]
WRONG = "nonsense é"


def commands(app: typer.Typer, *words: str) -> Iterator[tuple[tuple[str, ...], typing.Any]]:
    """Each command with its words and its function."""
    for info in app.registered_commands:
        assert info.callback is not None
        yield (*words, info.name or info.callback.__name__.rstrip("_").replace("_", "-")), info.callback
    for group in app.registered_groups:
        assert isinstance(group.typer_instance, typer.Typer)
        name = group.name or group.typer_instance.info.name
        yield from commands(group.typer_instance, *words, name) if isinstance(name, str) else ()


ALL = [(room, *words) for room in ROOMS for words, _ in commands(importlib.import_module(f"{room}.cli").app)]


def is_limited(annotation: typing.Any) -> bool:
    """Return True for numbers and choices, which do not accept every text."""
    if isinstance(annotation, type):
        return annotation in (int, float) or issubclass(annotation, Enum)
    if typing.get_origin(annotation) is typing.Literal:
        return True
    inner = [part for part in typing.get_args(annotation) if part is not type(None)]
    return bool(inner) and is_limited(inner[0])


def limited_options() -> Iterator[tuple[str, ...]]:
    for room in ROOMS:
        app = importlib.import_module(f"{room}.cli").app
        for words, function in commands(app):
            command: typing.Any = typer.main.get_command(app)
            for word in words:
                command = command.commands[word]
            options = {parameter.name: parameter.opts[0] for parameter in command.params}
            for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
                if is_limited(parameter.annotation) and options[name].startswith("--"):
                    yield room, *words, options[name]


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, room: str, *words: str) -> str:
    """The one line that a command prints on standard error."""
    monkeypatch.setattr(sys, "argv", [room, *words])
    with pytest.raises(SystemExit) as end:
        front_door(importlib.import_module(f"{room}.cli").app)
    shown = capsys.readouterr()
    assert (end.value.code, shown.out) == (2, "")
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("error: ")
    return shown.err


def test_all_rooms_have_limited_options() -> None:
    """The property below is empty nowhere; `space` has texts only."""
    assert {words[0] for words in limited_options()} >= {*ROOMS} - {"space"}


@pytest.mark.parametrize("words", list(limited_options()), ids=" ".join)
def test_a_wrong_value(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = run(capsys, monkeypatch, *words, WRONG)
    assert words[-1] in line
    assert "--help" in line


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_an_unknown_option(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if words[0] == "baselines" and words[1] in ("run", "cards"):  # a system has options of its own
        words = (*words, "--model", "causal_lm", "--out", "runs", "--weights", "none")
    assert "--nonsense" in run(capsys, monkeypatch, *words, "--nonsense")


@pytest.mark.parametrize("room", ROOMS)
def test_an_unknown_command(room: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nonsense" in run(capsys, monkeypatch, room, "nonsense")


def test_a_misspelt_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The question of typer is not followed by a full stop."""
    assert "Did you mean 'build'? `" in run(capsys, monkeypatch, "musicrs_dataset", "bulid")
