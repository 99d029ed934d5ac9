"""A server that fails: its failures are kept as failures, asked again, and stop a stage before the next one starts."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from builder_scripts.cli import extract as command
from builder_scripts.cli import queries as queries_command
from builder_scripts.extract.tables import read_extractions
from builder_scripts.layout import Work
from builder_scripts.llm import Outcome
from musicrs_metric.errors import UserError
from tests.builder_scripts.llm_stub import Reply, Stub, stub_server
from tests.builder_scripts.silver import post, reply, run_stage, write_silver

run = partial(run_stage, command)
GOOD = '{"entities": []}'
N_REPLIES = 93


def completion(content: str | None, finish: str = "stop", **message: Any) -> bytes:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}).encode()


# What a server can send in place of an answer, with what the product calls it.
FAULTS: dict[str, tuple[Reply, str]] = {
    "cut": (Reply(GOOD[:7], finish="length"), "cut"),
    "null": (Reply(raw=completion(None)), "empty"),
    "empty": (Reply(""), "empty"),
    "blank": (Reply(" \n "), "empty"),
    "thinks": (Reply(raw=completion(None, "length", reasoning="Let me see. " * 9)), "cut"),
    "thinks on": (Reply("<think>and on and on"), "unreadable"),
    "prose": (Reply("There is no music in it."), "unreadable"),
    "null items": (Reply('{"entities": null}'), "unreadable"),
    "other JSON": (Reply('{"ranking": [1, 2]}'), "unreadable"),
    "filtered": (Reply("", finish="content_filter"), "filtered"),
    "refused": (Reply("context length exceeded", status=400), "no answer"),
    "busy": (Reply("slow down", status=429), "no answer"),
    "broken": (Reply("oops", status=500), "no answer"),
    "error inside": (Reply(raw=b'{"error": {"message": "over the limit", "code": 429}}'), "no answer"),
    "gateway": (Reply(raw=b"<html>502</html>"), "no answer"),
    "torn": (Reply(GOOD, cut=True), "no answer"),
    "no body": (Reply(raw=b""), "no answer"),
    "other type": (Reply(raw=b'["an", "answer"]'), "no answer"),
    "no choices": (Reply(raw=b'{"choices": []}'), "no answer"),
    "null choices": (Reply(raw=b'{"choices": null}'), "no answer"),
    "error beside": (
        Reply(raw=completion(GOOD)[:-1] + b', "error": {"message": "upstream", "code": 502}}'), "no answer"
    ),
    "redirect": (Reply(status=302, headers={"Location": "/login"}, raw=b""), "no answer"),
    "endless redirect": (Reply(status=308, headers={"Location": "/v1/chat/completions"}, raw=b""), "no answer"),
    "not gzip": (Reply(raw=b"\x1f\x8b rubbish", headers={"Content-Encoding": "gzip"}), "no answer"),
    "events": (Reply(raw=b"data: [DONE]\n\n"), "no answer"),
    "other question": (Reply('{"query": "I am looking for slow songs."}'), "unreadable"),
    "schema": (Reply('{"type": "object", "properties": {"entities": {"type": "array"}}}'), "unreadable"),
}  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Two posts and 93 replies, as in case R13."""
    replies = [reply(str(n), "b", f"My pick is Amber Road number {n}") for n in range(N_REPLIES)]
    return write_silver(tmp_path / "w", [post("a", "t", "b"), post("b", "t2", "b")], replies)


def failures(work: Work) -> list[str | None]:
    return [found.outcome.failure for found in read_extractions(work.entities)]


def arguments(work: Work, stub: Stub, *more: object) -> tuple[object, ...]:
    return ("--work", work.root, "--model", "m", "--url", stub.url, "--retries", 0, "--concurrency", 4, *more)


def ends_badly(*options: object) -> str:
    """Run a stage that must not end as done; the line that it ends with."""
    try:
        return run(*options, exit_code=1)
    except UserError as error:  # the server gave no answer at all: exit code 2
        return str(error)


QUICK = ("cut", "null", "prose", "filtered", "refused", "broken")


@pytest.mark.parametrize(
    "fault", [name if name in QUICK else pytest.param(name, marks=pytest.mark.figures) for name in FAULTS]
)
def test_one_bad_evening_is_not_final(work: Work, fault: str) -> None:
    """R13: a server that fails always ends the stage soon and badly; the same command then asks a good one for all."""
    with stub_server(lambda prompt, before: FAULTS[fault][0]) as stub:
        assert ends_badly(*arguments(work, stub))
        assert len(stub.bodies) <= 20 + 4 + 4  # twenty, those in flight, the first in other forms
    assert not work.entities.exists()
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        told = run(*arguments(work, stub))
        assert len(stub.bodies) == 2 + N_REPLIES
    assert f"replies: {N_REPLIES} of {N_REPLIES} kept" in told
    assert set(failures(work)) == {None}


def test_refusals_stop_a_stage(work: Work) -> None:
    """R15: about twenty equal refusals, not all 95; also where the first answers were good."""
    for good in (0, 30):
        with stub_server(lambda p, b: Reply(GOOD) if len(stub.bodies) <= good else FAULTS["refused"][0]) as stub:  # noqa: B023
            with pytest.raises(UserError, match=r"got no answer.*status 400: context length exceeded.*run again"):
                run(*arguments(work, stub))
            assert good < len(stub.bodies) <= good + 20 + 4


def at_some(share: int, fault: str) -> Callable[[str, int], Reply]:
    """A server that fails at every so many replies."""

    def answer(prompt: str, before: int) -> Reply:
        number = int((prompt.rpartition("number ")[2] or "1").split('"')[0]) if "number " in prompt else 1
        return FAULTS[fault][0] if number % share == 0 else Reply(GOOD)

    return answer


@pytest.mark.figures
@pytest.mark.parametrize("fault", ["cut", "null", "prose", "refused", "filtered"])
def test_a_few_failures_are_counted_and_asked_again(work: Work, fault: str) -> None:
    """Below the share the stage ends, says so, and is asked again by the same command; then there is nothing to do."""
    word = FAULTS[fault][1]
    with stub_server(at_some(31, fault)) as stub:  # 0, 31, 62: 3 of 93
        told = run(*arguments(work, stub))
        assert f"3 of 93 replies failed (3.23 %): {word} 3; run the same command again" in told
        assert failures(work).count(word) == 3
        before, first = len(stub.bodies), work.entities.read_bytes()
        assert "nothing to do" in run(*arguments(work, stub))
        assert 3 <= len(stub.bodies) - before <= 6
        assert work.entities.read_bytes() == first
    manifest = (work.gold / "_extract.json").read_bytes()
    # Nobody listens any more: what is there stays as it is.
    assert "nothing to do" in run(*arguments(work, stub))
    assert (work.gold / "_extract.json").read_bytes() == manifest
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        assert "replies: 93 of 93 kept" in run(*arguments(work, stub))
        assert len(stub.bodies) == 3
        assert "nothing to do" in run(*arguments(work, stub))
        assert len(stub.bodies) == 3


def test_the_share_is_an_option_and_holds_for_each_kind(work: Work) -> None:
    """10 of 93 are above 5 % and below 11 %; that both posts failed does not drown in the replies."""
    with stub_server(at_some(10, "prose")) as stub:
        told = run(*arguments(work, stub), exit_code=1)
        assert "extract: 10 of 93 replies failed (10.8 %): unreadable 10" in told
        assert "at most 5 % may fail" in told
        assert "--max-failures 0.11" in told
        assert not work.entities.exists()
        assert "replies: 83 of 93 kept" in run(*arguments(work, stub, "--max-failures", 0.11))
    with stub_server(lambda prompt, _: Reply(GOOD) if "Reply (JSON" in prompt else FAULTS["cut"][0]) as stub:
        assert "2 of 2 posts failed (100 %): cut 2" in run(
            *arguments(work, stub, "--model", "other"), exit_code=1
        )  # fmt: skip


def test_stores_of_earlier_versions(work: Work) -> None:
    """They hold failures as answers, without a word; these are asked again, too."""
    with stub_server(at_some(10, "cut")) as stub:
        run(*arguments(work, stub, "--max-failures", 1))
    with stub_server(at_some(7, "prose")) as stub:
        run(*arguments(work, stub, "--model", "n", "--max-failures", 1))
    store = work.cache / "answers.jsonl"
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    lines = [{key: value for key, value in line.items() if key not in ("failure", "error")} for line in lines]
    store.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for model, n_failed in (("m", 10), ("n", 14)):
        with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
            told = run(*arguments(work, stub, "--model", model))
            assert "replies: 93 of 93 kept" in told
            assert len(stub.bodies) == n_failed
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        (work.gold / "_extract.json").unlink()
        run(*arguments(work, stub, "--model", "n"))
        assert not stub.bodies


@pytest.mark.figures
@pytest.mark.parametrize("seed", range(3))
def test_any_faults_end_as_an_undisturbed_run(work: Work, tmp_path: Path, seed: int) -> None:
    """Servers that fail at random, one after another, then a good one: the table is that of the good one alone."""
    rng = random.Random(seed)
    for _ in range(3):
        share = rng.choice([0.02, 0.2, 0.9])

        def unwell(prompt: str, before: int, share: float = share) -> Reply:
            return rng.choice(list(FAULTS.values()))[0] if rng.random() < share else Reply(GOOD)

        with stub_server(unwell) as stub:
            try:
                run(*arguments(work, stub, "--max-failures", 1))
            except (UserError, AssertionError):
                continue
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        run(*arguments(work, stub))
        assert set(failures(work)) == {None}
        # A question that was settled by its second request stays settled.
        assert {found.outcome for found in read_extractions(work.entities)} <= {
            Outcome(None, "strict", 1), Outcome(None, "strict", 2)
        }  # fmt: skip
        asked = len(stub.bodies)
        run(*arguments(work, stub))
        assert len(stub.bodies) == asked


def test_a_model_that_is_refused_each_time_ends_the_stage(work: Work) -> None:
    """Its answers are read and are no failures, yet nothing can be made of them."""
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        run(*arguments(work, stub))
    with stub_server(lambda prompt, before: Reply('{"query": "Songs?"}')) as stub:
        told = run_stage(queries_command, *arguments(work, stub), exit_code=1)
        assert "queries: no answer about 2 posts is of use: too short 2" in told
        assert not work.queries.exists()
        run_stage(queries_command, *arguments(work, stub, "--max-failures", 1))
        assert len(stub.bodies) == 4  # read and refused: that is an answer, and it is kept


def answer_files(folder: Path, reply_of: Callable[[str], Reply]) -> int:
    """What `vllm run-batch` does with the waiting requests."""
    lines = []
    for file in sorted(folder.glob("requests-*.jsonl")):
        for line in map(json.loads, file.read_text().splitlines()):
            body = json.loads(reply_of(line["body"]["messages"][0]["content"]).body())
            lines.append({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}})
        file.unlink()
    name = f"answers-{len(list(folder.glob('answers-*')))}.jsonl"
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return len(lines)


@pytest.mark.parametrize("fault", ["cut", "null", "prose", "filtered"])
def test_batch_files_that_failed_are_written_again(work: Work, fault: str) -> None:
    """A batch job of one bad evening: its failures stop the stage, wait in request files, and a good job mends all."""
    folder = work.cache / "batches-extract"
    options = ("--work", work.root, "--model", "m", "--backend", "batch")
    with pytest.raises(UserError, match=r"95 requests to m in .*requests-001-of-001\.jsonl"):
        run(*options)
    answer_files(folder, lambda prompt: FAULTS[fault][0])
    assert ends_badly(*options)
    for _ in range(4):  # good jobs until nothing waits
        if not answer_files(folder, lambda prompt: Reply(GOOD)):
            break
        try:
            run(*options)
        except (UserError, AssertionError):
            continue
    assert set(failures(work)) == {None}
    assert not list(folder.glob("requests-*"))
    assert "nothing to do" in run(*options)


def started(work: Work, stub: Stub) -> subprocess.Popen[str]:
    options = [str(option) for option in arguments(work, stub)]
    return subprocess.Popen(
        [sys.executable, "-m", "builder_scripts", "extract", *options],
        cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def lines_of(work: Work) -> int:
    store = work.cache / "answers.jsonl"
    return store.read_bytes().count(b"\n") if store.exists() else 0


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


SIGNALS = [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.figures)]


@pytest.mark.figures
@pytest.mark.parametrize("interruption", SIGNALS)
def test_ctrl_c_keeps_what_is_on_its_way(work: Work, interruption: int) -> None:
    """The four requests in flight are answered and kept, and no further one begins."""
    with stub_server(lambda prompt, before: Reply(GOOD, delay_s=0.4)) as stub:
        process = started(work, stub)
        wait_for(lambda: lines_of(work) >= 5 and stub.active == 4)
        asked = len(stub.bodies)
        process.send_signal(interruption)
        told = process.communicate(timeout=10)[1]
        assert process.returncode == 128 + interruption
        assert len(stub.bodies) <= asked + 4
        assert lines_of(work) == len(stub.bodies)
    assert f"stopped; {lines_of(work)} new answers kept, run the same command again" in told.replace("\n", " ")
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        kept = lines_of(work)
        run(*arguments(work, stub))
        assert len(stub.bodies) == 2 + N_REPLIES - kept


@pytest.mark.figures
@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_although_a_server_hangs(work: Work, interruption: int) -> None:
    """Within ten seconds, with what came before and within the time of grace."""

    def answer(prompt: str, before: int) -> Reply:
        number = len(stub.bodies)
        return Reply(GOOD, delay_s=0 if number < 6 else 3 if number == 6 else 60)

    with stub_server(answer) as stub:
        process = started(work, stub)
        wait_for(lambda: stub.active == 4)
        process.send_signal(interruption)
        began = time.monotonic()
        process.communicate(timeout=30)
        assert time.monotonic() - began < 10
        assert process.returncode == 128 + interruption
        assert lines_of(work) == 6


def test_no_part_of_a_key_is_shown(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """P05: a key that ends in a line feed, as out of a file, works; the line feed is cut off."""
    monkeypatch.setenv("MUSICRS_LLM_KEY", "sk-invented-0123456789abcdef\n")
    with stub_server(lambda prompt, before: Reply(GOOD)) as stub:
        assert "sk-invented" not in run(*arguments(work, stub))
        assert {headers["authorization"] for headers in stub.headers} == {"Bearer sk-invented-0123456789abcdef"}
