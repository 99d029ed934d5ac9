"""What a report's files look like: no number that the JSON lacks, nothing from outside, no text taken for code."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.base.text import escape_markdown
from musicrs_metric.report.build import build_report
from musicrs_metric.report.write import write_report

from .report_toy import ATTACK, CLIP, NAME, write_toy

NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")


class Page(HTMLParser):
    """The visible text, the tags with their attributes, and the style of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.style = ""
        self._open: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts += [value for name, value in attrs if name in ("value", "aria-label", "alt", "title") and value]

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            self.style += data
        else:
            self.texts.append(data)


def numbers(texts: Iterator[str] | list[str]) -> set[str]:
    return {number for text in texts for number in NUMBER.findall(text)}


def strings(value: Any) -> Iterator[str]:
    """Every text and number of a JSON value, as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif value is not None:
        yield str(value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toy = write_toy(tmp_path_factory.mktemp("toy"))
    out = tmp_path_factory.mktemp("out") / "report"
    write_report(build_report(toy.runs, toy.dataset, reported=True, resamples=200), out)
    return out


@pytest.fixture(scope="module")
def known(folder: Path) -> set[str]:
    return numbers(list(strings(json.loads((folder / "report.json").read_text(encoding="utf-8")))))


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def test_page_has_no_number_that_the_json_lacks(page: Page, known: set[str]) -> None:
    found = numbers(page.texts)
    assert len(found) > 300
    assert found <= known


def test_markdown_has_no_number_that_the_json_lacks(folder: Path, known: set[str]) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    found = numbers([re.sub(r"\]\(figure-\d\.png\)", "", text).replace("\\", "")])
    assert len(found) > 300
    assert found <= known


@pytest.mark.parametrize("name", ["figure-3", "figure-4"])
def test_figures_have_no_number_that_the_json_lacks(folder: Path, known: set[str], name: str) -> None:
    drawing = ElementTree.parse(folder / f"{name}.svg")
    texts = ["".join(node.itertext()) for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "Jazz" in " ".join(texts)
    assert numbers(texts) <= known
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_page_needs_nothing_from_outside(page: Page) -> None:
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "iframe", "object", "embed", "link", "base", "form", "img"}
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), tag
        for name in ("src", "srcset", "xlink:href", "href", "data", "action"):
            target = attributes.get(name) or ""
            assert target == "" or target.startswith(("#", "data:")) or (tag == "a" and name == "href")
    assert "url(" not in page.style
    assert "@import" not in page.style
    (policy,) = [attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_texts_of_data_and_runs_are_no_markup(page: Page) -> None:
    text = " ".join(page.texts)
    assert ATTACK in text
    assert NAME in text
    assert "b" not in {tag for tag, _ in page.tags}
    assert [attributes["href"] for tag, attributes in page.tags if tag == "a" and "evil" in str(attributes)] == []


def test_clips_are_inside_the_page(page: Page) -> None:
    import base64

    sounds = [attributes["src"] for tag, attributes in page.tags if tag == "audio"]
    assert sounds == [f"data:audio/flac;base64,{base64.b64encode(CLIP).decode()}"] * 2  # one for each case


def test_tables_of_markdown_keep_their_columns(folder: Path) -> None:
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    tables: list[list[int]] = [[]]
    for line in lines:
        if line.startswith("| "):
            tables[-1].append(len(re.findall(r"(?<!\\)\|", line)))
        elif tables[-1]:
            tables.append([])
    sizes = [set(table) for table in tables if table]
    assert len(sizes) > 8
    assert all(len(size) == 1 for size in sizes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b", r"a \| b"),
        ("*now*, _then_", r"\*now\*, \_then\_"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("one\n# two", r"one \# two"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("[1](http://y)", r"\[1\](http://y)"),
        ("[1]: http://y", r"\[1\]: http://y"),
        ("[5*3*]", r"\[5\*3\*\]"),
        ("[ ] a task", r"\[ \] a task"),
        ("1.5 [-2.0, 3.0], [95 % interval]", "1.5 [-2.0, 3.0], [95 % interval]"),
        ("$x$ for $5", r"\$x\$ for \$5"),
    ],
)
def test_markdown_takes_text_as_text(text: str, expected: str) -> None:
    assert escape_markdown(text) == expected


def test_files_are_the_same_from_one_run_to_the_next(folder: Path, tmp_path: Path) -> None:
    toy = write_toy(tmp_path)
    again = write_report(build_report(toy.runs, toy.dataset, reported=True, resamples=200), tmp_path / "again")
    assert {path.name for path in again} == {path.name for path in folder.iterdir()}
    for path in again:
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_scores_of_the_json_are_unrounded(folder: Path) -> None:
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    scores = {run["label"]: run["scores"]["recall@20"] for run in data["runs"]}
    assert scores[f"{NAME}, query"] == pytest.approx(3.5 / 6, abs=1e-15)
    assert data["comparison"]["n"] == 6
    assert data["settings"] == {"seed": 0, "resamples": 200}
