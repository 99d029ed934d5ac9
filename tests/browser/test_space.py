"""The leaderboard as people use it: looking, filtering, comparing, listening, by mouse, keyboard and thumb."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..space.views_toy import mini_dataset, submissions
from .conftest import Server
from .space_pages import Visitor, opened, serve_board

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TABS = ("leaderboard", "compare", "genres", "threads", "submit", "about")
SYSTEMS = 12


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, chromium: Path) -> Iterator[Server]:
    """A board of twelve systems on the mini dataset, with its clips."""
    folder = tmp_path_factory.mktemp("space")
    yield from serve_board(mini_dataset(folder / "data"), folder, lambda references: submissions(references, SYSTEMS))


@pytest.fixture
def visitor(browser: Browser, board: Server) -> Iterator[Visitor]:
    """Somebody at a desk."""
    with opened(browser, board.url) as made:
        yield made


def test_first_look(visitor: Visitor) -> None:
    """Chance stands on top; what is chosen is in the address and in the table; the columns sort both ways."""
    page = visitor.go("")
    assert page.title() == "MusiCRS leaderboard"
    previews = page.locator('meta[property="og:title"]')
    assert [one.get_attribute("content") for one in previews.all()] == ["MusiCRS leaderboard"]
    assert page.inner_text(".board tbody tr >> nth=0").strip().startswith("Chance")
    assert len(visitor.names()) == SYSTEMS

    visitor.choose("modality", "audio_only")
    assert "modality=audio_only" in page.url
    assert 0 < len(visitor.names()) < SYSTEMS
    visitor.choose("modality", "")
    assert len(visitor.names()) == SYSTEMS
    visitor.choose("reads", "thread")

    for column in ("nDCG@20", "MRR", "recall@20"):
        visitor.click(f".board thead >> text={column}")
        scores = visitor.scores(column)
        assert scores == sorted(scores, reverse=True)
        visitor.click(f".board thead >> text={column}")
        assert visitor.scores(column) == scores[::-1]
        assert page.locator(".board thead [aria-sort]").get_attribute("aria-sort") == "ascending"

    page.fill("input[name=find]", "brass")
    visitor.settled("find=brass")
    assert visitor.names()
    assert all("Brass" in name for name in visitor.names())
    assert not page.locator("body[data-busy]").count()


def test_details_of_a_system(visitor: Visitor, tmp_path: Path) -> None:
    """A name opens its details, which have the focus; predictions and table can be taken home; Escape closes."""
    page = visitor.go("")
    name = visitor.names()[0]
    visitor.click(f".board a.name >> text={name}")
    page.wait_for_selector("#details h2")
    assert page.inner_text("#details h2") == name
    assert page.evaluate("document.activeElement.matches('#details h2')")
    assert "row=" in page.url

    lines = visitor.download("text=Download predictions", tmp_path).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 28
    assert set(json.loads(lines[0])) >= {"thread_id", "ranking"}
    page.keyboard.press("Escape")
    visitor.settled()
    assert not page.locator("#details").count()
    assert page.evaluate("document.activeElement.className") == "name"
    page.locator(".board a.name").last.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    page.locator(".board a.name").last.click()
    visitor.settled("row=")
    assert page.evaluate("scrollY") == before
    visitor.click("#details a.close")
    assert page.evaluate("scrollY") == before
    for form, start in (("Markdown", "#"), ("CSV", "kind,"), ("LaTeX", "\\")):
        assert start in visitor.download(f"footer >> text={form}", tmp_path).read_text(encoding="utf-8")[:60]


def test_by_keyboard(visitor: Visitor) -> None:
    """Tabs, columns, lists and details are reached and worked without a mouse, and show where the focus is."""
    page = visitor.go("")
    page.focus(".tabs a >> nth=0")
    reached: set[str] = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
            return [e.name || e.className || e.textContent, s.outlineStyle !== 'none' || s.boxShadow !== 'none']; }"""
        )
        reached.add(str(here[0]).strip())
        assert here[1], f"no visible focus on {here[0]!r}"
    assert {"find", "modality", "sort", "Compare", "About", "MRR"} <= reached

    page = visitor.go("?tab=submit")
    for field in ("name", "link", "description"):
        page.focus(f"#{field} :is(input, textarea)")
        here = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert here == "solid", f"no visible focus on {field!r}"

    page = visitor.go("")
    page.focus("select[name=sort]")
    page.keyboard.press("ArrowDown")
    visitor.settled("sort=ndcg")
    page.focus(".board thead >> text=MRR")
    page.keyboard.press("Enter")
    visitor.settled("sort=mrr")
    page.focus(".board a.name >> nth=0")
    page.keyboard.press("Enter")
    visitor.settled("row=")
    assert page.locator("#details h2").count() == 1


def test_compare_two_systems(visitor: Visitor) -> None:
    """Two choices give a sentence, tables and a plot; a point of the plot opens its thread."""
    page = visitor.go("?tab=compare")
    visitor.settled("compare=")
    assert page.locator(".verdict-line").count() == 1
    keys = page.locator("[data-join=compare] >> nth=0 >> option").evaluate_all("all => all.map(one => one.value)")
    page.locator("[data-join=compare]").nth(0).select_option(keys[1])
    visitor.settled(f"compare={keys[1]}")
    page.locator("[data-join=compare]").nth(1).select_option(keys[-1])
    visitor.settled(keys[-1])
    assert "is better than" in page.inner_text(".verdict-line")
    assert "Gain of a second modality" in page.inner_text("#tab-compare")
    page.wait_for_selector("#plot-compare .points path")
    page.locator("#plot-compare .points path").first.click(force=True)
    visitor.settled("thread=t3_mini")
    assert page.locator("#thread .ranking").count() == 2
    page.go_back()
    visitor.settled("compare=")
    visitor.click(".largest a >> nth=0")
    assert page.locator("#thread .ranking").count() == 2


def test_genres(visitor: Visitor) -> None:
    """Every system and genre has a cell whose colour says on which side of chance it lies."""
    page = visitor.go("?tab=genres")
    assert page.locator(".heat tbody tr").count() == 1 + SYSTEMS
    assert page.locator(".heat td.above").count() + page.locator(".heat td.below").count() == 8 * SYSTEMS
    colours = {
        side: page.locator(f".heat td.{side}").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for side in ("above", "below")
    }
    assert len(set(colours.values())) == 2
    page.wait_for_selector("#plot-genres .points path")
    visitor.choose("metric", "mrr")
    page.wait_for_function("() => document.querySelector('#plot-genres .ytitle')?.textContent.startsWith('MRR')")


def test_listen_to_a_thread(visitor: Visitor) -> None:
    """A thread is found by its words, heard, and seen through the eyes of several systems."""
    page = visitor.go("?tab=threads")
    assert page.locator(".listing li").count() == 28
    page.fill("input[name=find]", "funeral")
    visitor.settled("find=funeral")
    assert 0 < page.locator(".listing li").count() < 28
    visitor.click(".listing a >> nth=0")
    assert page.locator("#thread audio").count() == 2
    played = page.locator("#thread audio").first.evaluate(
        """async (audio) => {
          audio.muted = true;
          await audio.play();
          await new Promise((resolve) => audio.addEventListener("timeupdate", resolve, { once: true }));
          return audio.duration;
        }"""
    )
    assert 7 < played < 13
    assert page.locator("#thread .ranking").count() == 2
    third = page.locator("[data-join=systems]").nth(2)
    third.select_option(index=5)
    visitor.settled("systems=")
    assert page.locator("#thread .ranking").count() == 3
    assert page.locator("#thread .ranking .hit").count() > 0
    right = page.locator("#thread .inline li").all_inner_texts()
    hits = page.locator("#thread .ranking .hit").evaluate_all("all => all.map(one => one.firstChild.textContent)")
    assert set(hits) <= set(right)


def test_links_lead_to_their_place(visitor: Visitor, browser: Browser, board: Server) -> None:
    """A URL can be sent to another user; going back goes back; a reload stays."""
    page = visitor.go("")
    visitor.click(".board a.name >> nth=2")
    name, row = page.inner_text("#details h2"), page.url
    visitor.click("#details a.action >> text=Compare")
    assert page.locator("[data-join=compare]").first.evaluate("e => e.selectedOptions[0].textContent") == name
    page.go_back()
    visitor.settled("row=")
    assert page.inner_text("#details h2") == name
    page.reload()
    visitor.settled("row=")
    assert page.inner_text("#details h2") == name
    page.go_back()
    visitor.settled()
    assert not page.locator("#details").count()

    with opened(browser, board.url) as other:
        other.page.goto(row)
        other.settled("row=")
        assert other.page.inner_text("#details h2") == name
        other.go("?thread=t3_mini03")
        assert other.page.locator(".tabs [aria-current]").inner_text() == "Threads"
        assert "t3_mini03" in other.page.inner_text("#thread")
        other.go("?row=gone&thread=t3_gone&pools=gone&sort=gone&genre=%3Cb%3E")
        assert other.page.locator(".board").count() + other.page.locator(".listing").count() == 1
        assert "no genre '<b>'" in other.page.inner_text("#frame .warn")
        assert "gone" not in other.page.url
        other.page.reload()
        other.settled("tab=threads")
        assert not other.page.locator("#frame .warn").count()


def test_what_is_answered_late_is_not_shown(visitor: Visitor) -> None:
    """Quick steps, each before the last was answered, end where the address says."""
    page = visitor.go("")
    page.evaluate(
        """tabs => tabs.forEach(tab => document.querySelector(`.tabs [data-tab=${tab}]`).click())""",
        ["genres", "threads", "compare", "about", "leaderboard", "about"],
    )
    visitor.settled("tab=about")
    assert page.locator(".tabs [aria-current]").inner_text() == "About"
    assert page.locator("#tab-about").is_visible()
    assert not page.locator("#tab-leaderboard").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, board: Server, scheme: Any) -> None:
    """Ink and ground follow the system's choice and stand apart at least 7 to 1; so do soft words, at 4.5 to 1."""
    with opened(browser, board.url, color_scheme=scheme) as visitor:
        page = visitor.go("")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(ground) < 0.1) == (scheme == "dark")
        for selector, least in (
            (".board .name", 7.0),
            (".board small", 4.5),
            (".verdict.above", 4.5),
            (".tabs a", 4.5),
        ):
            ink = page.locator(selector).last.evaluate("e => getComputedStyle(e).color")
            assert contrast(ink, ground) >= least, selector
        visitor.go("?tab=genres")
        page.wait_for_selector("#plot-genres .xtick text")
        drawn = page.locator("#plot-genres .xtick text").first.evaluate("e => getComputedStyle(e).fill")
        assert contrast(drawn, ground) >= 4.5


@pytest.mark.parametrize("tab", TABS)
def test_on_a_phone(browser: Browser, board: Server, tab: str) -> None:
    """No tab is wider than a phone, and what one presses is large enough for a thumb."""
    with opened(browser, board.url, viewport={"width": 390, "height": 844}) as visitor:
        page = visitor.go(f"?tab={tab}" + ("&thread=t3_mini01" if tab == "threads" else ""))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        heights = page.locator(".tabs a, .controls select, .controls input[type=search]").evaluate_all(
            "all => all.filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"
        )
        assert min(heights) >= 32
        if tab == "leaderboard":
            visitor.click(".board a.name >> nth=0")
            box = page.locator("#details").bounding_box()
            assert box is not None
            assert box["width"] <= 390


def channels(colour: str) -> list[float]:
    """Red, green and blue of a CSS colour, 0 to 1."""
    return [float(part) / 255 for part in colour[colour.index("(") + 1 :].rstrip(")").split(",")[:3]]


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
