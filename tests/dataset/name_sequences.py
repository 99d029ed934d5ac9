"""Random sequences of what users do with `datasets`, and what the name `musicrs` gives afterwards.

    python name_sequences.py FOLDER SEED ...

FOLDER holds `home`, a Hugging Face home in which a dataset is installed, and `foreign/*/musicrs`, other folders of that
name. For each seed a copy of the home goes through some operations, each in a process of its own, and the name is then
loaded in the last of these processes and in a new Python. It prints one JSON object per seed: the operations, and what
the name gave.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CONFIGS = ("audio_query", "query_only", "audio_only")
NAMES = ((), *((config,) for config in CONFIGS))  # the default, and each configuration


def names_give() -> dict[str, list[str] | str]:
    """The thread ids and columns that the name gives, or the error."""
    from datasets import load_dataset

    given: dict[str, list[str] | str] = {}
    for name in NAMES:
        try:
            rows = load_dataset("musicrs", *name, split="test")
            given["".join(name)] = [*rows["thread_id"], *rows.column_names]
        except (OSError, ValueError) as error:
            given["".join(name)] = str(error)
    return given


def use(random: random.Random, path: str) -> str:
    """Do something with one configuration of a dataset, as a user would."""
    from datasets import Value, load_dataset

    config = random.choice(["", *CONFIGS])
    rows = load_dataset(path, *([config] if config else []), split="test")
    word = str(random.random())
    kind = random.choice(["load", "map", "filter", "sort", "cast_column", "many"])
    if kind in ("map", "many"):
        rows.map(lambda row: {"word": word + row["thread_id"]})
    if kind in ("filter", "many"):
        rows.filter(lambda row: row["thread_id"] > word)
    if kind in ("sort", "many"):
        rows.sort("thread_id", reverse=random.random() < 0.5)
    if kind == "cast_column":
        rows.cast_column("thread_id", Value("large_string"))
    return f"{kind} {path} {config}"


def copy(random: random.Random, home: Path) -> str:
    """Put a copy without times in the place of a cache."""
    kind = random.choice(["cp -r", "copyfile", "zip"])
    aside = home.with_name(f"{home.name}-before")
    home.rename(aside)
    if kind == "cp -r":
        subprocess.run(["cp", "-r", str(aside), str(home)], check=True)
    elif kind == "copyfile":
        shutil.copytree(aside, home, copy_function=shutil.copyfile)
    else:
        shutil.unpack_archive(shutil.make_archive(str(home), "zip", aside), home)
    shutil.rmtree(aside)
    return kind


def touch(random: random.Random, home: Path) -> str:
    """Change the dates of some folders of a cache."""
    for folder in home.glob("datasets/musicrs/*/*/*"):
        when = random.randrange(10**9, 4 * 10**9)  # from 2001, since a zip file has no earlier dates, to 2096
        os.utime(folder, (when, when))
    return "touch"


def in_child(action: Callable[[], object]) -> object:
    """Run something in a process of its own, which shares nothing but what was imported; returns its JSON."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as file:
            json.dump(action(), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    return json.loads(text)


def sequence(folder: Path, seed: int) -> dict[str, object]:
    """Do one sequence; returns the operations and what the name gives."""
    rng = random.Random(seed)
    home = folder / "used"  # the place of HF_HOME, which was set before `datasets` was imported
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(folder / "home", home)
    foreign = [str(path) for path in sorted(folder.glob("foreign/*/musicrs"))]
    done = []
    for _ in range(rng.randint(3, 6)):
        kind = rng.choice(["name", "foreign", "foreign", "copy", "touch"])
        seeded = random.Random(rng.random())
        if kind in ("name", "foreign"):
            path = "musicrs" if kind == "name" else seeded.choice(foreign)
            done.append(in_child(lambda: use(seeded, path)))  # noqa: B023 - it runs before the loop goes on
        else:
            done.append((copy if kind == "copy" else touch)(seeded, home))
    path = rng.choice(foreign)
    same = in_child(lambda: [use(rng, path), names_give()][1])
    code = f"import json, runpy; print(json.dumps(runpy.run_path({__file__!r})['names_give']()))"
    new = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {"operations": [*done, path], "same": same, "new": json.loads(new.stdout.splitlines()[-1])}


if __name__ == "__main__":
    import datasets

    datasets.disable_progress_bars()
    root, *seeds = sys.argv[1:]
    for seed in seeds:
        print(json.dumps(sequence(Path(root), int(seed))))
