"""Mistakes that can be known beforehand are told before anything is mined or asked."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.pipeline.check import check
from builder_scripts.pipeline.config import read_config
from musicrs_metric.errors import UserError

Change = dict[str, Any]


def settings(folder: Path, *changes: Change) -> Path:
    """A file of settings that has no fault, for dumps that are there, with some sections changed."""
    dumps = folder / "dumps"
    dumps.mkdir(exist_ok=True)
    for name in ("RS_2025-01.zst", "RC_2025-01.zst"):
        (dumps / name).write_bytes(b"never read")
    value: Change = {
        "work": "work", "mine": {"dumps": ["dumps"], "subreddits": ["jazz"]}, "release": {"name": "x"},
        "audio": {"fetch": False}, "annotate": {"skip": True},
    }  # fmt: skip
    for change in changes:
        for name, section in change.items():
            old = value.get(name)
            value[name] = {**old, **section} if isinstance(old, dict) and isinstance(section, dict) else section
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path


def faults(path: Path) -> list[str]:
    """What `all` says; nothing may have been made."""
    done = CliRunner().invoke(app, ["all", "--config", str(path)])
    assert isinstance(done.exception, UserError), done.output
    assert not (path.parent / "work").is_dir() or not list((path.parent / "work").iterdir())
    return str(done.exception).split("\nerror: ")


def test_good_settings_pass(tmp_path: Path) -> None:
    """With nothing to say, and nothing written."""
    assert check(read_config(settings(tmp_path))) == []
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mine": {"subreddits": ["country"]}}, "no genre is known of country; name it with refine.genres"),
        ({"mine": {"subreddits": ["jaz"]}}, "did you mean the subreddit jazz?"),
        (
            {"mine": {"subreddits": ["country"]}, "refine": {"genres": {"contry": "Country"}}},
            "no genre is known of country; .*did you mean the subreddit contry",
        ),
        ({"refine": {"genres": {"country": "jazz"}}}, "country has the genre 'jazz'; expected Jazz"),
        ({"refine": {"genres": {"a b": "Country"}}}, "refine.genres: found 'a b'"),
        (
            {"refine": {"genres": {"country": "Country", "folk": "COUNTRY"}}},
            "found the genres 'Country' and 'COUNTRY'; write one",
        ),
        ({"refine": {"macro_genres": {"Jazz": "MM"}}}, "refine.macro_genres: Jazz has the macro-genre IM in the paper"),
        (
            {"refine": {"genres": {"country": "Country"}, "macro_genres": {"Contry": "MM"}}},
            "found 'Contry', expected the new genre of a subreddit; did you mean Country",
        ),
        (
            {"refine": {"genres": {"country": "Country"}, "macro_genres": {"Country": "mm"}}},
            "Country has the macro-genre 'mm'; expected MM",
        ),
        (
            {"refine": {"genres": {"country": "Country"}, "macro_genres": {"Country": "Other"}}},
            "Country has the macro-genre 'Other'; .*not free",
        ),
        (
            {
                "refine": {
                    "genres": {"country": "Country", "folk": "Folk"},
                    "macro_genres": {"Country": "Roots", "Folk": "ROOTS"},
                }
            },
            "found the macro-genres 'Roots' and 'ROOTS'; write one",
        ),
        ({"refine": {"min_answers": 9, "max_answers": 3}}, "--min-answers 9 --max-answers 3"),
        ({"pools": {"designs": ["paper", "paper"]}}, "designs of pools: found paper, paper"),
        ({"annotate": {"labels": "x", "majority": True}}, "--labels takes the place of the annotators; leave out"),
        ({"baseline": {"pools": "fresh"}, "pools": {"designs": ["paper"]}}, "baseline.pools is fresh, expected"),
        ({"baseline": {"model": "lexicall"}}, "baseline.model: no system 'lexicall'; did you mean lexical"),
        ({"release": {"name": "a b"}}, "the release is named 'a b'"),
        ({"release": {"takedown": "gone.txt"}}, "release.takedown .*gone.txt: no such file"),
        ({"audio": {"cookies": "cookies.txt"}}, "audio.cookies .*cookies.txt: no such file"),
        ({"mine": {"dumps": ["elsewhere"]}}, "elsewhere: no such file or folder"),
        ({"extract": {"url": "localhost:8000"}}, "extract: --url "),
        ({"queries": {"url": "http://["}}, "queries: --url "),
        ({"extract": {"extra_body": "more.json"}}, "extract: --extra-body .*more.json: cannot be read"),
        ({"extract": {"model": " "}}, "extract.model is empty"),
        ({"extract": {"backend": "local", "model": "./weights"}}, "extract.model ./weights: no such folder"),
        ({"extract": {"key_variable": "NO_SUCH_KEY"}}, "extract: the key for http://127.* variable NO_SUCH_KEY"),
        ({"queries": {"url": "https://api.example.org/v1"}}, "queries: the key for https://api.example.org/v1 is not"),
        ({"mine": {"executor": "ray"}}, "mine.executor ray: the package ray is not installed"),
    ],
)
def test_one_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, told: str) -> None:
    """One line, and nothing mined."""
    monkeypatch.delenv("MUSICRS_LLM_KEY", raising=False)
    monkeypatch.setattr("builder_scripts.pipeline.check.find_spec", lambda name: None if name == "ray" else object())
    (line,) = faults(settings(tmp_path, change))
    assert re.search(told, line), line
    assert "\n" not in line


def test_every_fault_has_a_line(tmp_path: Path) -> None:
    """They are told together, so that nobody starts five times."""
    found = faults(
        settings(
            tmp_path,
            {"mine": {"subreddits": ["country"], "dumps": ["no"]}, "release": {"name": "musicrs"}},
            {"baseline": {"pools": "fresh"}, "pools": {"designs": ["balanced"]}},
        )
    )
    assert len(found) == 4


@pytest.mark.parametrize("name", ["Jazz", "r/jazz", "/r/Jazz/", "R/JAZZ", " jazz "])
def test_a_subreddit_in_other_spellings(tmp_path: Path, name: str) -> None:
    """As people write it; the dumps' rows have one form."""
    config = read_config(settings(tmp_path, {"mine": {"subreddits": [name]}}))
    assert config.mine.subreddits == ["jazz"]
    assert check(config) == []


def test_dumps_of_one_kind(tmp_path: Path) -> None:
    """Comments that are missing, or in a form that cannot be read, are reported before anything is mined."""
    path = settings(tmp_path)
    (tmp_path / "dumps" / "RC_2025-01.zst").rename(tmp_path / "dumps" / "RC_2025-01.xz")
    assert faults(path)[0].startswith("mine.dumps: found no dump of comments, expected dumps of submissions and")


def test_a_new_genre_is_allowed(tmp_path: Path) -> None:
    """Whatever the spelling of the subreddit; that it has no macro-genre is told."""
    change: dict[str, Any] = {
        "mine": {"subreddits": ["Country", "jazz"]},
        "refine": {"genres": {"r/COUNTRY": "Country"}},
    }
    assert check(read_config(settings(tmp_path, change))) == [
        "Country: new genres without a macro-genre; scores by macro-genre count them as `other` "
        "(refine.macro_genres: {Country: MM} states one)"
    ]
    change["refine"]["macro_genres"] = {"Country": "Roots"}
    assert check(read_config(settings(tmp_path, change))) == []


def test_a_server_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On this machine and in its network none is needed; elsewhere any word says that it is meant so."""
    for url in ("http://10.0.0.7:8000/v1", "https://gpu-node/v1", "https://models.lan/v1"):
        assert check(read_config(settings(tmp_path, {"extract": {"url": url}}))) == []
    monkeypatch.setenv("MUSICRS_LLM_KEY", "none")
    assert check(read_config(settings(tmp_path, {"extract": {"url": "https://open.example.org/v1"}}))) == []


def test_folders_and_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the place of a folder, a folder that is closed, a disk that is full."""
    (tmp_path / "file").write_text("x")
    assert "file is a file, expected a folder" in faults(settings(tmp_path, {"work": "file/w"}))[0]
    config = read_config(settings(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match="cannot be written to; choose another folder"):
        check(config)
    monkeypatch.undo()
    (tmp_path / "dumps" / "jazz_comments.zst").write_bytes(b"x" * 10_000)
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    (line,) = faults(settings(tmp_path))
    assert line.endswith("0.0 GB are free, and mining needs about 0.2 GB; make room, or choose another folder")


def test_what_is_done_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished stage asks for neither key nor library."""
    monkeypatch.delenv("MUSICRS_LLM_KEY", raising=False)
    path = settings(tmp_path, {"extract": {"url": "https://api.example.org/v1"}})
    assert len(faults(path)) == 1
    (tmp_path / "work" / "gold").mkdir(parents=True)
    (tmp_path / "work" / "gold" / "_extract.json").write_text("{}")
    assert check(read_config(path)) == []


def test_a_subreddit_without_a_genre(cases: Path, tmp_path: Path) -> None:
    """R29: one line that asks for refine.genres, before anything is mined or asked."""
    shutil.copytree(cases / "r29", tmp_path / "r29", copy_function=shutil.copyfile)
    for folder in (tmp_path / "r29", tmp_path / "r29" / "dumps"):
        folder.chmod(0o755)
    (line,) = faults(tmp_path / "r29" / "run.yaml")
    assert line.startswith("no genre is known of harbourmusic; name it with refine.genres: {harbourmusic: GENRE}")
    assert not (tmp_path / "r29" / "w29").exists()
