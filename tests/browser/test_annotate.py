"""The annotation page as people use it: two at once, by keyboard, with reloads, a server that dies, and a phone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builder_scripts.annotate.agree import agree, write_agreement
from builder_scripts.annotate.annotation_store import AnnotationStore
from builder_scripts.annotate.answers import Answers, no_answers
from builder_scripts.annotate.votes import finished
from builder_scripts.annotate.worklist import WorkItem
from builder_scripts.layout import Work
from builder_scripts.lines import write_lines

from ..builder_scripts.annotate_toy import ATTACK, OTHER_VIDEO, answered, check_exported_kappas, item, video
from .conftest import FLAGS, Server

if TYPE_CHECKING:
    from playwright.async_api import Page as AsyncPage
    from playwright.sync_api import Page

EACH = 100  # threads that each of two annotators judges, of twice as many
SERVE = ("-m", "builder_scripts", "annotate", "serve", "--port", "PORT", "--work")
# The address changes last when a thread is shown.
ANOTHER_THREAD = "left => ![null, left].includes(new URL(location).searchParams.get('thread'))"
SAVED = "() => document.querySelector('#work').dataset.unsaved === undefined"


def opinion(name: str, thread: WorkItem) -> Answers:
    """What an annotator thinks of a thread: mostly what everybody does."""
    common, own = random.Random(thread.thread_id), random.Random(f"{name} {thread.thread_id}")

    def said(share: float) -> str:
        usual, mine = common.random() < share, own.random() < share
        return "ny"[usual if own.random() < 0.8 else mine]

    links, entities = "".join(said(0.6) for _ in thread.links), "".join(said(0.8) for _ in thread.entities)
    if said(0.6) == "n":
        return replace(no_answers(thread), category="pop culture", done=True)
    return answered(thread, links=links, entities=entities)


class Annotator:
    """One person with one browser window."""

    def __init__(self, name: str, page: AsyncPage) -> None:
        self.name, self.page = name, page
        self.abroad: list[str] = []
        page.set_default_timeout(90_000)  # a busy machine is no fault of the page
        page.on("request", lambda request: self.abroad.append(request.url) if "//127.0.0.1:" not in request.url else 0)

    async def start(self, url: str) -> None:
        await self.page.goto(url)
        await self.page.fill("#name textarea", self.name)
        await self.page.press("#name textarea", "Enter")
        await self.sees_another_thread_than("")

    async def at(self) -> str:
        """The thread on the screen."""
        source: str = await self.page.inner_text("#thread .source")
        return source.split(" · ")[1]

    async def sees_another_thread_than(self, thread_id: str) -> None:
        await self.page.wait_for_function(ANOTHER_THREAD, arg=thread_id)
        await self.page.wait_for_selector("#entities fieldset", state="visible")

    async def work(self, threads: dict[str, WorkItem], n: int) -> None:
        """Judge so many threads by keyboard, whichever the page shows."""
        press = self.page.keyboard.press
        for _ in range(n):
            thread_id = await self.at()
            answers = opinion(self.name, threads[thread_id])
            await press("1" if answers.category == "music" else "2")
            if answers.category == "music":
                await press("j")
                for said in (*(link.valid for link in answers.links), *(one.relevant for one in answers.entities)):
                    await press("y" if said else "n")
            await press("Enter")
            await self.sees_another_thread_than(thread_id)

    async def answers_half(self) -> None:
        """Begin with a thread, type something, and leave it at that."""
        await self.page.keyboard.press("1")
        await self.page.keyboard.press("j")
        await self.page.keyboard.press("y")
        await self.page.fill("#query textarea", "half a que")
        await self.page.fill("#more_entities textarea", "song: One\nalb")
        await self.page.evaluate("window.asLoadedBefore = true")

    async def finds_half(self, thread_id: str) -> None:
        """See what was answered, and put it back to what the derived query and nobody's additions are."""
        await self.page.wait_for_function("() => window.asLoadedBefore === undefined")
        await self.page.wait_for_function("() => document.querySelector('#query textarea')?.value === 'half a que'")
        await self.page.wait_for_function(SAVED)
        assert await self.at() == thread_id
        assert await self.page.input_value("#more_entities textarea") == "song: One\nalb"
        checked = await self.page.locator("#work input:checked").evaluate_all("all => all.map(one => one.value)")
        assert checked == ["music", "yes"]
        await self.page.fill("#more_entities textarea", "")
        await self.page.fill("#query textarea", item(int(thread_id[3:], 16)).query)
        await self.page.keyboard.press("Escape")


def test_two_annotators_at_once(chromium: Path, servers: list[Server], tmp_path: Path) -> None:
    """200 judgements by two people, one of whom reloads, over a server that is killed: every answer is kept as given.

    The kappas of what they exported are scikit-learn's and statsmodels'.
    """
    threads = [
        item(number, links=1 + (number % 4 == 0), entities=2, hostile=ATTACK if number % 10 == 0 else "")
        for number in range(2 * EACH)
    ]
    work = Work(tmp_path)
    write_lines(work.worklist, threads)
    server = Server(*SERVE, tmp_path)
    servers.append(server)
    server.start()
    asyncio.run(_judge(chromium, server, {thread.thread_id: thread for thread in threads}))

    store = AnnotationStore(work.annotations)
    assert store.annotators() == ["Ann", "Bob"]
    for name in store.annotators():
        kept = store.answers(name)
        assert kept == {thread.thread_id: opinion(name, thread) for thread in threads[:EACH]}
    assert store.damaged == 0
    judged = finished(threads, store)
    assert [len(judgements) for judgements in judged.values()] == [EACH, EACH]

    write_agreement(tmp_path, agree(threads, judged, resamples=100, seed=0), threads)
    check_exported_kappas(tmp_path)


async def _judge(chromium: Path, server: Server, threads: dict[str, WorkItem]) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        ann, bob = [
            Annotator(name, await (await browser.new_context(viewport={"width": 900, "height": 600})).new_page())
            for name in ("Ann", "Bob")
        ]
        await asyncio.gather(ann.start(server.url), bob.start(server.url))

        async def ann_reloads() -> None:
            await ann.work(threads, 20)
            here = await ann.at()
            await ann.answers_half()
            await ann.page.reload()
            await ann.finds_half(here)
            await ann.work(threads, 20)

        await asyncio.gather(ann_reloads(), bob.work(threads, 45))

        # What is answered while there is no server is sent when there is one again.
        here = await bob.at()
        server.kill()
        await bob.answers_half()
        await asyncio.to_thread(server.start)
        await bob.finds_half(here)
        # The other page may be in the middle of loading itself anew.
        await ann.page.reload()
        await ann.sees_another_thread_than("")
        await asyncio.gather(ann.work(threads, EACH - 40), bob.work(threads, EACH - 45))

        for one in (ann, bob):
            assert f"{one.name}\n{EACH} of {2 * EACH}" in (await one.page.inner_text("#progress")).replace("\n\n", "\n")
            assert await one.page.evaluate("window.pwned") is None
            assert one.abroad == []
        await browser.close()


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory, chromium: Path) -> Iterator[tuple[Server, Work]]:
    """Three threads, the first of which means harm and has its second video here."""
    work = Work(tmp_path_factory.mktemp("work"))
    write_lines(work.worklist, [item(0, hostile=ATTACK), item(1), item(2)])
    sound = work.audio / "audio" / video(1)[:2] / f"{video(1)}.wav"
    sound.parent.mkdir(parents=True)
    sound.write_bytes(b"RIFF")
    server = Server(*SERVE, work.root)
    server.start()
    yield server, work
    server.kill()


@pytest.fixture
def page(chromium: Path) -> Iterator[Page]:
    """An empty page of the width of a desk; nothing outside this machine is reached."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(90_000)
        page.route(lambda url: "//127.0.0.1:" not in url, lambda route: route.abort())
        yield page
        browser.close()


def test_by_mouse(one_server: tuple[Server, Work], page: Page) -> None:
    """Names, corrections, additions and what is missing; players load when opened; the buttons answer the rest."""
    server, work = one_server
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    page.fill("#name textarea", "../etc")
    page.click("#start")
    page.wait_for_selector("#notice .failed")
    assert "expected 1 to 40 letters" in page.inner_text("#notice")
    page.fill("#name textarea", "Cid")
    page.click("#start")
    page.wait_for_function(ANOTHER_THREAD, arg="")

    assert ATTACK in page.inner_text("#thread h2")
    assert ATTACK in page.inner_text("#entities")
    assert page.locator("#thread mark").count() == 3
    assert not [url for url in asked if "youtube" in url or "/file=" in url]
    page.click("#work summary")
    page.wait_for_timeout(300)
    assert [url for url in asked if "youtube" in url] == [f"https://www.youtube-nocookie.com/embed/{video(0)}?start=0"]
    address = page.get_attribute("#work audio", "src")
    assert address is not None
    assert page.request.get(server.url + address.split("#")[0]).body() == b"RIFF"
    assert page.request.get(server.url + "gradio_api/file=/etc/passwd").status == 403

    page.click("#finish")
    page.wait_for_selector("#saved .open")
    assert "say what the thread is about" in page.inner_text("#saved")
    page.check("#category input >> nth=0")
    page.click("#links fieldset >> nth=1 >> text=not valid")
    page.fill("#links textarea >> nth=1", "no link")
    page.click("text=All other links are valid")
    page.click("text=All other entities are relevant")
    page.fill("#more_links textarea", f"https://youtu.be/{video(50)}")
    page.fill("#more_entities textarea", "album: Kind of Blue")
    page.click("#finish")
    page.wait_for_selector("#saved li")
    assert page.inner_text("#saved li") == "link 2: 'no link' names no YouTube video"
    page.fill("#links textarea >> nth=1", f"https://youtu.be/{OTHER_VIDEO}")
    page.click("#finish")
    page.wait_for_function(ANOTHER_THREAD, arg="t3_0000")
    page.click("#previous")
    page.wait_for_function(ANOTHER_THREAD, arg="t3_0001")
    assert page.input_value("#more_entities textarea") == "album: Kind of Blue"

    (judgement,) = finished([item(0, hostile=ATTACK)], AnnotationStore(work.annotations))["Cid"].values()
    assert [(link.verdict, link.video_id) for link in judgement.links] == [
        ("valid", video(0)),
        ("corrected", OTHER_VIDEO),
        ("added", video(50)),
    ]
    assert [entity.verdict for entity in judgement.entities] == ["relevant", "relevant", "relevant", "added"]
    assert page.evaluate("window.pwned") is None


@pytest.mark.parametrize("width", [1280, 390])
def test_everything_is_in_reach(one_server: tuple[Server, Work], page: Page, width: int) -> None:
    """On a desk and on a phone nothing is wider than the screen, and Finish is on it wherever one has scrolled to."""
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{one_server[0].url}?annotator=Dee&thread=t3_0000")
    page.wait_for_selector("#entities fieldset", state="visible")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#category").scroll_into_view_if_needed()
    page.mouse.move(width / 2, 400)
    for distance in (300, 5_000):
        page.mouse.wheel(0, distance)
        page.wait_for_timeout(150)
        button = page.locator("#finish").bounding_box()
        assert button is not None
        assert 0 < button["y"] < 844 - button["height"]
    thread = page.locator("#thread").bounding_box()
    assert thread is not None
    assert (thread["width"] > 0.7 * width) == (
        width == 390
    )  # side by side where there is room, else one below the other
