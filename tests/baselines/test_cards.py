"""One line of knowledge per title: written once, resumed, never stored if it failed, and embedded with the title."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from baselines.cli import app
from baselines.launch import build_system
from baselines.systems.cards import PROMPT, Key, read_card
from musicrs_metric.errors import UserError
from tests.baselines import tiny_texts
from tests.baselines.test_text_encoders import data, reference
from tests.baselines.toys import run_toy
from tests.chat_stub import Reply, Stub, chat_server, prompt_of

pytest.importorskip("openai")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_texts.save(tmp_path_factory.mktemp("encoder") / "m", "bert")


def title_of(body: dict[str, Any]) -> str:
    prompt = prompt_of(body)
    return prompt.partition("One recommendation is: ")[2].partition("\n")[0] if prompt != "Say yes." else prompt


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset of six threads for the command."""
    monkeypatch.setattr("baselines.data.load_data", lambda *_: data(6))


def write(out: Path, answer: Callable[[str, int], Reply], *options: str) -> tuple[int, str, Stub]:
    def reply(body: dict[str, Any], before: int) -> Reply:
        return Reply("yes") if title_of(body) == "Say yes." else answer(title_of(body), before)

    with chat_server(reply) as stub:
        model = ["--model", "openai_api", "--base-url", stub.url, "--model-name", "stub", "--retries", "0"]
        result = CliRunner().invoke(app, ["cards", *model, "--out", str(out), *options])
    return result.exit_code, f"{result.output}{result.exception or ''}", stub


def test_failures_are_not_stored_and_asked_again(tmp_path: Path) -> None:
    """A failed request, a refusal and a cut line; the second call asks for these only, in plain text."""
    keys = {(thread.subreddit, name) for thread in data(6).threads for name in thread.candidates}
    titles = sorted({name for _, name in keys})
    faulty = {
        titles[0]: Reply("no", status=400),
        titles[1]: Reply("I'm sorry, I cannot."),
        titles[2]: Reply("A s", "length"),
    }
    out = tmp_path / "cards.jsonl"

    def good(title: str, _: int) -> Reply:
        return Reply(f"<think>hm</think>\n**{title} is slow.**\nMore.")

    code, output, _ = write(out, lambda title, n: faulty.get(title) or good(title, n))
    n_faulty = sum(name in faulty for _, name in keys)
    assert code != 0
    assert f"holds {len(keys) - n_faulty} lines; {n_faulty} titles got none" in output
    with out.open("a") as file:
        file.write('{"subreddit": "jazz", "tit')  # torn by a kill
    code, output, stub = write(out, good)
    assert (code, len(stub.asked)) == (0, n_faulty)
    assert "response_format" not in stub.bodies[-1]
    lines = [json.loads(line) for line in out.read_text().splitlines() if not line.endswith('"tit')]
    assert len(lines) == len(keys) == len({(line["subreddit"], line["title"]) for line in lines})
    assert all(line["card"] == f"{line['title']} is slow." for line in lines)
    code, output, stub = write(out, good)
    assert (code, stub.bodies) == (0, [])


def test_another_model_needs_another_file(tmp_path: Path) -> None:
    out = tmp_path / "cards.jsonl"
    assert write(out, lambda *_: Reply("A slow song."), "--limit", "3")[0] == 0
    out.write_text(out.read_text().replace('"stub"', '"other"'))
    code, output, _ = write(out, lambda *_: Reply("A slow song."))
    assert code != 0
    assert "holds lines by 'other', not by 'stub'" in output


def save(file: Path, cards: dict[str, str]) -> Path:
    fields = [{"subreddit": "jazz", "title": title, "card": card, "model": "m"} for title, card in cards.items()]
    file.write_text("".join(json.dumps(line) + "\n" for line in fields))
    return file


def test_the_line_is_embedded_with_the_title(encoder: Path, tmp_path: Path) -> None:
    """Against transformers, without a subtraction."""
    toy = data(2)
    names = list(dict.fromkeys(name for thread in toy.threads for name in thread.candidates))
    cards = {name: "slow piano" if index % 2 else "fast song" for index, name in enumerate(names)}
    file = save(tmp_path / "cards.jsonl", cards)
    arguments = ["--weights", str(encoder), "--subtract", "nothing", "--cards", str(file)]
    result = run_toy(build_system("cards", "query_only", arguments), toy, tmp_path / "out", system_name="cards")
    assert result.card.reads == "pools"
    for thread, prediction in zip(toy.threads, result.predictions, strict=True):
        texts = [str(thread.query), *(f"{name}: {cards[name]}" for name in thread.candidates)]
        vectors = reference(encoder, "mean_tokens", texts).astype(float)
        scores = dict(zip(thread.candidates, vectors[1:] @ vectors[0], strict=True))
        found = dict(zip(prediction.ranking, prediction.scores or (), strict=True))
        assert np.allclose([found[name] for name in scores], list(scores.values()), atol=1e-5)
    save(file, cards | {names[0]: "another line"})
    with pytest.raises(UserError, match="model_revision was"):
        run_toy(build_system("cards", "query_only", arguments), toy, tmp_path / "out", system_name="cards")
    save(file, dict(list(cards.items())[1:]))
    with pytest.raises(
        UserError, match=r"no line for 1 of \d+ titles, such as .* of r/jazz; run `python -m baselines cards`"
    ):
        run_toy(build_system("cards", "query_only", arguments), toy, tmp_path / "new", system_name="cards")


@pytest.mark.parametrize(
    ("answer", "cut", "card"),
    [
        ("Miles Davis, modal jazz.", False, "Miles Davis, modal jazz."),
        ("Here is the line:\n\n- *Modal jazz.*\nMore", True, "- *Modal jazz."),
        ("<think>jazz", True, None),
        ("Modal ja", True, None),
        ("", False, None),
        ("...", False, None),
        ("I don't have information about this.", False, None),
        ("I Can't Stop is a soul song by Al Green.", False, "I Can't Stop is a soul song by Al Green."),
        (
            "Soul that nobody can resist, and you can't either.",
            False,
            "Soul that nobody can resist, and you can't either.",
        ),
    ],
)
def test_reading(answer: str, cut: bool, card: str | None) -> None:
    assert read_card(answer, "I Can't Stop", cut=cut) == card


def test_texts_are_filled_in_once() -> None:
    """A title may hold braces."""
    assert Key("a{title}", "{subreddit}").prompt == PROMPT.format(subreddit="a{title}", title="{subreddit}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file; write one with"),
        ("title,card\n", "line 1: 'title,card'; expected an object with the texts"),
        ('{"title": "x"}\n', "line 1: .*expected an object"),
        ('{"subreddit": "jazz", "title": "x", "card": " ", "model": "m"}\n', "line 1: .*expected an object"),
        ('{"subreddit": "jazz", "title": "x", "card": "\\ud800", "model": "m"}\n', "line 1: .*expected an object"),
    ],
)
def test_mistakes(content: str | None, message: str, encoder: Path, tmp_path: Path) -> None:
    file = tmp_path / "cards.jsonl"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UserError, match=message):
        build_system("cards", "query_only", ["--weights", str(encoder), "--cards", str(file)])
