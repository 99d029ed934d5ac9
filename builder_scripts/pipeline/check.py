"""Checks of the settings and the machine, before a run mines or pays for anything."""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError, some

from ..layout import Work
from ..llm.options import BackendName, LlmOptions
from ..manifest import manifest_path
from .config import RunConfig

# Rows take 0.074 of the size of the lines, and zstd compresses lines by a factor of eight (docs/building.md). A dump of
# one subreddit is kept in full. The share of a dump of all of Reddit is unknown.
_ROWS_PER_BYTE, _SPARE_BYTES = 0.6, 200 << 20
_LIBRARIES = {
    BackendName.server: ("openai",),
    BackendName.local: ("torch", "transformers", "xgrammar"),
    BackendName.batch: (),
}


def check(config: RunConfig) -> list[str]:
    """Check every section of the settings, and the machine of the run.

    The check writes nothing and asks no server. It skips the needs of finished stages.

    Args:
        config: The settings.

    Returns:
        Notes for the user.

    Raises:
        UserError: There are faults, one per line.
    """
    faults: list[str] = []
    for part in _PARTS:
        try:
            faults.extend(part(config))
        except UserError as error:
            faults.append(str(error))
    if faults:
        raise UserError("\nerror: ".join(dict.fromkeys(faults)))
    return list(_notes(config))


def _genres(config: RunConfig) -> Iterable[str]:
    from ..refine.genres import genre_table, macro_table, require_genres

    genres = genre_table(config.refine.genres, "refine.genres")
    macro_table(config.refine.macro_genres, genres, "refine.macro_genres")
    require_genres(config.mine.subreddits, genres, "refine.genres: {{{}: GENRE}}")
    return ()


def _options(config: RunConfig) -> Iterator[str]:
    """Yield contradictions between the options of a stage."""
    for options in (config.refine, config.annotate, config.pools, config.release):
        yield from _faults_of(options.check)
    for stage, llm_options in (("extract", config.extract), ("queries", config.queries)):
        for fault in _faults_of(llm_options.check):
            yield f"{stage}: {fault}"


def _inputs(config: RunConfig) -> Iterator[str]:
    from ..mine.dumps import NAMES, find_dumps

    yield from _faults_of(find_dumps, config.mine.dumps)
    with suppress(UserError):  # already reported
        kinds = {dump.kind for dump in find_dumps(config.mine.dumps)}
        for kind in sorted({"submissions", "comments"} - kinds):
            yield f"mine.dumps: found no dump of {kind}, expected dumps of submissions and of comments ({NAMES})"
    for name, path in (("audio.cookies", config.audio.cookies), ("release.takedown", config.release.takedown)):
        if path is not None and not path.is_file():
            yield f"{name} {path}: no such file"


def _folders(config: RunConfig) -> Iterator[str]:
    for name, path in (("work", config.work), ("home", config.home)):
        if path is None:
            continue
        folder = _existing(path)
        if not folder.is_dir():
            yield f"{name} {path}: {folder} is a file, expected a folder"
        elif not os.access(folder, os.W_OK | os.X_OK):
            yield f"{name} {path}: {folder} cannot be written to; choose another folder, or change its permissions"


def _disk(config: RunConfig) -> Iterator[str]:
    if _is_done(config, "mine"):
        return
    try:
        from ..mine.dumps import find_dumps

        dumps = find_dumps(config.mine.dumps)
    except UserError:  # `_inputs` reports it
        return
    own = [dump for dump in dumps if not dump.path.name.lower().startswith(("rs_", "rc_"))]
    needed = int(_ROWS_PER_BYTE * sum(dump.path.stat().st_size for dump in own)) + _SPARE_BYTES
    free = shutil.disk_usage(_existing(config.work)).free
    if free < needed:
        yield (
            f"work {config.work}: {free / 1e9:.1f} GB are free, and mining needs about {needed / 1e9:.1f} GB; make "
            "room, or choose another folder"
        )


def _models(config: RunConfig) -> Iterator[str]:
    for stage, section in (("extract", config.extract), ("queries", config.queries)):
        if _is_done(config, stage):
            continue
        missing = [name for name in _LIBRARIES[section.backend] if find_spec(name) is None]
        if missing:
            yield (
                f"{stage}.backend {section.backend} needs {', '.join(missing)}; install them with "
                f"`pip install -e '.[{'llm' if section.backend is BackendName.local else 'builder'}]'`"
            )
        if not section.model.strip():
            yield f"{stage}.model is empty, expected the name of a model"
        is_path = section.backend is BackendName.local and section.model.startswith((".", "/", "~"))
        if is_path and not Path(section.model).is_dir():
            yield f"{stage}.model {section.model}: no such folder"
        if section.backend is BackendName.server and _needs_key(section):
            yield (
                f"{stage}: the key for {section.url} is not set; put it into the environment variable "
                f"{section.key_variable} (any word where the server takes no key)"
            )


def _needs_key(section: LlmOptions) -> bool:
    """Return True if a key is missing: the user names its variable, or the server is not in the local network."""
    if os.environ.get(section.key_variable, "").strip():
        return False
    try:
        url = urlsplit(section.url)
    except ValueError:  # `_options` reports it
        return False
    return "key_variable" in section.model_fields_set or (url.scheme == "https" and not _is_local(url.hostname or ""))


def _is_local(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".localhost"))


def _tools(config: RunConfig) -> Iterator[str]:
    wanted = {"mine.executor": config.mine.executor, "threads.engine": config.threads.engine}
    packages = {"spark": "pyspark", "ray": "ray", "dask": "dask"}
    for name, value in wanted.items():
        if value in packages and find_spec(packages[value]) is None:
            yield f"{name} {value}: the package {packages[value]} is not installed"
    if config.audio.fetch and not _is_done(config, "audio"):
        missing = [name for name in ("yt_dlp", "soundfile", "soxr") if find_spec(name) is None]
        if missing:
            yield f"audio.fetch needs {', '.join(missing)}; run `pip install -e '.[builder]'`, or set fetch to false"


def _baseline(config: RunConfig) -> Iterator[str]:
    section = config.baseline
    if section is None:
        return
    _, *others = config.pools.designs
    if section.pools not in ("published", *others):
        yield (
            f"baseline.pools is {section.pools}, expected published (the pools of the design "
            f"{config.pools.designs[0]}) or another design ({some(list(others)) or 'there is none'})"
        )
    if section.model != "lexical" and not manifest_path(Work(config.work).baseline, "baseline").is_file():
        # Nothing imports `baselines`, so a process looks the system up.
        code = (
            "import sys, json; from baselines.registry import system_class\n"
            "try: system_class(sys.argv[1]); print('null')\n"
            "except ValueError as error: print(json.dumps(str(error)))"
        )
        root = Path(__file__).parents[2]
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code, section.model], cwd=root, capture_output=True, text=True, check=False
        )
        fault: Any = strict_json(done.stdout) if done.returncode == 0 else done.stderr.strip().rpartition("\n")[2]
        if fault:
            yield f"baseline.model: {fault}"


def _notes(config: RunConfig) -> Iterator[str]:
    from ..refine.genres import genre_table, new_genres

    new = new_genres(config.mine.subreddits, genre_table(config.refine.genres, "refine.genres"))
    if without := [genre for genre in new if genre not in config.refine.macro_genres]:
        yield (
            f"{some(without)}: new genres without a macro-genre; scores by macro-genre count them as `other` "
            f"(refine.macro_genres: {{{without[0]}: MM}} states one)"
        )
    if not config.annotate.skip and config.annotate.labels is None and not Work(config.work).labels.is_file():
        yield "the run stops for annotators after `audio`; `annotate: {skip: true}` releases what the models made"


def _is_done(config: RunConfig, stage: str) -> bool:
    work = Work(config.work)
    return manifest_path(work.bronze if stage == "mine" else work.gold, stage).is_file()


def _existing(path: Path) -> Path:
    """Return the path, or the nearest existing folder above it."""
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _faults_of(make: Callable[..., object], *arguments: object) -> Iterator[str]:
    try:
        make(*arguments)
    except UserError as error:
        yield str(error)


_PARTS = (_genres, _options, _inputs, _folders, _disk, _models, _tools, _baseline)
