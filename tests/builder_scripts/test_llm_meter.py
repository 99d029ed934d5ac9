"""Speed, cost, and the bar that shows them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from builder_scripts.llm import Parameters, Request, Response
from builder_scripts.llm.options import LlmOptions
from builder_scripts.llm.request import no_answer
from builder_scripts.llm.session import Session
from builder_scripts.llm.usage import Prices, UsageMeter
from tests.builder_scripts.llm_stub import Reply, stub_server


def test_the_line_by_hand() -> None:
    """Two answers in 2 s cost 3, and four of eight are still to come: 9 in all, for the store costs nothing."""
    clock = iter([100.0, 102.0])
    usage = UsageMeter(Prices(read=1.0, written=10.0), clock=lambda: next(clock))
    for response in (Response("a", "stop", 100, 50), Response("b", "stop", 100, 50)):
        usage.add(response)
    usage.add(Response("c", "stop", 999, 999, cached=True))
    usage.add(no_answer("status 500"))
    # 200 read at 1 and 100 written at 10 per million
    assert usage.cost == pytest.approx(0.0012)
    assert (usage.done, usage.answered, usage.cached, usage.failed) == (4, 2, 1, 1)
    usage.read, usage.written = 2_000_000, 100_000
    assert usage.line(8) == "1,050,000 tokens/s, cost 3.00, about 9.00 in all, 1 from the store, 1 failed"


def test_no_price_no_cost() -> None:
    """One's own machine is not told what it costs."""
    clock = iter([0.0, 1.0])
    usage = UsageMeter(clock=lambda: next(clock))
    usage.add(Response("a", "stop", 10, 5))
    assert usage.line(10) == "15 tokens/s"


def request(prompt: str) -> Request:
    return Request(prompt, "t@1", {}, Parameters(50))


def test_a_session_shows_where_it_stands_and_estimates_the_rest(tmp_path: Path) -> None:
    """The bar is on the console; the estimate counts each distinct missing request, and asks nothing."""
    shown = io.StringIO()
    console = Console(file=shown, width=140, force_terminal=True)
    with stub_server(lambda prompt, before: Reply("{}")) as stub:
        settings = LlmOptions(model="stub", url=stub.url, price_read=1.0, price_written=2.0)
        with Session(settings, tmp_path, "extract", console) as session:
            session.generate([request("a" * 400), request("b" * 400)])
            session.check({"texts": []})
            told = session.estimate([request(letter * 400) for letter in "abcdd"])
        assert len(stub.bodies) == 2
    assert "Asking stub" in shown.getvalue()
    assert "2/2" in shown.getvalue()
    assert "tokens/s" in shown.getvalue()
    # c and d: 800 bytes, 200 tokens to read at 1, 100 to write at 2 per million
    assert told == (
        "2 requests to stub (5 asked for, the others repeat or are in the store): about 200 tokens to read, "
        "at most 100 to write, cost at most about 0.0004"
    )
