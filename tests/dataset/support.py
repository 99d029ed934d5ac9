"""Small threads made by hand, and Python processes with a Hugging Face home of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from musicrs_dataset.mini.catalogue import data_rows, load_catalogue
from musicrs_dataset.mini.synth import Sound
from musicrs_dataset.records import Clip, Comment, Entities, Link, Thread
from musicrs_dataset.sources import About
from musicrs_dataset.upstream import import_upstream

ABOUT = About(name="tiny", license="cc0-1.0", attribution="Made by hand.")


def thread(thread_id: str, subreddit: str, genre: str, pool: str, right: str, **changes: Any) -> Thread:
    """A thread whose titles are single words."""
    named = Comment(f"t1_{thread_id}", 3.0, Entities(songs=tuple(right.split()), artists=("Oda",)))
    made = Thread(
        thread_id=thread_id,
        subreddit=subreddit,
        genre=genre,
        query=f"Something like {thread_id}?",
        post=f"I heard this, {thread_id}. What else?",
        submission_entities=("Prelude",),
        comments=(named, Comment(f"t1_{thread_id}x", None, Entities())),
        candidates=tuple(pool.split()),
        ground_truth=tuple(right.split()),
        all_entities=tuple(right.split()),
        links=(Link("AAAAAAAAAAA", 0.0, "https://youtu.be/AAAAAAAAAAA"),),
    )
    return replace(made, **changes)


TINY = (
    thread("t3_a", "jazz", "Jazz", "Ash Birch Cedar Elm", "Birch Elm"),
    thread("t3_b", "jazz", "Jazz", "Elm Fir Ash Gorse", "Fir"),
    thread("t3_c", "metal", "Metal", "Iron Jet", "Jet"),
    thread("t3_d", "postrock", "Indie", "Kelp Loam Moss", ""),
)


def with_clips(of: Thread, *sounds: bytes) -> Thread:
    """The thread with clips that hold these bytes."""
    clips = tuple(Clip(sound, f"{i}.flac", f"AAAAAAAAAA{i}", 1.5 * i, 2.0) for i, sound in enumerate(sounds))
    return replace(of, clips=clips)


def environment(home: Path, **changes: str) -> dict[str, str]:
    """Variables for a process that is offline and keeps its caches below `home`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"), "1")
    return {**inherited, **offline, "HF_HOME": str(home), "PYTHONWARNINGS": "ignore", **changes}


def run(*arguments: str, home: Path, cwd: Path | str = "/", **changes: str) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` in another directory, with a Hugging Face home of its own."""
    return subprocess.run(
        [sys.executable, *arguments], env=environment(home, **changes), cwd=cwd, capture_output=True, text=True
    )


def evaluate(code: str, home: Path, cwd: Path | str = "/", **changes: str) -> Any:
    """Run a program in another process; returns what it prints last, read as JSON."""
    done = run("-c", code, home=home, cwd=cwd, **changes)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def read_upstream(path: Path) -> list[Thread]:
    """The threads of the authors' file, without the report of the repairs."""
    return import_upstream(path).threads


def clip_sounds() -> dict[str, Sound]:
    """The description of each clip of the mini dataset, by video id."""
    sounds = {(style.subreddit, style.name): style.sound for style in load_catalogue()}
    return {
        link["video_id"]: sounds[row["subreddit"], row["style"]].performance(link["video_id"])
        for row in data_rows("threads.jsonl")
        for link in row["links"]
    }
