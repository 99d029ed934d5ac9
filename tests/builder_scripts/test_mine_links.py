"""The links of a submission, wherever in it they stand and however they are written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builder_scripts.mine.links import FoundLink, find_links

from ..dataset.test_youtube import FORMS, ID, NO_VIDEO

OTHER = "VCLxJd1d84s"


def found(*texts: object) -> list[tuple[str, float]]:
    return [(link.video_id, link.start_s) for link in find_links(*texts)]


@pytest.mark.parametrize(
    "around", ["{}", "hear {} now", "two\n\n{}\r\nlines", "see [it]({}) here", '"{}"', "&lt;{}&gt;"]
)
@pytest.mark.parametrize(("form", "start"), FORMS.items())
def test_forms(form: str, start: float, around: str) -> None:
    """Every form of a link is found in prose, markdown and escaped HTML."""
    assert found(around.format(form.replace("ID", ID))) == [(ID, start)]


@pytest.mark.parametrize("url", NO_VIDEO)
def test_no_video(url: str) -> None:
    """What is no video is not found in prose either, and does not hide the link after it."""
    assert found(f"not {url} but") == []
    assert found(f"not {url} but https://youtu.be/{ID}") == [(ID, 0)]


def test_fields_in_order() -> None:
    """A video counts once, at its first link; videos come in the order of the fields; what is no text has no link."""
    links = find_links(f"https://youtu.be/{ID}?t=9", None, 7, f"https://youtu.be/{OTHER} https://youtu.be/{ID}")
    assert links == [
        FoundLink(ID, 9.0, f"https://youtu.be/{ID}?t=9"),
        FoundLink(OTHER, 0.0, f"https://youtu.be/{OTHER}"),
    ]


@pytest.mark.parametrize("between", [" ", "\n", ")[and](", "", ",", "\u3000", "\u2028"])
def test_links_in_a_row(between: str) -> None:
    """Links that touch are all found."""
    assert found(f"https://youtu.be/{ID}{between}https://youtu.be/{OTHER}") == [(ID, 0), (OTHER, 0)]


def test_link_as_it_stands() -> None:
    """The link is kept as the dump has it, except for what no file can hold."""
    url = f"https://www.youtube.com/watch?feature=x&amp;v={ID}\ud83d"
    assert find_links(url)[0].url == f"https://www.youtube.com/watch?feature=x&amp;v={ID}\ufffd"


REAL = [
    ("https://www.youtube.com/watch?v=jvUego50gVghttps://www.youtube.com/watch?v=jvUego50gVg", "jvUego50gVg"),
    ("http://www.youtube.com/watch?v=Yo7-2KlBQoEThese", "Yo7-2KlBQoE"),
    ("https://www.youtube.com/watch?v=cPRKsKwEdUQ0", "cPRKsKwEdUQ"),
    ("http://www.youtube.com/watch?feature=player_detailpage&ampv=rKPKKlWAuDA", "rKPKKlWAuDA"),
    ("https://www.youtube.com/watch?v=ieGpO0\\_SP7s", "ieGpO0_SP7s"),
    ("http://en.wikipedia.org/wiki/Namor", None),
]


@pytest.mark.parametrize(("url", "video"), REAL)
def test_damage(url: str, video: str | None) -> None:
    """Links that were damaged on their way give the one video that they name."""
    assert [link.video_id for link in find_links(f"see {url} there")] == ([video] if video else [])


def test_published_links(cases: Path) -> None:
    """All 108 damaged links of the published data, and 11 more, give their video or none."""
    lines = [json.loads(line) for line in (cases / "r04_urls.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 119
    for line in lines:
        videos = [link.video_id for link in find_links(f"hear {line['url']} here")]
        assert videos == [line["video_id"]] * (line["video_id"] is not None)


@pytest.mark.figures
@pytest.mark.parametrize(
    "hostile",
    [
        lambda n: "youtube.com/" * n,
        lambda n: "https://youtube.com/watch?" * n,
        lambda n: "youtube.com/watch?v=" + "a" * 12 * n,
        lambda n: "https://" + "www." * 3 * n + "youtube.com/watch?v=",
        lambda n: f"https://youtu.be/{ID} " * n,
        lambda n: "&amp;" * 3 * n + "youtu.be/",
        lambda n: "(" * 12 * n + "youtu.be/",
    ],
)
def test_hostile_posts(hostile: Callable[[int], str]) -> None:
    """Twice as long a post, made to keep a search busy, takes at most two and a half times as long."""
    short, long = hostile(3_400), hostile(6_800)  # about 40 and 80 kB
    tries = []
    for _ in range(6):  # a busy machine spoils single measurements, not the best of many, nor all tries
        tries.append(_best(long) / _best(short))
        if tries[-1] <= 2.5:
            return
    pytest.fail(f"twice the length took {min(tries):.1f} times as long")


def _best(text: str) -> float:
    times = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(3):
            find_links(text)
        times.append(time.process_time() - start)
    return min(times)
