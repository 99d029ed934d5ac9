"""Everything that a reader can copy from the README, the quickstart and the pages on extending runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from musicrs_dataset.pools.entities import answers_of
from musicrs_dataset.sources import resolve_source
from musicrs_metric import measures
from musicrs_metric.citation import BIBTEX
from musicrs_metric.closed_forms import PoolKind
from musicrs_metric.errors import UserError
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.matching import normalise
from musicrs_metric.runs.predictions import read_predictions

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"[Ss]ave this as `(\w+\.py)`")
# What a test gives in place of the published data, which is not part of the repository.
STAND_INS = {
    "--from rohan2810/MusiCRS --out data": "--from mini --out data --no-install",
    'load_dataset("musicrs",': 'load_dataset("data/musicrs_mini",',
}


class Block(NamedTuple):
    """A code block of a page, with the text before it."""

    language: str
    code: str
    before: str


def blocks(page: str) -> list[Block]:
    """Code blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    end = 0
    for match in FENCE.finditer(text):
        found.append(Block(match[1], match[2], text[end : match.start()]))
        end = match.end()
    return found


@pytest.mark.parametrize("page", ["README.md", "musicrs_metric/README.md"])
def test_every_page_cites_alike(page: str) -> None:
    """Two keys for one paper would put it twice into a bibliography."""
    assert BIBTEX in (ROOT / page).read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    """Details belong to docs/."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose caches are empty, and in which the metric has its name."""
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"), "1")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return os.environ | offline | {"HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": str(ROOT), "PATH": path}


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(command)[:200]}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def run_page(page: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Run the code blocks of a page in order: `bash` blocks as commands, Python blocks as one growing program.

    A Python block after the words "save this as `mine.py`" is written to that file before anything runs. Blocks of
    other languages are not meant to be copied.
    """
    programs: list[str] = []
    steps: list[tuple[str, str]] = []
    for language, code, before in blocks(page):
        for original, stand_in in STAND_INS.items():
            code = code.replace(original, stand_in)
        name = SAVED.search(before[-120:]) if language == "python" else None
        if name is not None:
            (folder / name[1]).write_text(code, encoding="utf-8")
        elif language in ("bash", "python"):
            steps.append((language, code))
    assert steps
    for language, code in steps:
        if language == "bash":
            run(["bash", "-e", "-c", code], folder, environment)
        else:
            programs.append(code)  # later blocks use the names of earlier ones
            run([sys.executable, "-c", "\n".join(programs)], folder, environment)


@pytest.mark.figures
def test_the_readme_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    """Its commands and its Python, on the mini dataset; its own system ranks the shortest title first."""
    run([sys.executable, "-m", "musicrs_metric", "install"], tmp_path, environment)
    run_page("README.md", tmp_path, environment)
    predictions = read_predictions(tmp_path / "runs" / "by_length" / "predictions.jsonl").predictions
    assert predictions
    assert all(prediction.ranking[0] == min(prediction.ranking, key=len) for prediction in predictions)


@pytest.mark.figures
def test_the_quickstart_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    """From the data to a report."""
    run_page("docs/quickstart.md", tmp_path, environment)
    assert list((tmp_path / "report").glob("*.html"))


@pytest.mark.figures
@pytest.mark.parametrize("page", ["docs/extend/system.md", "docs/extend/corpus.md"])
def test_pages_on_extending_run(page: str, tmp_path: Path, environment: dict[str, str]) -> None:
    """Their files and commands, on the mini dataset where they need one."""
    build = [sys.executable, "-m", "musicrs_dataset", "build", "--from", "mini", "--out", "data", "--no-install"]
    run([*build, "--config", "query_only"], tmp_path, environment)
    run_page(page, tmp_path, environment)


def page_code(page: str, start: str) -> str:
    """The code block of a page that starts with a text."""
    (code,) = (block.code for block in blocks(page) if block.code.startswith(start))
    return code


def test_the_measure_of_the_page() -> None:
    """Capped recall at 2 with three relevant of four candidates: 1 / 2 after one hit; by chance 3 / 4."""
    names = dict(vars(measures))
    exec(page_code("docs/extend/measure.md", "class CappedRecall"), names)
    capped = names["CappedRecall"](2)
    hits = hits_from_strings([["A", "D"]], [["A", "B", "C"]], [["A", "B", "C", "D"]])
    assert capped.value(measures.count_hits(hits, (2,))).tolist() == [0.5]
    values, probabilities = capped.random_values(PoolKind(size=4, reachable=3, relevant=3, n=1))
    assert float(values @ probabilities) == pytest.approx(3 / 4)


def test_the_pool_design_of_the_page() -> None:
    """Its function draws a pool per thread that holds the ground truth once, and no title that a reply names."""
    code = page_code("docs/extend/pool_design.md", '"""Design `small`').replace("Design.SMALL", "Design.PAPER")
    names: dict[str, Any] = {"__package__": "musicrs_dataset.pools"}
    exec(code, names)
    threads, _ = resolve_source("mini")
    drawn = names["small_pools"](threads, distractors=5)
    for thread in threads:
        pool = drawn.pools[thread.thread_id]
        assert len(set(pool)) == len(pool) == len(set(thread.ground_truth)) + 5
        assert {normalise(title) for title in pool} & answers_of(thread) <= set(map(normalise, thread.ground_truth))


def test_the_importer_of_the_page(tmp_path: Path) -> None:
    """It reads a line, and names line and field of a fault."""
    names: dict[str, Any] = {"__package__": "musicrs_dataset.corpora"}
    exec(page_code("docs/extend/corpus.md", '"""Reader of `songlists`'), names)
    path = tmp_path / "lists.jsonl"
    path.write_text(
        '{"id": "a", "style": "Jazz", "request": "calm", "songs": ["So What", "Blue"], "liked": ["Blue"]}\n{}'
    )
    with pytest.raises(UserError, match="line 2: no field 'id'"):
        names["read_songlists"](path)
    path.write_text(path.read_text().removesuffix("{}"))
    (thread,) = names["read_songlists"](path).threads
    assert (thread.candidates, thread.ground_truth, thread.genre) == (("So What", "Blue"), ("Blue",), "Jazz")


@pytest.mark.parametrize("page", sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
def test_commands_of_a_page_exist(page: str) -> None:
    """Each `python -m ROOM COMMAND --option` of a page names a command and options that there are."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for match in FENCE.finditer(text) if match[1] in ("", "bash") for line in match[2].splitlines()]
    lines += re.findall(r"`(python -m [^`]+)`", text)
    faults = [fault for line in lines if (fault := unknown_part(line))]
    assert not faults, "\n".join(faults)


def unknown_part(line: str) -> str | None:
    """What of a command line there is not: its command or one of its options; None where all is known."""
    match = re.search(
        r"(?:-m |^)(musicrs_dataset|musicrs_metric|musicrs-metric|baselines|space|builder_scripts) (.*)", line
    )
    if match is None:
        return None
    command, words = application(match[1].replace("-", "_")), re.split(r"\s+#|;|\|", match[2])[0].split()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name = words.pop(0)
        if name in ("STAGE", "..."):
            return None
        if name not in command.commands:
            return f"{line}: no command {name}"
        command = command.commands[name]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    if command.name in ("run", "cards"):  # systems have options of their own
        return None
    unknown = [word for word in words if word.startswith("--") and word != "--help" and word not in known]
    return f"{line}: no option {unknown[0]}" if unknown else None


def application(room: str):  # type: ignore[no-untyped-def]
    """The command line of a room."""
    import importlib

    from typer.main import get_command

    return get_command(importlib.import_module(f"{room}.cli").app)
