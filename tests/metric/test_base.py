"""Tables, templates, hashes and the append-only log."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.html import load_template
from musicrs_metric.base.jsonl_log import JsonlLog, read_log, rewrite
from musicrs_metric.base.numbers import (
    ascii_points,
    percent,
    percent_bounds,
    percent_range,
    plural,
    points,
    points_bounds,
    rank_range,
)
from musicrs_metric.base.renderers.markdown import markdown_grid, markdown_sections, markdown_table
from musicrs_metric.base.renderers.terminal import rich_table
from musicrs_metric.base.tables import Cell, Column, Part, Row, Table, cell, row, text_table

ATTACK = """<b onload="x('y')">&"""


def data_of(path: Path) -> list[bytes]:
    return [line.data for line in read_log(path)]


@pytest.mark.parametrize("fsync", ["append", "close", "never"])
def test_a_torn_line_never_joins_the_next_one(tmp_path: Path, fsync: str) -> None:
    """A kill leaves half a line; a new log ends it, and readers see it as a line of its own."""
    path = tmp_path / "folder" / "log.jsonl"
    with JsonlLog(path, fsync=fsync) as log:  # type: ignore[arg-type]
        log.append(['{"a": 1}', b'{"a": 2}'])
        log.append([])
    with path.open("ab") as file:
        file.write(b'{"a": 3')
    assert [(line.data, line.complete) for line in read_log(path)][-1] == (b'{"a": 3', False)
    with JsonlLog(path, fsync=fsync) as log:  # type: ignore[arg-type]
        log.append(['{"a": "é"}'])
    assert data_of(path) == [b'{"a": 1}', b'{"a": 2}', b'{"a": 3', '{"a": "é"}'.encode()]


def test_a_log_without_lines_leaves_no_file(tmp_path: Path) -> None:
    """The file appears with the first line."""
    with JsonlLog(tmp_path / "log") as log:
        log.append([])
    assert not (tmp_path / "log").exists()
    assert data_of(tmp_path / "log") == []


def test_reading_goes_on_at_an_offset(tmp_path: Path) -> None:
    """A reader that stopped before a line that is still being written finds it later, whole."""
    path = tmp_path / "log"
    path.write_bytes(b"1\n\n2\n3")
    *whole, torn = read_log(path)
    assert [(line.number, line.data, line.end) for line in whole] == [(1, b"1", 2), (3, b"2", 5)]
    assert not torn.complete
    path.write_bytes(b"1\n\n2\n34\n")
    assert [line.data for line in read_log(path, whole[-1].end)] == [b"34"]


def test_two_writers_mix_no_lines(tmp_path: Path) -> None:
    """Each append is one write at the end of the file."""
    path = tmp_path / "log"
    first, second = JsonlLog(path), JsonlLog(path)
    for i in range(20):
        (first if i % 2 else second).append([json.dumps([i, "x" * 1000])])
    first.close()
    second.close()
    assert [json.loads(data)[0] for data in data_of(path)] == list(range(20))


def test_rewrite(tmp_path: Path) -> None:
    """Lines are dropped by writing the others."""
    path = tmp_path / "log"
    path.write_text("1\n2\n")
    rewrite(path, ["2"])
    assert path.read_bytes() == b"2\n"


def test_hash_of_a_file(tmp_path: Path) -> None:
    """The sha256 of the bytes."""
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    assert file_sha256(tmp_path / "file") == hashlib.sha256(b"x" * 100_000).hexdigest()


def test_formats_of_percentages() -> None:
    """They differ on purpose: dash, sign, minus and number of digits."""
    assert [percent(None), percent(0.16512), percent(-1e-9)] == ["–", "16.51", "-0.00"]
    assert [points(-0.012), points(0.012), ascii_points(-0.012)] == ["−1.20", "+1.20", "-1.20"]
    assert (percent_range((0.1, 0.25)), percent_bounds((0.1, 0.25))) == ("10.00–25.00", "[10.0, 25.0]")
    assert points_bounds((-0.1, 0.25)) == "[−10.00, +25.00]"
    assert [rank_range(ends) for ends in (None, (1, 1), (1, 3))] == ["–", "1", "1–3"]
    assert [plural(n, "thread") for n in (1, 2000)] == ["1 thread", "2,000 threads"]


TABLE = Table(
    "Caption & more",
    (Column("System", "left"), Column("x|y")),
    (
        Row((cell("group"),), "heading"),
        Row((cell(ATTACK), Cell((Part("1", "best", "▲"), Part("2", "tied")), "[0, 3]\n[1, 2]"))),
        row("B", "3", role="chance"),
    ),
    ("a note <i>",),
)


def test_one_table_in_markdown() -> None:
    """Emphasis, signs and details survive; texts are escaped."""
    assert markdown_table(TABLE).splitlines() == [
        r"| System | x\|y |",
        "| :-- | --: |",
        "| *group* |  |",
        """| &lt;b onload="x('y')"&gt;&amp; | **1**▲ / <u>2</u><br>[0, 3]<br>[1, 2] |""",
        "| B | 3 |",
    ]
    assert markdown_grid(["a"], [["b"]]) == "| a |\n| --- |\n| b |"
    assert markdown_sections([text_table("T", ["a", "b"], [["c", "d"]], ["n"])]).splitlines() == [
        "### T", "", "| a | b |", "|---|---:|", "| c | d |", "", "n  ",
    ]  # fmt: skip


def test_one_table_on_a_terminal() -> None:
    """Texts are no markup."""
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as capture:
        console.print(rich_table(text_table("T", ["a"], [["[bold]x[/bold] :smile:"]], ["n"])))
    assert "[bold]x[/bold] :smile:" in capture.get()


def test_one_table_on_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The macro is found from any package, and escapes every text."""
    package = tmp_path / "a_page"
    (package / "templates").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "templates" / "page.html.j2").write_text(
        '{% from "table.html.j2" import table %}\n{{ table(value) }}{{ text }}'
    )
    (package / "templates" / "page.md.j2").write_text("{{ text }} {{ text | md }}\n")
    monkeypatch.syspath_prepend(tmp_path)
    page = load_template("a_page", "page.html.j2").render(value=TABLE, text=ATTACK)
    assert "<b " not in page
    assert "&lt;b onload=&#34;x(&#39;y&#39;)&#34;&gt;&amp;" in page
    assert '<span class="best">1</span><span class="sign">▲</span> / <span class="tied">2</span>' in page
    assert "<small>[0, 3]<br>[1, 2]</small>" in page
    assert '<tr class="heading"><th colspan="2" scope="rowgroup">group</th></tr>' in page
    assert page.endswith("&amp;")
    markdown = load_template("a_page", "page.md.j2")
    assert markdown.render(text="<_>") == r"<_> &lt;\_&gt;" + "\n"
    with pytest.raises(Exception, match="'text' is undefined"):
        markdown.render()
    sys.modules.pop("a_page", None)
